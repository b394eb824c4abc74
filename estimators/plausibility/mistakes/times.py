"""Times: twice too fast or too slow, or milliseconds that were taken for seconds.

A fit cannot tell either: inertia and viscous friction are scaled only. They show against a velocity channel; a factor
of two also against known bodies, milliseconds in an acceleration that is slower than that of any machine with a drive.
"""

import math
from typing import Final

import numpy as np

from estimators.plausibility.mistakes.base import Finding, Subject
from estimators.plausibility.mistakes.fit import EVIDENCE, compare, explains, known_gains, solve, velocity_gain
from estimators.reasons import Reason

FACTORS: Final = (0.5, 2.0)  # recorded time over true time
MILLI: Final = 1000.0
#: s, argued: Milliseconds read as seconds are a period of at least this (5 kHz); no joint is sampled so seldom.
SLOW: Final = 0.2
#: rad/s² (m/s²), argued: The largest telescopes accelerate with 10⁻³; a slower joint's inertia never shows in a torque.
CREEP: Final = 1e-4


def find_time_factor(subject: Subject) -> Finding | None:
    """Compare the times with a velocity channel or with known bodies."""
    gain, gains = velocity_gain(subject), known_gains(subject)
    for factor in FACTORS:
        if gain is not None and gain.is_near(factor):
            return _factor(factor, gain.z)
        # for the weight, between 1 and the factor of the inertia, that of a torque's scale
        midway = abs(math.log(factor))
        if gains is not None and gains[0].is_near(factor**2) and gains[1].is_near(1.0, midway):
            return _factor(factor, min(one.z for one in gains))
    return None


def _factor(factor: float, z: float) -> Finding:
    return Finding(Reason("time_factor", "time", {"factor": factor, "inverse": 1.0 / factor}), z)


def find_time_in_milliseconds(subject: Subject) -> Finding | None:
    """Compare the times with a velocity channel, and the acceleration with that of the slowest machines."""
    gain, rows = velocity_gain(subject), subject.rows
    if gain is not None and gain.is_near(MILLI):
        return Finding(Reason("time_in_milliseconds", "time"), gain.z)
    if rows.period < SLOW or float(np.abs(rows.a[rows.usable]).max()) > CREEP or not explains(subject.fit):
        return None
    without = subject.columns
    without[:, 0] = 0.0
    evidence = compare(subject.fit, solve(without, rows.effort, rows.usable))
    if evidence.z < EVIDENCE or subject.fit.theta[0] <= 0.0:
        return None
    return Finding(Reason("time_in_milliseconds", "time"), evidence.z)
