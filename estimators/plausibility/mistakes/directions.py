"""Channels that are exchanged, or count in opposite directions.

Position and torque are exchanged where the equation of motion explains the one by the other the other way round.
Where torque and position count in opposite directions, inertia and friction fit with the torque negated only. Which of
the two is reversed follows from a third channel: the weight's torque may have any sign, but where there is a velocity,
the torque tells whether it or the position is.
"""

from estimators.plausibility.mistakes.base import Finding, Subject
from estimators.plausibility.mistakes.fit import SIGNED, compare, explains, fit, rows_of, solve_usable, velocity_gain
from estimators.reasons import Reason


def find_channels_exchanged(subject: Subject) -> Finding | None:
    """Compare the fit with that of the exchanged channels; each residual over the spread of its own output."""
    motion = subject.motion
    rows = rows_of(motion._replace(position=motion.effort, effort=motion.position))
    if rows is None:
        return None
    found = fit(rows, motion)
    evidence = compare(found, subject.fit)
    if not (explains(found) and evidence.stands):
        return None
    return Finding(Reason("channels_exchanged", "position"), evidence.z, found)


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
