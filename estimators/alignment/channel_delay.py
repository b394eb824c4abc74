"""How late one channel of a joint is against another, from a recording of its motion, and how sure that is.

With q the reference channel, made equidistant and smoothed by the same kernel g as the channel y that is judged,

    y(t) = S(t − d) θ + error,   S a cubic spline through columns formed of q:
        same    q, 1, s(v), τₑ            another encoder of the same joint
        rate    v, 1                      a velocity that the device gives
        effort  a, v, s(v), sin q, cos q, 1     the torque, force or current of the joint: its equation of motion

with s(v) = tanh(v/v₀). d is found by variable projection (Golub, Pereyra 1973): the least residual on a grid of delays,
then Gauss–Newton on [S, −S′θ]. A delay shows as d·v, so whatever else is odd in velocity must not stand in for it, and
whatever bends the joint must have a column. Deflection is the torque over a stiffness, but only of the torque that
passes the spring: τₑ = τ without its own regression on v and s(v), the motor's friction. What is left of it is even
under time reversal and takes nothing from the delay; s(v) takes lost motion at reversals. A torque's delay shows in
what jumps (acceleration, friction at reversals), as far as one joint's equation explains it; where a joint sticks at a
reversal friction is any torque, and such rows are left out. The channels are not
whitened: a delay is read where the motion is, not where a joint's resonances turn the phase.

Standard deviations are those of the delete-one-block jackknife (Shao, Wu 1989), since residuals of real joints (gear
error, hysteresis) are correlated, over tenths of a second or over the whole of an arm's motion. How long is not known
beforehand: the blocks are 20, then 10 and 5, and the largest deviation counts (Flyvbjerg, Petersen, J. Chem.
Phys. 91:461–466, 1989: blocks are long enough where longer ones say no more). Between halves and thirds of two
recordings of a KR300 delays differ by 2.7 of the deviations from 20 blocks.
"""

from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.numerics.splines import cubic_spline
from estimators.quantities import Floats
from estimators.thresholds import LEAST_DIVISOR, VALUE_ROUNDING

if TYPE_CHECKING:
    from scipy.interpolate import CubicSpline

Mask = NDArray[np.bool_]

#: blocks, tuned: Numbers of time blocks of the jackknife; halves and thirds of two recordings differ by 0.9 of the
#: largest of the three deviations (decision 017, point 5).
BLOCKS: Final = (20, 10, 5)
#: rows, argued: Fewer rows leave less than ten for each block of the jackknife.
ROWS: Final = 10 * BLOCKS[0]
#: s, argued: Standard deviation of the smoothing kernel g: shorter than the acceleration of a machine lasts.
SMOOTHING: Final = 0.01
#: samples, argued: The least standard deviation of g, in samples of the slower channel, so that g is still a smooth
#: kernel.
SMOOTHING_SAMPLES: Final = 2.0
#: 1, derived: Standard deviations at which g ends; what is beyond is 6e-5 of a Gaussian.
SUPPORT: Final = 4.0
#: 1, argued: Speed over the rms speed within which the friction column changes its side.
REVERSAL: Final = 0.05
#: 1, tuned: Below this share of the rms speed a joint is slow: origin not recorded.
STILL: Final = 0.02
#: 1, argued: Standard deviations of g for which a joint is slow before it counts as sticking instead of passing through
#: zero.
STICKS: Final = 3.0
#: periods, tuned: Samples at most this far apart are interpolated, since one lost sample does not hurt a spline: origin
#: not recorded.
TOGETHER: Final = 2.5
#: 1, argued: With a larger share of torque unexplained, coupling from other joints would pass for a delay, or for a
#: mistake of a person.
UNEXPLAINED: Final = 0.1
#: rows, argued: Rows on which the grid of delays is tried; Gauss-Newton then uses all of them.
SEARCHED_ROWS: Final = 5000
#: delays, argued: Points of the grid of delays: 2 ms apart for the usual range, closer than the correlation length of
#: motion.
SEARCHED_DELAYS: Final = 101
#: steps, argued: Gauss-Newton steps at most; it converges in fewer than ten or never.
STEPS: Final = 30
#: s, argued: The longest delay that is searched unless the caller says otherwise; a bus and a filter delay less.
LONGEST: Final = 0.1
#: 1, argued: A fitted gain that is closer to one is one: gears are exact.
EXACT_GEAR: Final = 0.05
#: periods, derived: Slack that keeps the last point of a grid when float64 rounds its place down.
WHOLE: Final = 1e-6
#: periods, derived: Two instants that are closer are the same one but for rounding.
SAME_INSTANT: Final = 1e-9
#: 1, derived: Singular values below this share of the largest are rounding of columns with unit rms.
RANK: Final = 1e-9
#: 1, derived: The same for a Gram matrix of float64 sums.
RANK_OF_GRAM: Final = 1e-12
#: s, derived: A Gauss-Newton step below this changes no printed digit.
FOUND: Final = 1e-10


