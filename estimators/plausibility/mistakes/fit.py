"""A quick fit of one joint's equation of motion, and which of two fits the data explain better.

    τ = J·a + Fv·v + Fc·s(v) + Σ Fi·v·exp(−|v|/vi) + offset + A·sin q + B·cos q (+ K·q),   J, Fv, Fc, Fi ≥ 0

with s(v) = tanh(v/v₀), and two terms with fixed vi for friction that falls with speed, as Stribeck's does. All columns
and the torque pass the same Gaussian kernel. Two fits are compared as Vuong does it (Econometrica 57:307–333, 1989):
the mean difference of their log-likelihoods over its own standard deviation, here that of means over blocks of time, so
that correlated residuals do not count as independent. The models need not be nested.
"""

from itertools import product
from typing import Final, NamedTuple

import numpy as np

from estimators.alignment.channel_delay import (
    REVERSAL,
    SMOOTHING,
    SMOOTHING_SAMPLES,
    UNEXPLAINED,
    gaussian_taps,
)
from estimators.plausibility.mistakes.base import JointFit, Mask, Motion, MotionRows, Subject
from estimators.quantities import Axis, Floats
from estimators.thresholds import COLLINEAR, LEAST_DIVISOR, MEDIAN_SQUARE

#: 1, argued: Speeds over the rms speed at which friction that falls with speed has its peak: one near the reversal, one
#: amid the motion.
PEAKS: Final = (0.1, 0.3)
#: 1, argued: Below this share of the rms speed the joint may stick, and friction is any torque.
STILL: Final = 0.05
#: rows, derived: Rows a standard deviation of the kernel; more of them say the same.
THINNED: Final = 2.0
#: rows, argued: Fewer leave less than ten in each block of the comparison.
LEAST: Final = 200
#: periods, argued: One missing sample between two is interpolated, a longer gap is not.
GAP: Final = 2.5
#: samples, argued: Spacings at which noise must be the same to be white: octaves down to the kernel's at 1 kHz.
SPACINGS: Final = (1, 2, 4, 8)
#: blocks, argued: Numbers of blocks of time; the least evidence counts, since the residual's memory is not known.
BLOCKS: Final = (20, 10)
#: 1, argued: Factor of the residual's power by which a mistake must explain the data better: with less, most of what is
#: left has another cause, and the mistake is not the one to name.
FACTOR: Final = 2.0
#: deviations, argued: Evidence of one fit against another: Student's t of nine degrees of freedom (ten blocks) is
#: beyond it in 4 of 10⁴ draws, of nineteen in 4 of 10⁵, and every other condition must hold at the same time.
EVIDENCE: Final = 5.0
#: 1, derived: Logarithm by which a factor may differ from that of a mistake: half of that of two, the smallest ratio of
#: two factors that are looked for.
TOLERANCE: Final = 0.34
#: deviations, argued: Chance by which a factor may differ as well: beyond it in 3 of 10³ draws.
CHANCE: Final = 3.0
#: s, argued: A velocity that is filtered by the device may be late by this much and still be that of the position.
LATE: Final = 0.05
SIGNED: Final = 3 + len(PEAKS)  # columns whose coefficients are not negative: inertia and friction


class FitComparison(NamedTuple):
    """How much better a fit is than another."""

    factor: float  # residual power of the other over its own
    z: float  # of the difference of log-likelihoods, the least of all BLOCKS

    @property
    def stands(self) -> bool:
        """Whether it is better beyond noise, by the factor."""
        return self.factor >= FACTOR and self.z >= EVIDENCE


class Gain(NamedTuple):
    """A factor and its standard deviation."""

    value: float
    deviation: float

    @property
    def z(self) -> float:
        """Deviations by which it differs from zero; infinite where it has none."""
        return abs(self.value) / self.deviation if self.deviation > 0.0 else np.inf

    def is_near(self, expected: float, tolerance: float = TOLERANCE) -> bool:
        """Whether the factor is the expected one, as far as configured constants are right, and certain.

        tolerance: of its logarithm.
        """
        if abs(self.value) <= EVIDENCE * self.deviation or self.value * expected <= 0.0:
            return False
        chance = abs(self.value - expected) < CHANCE * self.deviation
        return bool(chance or abs(np.log(self.value / expected)) < tolerance)


