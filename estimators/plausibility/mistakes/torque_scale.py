"""The torque is off by a power of ten, as mN·m read as N·m are.

A fit cannot tell it: all parameters are scaled alike. It shows against what is known beside the data: bodies that the
configuration states, or the drive's largest torque.
"""

import math

import numpy as np

from estimators.plausibility.mistakes.base import Finding, Subject
from estimators.plausibility.mistakes.fit import TOLERANCE, known_gains
from estimators.reasons import Reason


def find_torque_scale(subject: Subject) -> Finding | None:
    """Compare the torque with what known bodies need, and with the drive's largest torque."""
    gains = known_gains(subject)
    if gains is not None and gains[0].value > 0.0:
        power = round(math.log10(gains[0].value))
        factor = 10.0**power
        if power and all(gain.is_near(factor) for gain in gains):
            return _finding(factor, min(gain.value / gain.deviation for gain in gains))
    effort = subject.motion.effort
    usual = float(np.nanmedian(np.abs(effort)))
    if math.isfinite(subject.motion.limit) and usual > math.exp(TOLERANCE) * subject.motion.limit:
        return _finding(10.0 ** math.ceil(math.log10(usual / subject.motion.limit)), math.inf)
    return None


def _finding(factor: float, z: float) -> Finding:
    return Finding(Reason("torque_scale", "torque", {"factor": factor, "scale": 1.0 / factor}), z)