class Relation(StrEnum):
    """What a channel is to the reference."""

    SAME = "same"
    RATE = "rate"
    EFFORT = "effort"


class ChannelSeries(NamedTuple):
    """One channel of a recording."""

    time: Floats  # (rows,) s, ascending
    values: Floats  # (rows,) SI; NaN where missing


class Delay(NamedTuple):
    """How late a channel is against the reference."""

    delay: float  # s
    deviation: float  # s
    gain: float  # of the channel over the reference (or its rate; of an effort: over the acceleration, the inertia)
    gain_deviation: float
    before: float  # std of channel − reference (or its rate, or the equation of motion), channel's unit, as recorded
    after: float  # the same with the delay taken off
    rows: int


class SkewError(ValueError):
    """The recording cannot tell the delay; the text says why."""


def delay(
    reference: ChannelSeries,
    channel: ChannelSeries,
    relation: Relation,
    effort: ChannelSeries | None = None,
    longest: float = LONGEST,
) -> Delay:
    """The delay of a channel against the reference, positive when the channel is late.

    effort: the joint's torque where it is known (for `same`: lets the joint bend); longest: s, either way.
    Raises SkewError when the recording is too short, the joint rests, no delay within ±longest fits best, or an effort
    is not explained by the joint's own equation of motion.
    """
    others = [] if effort is None or relation is not Relation.SAME else [effort]
    grid, known, raw = _together([reference, channel, *others])
    period = float(grid[1] - grid[0])
    taps = gaussian_taps(period)
    q, y, *rest = (np.convolve(one, taps, "same") for one in raw)
    columns = _columns(relation, grid, q, rest[0] if rest else None, taps)
    margin = len(taps) // 2 + 1
    shifted = np.logical_and.reduce(np.delete(known, 1, axis=0))
    if relation is Relation.EFFORT:
        shifted &= _moves(np.gradient(q, period), len(taps) / (2.0 * SUPPORT))
    keep = _inside(known[1], margin) & _inside(shifted, margin + int(longest / period))
    if np.count_nonzero(keep) < ROWS:
        raise SkewError(f"too short: {np.count_nonzero(keep)} usable rows, {ROWS} are needed")
    spline, t, y = cubic_spline(grid, columns), grid[keep], y[keep]
    if float(np.ptp(y)) <= VALUE_ROUNDING * float(np.abs(y).max()):
        raise SkewError("the channel never changes: not the same motion")
    found = _gauss_newton(spline, t, y, _search(spline, t, y, longest), longest)
    columns = spline(t - found)
    jacobian, residual = _jacobian(spline, t, y, found), y - _fit(columns, y)[1]
    spread = np.max([_jackknife(jacobian, residual, t, blocks) for blocks in BLOCKS], axis=0)
    gain, deviation = float(_fit(columns, y)[0][0]), float(spread[-1])
    unsure = float(spread[0] / (np.sqrt(np.mean(columns[:, 0] ** 2)) + LEAST_DIVISOR))
    if relation is Relation.EFFORT:
        before, after = (float(np.std(y - _fit(spline(t - late), y)[1])) for late in (0.0, found))
        left = after / float(np.std(y))
        if left > UNEXPLAINED:
            raise SkewError(f"one joint's equation of motion leaves {left:.0%} of it: too much to find its delay")
        if gain <= 0:
            raise SkewError("the inertia that fits is not positive: the channel's sign, or too little motion")
        return Delay(found, deviation, gain, unsure, before, after, len(t))
    motion, order = cubic_spline(grid, raw[0]), int(relation is Relation.RATE)
    scale = 1.0 if abs(gain - 1) < EXACT_GEAR else gain  # gears are exact: a fit of 0.9998 is not a gear
    before, after = (float(np.std(raw[1][keep] - scale * motion(t - late, order))) for late in (0.0, found))
    return Delay(found, deviation, gain, unsure, before, after, len(t))


