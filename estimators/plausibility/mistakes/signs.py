"""Signs: torque and position, or velocity and position, count in opposite directions.

Inertia and friction then fit with the torque negated only. Which of the two is reversed follows from a third channel:
the weight's torque may have any sign, but where there is a velocity, the torque tells whether it or the position is.
"""

from estimators.plausibility.mistakes.base import Finding, Subject
from estimators.plausibility.mistakes.fit import SIGNED, compare, explains, solve_usable, velocity_gain
from estimators.reasons import Reason


def find_torque_sign(subject: Subject) -> Finding | None:
    """Compare the fit with that of the negated torque; both inertia and friction have to be positive there."""
    found = solve_usable(subject.fit.columns, -subject.rows.effort, subject.rows.usable)
    inertia, friction = found.theta[0], found.theta[1:SIGNED]
    evidence = compare(found, subject.fit)
    if not (explains(found) and evidence.stands and inertia > 0.0 and friction.any()):
        return None
    return Finding(Reason("torque_sign_reversed", "torque"), evidence.z, found)


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
