"""The torque is off by a power of ten, as mN·m read as N·m are.

A fit cannot tell it: all parameters are scaled alike. It shows against what is known beside the data: bodies that the
configuration states, or the drive's largest torque.
"""

import math

import numpy as np

from estimators.plausibility.mistakes.base import Finding, Motion, Subject
from estimators.plausibility.mistakes.fit import TOLERANCE, known_gains
from estimators.reasons import Reason


def find_torque_scale(subject: Subject) -> Finding | None:
    """Compare the torque with what known bodies need."""
    gains = known_gains(subject)
    if gains is not None and gains[0].value > 0.0:
        power = round(math.log10(gains[0].value))
        factor = 10.0**power
        if power and all(gain.is_near(factor) for gain in gains):
            return _finding(factor, min(gain.z for gain in gains))
    return None


def find_torque_beyond_limit(motion: Motion) -> Finding | None:
    """Compare the usual torque with the largest that the drive can give; no motion is needed for it."""
    effort = motion.effort[np.isfinite(motion.effort)]
    usual = float(np.median(np.abs(effort))) if len(effort) else 0.0
    if not usual > math.exp(TOLERANCE) * motion.limit:
        return None
    return _finding(10.0 ** math.ceil(math.log10(usual / motion.limit)), math.inf)


def _finding(factor: float, z: float) -> Finding:
    return Finding(Reason("torque_scale", "torque", {"factor": factor, "scale": 1.0 / factor}), z)
