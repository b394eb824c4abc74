"""The velocity has the opposite sign of the position's rate: the torque tells which of the two is reversed."""

from estimators.plausibility.mistakes.base import Finding, Subject
from estimators.plausibility.mistakes.fit import compare, solve_usable, velocity_gain
from estimators.plausibility.mistakes.torque_sign import find_torque_sign
from estimators.reasons import Reason


def find_velocity_sign(subject: Subject) -> Finding | None:
    """Look at the sign of the velocity over the position's rate, and of the torque over both; it must be certain."""
    gain = velocity_gain(subject)
    if gain is None or not gain.is_near(-1.0):
        return None
    z = gain.z
    if find_torque_sign(subject) is not None:
        return Finding(Reason("position_sign_reversed", "position"), z)
    if not compare(subject.fit, solve_usable(subject.fit.columns, -subject.rows.effort, subject.rows.usable)).stands:
        return None  # either may be reversed
    return Finding(Reason("velocity_sign_reversed", "velocity"), z)
