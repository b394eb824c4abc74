"""Units: degrees that were taken for radians, a torque that is off by a power of ten, a current given as torque.

With degrees the weight's torque follows sin(π/180·q) and not sin q. Without a torque of the weight degrees only scale
the parameters, and cannot be detected by a fit; then a velocity in rad/s tells them, or known bodies. An encoder that
starts again after one turn shows by itself: the position jumps by it, 2π or 360, between two samples. A torque that is
off by a power of ten, as mN·m read as N·m are, and a current that is given as torque scale all parameters alike: they
show against bodies that the configuration states, the drive's largest torque, or the name of the column.
"""

import math
import re
from typing import Final

import numpy as np

from estimators.plausibility.mistakes.base import Finding, Motion, Subject
from estimators.plausibility.mistakes.fit import TOLERANCE, compare, explains, fit, known_gains, velocity_gain
from estimators.quantities import Axis
from estimators.reasons import Reason

DEGREE: Final = math.pi / 180.0
TURN: Final = 2.0 * math.pi  # rad
#: 1, argued: A jump is a turn give or take this share of it, which the joint moves meanwhile: `unwrap` believes a
#: quarter.
NEAR: Final = 0.25
#: 1, argued: Every other step is less than this share of the turn: else the motion itself might jump.
STEP: Final = 0.05
NAMED: Final = re.compile(r"current|amp(ere)?s?(?![a-z])|(?<![a-z])(iq|i_q|cur|i_motor)(?![a-z])", re.IGNORECASE)
NO_CURRENT: Final = re.compile(r"torque|moment|effort|force|tau|_nm(?![a-z])", re.IGNORECASE)


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
