"""Position and torque are exchanged: the equation of motion explains the one by the other the other way round."""

from estimators.plausibility.mistakes.base import Finding, Subject
from estimators.plausibility.mistakes.fit import compare, explains, fit, rows_of
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