def _together(series: list[ChannelSeries]) -> tuple[Floats, Mask, list[Floats]]:
    """One equidistant grid (rows,) s, where on it each channel is known (channels, rows), and the channels' values."""
    finite = [ChannelSeries(one.time[ok], one.values[ok]) for one in series for ok in [np.isfinite(one.values)]]
    if any(len(one.time) < 4 for one in finite):
        raise SkewError("too short: a channel has fewer than four values")
    if any((np.diff(one.time) <= 0).any() for one in finite):
        raise SkewError("a channel's instants do not ascend")
    period = max(float(np.median(np.diff(one.time))) for one in finite)
    start, end = max(one.time[0] for one in finite), min(one.time[-1] for one in finite)
    if end - start < 8 * period:
        raise SkewError("too short: the channels have too little time in common")
    grid = start + period * np.arange(int((end - start) / period + WHOLE) + 1)
    known = np.ones((len(finite), len(grid)), bool)
    for one, mask in zip(finite, known, strict=True):
        after = np.clip(np.searchsorted(one.time, grid - SAME_INSTANT * period), 1, len(one.time) - 1)
        apart = one.time[after] - one.time[after - 1]
        mask &= apart <= TOGETHER * max(period, float(np.median(np.diff(one.time))))
    return grid, known, [cubic_spline(one.time, one.values)(grid) for one in finite]


def gaussian_taps(period: float) -> Floats:
    """The smoothing kernel g: Gaussian taps, sum one; period: s."""
    width = max(SMOOTHING / period, SMOOTHING_SAMPLES)
    reach = int(np.ceil(SUPPORT * width))
    taps: Floats = np.exp(-0.5 * (np.arange(-reach, reach + 1) / width) ** 2)
    taps /= taps.sum()
    return taps


def _columns(relation: Relation, grid: Floats, q: Floats, effort: Floats | None, taps: Floats) -> Floats:
    """The columns of S on the grid (rows, columns); the first one's coefficient is the gain."""
    spline = cubic_spline(grid, q)
    v, a, one = spline(grid, 1), spline(grid, 2), np.ones_like(q)
    inner = slice(len(taps), len(grid) - len(taps))
    speed = float(np.sqrt(np.mean(v[inner] ** 2))) if len(grid) > 3 * len(taps) else 0.0
    if not speed > 0:
        raise SkewError("the reference channel rests, or its motion is too short: a delay shows in motion only")
    reversal = np.convolve(np.tanh(v / (REVERSAL * speed)), taps, "same")
    if relation is Relation.RATE:
        return np.stack([v, one], axis=1)
    if relation is Relation.EFFORT:
        return np.stack([a, v, reversal, np.sin(q), np.cos(q), one], axis=1)
    if effort is None:
        return np.stack([q, one, reversal], axis=1)
    dynamics = np.stack([v, reversal, a, np.sin(q), np.cos(q), one], axis=1)
    friction, _ = _fit(dynamics[inner], effort[inner])
    bending = effort - friction[0] * v - friction[1] * reversal
    return np.stack([q, one, reversal, bending], axis=1)


