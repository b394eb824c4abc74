"""Times in milliseconds were taken for seconds: the velocity channel is a thousand times the position's rate.

Without one they show in an acceleration that is slower than that of any machine with a drive.
"""

from typing import Final

import numpy as np

from estimators.plausibility.mistakes.base import Finding, Subject
from estimators.plausibility.mistakes.fit import EVIDENCE, compare, explains, solve, velocity_gain
from estimators.reasons import Reason

MILLI: Final = 1000.0
#: s, argued: Milliseconds read as seconds are a period of at least this (5 kHz); nobody samples a joint so seldom.
SLOW: Final = 0.2
#: rad/s² (m/s²), argued: The largest telescopes accelerate with 10⁻³; a slower joint's inertia never shows in a torque.
CREEP: Final = 1e-4


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
