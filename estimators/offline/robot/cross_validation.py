"""Blocked cross-validation of a whole robot's model: every motion predicted by what the others teach.

Several recordings of comparable length are each predicted by the others. One recording is cut into blocks of time, and
a second on either side of the one that is predicted does not teach. Weights are those of all rows: they say how good a
row is, not what θ is.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from estimators.models.robots.whole_robot import WholeRobot
from estimators.offline.least_squares import of_sums
from estimators.offline.robot.fit import Weights, passes, prior_of, solved
from estimators.offline.robot.rows import CONSTANT, JointSums, RobotRows, Taught, sums
from estimators.quantities import Floats

BLOCKS: Final = 6
COVERED: Final = 0.954  # share of a normal distribution within two deviations
FEWEST: Final = 3  # blocks that give a standard error
GUARD: Final = 1.0  # s on either side of a block that do not teach; half a block where that is less
DOUBT: Final = 0.05  # chance that a law is taken though it is no better
ROUNDING: Final = 1e-6  # of a squared error, below which a gain is none
MOST: Final = 2.0 / 3.0  # of all rows, that the longest recording has at most where recordings are left out whole


class Validated(NamedTuple):
    """The result of cross-validating a model."""

    predicted: Floats  # (rows, n) by what the other motions teach; NaN where too little is left of them
    losses: Floats  # (blocks,) squared relative error of each block where joints move, …
    standing: Floats  # … and where joints stand, too
    error: float  # % of the torque, over all blocks
    left: Floats  # (rows, n) N·m (N), where joints move; NaN elsewhere and where nothing was predicted

    def beside(self, spread: Floats, least: Floats) -> Floats:
        """Variance in addition to these with which two deviations hold COVERED of the residual, (n,).

        spread: (rows, n) of each prediction by what is known, which is not to count twice; least: (n,) of both.
        """
        found: Floats = np.maximum(least - spread.mean(axis=0), 0.0)
        for j, left in enumerate(self.left.T):
            known = np.isfinite(left)
            if known.any():
                found[j] = max(found[j], float(np.quantile(left[known] ** 2 / 4.0 - spread[known, j], COVERED)))
        return found


def blocks_of(rows: RobotRows) -> NDArray[np.int64]:
    """Number of the block of every row, of equal lengths over all recordings: (rows,)."""
    return (np.arange(len(rows.y)) * BLOCKS // max(len(rows.y), 1)).astype(np.int64)


def motions_of(rows: RobotRows) -> NDArray[np.int64]:
    """Number of the motion of every row, which is left out as one: (rows,)."""
    counts = np.bincount(rows.piece)
    if len(counts) < 2 or counts.max() > MOST * len(rows.y):
        return blocks_of(rows)
    middle = np.cumsum(counts) - 0.5 * counts
    group = (middle * BLOCKS // len(rows.y)).astype(np.int64)
    return np.asarray(group[rows.piece])


def seconds_lacking(rows: RobotRows) -> float:
    """By how many seconds one recording is too short for blocks that have GUARD on either side; 0 where none lack."""
    if not np.array_equal(motions_of(rows), blocks_of(rows)):
        return 0.0
    lasts = sum(float(np.ptp(rows.time[rows.piece == one])) for one in np.unique(rows.piece))
    return max(0.0, 2.0 * GUARD * BLOCKS - lasts)


def validated(model: WholeRobot, rows: RobotRows, kind: Weights = "honest") -> Validated:
    """Cross-validate one model on its rows."""
    motions, predicted = motions_of(rows), np.full_like(rows.y, np.nan)
    prior = prior_of(model, rows.part(rows.moves), kind)
    shares = rows.shares()
    whole = Taught.of(rows, shares)
    found = passes(model, rows.teaching(), prior, whole, kind)
    for motion in np.unique(motions):
        held = motions == motion
        apart = _apart(rows, held)
        if (apart & rows.moves).sum() * rows.y.shape[1] < model.size:
            continue
        left = whole.without(Taught.of(rows.part(~apart), shares[~apart]))
        predicted[held] = rows.X[held] @ solved(model, left, found.weights, found.precision, prior[0])[0]
    return _judged(rows, predicted)


class LeastSquares(NamedTuple):
    """Least squares without a prior, with the full covariance Ω of a row's residual."""

    theta: Floats  # (p,)
    condition: float  # of the rows, infinite where they do not determine every direction
    predicted: Floats  # (rows, n) of every motion, by what the others teach; NaN where too little is left of them


def halved(rows: RobotRows, one: Floats, other: Floats) -> Validated:
    """Cross-validate the mean of two models' predictions of left-out motions, (rows, n) each."""
    return _judged(rows, 0.5 * (one + other))


