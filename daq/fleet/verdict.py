"""What recordings say of each robot's joints, to be compared with its siblings': values and changes."""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from daq.fleet.comparison import MEDIAN, JudgedQuantity, SiblingKind, Siblings, judged
from daq.fleet.examine import ExaminedRecording, JointFound, RecordedQuantity
from daq.fleet.known import KNOWN, LEARNING


def in_order(found: Iterable[ExaminedRecording]) -> list[ExaminedRecording]:
    """Sorted by robot, then by time where the recordings have it, else by address."""
    return sorted(found, key=lambda one: (one.robot, one.began if math.isfinite(one.began) else 0.0, one.address))


def unsettled(found: Iterable[ExaminedRecording]) -> list[tuple[ExaminedRecording, str, str]]:
    """Recording, joint and reason of every joint that was not valid at the end of the recording."""
    return [
        (one, joint.joint, joint.reasons or joint.status)
        for one in in_order(found)
        for joint in one.joints
        if joint.status not in KNOWN
    ]


def judge(found: Iterable[ExaminedRecording]) -> list[JudgedQuantity]:
    """Every quantity of every robot's joint, by joint, quantity and robot."""
    runs: dict[SiblingKind, dict[str, list[RecordedQuantity]]] = {}
    for one in in_order(found):
        for joint, quantity in _known(one.joints):
            kind = SiblingKind(joint.joint, joint.model, quantity.name, quantity.unit)
            runs.setdefault(kind, {}).setdefault(one.robot, []).append(quantity)
    return judged(
        Siblings(
            kind,
            tuple(robots),
            np.array([_middle(one) for one in robots.values()]),
            np.array([_change(one) for one in robots.values()]),
            np.array([len(one) for one in robots.values()]),
        )
        for kind, robots in runs.items()
    )


def between(found: Iterable[ExaminedRecording]) -> dict[tuple[str, str, str], tuple[float, float]]:
    """Robot, joint and quantity → Unix s of the last of its earlier recordings and of the first of its later ones.

    These are the halves that its change is taken from; of a single recording both are its beginning. Left out where a
    recording does not say when it began.
    """
    began: dict[tuple[str, str, str], list[float]] = {}
    for one in in_order(found):
        for joint, quantity in _known(one.joints):
            began.setdefault((one.robot, joint.joint, quantity.name), []).append(one.began)
    return {
        key: (times[max(len(times) // 2 - 1, 0)], times[len(times) // 2])
        for key, times in began.items()
        if all(map(math.isfinite, times))
    }


def _known(joints: Iterable[JointFound]) -> Iterable[tuple[JointFound, RecordedQuantity]]:
    """The quantities of each joint that count."""
    for joint in joints:
        for one in joint.quantities:
            learnt = joint.status == LEARNING and math.isfinite(one.deviation)
            if math.isfinite(one.value) and (joint.status in KNOWN or learnt):
                yield joint, one


def _middle(runs: Sequence[RecordedQuantity]) -> tuple[float, float]:
    """The median of one robot's recordings, and its deviation by those that the recordings state."""
    known = [one.deviation for one in runs if math.isfinite(one.deviation)]
    spread = float(np.sqrt(np.mean(np.square(known)))) if known else math.nan
    factor = MEDIAN if len(runs) > 2 else 1.0
    return float(np.median([one.value for one in runs])), factor * spread / math.sqrt(len(runs))


def _change(runs: Sequence[RecordedQuantity]) -> tuple[float, float]:
    if len(runs) < 2:
        return math.nan, math.nan
    half = len(runs) // 2
    (before, one), (after, other) = _middle(runs[:half]), _middle(runs[half:])
    return after - before, math.hypot(one, other)
