"""A current is given as torque: its column says so, or it is a multiple of the torque that known bodies need.

A fit alone cannot tell it: all parameters are scaled alike.
"""

import math
import re
from typing import Final

from estimators.plausibility.mistakes.base import Finding, Subject
from estimators.plausibility.mistakes.fit import TOLERANCE, known_gains
from estimators.reasons import Reason

NAMED: Final = re.compile(r"current|amp(ere)?s?(?![a-z])|(?<![a-z])(iq|i_q|cur|i_motor)(?![a-z])", re.IGNORECASE)
NO_CURRENT: Final = re.compile(r"torque|moment|effort|force|tau|_nm(?![a-z])", re.IGNORECASE)


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
