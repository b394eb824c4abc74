"""Units of the torque: off by a power of ten, as mN·m read as N·m are, or a current that is given as torque.

A fit cannot tell either: all parameters are scaled alike. It shows against what is known beside the data: bodies that
the configuration states, the drive's largest torque, or the name of the column.
"""

import math
import re
from typing import Final

import numpy as np

from estimators.plausibility.mistakes.base import Finding, Motion, Subject
from estimators.plausibility.mistakes.fit import TOLERANCE, known_gains
from estimators.reasons import Reason

NAMED: Final = re.compile(r"current|amp(ere)?s?(?![a-z])|(?<![a-z])(iq|i_q|cur|i_motor)(?![a-z])", re.IGNORECASE)
NO_CURRENT: Final = re.compile(r"torque|moment|effort|force|tau|_nm(?![a-z])", re.IGNORECASE)


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


def find_current_as_torque(subject: Subject) -> Finding | None:
    """Look at the name of the column, and at what known bodies need."""
    name = subject.motion.source
    if NAMED.search(name) and not NO_CURRENT.search(name):
        return Finding(Reason("current_as_torque", "torque", {}, {"cause": f'its column is called "{name}"'}), math.inf)
    gains = known_gains(subject)
    if gains is None or min(gain.value for gain in gains) <= 0.0:
        return None
    inertia, weight = gains
    power = 10.0 ** round(math.log10(inertia.value))
    near = any(inertia.is_near(one) for one in (1.0, power))
    if near or not weight.is_near(inertia.value):
        return None
    if abs(math.log(inertia.value)) < 2.0 * TOLERANCE:
        return None
    cause = f"the known bodies need {1.0 / inertia.value:.3g} times as much"
    z = min(gain.z for gain in gains)
    return Finding(Reason("current_as_torque", "torque", {}, {"cause": cause}), z)
