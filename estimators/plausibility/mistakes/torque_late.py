"""The torque is late or early: the equation of motion explains it better at another instant.

τ(t + d) = Φ(t)·θ, d by Gauss–Newton from the best of a grid; its deviation is the jackknife's over blocks of time, the
largest of several lengths, as in `jointwatch skew`.
"""

import math
from typing import Final

import numpy as np

from estimators.alignment.channel_delay import REVERSAL
from estimators.plausibility.mistakes.base import Finding, JointFit, Mask, MotionRows, Subject
from estimators.plausibility.mistakes.fit import (
    BLOCKS,
    CHANCE,
    EVIDENCE,
    FACTOR,
    THINNED,
    Gain,
    columns_of,
    compare,
    explains,
    rows_of,
    solve,
)
from estimators.quantities import Floats
from estimators.reasons import Reason
from estimators.thresholds import COLLINEAR, LAG_SPREAD, LEAST_DIVISOR

#: s, argued: The longest delay that is looked for, either way: more than a bus cycle and a filter make.
LONGEST: Final = 0.05
#: delays, argued: Points of the grid: closer than the kernel is wide.
GRID: Final = 21
#: deviations, argued: A bus and a current filter may delay a torque by twice LAG_SPREAD; a smaller lag is no mistake.
USUAL: Final = 2.0
#: 1, derived: Share of the rms speed below which friction changes its side: of its tanh 7e-4 are left there.
AWAY: Final = 4.0 * REVERSAL
#: 1, argued: Share of the rms speed at which a delay must show, too: nine tenths of a sine's path are left there, and
#: what follows a reversal has passed for the most part.
FAR: Final = 0.5
#: steps, argued: Gauss–Newton steps; it converges in fewer.
STEPS: Final = 6


def find_torque_late(subject: Subject) -> Finding | None:
    """Measure the delay; a mistake is one that neither noise nor a usual filter makes, and that explains the residual.

    On all rows it must do so by FACTOR. How friction changes its side is the machine's own, and what the columns miss
    of it can hide a delay: so it is looked for away from the reversals, too, where it must leave little but noise.
    Friction with memory follows a reversal with a delay, as a late torque would. What is late at the reversals only
    is no delay, so rows far from them must show the same delay, and be explained by it as much.
    """
    rows, link = subject.rows, _link_rows(subject)
    margin = int(np.ceil(LONGEST / rows.period)) + 1
    usable = rows.usable.copy()
    usable[:margin] = usable[-margin:] = False
    if link is not None:
        usable &= link.usable
    columns = subject.columns
    if link is not None:  # behind an elastic gear a link has another motion than the motor, and friction of its own
        columns = np.column_stack([columns, columns_of(link, subject.motion)])
    speed = np.abs(rows.v) / np.sqrt(np.mean(rows.v[rows.usable] ** 2))
    away, far = usable & (speed > AWAY), usable & (speed > FAR)
    for masks, explains_it in (((usable, far), _explains_by_factor), ((away,), _leaves_noise)):
        delay = _measure(rows, columns, masks[0])
        if delay is None or not _is_unusual(delay):  # as nearly always
            continue
        seen_far = _measure(rows, columns, far)
        if seen_far is None or not seen_far.is_near(delay.value):
            continue
        instants = np.arange(len(rows.q)) * rows.period
        shifted = np.interp(instants + delay.value, instants, rows.effort)
        fits = [(solve(columns, shifted, some), solve(columns, rows.effort, some)) for some in masks]
        noises = [rows.noise / float(np.var(rows.effort[some])) for some in masks]
        found = fits[0][0]
        if explains(found) and all(explains_it(*pair, noise) for pair, noise in zip(fits, noises, strict=True)):
            numbers = {"milliseconds": abs(1e3 * delay.value), "deviation": 1e3 * delay.deviation}
            words = {"way": "late" if delay.value > 0.0 else "early"}
            return Finding(Reason("torque_misaligned", "torque", numbers, words), delay.z, found)
    return None