def _inside(known: Mask, margin: int) -> Mask:
    """Rows that are at least margin away from an end or a gap."""
    unknown = np.concatenate([[1.0], ~known, [1.0]])
    near: Floats = np.convolve(unknown, np.ones(2 * margin + 1), "same")[1:-1]
    return near < 0.5


def _moves(v: Floats, width: float) -> Mask:
    """Rows but those at a standstill; width: rows, standard deviation of g."""
    slow = np.abs(v) < STILL * np.sqrt(np.mean(v**2))
    edges = np.flatnonzero(np.diff(slow.astype(np.int8), prepend=0, append=0))
    moves = np.ones(len(v), bool)
    for start, end in edges.reshape(-1, 2):
        moves[start:end] = end - start <= STICKS * width
    return moves


def _fit(columns: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Least squares by scaled columns: coefficients, prediction."""
    scale = np.sqrt(np.mean(columns**2, axis=0)) + LEAST_DIVISOR
    theta = np.linalg.lstsq(columns / scale, y, rcond=RANK)[0] / scale
    return theta, columns @ theta


def _search(spline: "CubicSpline", t: Floats, y: Floats, longest: float) -> float:
    """The best of a grid of delays, on thinned rows."""
    thin = slice(None, None, max(1, len(t) // SEARCHED_ROWS))
    delays = np.linspace(-longest, longest, SEARCHED_DELAYS)
    residuals = [float(np.var(y[thin] - _fit(spline(t[thin] - one), y[thin])[1])) for one in delays]
    best = int(np.argmin(residuals))
    if best in (0, len(delays) - 1):
        raise SkewError(f"no delay within ±{longest * 1e3:g} ms fits best: longer, or not the same motion")
    return float(delays[best])


def _jacobian(spline: "CubicSpline", t: Floats, y: Floats, at: float) -> Floats:
    """[S, −S′θ] at a delay, columns scaled to rms one but the last."""
    columns = spline(t - at)
    theta, _ = _fit(columns, y)
    columns = columns / (np.sqrt(np.mean(columns**2, axis=0)) + LEAST_DIVISOR)
    slope: Floats = -(spline(t - at, 1) @ theta)
    return np.column_stack([columns, slope])


def _gauss_newton(spline: "CubicSpline", t: Floats, y: Floats, start: float, longest: float) -> float:
    found, reach = start, 4 * longest / SEARCHED_DELAYS  # two steps of the grid
    for _ in range(STEPS):
        step = float(_fit(_jacobian(spline, t, y, found), y - _fit(spline(t - found), y)[1])[0][-1])
        found = float(np.clip(found + step, start - reach, start + reach))
        if abs(step) < FOUND:
            break
    if abs(found - start) >= reach:
        raise SkewError("the delay is not determined: too little motion, or not the same motion")
    return found


def _jackknife(jacobian: Floats, residual: Floats, t: Floats, blocks: int) -> Floats:
    """Standard deviations of the first and the last coefficient (2,) when blocks of time are left out one by one."""
    scale = np.sqrt(np.mean(jacobian**2, axis=0)) + LEAST_DIVISOR
    A = jacobian / scale
    bounds = np.searchsorted(t, t[0] + (t[-1] - t[0]) * np.arange(1, blocks) / blocks)
    parts = [
        (block.T @ block, block.T @ rest)
        for block, rest in zip(np.split(A, bounds), np.split(residual, bounds), strict=True)
        if len(block)
    ]
    normal, moment = sum(part[0] for part in parts), sum(part[1] for part in parts)
    both = np.array([np.linalg.pinv(normal - N, RANK_OF_GRAM, True) @ (moment - m) for N, m in parts])[:, [0, -1]]
    without = both / scale[[0, -1]]
    count = len(parts)
    return np.asarray(np.sqrt((count - 1) / count * np.sum((without - without.mean(axis=0)) ** 2, axis=0)))
