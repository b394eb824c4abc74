"""The batch recipe: a whole robot's θ from rows, with the physical prior and honest weights.

    minimise  Σ_j |y_j − X_j θ|² / (R_j c_j) + (θ − θ0)ᵀ Cov0⁻¹ (θ − θ0),   some θ ≥ 0

four times over: R_j the variance of joint j's residual, c_j how many rows count as one (the residual is model error and
correlated; taken as white noise its σ is four times too small). Where leaving one of some blocks of rows out moves θ by
more than that says, σ is from that (delete-a-group jackknife: the sandwich of a misspecified model would take the
residuals of few blocks for its errors, although θ was fitted to them; Bell, McCaffrey, Survey Methodology 28:169–181,
2002). A parameter at its bound of zero is not known to be there, so σ is that of the fit without bounds: else an offset
were certain because Coulomb friction, which one direction does not tell from it, is held.
What it reaches on real robots: docs/identify.md.
"""

import itertools
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.models.robots.whole_robot import WholeRobot
from estimators.numerics.jit import kernel
from estimators.numerics.nnls import OUT, Integers, nnls
from estimators.offline.robot.rows import CONSTANT, RobotRows, Taught, correlation, sums
from estimators.quantities import Floats

PASSES: Final = 4
FIRST: Final = 0.1  # of the rms torque: the residual before the first pass
LONGEST: Final = 100  # rows (2 s) after which residuals count as independent
INDEPENDENT: Final = 0.05  # autocorrelation below which they do
FEWEST: Final = 6  # blocks of that length, otherwise of a shorter one, that give a spread
LOOSE: Final = 1e-6  # of a prior's precision: the part that is kept where the data shall determine everything
FULL: Final = 0.5  # standstills: fewer rows of one do not count
LEARNT: Final = 0.5  # of its prior's deviation: below it the data taught a parameter

HELD: Final = 0.01  # of a torque, by which one that holds a joint may differ though it never moves

Weights = Literal["honest", "still", "moving", "white", "ordinary"]


class RobotFit(NamedTuple):
    """θ, its covariance, and the weights of the rows."""

    theta: Floats  # (p,)
    covariance: Floats  # (p, p)
    prior: Floats  # (p,) mean
    prior_covariance: Floats  # (p, p)
    variance: Floats  # (n,) R_j
    correlation: Floats  # (n,) c_j
    at_zero: NDArray[np.bool_]  # (p,) at zero, against their sign
    weights: Floats  # (2, n) of each joint's rows, θ was found with: where it moves, and of its standstills
    information: Floats  # (p, p) of these rows and the prior
    holding: Floats  # (n,) variance of the torque that friction holds a joint with where it stands

    @property
    def deviation(self) -> Floats:
        """(p,)."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def learnt(self) -> NDArray[np.bool_]:
        """Parameters whose deviation the data at least halved: (p,)."""
        return np.asarray(self.deviation < LEARNT * np.sqrt(np.diag(self.prior_covariance)))


class Passes(NamedTuple):
    """θ with the weights that belong to it, before its deviations are computed."""

    theta: Floats  # (p,)
    at_zero: NDArray[np.bool_]  # (p,)
    weights: Floats  # (2, n) that θ was found with: of rows in which a joint moves, of its standstills
    precision: Floats  # (p, p) of the prior, with its own scale where the links are a guess
    variance: Floats  # (n,)
    correlation: Floats  # (n,)


def passes(
    model: WholeRobot, rows: RobotRows, prior: tuple[Floats, Floats], known: Taught, kind: Weights = "honest"
) -> Passes:
    """The recipe's passes over rows that teach; prior: mean and covariance; known: the sums of these rows."""
    mean, precision = prior[0], np.asarray(np.linalg.inv(prior[1]), np.float64)
    squares, (count, silent) = known.sliding.squares, _counted(rows)
    variance = np.maximum(FIRST**2 * squares / count, 1e-12)
    independent, scale = np.ones(len(count)), LOOSE if model.robot.guessed else 1.0
    found = Passes(mean, np.zeros(model.size, np.bool_), np.zeros((2, len(count))), precision, variance, independent)
    for _ in range(PASSES * (1 + model.robot.guessed)):  # how wrong a guess is settles more slowly
        weights = _weights(model, found, silent, kind, known, count)
        own = precision.copy()
        own[: model.base, : model.base] *= LOOSE if kind == "ordinary" else scale
        own[model.base :, model.base :] *= LOOSE if kind == "ordinary" else 1.0
        theta, at_zero = solved(model, known, weights, own, mean)
        residual = rows.y - rows.predicted(theta)
        variance = np.maximum((residual**2).sum(axis=0) / count, 1e-6 * squares / count + 1e-12)
        if kind != "white":
            independent = correlation(residual, rows.piece, LONGEST, INDEPENDENT)
        if model.robot.guessed:
            scale = _scale(model, theta - mean, precision, known.weighed(weights)[0], scale)
        found = Passes(theta, at_zero, weights, own, variance, independent)
    return found