def rows_of(motion: Motion) -> MotionRows | None:
    """Put a motion on equidistant instants and smooth it; None where it is too short or does not move."""
    finite = np.isfinite(motion.time) & np.isfinite(motion.position) & np.isfinite(motion.effort)
    time, position, effort = motion.time[finite], motion.position[finite], motion.effort[finite]
    if len(time) < LEAST or not (np.diff(time) > 0.0).all():
        return None
    steps = np.diff(time)
    period = float(np.median(steps))
    grid = time[0] + period * np.arange(int((time[-1] - time[0]) / period) + 1)
    if len(grid) < LEAST or len(grid) > GAP * len(time):
        return None
    q, y = (np.interp(grid, time, one) for one in (position, effort))
    after = np.clip(np.searchsorted(time, grid), 1, len(time) - 1)
    known = time[after] - time[after - 1] <= GAP * period
    taps = gaussian_taps(period)
    reach = len(taps) // 2
    middle = float(q.mean())  # a large constant would leave rounding at the ends of the convolution
    q, y = middle + np.convolve(q - middle, taps, "same"), np.convolve(y, taps, "same")
    v = np.gradient(q, period)
    a = np.gradient(v, period)
    unknown = np.concatenate([[1.0], ~known, [1.0]])
    near = np.convolve(unknown, np.ones(2 * reach + 5), "same")[1:-1] if reach else unknown[1:-1]
    inside = near < 0.5
    if not inside.any():
        return None
    usable = inside & (np.abs(v) > STILL * np.sqrt(np.mean(v[inside] ** 2)))
    apart = max(1, round(max(SMOOTHING / period, SMOOTHING_SAMPLES) / THINNED))
    usable &= np.arange(len(q)) % apart == 0
    if np.count_nonzero(usable) < LEAST or not np.ptp(y[usable]) > 0.0:
        return None
    return MotionRows(period, q, v, a, y, usable, _white_noise(effort) * float(taps @ taps))


def _white_noise(effort: Floats) -> float:
    """Power of white noise in a signal, by its second differences at several spacings; the least of them.

    White noise has the same at each; what has a frequency, or is smooth, has less at one of them. The median leaves out
    the steps of friction at reversals.
    """
    differences = (effort[2 * apart :] - 2.0 * effort[apart:-apart] + effort[: -2 * apart] for apart in SPACINGS)
    return min(float(np.median(one**2)) for one in differences) / (MEDIAN_SQUARE * (1 + 4 + 1))


def columns_of(rows: MotionRows, motion: Motion) -> Floats:
    """The columns of the equation of motion: (rows, columns)."""
    return np.stack(_columns(rows, motion), axis=1)


def _columns(rows: MotionRows, motion: Motion) -> list[Floats]:
    """The columns of the equation of motion, (rows,) each."""
    speed = float(np.sqrt(np.mean(rows.v[rows.usable] ** 2)))
    taps = gaussian_taps(rows.period)
    dry = np.convolve(np.tanh(rows.v / (REVERSAL * speed)), taps, "same")
    falling = [np.convolve(rows.v * np.exp(-np.abs(rows.v) / (peak * speed)), taps, "same") for peak in PEAKS]
    found = [rows.a, rows.v, dry, *falling, np.ones_like(rows.q)]
    found += [np.sin(rows.q), np.cos(rows.q)] * (motion.axis is Axis.ROTARY) + [rows.q] * motion.spring
    return found


def fit(rows: MotionRows, motion: Motion) -> JointFit:
    """Fit the equation of motion."""
    columns = np.stack([one[rows.usable] for one in _columns(rows, motion)], axis=1)
    return solve_usable(columns, rows.effort, rows.usable)


def solve(columns: Floats, effort: Floats, usable: Mask, signed: int = SIGNED) -> JointFit:
    """Least squares over the usable rows of columns (rows, columns), the first `signed` coefficients at least zero."""
    return solve_usable(columns[usable], effort, usable, signed)


def solve_usable(columns: Floats, effort: Floats, usable: Mask, signed: int = SIGNED) -> JointFit:
    """Fit as `solve` does, to columns that contain the usable rows only, as those of another fit."""
    y = effort[usable]
    scale = np.sqrt(np.mean(columns**2, axis=0)) + LEAST_DIVISOR
    A = columns / scale
    theta = _optimum(A.T @ A, A.T @ y, signed) / scale
    size = float(np.std(y)) + LEAST_DIVISOR
    residual = np.full(len(effort), np.nan)
    residual[usable] = left = (y - columns @ theta) / size
    return JointFit(theta, columns, residual, float(np.sqrt(np.mean(left**2))))


def _optimum(gram: Floats, moment: Floats, signed: int) -> Floats:
    """θ (n,) of least squares, the first `signed` of which are at least zero; gram: (n, n), moment: (n,).

    The exact optimum is where some of these are held at zero: all sets of them are tried, those of one size at once.
    """
    best: Floats = np.linalg.pinv(gram, COLLINEAR, True) @ moment
    if (best[:signed] >= 0.0).all():
        return best
    free = np.ones((2**signed, len(moment)), np.bool_)
    free[:, :signed] = list(product((True, False), repeat=signed))
    found, sizes = np.zeros(free.shape), free.sum(axis=1)
    for size in range(len(moment) - signed, len(moment)):
        which = np.flatnonzero(sizes == size)
        kept = np.nonzero(free[which])[1].reshape(len(which), size)
        inverses = np.linalg.pinv(gram[kept[:, :, None], kept[:, None, :]], COLLINEAR, True)
        found[which[:, None], kept] = (inverses @ moment[kept][:, :, None])[:, :, 0]
    best, least = found[-1], np.inf
    for theta in found[1:][(found[1:, :signed] >= 0.0).all(axis=1)]:
        value = float(theta @ gram @ theta - 2.0 * theta @ moment)
        if value < least:
            best, least = theta, value
    return best


