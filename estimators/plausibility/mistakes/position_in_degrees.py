"""The position is in degrees but was taken for radians: the weight's torque follows sin(π/180·q) and not sin q.

Without a torque of the weight degrees only scale the parameters, and cannot be detected by a fit; then a velocity in
rad/s tells them, known bodies, or a turn of 360 (position_wraps.py).
"""

import math
from typing import Final

from estimators.plausibility.mistakes.base import Finding, Subject
from estimators.plausibility.mistakes.fit import compare, explains, fit, known_gains, velocity_gain
from estimators.quantities import Axis
from estimators.reasons import Reason

DEGREE: Final = math.pi / 180.0


def find_position_in_degrees(subject: Subject) -> Finding | None:
    """Compare the fit with that of the position in degrees, the position's rate with the velocity channel, and what
    known bodies need with the torque."""
    motion, rows = subject.motion, subject.rows
    if motion.axis is not Axis.ROTARY:
        return None
    gain = velocity_gain(subject)
    if gain is not None and gain.is_near(DEGREE):
        return Finding(Reason("position_in_degrees", "position"), gain.z)
    degrees = rows._replace(q=DEGREE * rows.q, v=DEGREE * rows.v, a=DEGREE * rows.a)
    found = fit(degrees, motion)
    if motion.link is not None:
        gains = known_gains(Subject(motion._replace(link=DEGREE * motion.link), degrees, found))
        if gains is not None and all(one.is_near(1.0) for one in gains):
            return Finding(Reason("position_in_degrees", "position"), min(one.z for one in gains))
    evidence = compare(found, subject.fit)
    if not (explains(found) and evidence.stands):
        return None
    return Finding(Reason("position_in_degrees", "position"), evidence.z, found)
