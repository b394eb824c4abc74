"""The torque is late or early: the equation of motion explains it better at another instant.

τ(t + d) = Φ(t)·θ, d by Gauss–Newton from the best of a grid; its deviation is the jackknife's over blocks of time, the
largest of several lengths, as in `jointwatch skew`.
"""

import math
from typing import Final

import numpy as np

from estimators.plausibility.mistakes.base import Finding, MotionRows, Subject
from estimators.plausibility.mistakes.fit import (
    BLOCKS,
    EVIDENCE,
    FACTOR,
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
#: steps, argued: Gauss–Newton steps; it converges in fewer.
STEPS: Final = 6


def find_torque_late(subject: Subject) -> Finding | None:
    """Measure the delay; a mistake is one that neither noise nor a usual filter makes."""
    rows, link = subject.rows, _link_rows(subject)
    margin = int(np.ceil(LONGEST / rows.period)) + 1
    usable = rows.usable.copy()
    usable[:margin] = usable[-margin:] = False
    if link is not None:
        usable &= link.usable
    which = np.flatnonzero(usable)
    if len(which) < 10 * BLOCKS[0]:
        return None
    columns = columns_of(rows, subject.motion)
    if link is not None:  # behind an elastic gear a link has another motion than the motor, and friction of its own
        columns = np.column_stack([columns, columns_of(link, subject.motion)])
    instants, A = np.arange(len(rows.q)) * rows.period, columns[which]
    A = A / (np.sqrt(np.mean(A**2, axis=0)) + LEAST_DIVISOR)
    inverse = np.linalg.pinv(A.T @ A, COLLINEAR, True)

    def left(delay: float) -> Floats:
        y = np.interp(instants[which] + delay, instants, rows.effort)
        return np.asarray(y - A @ (inverse @ (A.T @ y)))

    delays = np.linspace(-LONGEST, LONGEST, GRID)
    powers = [float(np.mean(left(one) ** 2)) for one in delays]
    best = int(np.argmin(powers))
    if best in (0, GRID - 1):
        return None
    delay, slope = float(delays[best]), np.gradient(rows.effort, rows.period)
    for _ in range(STEPS):
        rate = np.interp(instants[which] + delay, instants, slope)
        delay -= float((rate @ left(delay)) / (rate @ (rate - A @ (inverse @ (A.T @ rate))) + LEAST_DIVISOR))
        delay = float(np.clip(delay, -LONGEST, LONGEST))
    y = np.interp(instants[which] + delay, instants, rows.effort)
    both = np.column_stack([A, -np.interp(instants[which] + delay, instants, slope)])
    deviation = max(_jackknife(both, y, blocks) for blocks in BLOCKS)
    if abs(delay) < max(EVIDENCE * deviation, USUAL * math.hypot(LAG_SPREAD, deviation)):
        return None
    shifted = np.interp(instants + delay, instants, rows.effort)
    found, before = (solve(columns, one, usable) for one in (shifted, rows.effort))
    if not (explains(found) and compare(found, before).factor >= FACTOR):
        return None
    numbers = {"milliseconds": abs(1e3 * delay), "deviation": 1e3 * deviation}
    words = {"way": "late" if delay > 0.0 else "early"}
    return Finding(Reason("torque_misaligned", "torque", numbers, words), Gain(delay, deviation).z, found)


def _link_rows(subject: Subject) -> MotionRows | None:
    """The motion behind the gear on the same instants, where an encoder measures it."""
    if subject.motion.link is None:
        return None
    found = rows_of(subject.motion._replace(position=subject.motion.link))
    return found if found is not None and len(found.q) == len(subject.rows.q) else None


def _jackknife(A: Floats, y: Floats, blocks: int) -> float:
    """Standard deviation of the last coefficient when blocks of time are left out one by one."""
    scale = np.sqrt(np.mean(A**2, axis=0)) + LEAST_DIVISOR
    parts = [
        (a.T @ a, a.T @ b) for a, b in zip(np.array_split(A / scale, blocks), np.array_split(y, blocks), strict=True)
    ]
    gram, moment = sum(one[0] for one in parts), sum(one[1] for one in parts)
    without = np.array([(np.linalg.pinv(gram - g, COLLINEAR, True) @ (moment - m))[-1] for g, m in parts]) / scale[-1]
    return float(np.sqrt((blocks - 1) / blocks * np.sum((without - without.mean()) ** 2)))
