"""The times are twice too fast or too slow.

A fit cannot tell it: a factor of two scales inertia and viscous friction only. It shows against a velocity channel and
against known bodies.
"""

import math
from typing import Final

from estimators.plausibility.mistakes.base import Finding, Subject
from estimators.plausibility.mistakes.fit import known_gains, velocity_gain
from estimators.reasons import Reason

FACTORS: Final = (0.5, 2.0)  # recorded time over true time


def find_time_factor(subject: Subject) -> Finding | None:
    """Compare the times with a velocity channel or with known bodies."""
    gain, gains = velocity_gain(subject), known_gains(subject)
    for factor in FACTORS:
        if gain is not None and gain.is_near(factor):
            return _factor(factor, gain.z)
        midway = abs(
            math.log(factor)
        )  # for the weight, between 1 and the factor of the inertia, that of a torque's scale
        if gains is not None and gains[0].is_near(factor**2) and gains[1].is_near(1.0, midway):
            return _factor(factor, min(one.z for one in gains))
    return None


def _factor(factor: float, z: float) -> Finding:
    return Finding(Reason("time_factor", "time", {"factor": factor, "inverse": 1.0 / factor}), z)