def least_squares(rows: RobotRows) -> LeastSquares:
    """Cross-validate least squares on rows of the default friction law; rows in which a joint stands count, too."""
    whitened = _whitened(rows)
    whole, motions, predicted = sums(whitened), motions_of(rows), np.full_like(rows.y, np.nan)
    for motion in np.unique(motions):
        held = motions == motion
        apart = _apart(rows, held)
        if (apart & rows.moves).sum() * rows.y.shape[1] >= rows.X.shape[2]:
            predicted[held] = rows.X[held] @ _of_all(whole.without(sums(whitened.part(~apart))))[0]
    return LeastSquares(*_of_all(whole), predicted)


def _whitened(rows: RobotRows) -> RobotRows:
    """Rows times chol(Ω)⁻¹ of the residual of ordinary least squares; zero where nothing moves, or no torque
    changes."""
    changes = np.ptp(rows.y, axis=0) > CONSTANT * np.abs(rows.y).max(axis=0)
    used = (rows.moves[:, np.newaxis] & changes).astype(np.float64)
    rows = rows._replace(X=rows.X * used[:, :, np.newaxis], y=rows.y * used)
    residual = rows.y - rows.predicted(_of_all(sums(rows))[0])
    omega = residual.T @ residual / max(int(rows.moves.sum()), 1)
    omega += ROUNDING * max(float(np.trace(omega)), 1e-300) * np.eye(len(omega))
    W = np.linalg.inv(np.linalg.cholesky(omega))
    return rows._replace(X=np.einsum("jk,tkp->tjp", W, rows.X, optimize=True), y=rows.y @ W.T)


def _of_all(found: JointSums) -> tuple[Floats, float]:
    return of_sums(found.K.sum(axis=0), found.c.sum(axis=0))


def _apart(rows: RobotRows, held: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Rows that are not near those held out: (rows,)."""
    apart = ~held
    for piece in np.unique(rows.piece[held]):
        own = rows.piece == piece
        time = rows.time[held & own]
        guard = min(GUARD, 0.5 * float(time.max() - time.min()))
        apart &= ~(own & (rows.time > time.min() - guard) & (rows.time < time.max() + guard))
    return apart


def _judged(rows: RobotRows, predicted: Floats) -> Validated:
    left, blocks = rows.y - predicted, blocks_of(rows)
    known = np.isfinite(predicted)
    power = float(np.mean((rows.y**2).sum(axis=1)))
    moving = np.where(rows.slides & rows.moves[:, None], left, 0.0)
    predicted_blocks = [block for block in range(BLOCKS) if known[blocks == block].any()]

    def lost(what: Floats) -> Floats:
        return np.array(
            [float(np.nansum(what[blocks == b] ** 2) / (blocks == b).sum() / power) for b in predicted_blocks]
        )

    size = float(np.linalg.norm(rows.y[known]))
    error = 100.0 * float(np.linalg.norm(left[known])) / size if size > 0.0 else float("nan")
    return Validated(
        predicted,
        lost(moving),
        lost(left * rows.moves[:, None]),
        error,
        np.where(rows.slides & rows.moves[:, None], left, np.nan),
    )


def gained(before: Floats, after: Floats) -> tuple[float, float]:
    """Mean of what a law takes off the squared error of a block, and its standard error; NaN where blocks differ."""
    if len(before) != len(after) or len(before) < FEWEST:
        return float("nan"), float("nan")
    better = before - after
    return float(better.mean()), float(better.std(ddof=1) / np.sqrt(len(better)))


def better(before: Validated, after: Validated) -> bool:
    """Whether a law is better in most blocks, as the ratios of their errors have it, on average, and at rest, too.

    Blocks differ in how much is left of them: of differences the worst block alone would decide.
    """
    if len(before.losses) != len(after.losses) or gained(before.standing, after.standing)[0] < 0.0:
        return False
    ratio, deviation = gained(np.log(before.losses), np.log(after.losses))
    least = ROUNDING * float(before.losses.mean())
    enough = float(stdtrit(len(before.losses) - 1, 1.0 - DOUBT)) * deviation
    return ratio > enough and gained(before.losses, after.losses)[0] > least


def likelier(before: Validated, after: Validated, doubts: float = 0.0) -> bool:
    """Whether a model predicts better: on average, in the ratios of the blocks' errors by so many standard errors, and
    at rest no worse by more than one."""
    if len(before.losses) != len(after.losses) or len(before.losses) < FEWEST:
        return False
    loss, deviation = gained(before.standing, after.standing)
    least = ROUNDING * float(before.losses.mean())
    ratio, doubt = gained(np.log(before.losses), np.log(after.losses))
    return loss > -deviation and ratio > doubts * doubt and gained(before.losses, after.losses)[0] > least
