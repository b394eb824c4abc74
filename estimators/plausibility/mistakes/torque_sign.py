"""Torque and position count in opposite directions: inertia and friction fit with the torque negated only.

Which of the two is reversed follows from a third channel only (velocity_sign.py): the weight's torque may have any
sign.
"""

from estimators.plausibility.mistakes.base import Finding, Subject
from estimators.plausibility.mistakes.fit import SIGNED, compare, explains, solve_usable
from estimators.reasons import Reason


def find_torque_sign(subject: Subject) -> Finding | None:
    """Compare the fit with that of the negated torque; both inertia and friction have to be positive there."""
    found = solve_usable(subject.fit.columns, -subject.rows.effort, subject.rows.usable)
    inertia, friction = found.theta[0], found.theta[1:SIGNED]
    evidence = compare(found, subject.fit)
    if not (explains(found) and evidence.stands and inertia > 0.0 and friction.any()):
        return None
    return Finding(Reason("torque_sign_reversed", "torque"), evidence.z, found)