def compare(better: JointFit, other: JointFit) -> FitComparison:
    """Compare two fits of the same rows, where both know them."""
    both = np.isfinite(better.residual) & np.isfinite(other.residual)
    if np.count_nonzero(both) < LEAST:
        return FitComparison(0.0, 0.0)
    r, s = better.residual[both] ** 2, other.residual[both] ** 2
    mine, theirs = float(r.mean()) + LEAST_DIVISOR, float(s.mean()) + LEAST_DIVISOR
    gain = 0.5 * (np.log(theirs / mine) + s / theirs - r / mine)
    scores = []
    for blocks in BLOCKS:
        means = np.array([part.mean() for part in np.array_split(gain, blocks)])
        scores.append(float(means.mean() * np.sqrt(blocks) / (means.std(ddof=1) + LEAST_DIVISOR)))
    return FitComparison(theirs / mine, min(scores))


def explains(found: JointFit) -> bool:
    """Whether a fit explains enough of the effort that what it says of a mistake counts."""
    return found.unexplained <= UNEXPLAINED


def subject_of(motion: Motion) -> Subject | None:
    """What the hypotheses look at; None where the motion is too short or the joint does not move."""
    rows = rows_of(motion)
    return None if rows is None else Subject(motion, rows, fit(rows, motion))


def gain_of(column: Floats, output: Floats) -> tuple[Gain, float]:
    """Output over column with its deviation by the jackknife over blocks, and the share of the output that is left."""
    blocks = BLOCKS[0]
    pairs = zip(np.array_split(column, blocks), np.array_split(output, blocks), strict=True)
    parts = np.array([(c @ c, c @ y) for c, y in pairs])
    square, moment = parts.sum(axis=0)
    gain = float(moment / (square + LEAST_DIVISOR))
    without = (moment - parts[:, 1]) / (square - parts[:, 0] + LEAST_DIVISOR)
    deviation = float(np.sqrt((blocks - 1) / blocks * np.sum((without - without.mean()) ** 2)))
    left = float(np.std(output - gain * column) / (np.std(output) + LEAST_DIVISOR))
    return Gain(gain, deviation), left


def velocity_gain(subject: Subject) -> Gain | None:
    """Factor of the velocity channel; None without one, or where it is no multiple of the position's rate."""
    motion, rows = subject.motion, subject.rows
    if motion.velocity is None:
        return None
    given = rows_of(motion._replace(effort=motion.velocity))
    if given is None or np.count_nonzero(given.usable) < LEAST:
        return None
    late = max(1, round(LATE / rows.period))
    best = None
    for lag in {0, late // 4, late // 2, late}:  # rough: only the factor is wanted
        rate = np.roll(given.v, lag)[given.usable]
        gain, left = gain_of(rate, given.effort[given.usable])
        if best is None or left < best[1]:
            best = gain, left
    return best[0] if best is not None and best[1] <= UNEXPLAINED else None


def known_gains(subject: Subject) -> tuple[Gain, Gain] | None:
    """Factors of the torques that the configured bodies' inertia and weight need; None where they are not known."""
    motion, rows = subject.motion, subject.rows
    if motion.known is None or motion.link is None or not motion.known.gravity:
        return None
    link = rows_of(motion._replace(position=motion.link))
    if link is None or len(link.q) != len(rows.q):
        return None
    bodies = motion.known
    needed = bodies.inertia_motor * rows.a + bodies.inertia_link * link.a
    weight = -bodies.gravity * np.sin(link.q)
    columns = np.column_stack([needed, weight, columns_of(rows, motion._replace(axis=Axis.PRISMATIC))[:, 1:]])
    usable = rows.usable & link.usable
    if np.count_nonzero(usable) < LEAST:
        return None
    found = solve(columns, rows.effort, usable, 0)
    if not explains(found):
        return None
    which = np.flatnonzero(usable)
    parts = np.array_split(which, BLOCKS[-1])
    without = np.array(
        [
            solve(columns, rows.effort, np.isin(np.arange(len(usable)), np.setdiff1d(which, part)), 0).theta[:2]
            for part in parts
        ]
    )
    spread = np.sqrt((len(parts) - 1) / len(parts) * np.sum((without - without.mean(axis=0)) ** 2, axis=0))
    return Gain(float(found.theta[0]), float(spread[0])), Gain(float(found.theta[1]), float(spread[1]))