def _measure(rows: MotionRows, columns: Floats, usable: Mask) -> Gain | None:
    """Delay in s; None where too few rows show it, or it is beyond the longest."""
    which = np.flatnonzero(usable)
    if len(which) < 10 * BLOCKS[0]:
        return None
    instants, A = np.arange(len(rows.q)) * rows.period, columns[which]
    A = A / (np.sqrt(np.mean(A**2, axis=0)) + LEAST_DIVISOR)
    inverse, own = np.linalg.pinv(A.T @ A, COLLINEAR, True), instants[which]

    def at(delay: float, values: Floats) -> tuple[Floats, Floats]:
        """Values at these rows that much later, and their products with the columns."""
        found = np.interp(own + delay, instants, values)
        return found, found @ A

    def power(delay: float) -> float:
        """Σ of the squares that the columns leave of the effort."""
        y, moment = at(delay, rows.effort)
        return float(y @ y - moment @ inverse @ moment)

    delays = np.linspace(-LONGEST, LONGEST, GRID)
    best = int(np.argmin([power(float(one)) for one in delays]))
    if best in (0, GRID - 1):
        return None
    delay, slope = float(delays[best]), np.gradient(rows.effort, rows.period)
    for _ in range(STEPS):
        (y, moment), (rate, turning) = at(delay, rows.effort), at(delay, slope)
        taken = inverse @ turning
        delay -= float((rate @ y - moment @ taken) / (rate @ rate - turning @ taken + LEAST_DIVISOR))
        delay = float(np.clip(delay, -LONGEST, LONGEST))
    y = np.interp(own + delay, instants, rows.effort)
    both = np.column_stack([A, -np.interp(own + delay, instants, slope)])
    deviation = max(_jackknife(both, y, blocks) for blocks in BLOCKS)
    return Gain(delay, deviation)


def _is_unusual(delay: Gain) -> bool:
    """Whether a delay is beyond noise and a usual filter."""
    return abs(delay.value) >= max(EVIDENCE * delay.deviation, USUAL * math.hypot(LAG_SPREAD, delay.deviation))


def _explains_by_factor(found: JointFit, before: JointFit, _: float) -> bool:
    """Whether the delay explains the residual by FACTOR, noise and all."""
    return compare(found, before).factor >= FACTOR


def _leaves_noise(found: JointFit, before: JointFit, noise: float) -> bool:
    """Whether most of what a delay leaves is white noise, and the rest was FACTOR times as much without the delay.

    noise: its power over that of the effort. The power of Gaussian noise is known to √(2/n) of itself over n rows that
    are independent; of the fit's, THINNED say the same.
    """
    left, unshifted = found.unexplained**2, before.unexplained**2
    rows = np.count_nonzero(np.isfinite(found.residual)) / THINNED
    rest = max(left - noise, 0.0) + CHANCE * left * math.sqrt(2.0 / rows)
    return FACTOR * rest <= left and unshifted - left >= (FACTOR - 1.0) * rest


def _link_rows(subject: Subject) -> MotionRows | None:
    """The motion behind the gear on the same instants, where an encoder measures it."""
    if subject.motion.link is None:
        return None
    found = rows_of(subject.motion._replace(position=subject.motion.link))
    return found if found is not None and len(found.q) == len(subject.rows.q) else None


def _jackknife(A: Floats, y: Floats, blocks: int) -> float:
    """Standard deviation of the last coefficient when blocks of time are left out one by one."""
    scale = np.sqrt(np.mean(A**2, axis=0)) + LEAST_DIVISOR
    parts = list(zip(np.array_split(A / scale, blocks), np.array_split(y, blocks), strict=True))
    grams, moments = np.array([a.T @ a for a, _ in parts]), np.array([a.T @ b for a, b in parts])
    inverses = np.linalg.pinv(grams.sum(axis=0) - grams, COLLINEAR, True)  # all at once
    without = np.einsum("bi,bi->b", inverses[:, -1], moments.sum(axis=0) - moments) / scale[-1]
    return float(np.sqrt((blocks - 1) / blocks * np.sum((without - without.mean()) ** 2)))