def _weights(
    model: WholeRobot, found: Passes, silent: NDArray[np.bool_], kind: Weights, known: Taught, count: Floats
) -> Floats:
    """Weights of every joint's rows and standstills after a pass, (2, n): of their mean where all have equal weight."""
    weights = np.where(silent, 0.0, 1.0 / (found.variance * found.correlation))
    if kind == "ordinary" and not silent.all():
        weights = np.where(silent, 0.0, weights[~silent].mean())
    stands = known.standing.left(found.theta) / np.maximum(known.standstills, 1.0)
    holding = _holding(model, found.theta, known, count)
    if kind == "still":
        resting = known.standing.squares / np.maximum(known.standstills, 1.0)
        holding = np.where(known.sliding.squares > 0.0, holding, HELD**2 * resting)
    at_rest = np.maximum(holding + found.variance, stands)
    silent = (known.standstills < FULL) | (kind in ("moving", "ordinary"))
    return np.array([weights, np.where(silent, 0.0, 1.0 / at_rest)])


def _holding(model: WholeRobot, theta: Floats, known: Taught, count: Floats) -> Floats:
    """Variance of the torque that friction holds a joint with where it stands: (n,).

    It may be anything up to friction in motion (its mean square), or up to all of the torque where nothing else is
    known: a third of the square.
    """
    found = np.zeros(len(count))
    for j, K in enumerate(known.sliding.K):
        own = [model.base + k for k in model.friction_of(j)]
        found[j] = theta[own] @ K[np.ix_(own, own)] @ theta[own] / count[j]
    resting = known.standing.squares / np.maximum(known.standstills, 1.0)
    return np.where(known.sliding.squares > 0.0, found, resting) / 3.0


def solved(
    model: WholeRobot, known: Taught, weights: Floats, precision: Floats, mean: Floats
) -> tuple[Floats, NDArray[np.bool_]]:
    """θ of these sums with these weights (2, n) and this prior; which parameters are held at zero."""
    signed = np.array([*(0,) * model.base, *(int(term.low >= 0.0) for term in model.terms)], np.int64)
    information, right = known.weighed(weights)
    return constrained(information + precision, right + precision @ mean, signed)


def _scale(model: WholeRobot, moved: Floats, precision: Floats, information: Floats, before: float) -> float:
    """Factor of the precision of guessed links' prior by the evidence, at most 1.

    γ/Δᵀ P0⁻¹ Δ, γ how many of the base parameters the data identify (MacKay, Neural Computation 4:415–447, 1992).
    """
    base = slice(0, model.base)
    own = precision.copy()
    own[base, base] *= before
    spread = np.linalg.inv(information + own)
    identified = model.base - before * float(np.trace(spread[base, base] @ precision[base, base]))
    conflict = float(moved[base] @ precision[base, base] @ moved[base])
    return float(np.clip(identified / max(conflict, 1e-300), LOOSE, 1.0))


def _counted(rows: RobotRows) -> tuple[Floats, NDArray[np.bool_]]:
    """How many rows each joint has, (n,), and joints whose torque never changes: no sensor says exactly the same."""
    count = np.maximum(np.count_nonzero(rows.y, axis=0), 1)
    return count, np.ptp(rows.y, axis=0) <= CONSTANT * np.abs(rows.y).max(axis=0)


