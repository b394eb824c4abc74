"""Ranks the causes of what has changed of a joint: probabilities of each, of "unknown", and of nothing at all.

"Unknown" is any torque and twist, or a change that resembles a cause: the shapes of that cause with a larger leak (how
far a fault may differ from its shape, as a share of its size). Without the latter the nearest cause would explain most
kinds that are not in the catalogue better than "any torque" does.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np

from estimators.causes.base import CauseKind, FaultWindow, Shape, unit
from estimators.causes.catalogue import CAUSES
from estimators.causes.evidence import SIZES, TWISTS, EvidencePart, share_along
from estimators.causes.healthy_joint import WARMER, HealthyJoint
from estimators.causes.ringing import ringing
from estimators.causes.sample_rows import SignatureRows
from estimators.causes.time_course import FORBIDDEN, MOST, TimeCourse
from estimators.quantities import Floats

#: 1, argued: Probability before anything is seen that a change is of a kind that is not in the catalogue.
UNKNOWN: Final = 0.15
#: nats, argued: Evidence over nothing from which something has changed. A look in 5 s is 720 chances an hour, of which
#: one in four is new: ln(720 · 24 · 365 / 4) = 14.3 for one in a year of motion.
CERTAIN: Final = 14.3
#: 1, tuned: By which evidence is divided, since errors of neighbouring directions go together. Of 4, 8 and 16 the one
#: with the least log loss on development seed 1001, where each cause in turn was left out of the catalogue as well.
TEMPER: Final = 8.0
#: 1, tuned: Leak of a change that resembles a cause and is another one: of 0.3, 0.5 and 0.8 the one with the least log
#: loss there. A cause is named where its own leak explains the change better.
RESEMBLING: Final = 0.3
#: 1, argued: Probability that a change of a kind that is not in the catalogue resembles a cause of it.
RESEMBLES: Final = 0.5


class Ranked(NamedTuple):
    """How the causes of one window stand."""

    evidence: float  # nats of the best explanation over nothing
    probability: Mapping[str, float]  # of each cause and "unknown", given that something has changed
    size: float  # share of the signal's rms that has changed


def reference(rows: SignatureRows) -> HealthyJoint:
    """The healthy joint of these rows; what it leaves of the twist along shapes of causes is there on any day."""
    healthy = HealthyJoint.of(rows)
    if healthy.twist is None:
        return healthy
    window = FaultWindow(healthy, rows)
    shapes = [unit(shape.columns) for cause in CAUSES for shape in cause.twist(window)]
    return healthy.with_ordinary_twist(share_along(np.column_stack(shapes), window.twist))


def rank(window: FaultWindow, course: TimeCourse) -> Ranked:
    """Compare all causes in one window."""
    parts = _parts(window, course.growth(window.rows.time))
    nothing = sum(part.nothing for part, _ in parts)
    shaped = {one.name: _cause(one, parts, one.leak) - nothing for one in CAUSES}
    strange = _either([sum(one) for one in _choices([[part.nothing, part.unknown] for part, _ in parts])[1:]]) - nothing
    like = [_cause(one, parts, RESEMBLING) - nothing for one in CAUSES if any(shapes[one.name] for _, shapes in parts)]
    shaped["unknown"] = TEMPER * float(
        np.logaddexp(
            np.log(1.0 - RESEMBLES) + strange / TEMPER, np.log(RESEMBLES) + _either([one / TEMPER for one in like])
        )
    )
    beside = {one.name: course.evidence(one.sudden, FORBIDDEN if one.only else MOST) for one in CAUSES} | {
        "unknown": 0.0,
        "collision": course.collision,
    }
    swinging = ringing(window)
    beside |= {one.name: beside[one.name] + swinging for one in CAUSES if one.rings}
    names = list(shaped)
    prior = np.where(np.array(names) == "unknown", UNKNOWN, (1.0 - UNKNOWN) / len(CAUSES))
    score = np.log(prior) + np.array([shaped[name] / TEMPER + beside[name] for name in names])
    weight = np.exp(score - score.max())
    return Ranked(
        max(strange, *(shaped[one.name] + max(beside[one.name], 0.0) for one in CAUSES)),
        dict(zip(names, (weight / weight.sum()).tolist(), strict=True)),
        max(part.explained / part.rms for part, _ in parts),
    )


def _parts(window: FaultWindow, growth: Floats) -> list[tuple[EvidencePart, dict[str, tuple[Shape, ...]]]]:
    """The signals of a window, each with the shapes of all causes in it, which grow so (n,) meanwhile."""
    healthy, rows = window.healthy, window.rows
    daily = [(unit(rows.v), WARMER * float(np.sqrt((window.viscous**2).mean())))]
    torques = {one.name: tuple(shape.growing(growth) for shape in one.torque(window)) for one in CAUSES}
    every = [shape for shapes in torques.values() for shape in shapes]
    parts = [(EvidencePart(healthy.torque, healthy.columns(rows), window.torque, every, daily, SIZES), torques)]
    if healthy.twist is not None:
        twists = {one.name: tuple(shape.growing(growth) for shape in one.twist(window)) for one in CAUSES}
        every = [shape for shapes in twists.values() for shape in shapes]
        columns = healthy.twist_columns(rows)
        parts.append((EvidencePart(healthy.twist, columns, window.twist, every, (), TWISTS), twists))
    return parts


def _cause(cause: CauseKind, parts: list[tuple[EvidencePart, dict[str, tuple[Shape, ...]]]], leak: float) -> float:
    """Evidence of a cause in all signals, with this leak; it shows in at least one of them."""
    choices = []
    for part, shapes in parts:
        own = shapes[cause.name]
        if cause.rings:
            choices.append([part.nothing, part.unknown])
            continue
        shown = [part.evidence(own, leak)] if own else []
        choices.append(shown if shown and cause.in_torque and not choices else [part.nothing, *shown])
    found = _choices(choices)
    every = found if cause.in_torque or len(found) == 1 else found[1:]
    return _either([sum(one) for one in every])


def _choices(parts: list[list[float]]) -> list[list[float]]:
    """All combinations of shows and does not show; the first is: in none."""
    found: list[list[float]] = [[]]
    for one in parts:
        found = [[*before, value] for value in one for before in found]
    return found


def _either(logarithms: list[float]) -> float:
    most = max(logarithms)
    return most + float(np.log(np.mean(np.exp(np.array(logarithms) - most))))
