"""The batch recipe: a whole robot's θ from rows, with the physical prior and honest weights.

    minimise  Σ_j |y_j − X_j θ|² / (R_j c_j) + (θ − θ0)ᵀ Cov0⁻¹ (θ − θ0),   some θ ≥ 0

four times over: R_j the variance of joint j's residual, c_j how many rows count as one (the residual is model error and
correlated; taken as white noise its σ is four times too small). Where the scores Xᵀe of blocks of 2 s vary more than
that says, σ is theirs (batch means, the sandwich of a misspecified model). Reference: whole-robot.md §3, §4.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.models.robots.whole_robot import WholeRobot
from estimators.numerics.jit import kernel
from estimators.numerics.nnls import OUT, Integers, nnls
from estimators.offline.robot.rows import RobotRows, correlation
from estimators.quantities import Floats

PASSES: Final = 4
FIRST: Final = 0.1  # of the rms torque: the residual before the first pass
LONGEST: Final = 100  # rows (2 s) after which residuals count as independent
INDEPENDENT: Final = 0.05  # autocorrelation below which they do
FEWEST: Final = 6  # blocks of that length whose scores tell a spread
LEARNT: Final = 0.5  # of its prior's deviation: below it the data taught a parameter


class Fit(NamedTuple):
    """θ and what is known of it."""

    theta: Floats  # (p,)
    covariance: Floats  # (p, p)
    prior: Floats  # (p,) mean
    prior_covariance: Floats  # (p, p)
    variance: Floats  # (n,) R_j
    correlation: Floats  # (n,) c_j
    held: NDArray[np.bool_]  # (p,) at zero, against their sign

    @property
    def deviation(self) -> Floats:
        """(p,)."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def learnt(self) -> NDArray[np.bool_]:
        """Parameters whose deviation the data at least halved: (p,)."""
        return np.asarray(self.deviation < LEARNT * np.sqrt(np.diag(self.prior_covariance)))


def fit(model: WholeRobot, rows: RobotRows, white: bool = False, known: "Sums | None" = None) -> Fit:
    """By the recipe, from the rows in which the robot moves.

    white: c_j = 1, for comparison only; known: the sums of these rows, where somebody has them.
    """
    rows = rows.part(rows.moves)
    mean, covariance = prior_of(model, rows)
    K, c, squares = known or sums(rows)
    signed = np.array([*(0,) * model.base, *(int(term.low >= 0.0) for term in model.terms)], np.int64)
    inverse: Floats = np.asarray(np.linalg.inv(covariance))
    count = max(len(rows.y), 1)
    variance = np.maximum(FIRST**2 * squares / count, 1e-12)
    independent, theta = np.ones(len(squares)), mean
    information, held = inverse, np.zeros(model.size, np.bool_)
    for _ in range(PASSES):
        weights = 1.0 / (variance * independent)
        information = np.einsum("j,jpq->pq", weights, K) + inverse
        theta, held = constrained(information, weights @ c + inverse @ mean, signed)
        residual = rows.y - rows.predicted(theta)
        variance = np.maximum((residual**2).sum(axis=0) / count, 1e-6 * squares / count + 1e-12)
        if not white:
            independent = correlation(residual, rows.piece, LONGEST, INDEPENDENT)
    free = ~held
    spread: Floats = np.zeros_like(information)
    spread[np.ix_(free, free)] = np.linalg.inv(information[np.ix_(free, free)])
    full = np.linalg.inv(information)
    spread[held, held] = np.diag(full)[held]  # at its bound, yet known no better than this
    wider = np.ones(model.size)
    if not white:
        wider = _honesty(rows, theta, 1.0 / (variance * independent), spread, inverse)
        wider = np.minimum(wider, np.maximum(np.sqrt(np.diag(covariance) / np.diag(spread)), 1.0))
    return Fit(theta, spread * wider * wider[:, None], mean, covariance, variance, independent, held)