def fit(model: WholeRobot, rows: RobotRows, kind: Weights = "honest") -> RobotFit:
    """Parameters by the module's recipe, from the rows in which the robot moves.

    A joint whose torque never changes teaches nothing. kind: "still" takes what holds a joint that never moves for a
    part of its offset; "moving" leaves out standstills; "white" takes c_j = 1; "ordinary" leaves standstills out,
    weighs every joint alike, and leaves to the prior only what no row tells.
    """
    mean, covariance = prior_of(model, rows.part(rows.moves), kind)
    known, pushed = Taught.of(rows, rows.shares()), rows.pushed
    rows = rows.teaching()
    found = passes(model, rows, (mean, covariance), known, kind)
    taken, inverse = found.weights, found.precision
    information = known.weighed(taken)[0] + inverse
    spread: Floats = np.asarray(np.linalg.inv(information))
    wider = np.ones(model.size)
    if kind != "white":
        weights = np.where(taken[0] > 0.0, 1.0 / (found.variance * found.correlation), 0.0)
        rest, right = known.standing.weighed(taken[1])
        wider = _honesty(rows, weights, inverse + rest, inverse @ mean + right)
        prior = np.sqrt(np.diag(np.linalg.inv(inverse)) / np.diag(spread))
        wider = np.minimum(wider, np.maximum(prior, 1.0))
    if model.robot.guessed or kind == "ordinary":
        covariance = np.asarray(np.linalg.inv(inverse), np.float64)
    count = _counted(rows)[0]
    holding = np.where(pushed, (rows.y**2).sum(axis=0) / count / 3.0, 0.0)
    return RobotFit(
        found.theta,
        spread * wider * wider[:, None],
        mean,
        covariance,
        found.variance,
        found.correlation,
        found.at_zero,
        taken,
        information,
        np.maximum(holding, _holding(model, found.theta, known, count)),
    )


def _honesty(rows: RobotRows, weights: Floats, prior: Floats, expected: Floats) -> Floats:
    """Factor (p,), at least 1, by which leaving blocks of rows out widens the deviations of their information.

    weights: (n,) of each joint's rows; prior: (p, p) information in addition to them; expected: (p,) that, times its θ.
    """
    blocks = [sums(rows.part(slice(*ends))).weighed(weights) for ends in _blocks(len(rows.y))]
    whole = prior + sum(block[0] for block in blocks)
    spread = np.linalg.inv(whole)
    theta = spread @ (expected + sum(block[1] for block in blocks))
    moved = np.array([np.linalg.solve(whole - K, K @ theta - c) for K, c in blocks])
    jackknife: Floats = (1.0 - 1.0 / len(blocks)) * (moved**2).sum(axis=0) + np.diag(spread @ prior @ spread)
    return np.asarray(np.sqrt(np.maximum(jackknife / np.diag(spread), 1.0)))


def _blocks(count: int) -> list[tuple[int, int]]:
    """First and last row of each, as equal as can be."""
    ends = np.linspace(0, count, max(FEWEST, count // LONGEST) + 1).astype(int)
    return list(itertools.pairwise(ends.tolist()))


def prior_of(model: WholeRobot, rows: RobotRows, kind: Weights = "honest") -> tuple[Floats, Floats]:
    """Mean and covariance of θ, scaled by these rows' torque; kind: see `fit`.

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
    mean, covariance = model.prior(torque, np.sqrt(np.array(square)))
    for j in np.flatnonzero(~rows.slides.any(axis=0)).tolist() if kind == "still" else ():
        offset = model.base + model.friction_of(j).stop
        covariance[offset, offset] += torque[j] ** 2
    return mean, covariance


def averaged(model: WholeRobot, rows: RobotRows, found: RobotFit, other: Floats) -> RobotFit:
    """The mean of a fit and of another θ (p,) that predicts as well; what they differ by is in its covariance.

    Buckland, Burnham, Augustin, Biometrics 53:603–618, 1997, with equal weights.
    """
    signed = np.array([*(False,) * model.base, *(term.low >= 0.0 for term in model.terms)])
    theta = 0.5 * (found.theta + other)
    theta[signed] = np.maximum(theta[signed], 0.0)
    apart = theta - found.theta
    rows = rows.teaching()
    residual = rows.y - rows.predicted(theta)
    return found._replace(
        theta=theta,
        covariance=found.covariance + np.outer(apart, apart),
        variance=np.maximum((residual**2).sum(axis=0) / _counted(rows)[0], found.variance),
        correlation=correlation(residual, rows.piece, LONGEST, INDEPENDENT),
        at_zero=found.at_zero & (theta == 0.0),
    )


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
