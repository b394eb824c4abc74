"""Asks all hypotheses about a joint, or about all joints of a robot, and names at most what beats all others."""

from collections.abc import Mapping
from itertools import permutations

from estimators.plausibility.mistakes import MISTAKES
from estimators.plausibility.mistakes.base import Finding, Motion, Subject
from estimators.plausibility.mistakes.fit import compare, explains, solve_usable, subject_of
from estimators.plausibility.mistakes.units import find_position_wraps, find_torque_beyond_limit
from estimators.reasons import Reason


def look(motion: Motion) -> tuple[Reason, ...]:
    """Name the mistakes that some seconds of one joint show; none where nothing is certain."""
    return _examined(motion)[0]


def _examined(motion: Motion) -> tuple[tuple[Reason, ...], Subject | None]:
    """The mistakes of one joint, and what was looked at where nothing exact was found."""
    exact = find_position_wraps(motion) or find_torque_beyond_limit(motion)
    if exact is not None:
        return (exact.reason,), None
    subject = subject_of(motion)
    return () if subject is None else _named(subject), subject


def look_at_joints(motions: Mapping[str, Motion]) -> dict[str, tuple[Reason, ...]]:
    """Name the mistakes of each joint, and joints whose torques are exchanged; joints without any are left out."""
    examined = {name: _examined(motion) for name, motion in motions.items()}
    found = {name: reasons for name, (reasons, _) in examined.items()}
    poor = {
        name: subject
        for name, (reasons, subject) in examined.items()
        if not reasons and subject is not None and not explains(subject.fit)
    }
    others: dict[str, list[str]] = {name: [] for name in poor}
    for mine, other in permutations(poor, 2):
        if _fits_better(poor[mine], poor[other]) and _fits_better(poor[other], poor[mine]):
            others[mine].append(other)
    for mine, candidates in others.items():
        if len(candidates) == 1 and others[candidates[0]] == [mine]:
            found[mine] = (Reason("joints_exchanged", "torque", {}, {"other": candidates[0]}),)
    return {name: reasons for name, reasons in found.items() if reasons}


def _fits_better(mine: Subject, other: Subject) -> bool:
    """Whether a joint's motion explains the other joint's torque, and much better than its own."""
    if len(mine.rows.q) != len(other.rows.q):
        return False
    found = solve_usable(mine.fit.columns, other.rows.effort, mine.rows.usable)
    return explains(found) and compare(found, mine.fit).stands


def _named(subject: Subject) -> tuple[Reason, ...]:
    """The finding that beats all others: evidence from outside the fit first, else the hypothesis that fits best."""
    found = [one for mistake in MISTAKES if (one := mistake(subject)) is not None]
    direct = {one.reason.code: one.reason for one in found if one.fit is None}
    if direct:
        return tuple(direct.values())
    winners = [one for one in found if all(_beats(one, other) for other in found if other is not one)]
    return tuple(one.reason for one in winners)


def _beats(one: Finding, other: Finding) -> bool:
    """Whether the data explain the one better than the other beyond noise."""
    return one.fit is not None and other.fit is not None and compare(one.fit, other.fit).stands
