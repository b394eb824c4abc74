"""Compares every joint of every robot with its siblings: which robots are odd, and which drift differently."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from daq.fleet.examine import ExaminedRecording, JointFound, RecordedQuantity
from estimators.offline.siblings import FEWEST, against_siblings, threshold
from estimators.quantities import Floats

KNOWN: Final = ("valid", "held")  # status of a joint in which every value counts; while learning, those with a σ
LEARNING: Final = "learning"
MEDIAN: Final = 1.2533  # deviation of a median of normal values over that of their mean


@dataclass(frozen=True)
class JudgedQuantity:
    """One quantity of one robot's joint, over all of its recordings."""

    robot: str
    joint: str
    quantity: str
    unit: str
    value: float  # median of its recordings
    deviation: float
    recordings: int
    siblings: int  # robots with this joint and quantity, itself included
    median: float  # of them
    z: float  # robust, of the value against the siblings'; NaN where they are too few
    change: float  # median of its later recordings less that of its earlier ones; NaN of a single one
    change_z: float  # robust, of the change against the siblings'
    threshold: float  # above which a |z| says something; NaN where nothing was compared

    @property
    def odd(self) -> bool:
        """Whether its value differs significantly from its siblings'."""
        return abs(self.z) > self.threshold

    @property
    def drifts(self) -> bool:
        """Whether its change differs significantly from its siblings'."""
        return abs(self.change_z) > self.threshold

    @property
    def worst(self) -> float:
        """The larger |z| over the threshold: above 1 it says something; 0 where nothing was compared."""
        return max((abs(one) / self.threshold for one in (self.z, self.change_z) if math.isfinite(one)), default=0.0)


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
    runs: dict[tuple[str, str, str, str], dict[str, list[RecordedQuantity]]] = {}
    for one in in_order(found):
        for joint, quantity in _known(one.joints):
            kind = (joint.joint, joint.model, quantity.name, quantity.unit)
            runs.setdefault(kind, {}).setdefault(one.robot, []).append(quantity)
    groups = [(kind, robots, *_compared(list(robots.values()))) for kind, robots in sorted(runs.items())]
    looked = sum(int(np.isfinite(z).sum() + np.isfinite(change).sum()) for *_, z, _, change in groups)
    return [
        JudgedQuantity(
            robot, joint, name, unit, float(values[i, 0]), float(values[i, 1]), len(robots[robot]), len(robots),
            float(np.median(values[:, 0])), float(z[i]), float(changes[i, 0]), float(change_z[i]),
            threshold(len(robots), looked) if len(robots) >= FEWEST else math.nan,
        )
        for (joint, _, name, unit), robots, values, z, changes, change_z in groups
        for i, robot in enumerate(robots)
    ]  # fmt: skip


def _known(joints: Iterable[JointFound]) -> Iterable[tuple[JointFound, RecordedQuantity]]:
    """The quantities of each joint that count.

    A joint that is still learning at the end counts with its σ. Without it a robot that moves less because its friction
    is high would be left out, and it is odd for that very reason.
    """
    for joint in joints:
        for one in joint.quantities:
            learnt = joint.status == LEARNING and math.isfinite(one.deviation)
            if math.isfinite(one.value) and (joint.status in KNOWN or learnt):
                yield joint, one


def _compared(robots: Sequence[Sequence[RecordedQuantity]]) -> tuple[Floats, Floats, Floats, Floats]:
    """For every robot: value and σ (robots, 2), its z (robots,), change and σ (robots, 2), its z (robots,)."""
    values = np.array([_middle(one) for one in robots])
    changes = np.array([_change(one) for one in robots])
    return values, against_siblings(*values.T), changes, against_siblings(*changes.T)


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
