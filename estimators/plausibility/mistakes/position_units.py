"""Units of the position: degrees that were taken for radians, and an encoder that starts again after one turn.

With degrees the weight's torque follows sin(π/180·q) and not sin q. Without a torque of the weight degrees only scale
the parameters, and cannot be detected by a fit; then a velocity in rad/s tells them, or known bodies. A turn shows by
itself: the position jumps by it, 2π or 360, between two samples.
"""

import math
from typing import Final

import numpy as np

from estimators.plausibility.mistakes.base import Finding, Motion, Subject
from estimators.plausibility.mistakes.fit import compare, explains, fit, known_gains, velocity_gain
from estimators.quantities import Axis
from estimators.reasons import Reason

DEGREE: Final = math.pi / 180.0
TURN: Final = 2.0 * math.pi  # rad
#: 1, argued: A jump is a turn give or take this share of it, which the joint moves meanwhile: `unwrap` believes a
#: quarter.
NEAR: Final = 0.25
#: 1, argued: Every other step is less than this share of the turn: else the motion itself might jump.
STEP: Final = 0.05


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


def find_position_wraps(motion: Motion) -> Finding | None:
    """Look for steps of a whole turn, of 2π or of 360."""
    if motion.axis is not Axis.ROTARY:
        return None
    q = motion.position[np.isfinite(motion.position)]
    steps = np.abs(np.diff(q))
    for turn in (TURN, 360.0):
        jumps = np.abs(steps - turn) < NEAR * turn
        if not jumps.any() or not np.ptp(q) <= (1.0 + STEP) * turn:
            continue
        others = steps[~jumps]
        rest = np.diff(q)[jumps]
        rest = rest - turn * np.sign(rest)  # how far the joint moved meanwhile
        if len(others) and max(float(others.max()), float(np.abs(rest).max())) < STEP * turn:
            code = "position_wraps" if turn == TURN else "position_in_degrees"
            if code == "position_wraps":
                return Finding(Reason("position_wraps", "position", {"jumps": float(jumps.sum())}), math.inf)
            return Finding(Reason("position_in_degrees", "position"), math.inf)
    return None