def _honesty(rows: RobotRows, theta: Floats, weights: Floats, spread: Floats, prior: Floats) -> Floats:
    """By how much the scores of blocks of rows make each deviation larger than `spread` says: (p,), at least 1."""
    count = len(rows.y) // LONGEST
    if count < FEWEST:
        return np.ones(len(theta))
    error = (rows.y - rows.predicted(theta)) * weights
    score = np.einsum("tjp,tj->tp", rows.X, error)[: count * LONGEST].reshape(count, LONGEST, -1).sum(axis=1)
    score = (score - score.mean(axis=0)) * np.sqrt(count / (count - 1.0))
    sandwich = np.diag(spread @ (score.T @ score + prior) @ spread)
    return np.sqrt(np.maximum(sandwich / np.diag(spread), 1.0))


def prior_of(model: WholeRobot, rows: RobotRows) -> tuple[Floats, Floats]:
    """Mean and covariance of θ, scaled by these rows' torque.

    A column counts as large as it is over this motion or over the same run backwards: a law with coefficients for one
    direction that was hardly seen would else be free to take any value there.
    """
    torque = np.sqrt(np.mean(rows.y**2, axis=0))
    square = [np.mean(rows.X[:, term.joints[0], model.base + k] ** 2) for k, term in enumerate(model.terms)]
    k = 0
    for j in range(len(torque)):
        law = model.law_of(j)
        back = np.mean(law.columns(rows.q[:, j], -rows.dq[:, j], rows.y[:, j], law.start) ** 2, axis=0)
        square[k : k + len(back)] = [max(pair) for pair in zip(square[k : k + len(back)], back, strict=True)]
        k += model.count_of(j)
    return model.prior(torque, np.sqrt(np.array(square)))


class Sums(NamedTuple):
    """Of every joint's rows."""

    K: Floats  # (n, p, p) XᵀX
    c: Floats  # (n, p) Xᵀy
    squares: Floats  # (n,) yᵀy

    def without(self, other: "Sums") -> "Sums":
        """Of those rows that are not the other's."""
        return Sums(self.K - other.K, self.c - other.c, self.squares - other.squares)


def sums(rows: RobotRows) -> Sums:
    """Of these rows."""
    n, p = rows.X.shape[1:]
    K, c = np.empty((n, p, p)), np.empty((n, p))
    for j in range(n):
        X = np.ascontiguousarray(rows.X[:, j])
        K[j], c[j] = X.T @ X, X.T @ rows.y[:, j]
    return Sums(K, c, (rows.y**2).sum(axis=0))


def constrained(K: Floats, c: Floats, signed: Integers) -> tuple[Floats, NDArray[np.bool_]]:
    """Minimise xᵀKx − 2cᵀx with x_j ≥ 0 where signed; which ones are held at zero."""
    scale = 1.0 / np.sqrt(np.diag(K))
    x, state = np.empty(len(c)), np.empty(len(c), np.int64)
    _constrained(np.ascontiguousarray(K * scale * scale[:, None]), c * scale, signed, x, state)
    return x * scale, np.asarray(state == OUT)


@kernel("void(f8[:, ::1], f8[::1], i8[::1], f8[::1], i8[::1])")
def _constrained(K: Floats, c: Floats, signed: Integers, x: Floats, state: Integers) -> None:
    p = len(c)
    size, squares = np.ones(p), 0.0
    for j in range(p):
        squares += c[j] * c[j]
    nnls(K, c, signed, size, squares, x, state, np.empty((p + 1, p)))


def relative_error(measured: Floats, predicted: Floats) -> float:
    """100 · ‖τ − τ̂‖ / ‖τ‖ over all joints; rows with a NaN prediction do not count."""
    known = np.isfinite(predicted)
    length = float(np.linalg.norm(measured[known]))
    return 100.0 * float(np.linalg.norm((measured - predicted)[known])) / length if length > 0 else float("nan")
