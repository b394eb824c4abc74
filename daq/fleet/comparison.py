"""Compares every joint of every robot with its siblings: which robots are odd, and which drift differently."""

import math
from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from daq.fleet.like_conditions import at_like_conditions
from estimators.offline.siblings import FEWEST, against_siblings, threshold
from estimators.quantities import Floats

MEDIAN: Final = 1.2533  # deviation of a median of normal values over that of their mean


class JudgedQuantity(NamedTuple):
    """One quantity of one robot's joint, over all of its recordings."""

    robot: str
    joint: str
    quantity: str
    unit: str
    value: float  # median of its recordings
    deviation: float
    recordings: int
    siblings: int  # robots with this joint and quantity, itself included
    median: float  # of them, at its temperature and use where these are known and matter
    z: float  # robust, of the value against the siblings'; NaN where they are too few
    change: float  # median of its later recordings less that of its earlier ones; NaN of a single one
    change_z: float  # robust, of the change against the siblings'
    threshold: float  # above which a |z| is significant; NaN where nothing was compared

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
        """The larger |z| over the threshold: above 1 it is significant; 0 where nothing was compared."""
        return max((abs(one) / self.threshold for one in (self.z, self.change_z) if math.isfinite(one)), default=0.0)


class SiblingKind(NamedTuple):
    """What values of different robots have in common where they can be compared."""

    joint: str
    model: str
    quantity: str
    unit: str


class Siblings(NamedTuple):
    """One quantity of the same joint of all robots that have it."""

    kind: SiblingKind
    robots: tuple[str, ...]
    values: Floats  # (robots, 2) value and σ
    changes: Floats  # (robots, 2) change and σ; NaN where there is none
    recordings: NDArray[np.int64]  # (robots,) that went into each
    conditions: Floats | None = None  # (robots, 2) temperature °C and ln of use; NaN where not known


def judged(siblings: Iterable[Siblings]) -> list[JudgedQuantity]:
    """Every robot against its siblings, by kind; robots in their order."""
    groups = []
    for one in sorted(siblings, key=lambda one: one.kind):
        like = at_like_conditions(one.values[:, 0], one.values[:, 1], one.conditions)
        groups.append((one, like, against_siblings(*like[:2]), against_siblings(*one.changes.T)))
    looked = sum(int(np.isfinite(z).sum() + np.isfinite(change).sum()) for *_, z, change in groups)
    found = list[JudgedQuantity]()
    for (kind, robots, values, changes, recordings, _), like, z, change_z in groups:
        count, medians = len(robots), float(np.median(like.values)) + like.shifts
        limit = threshold(count - like.lines, looked) if count >= FEWEST else math.nan
        columns = (*values.T.tolist(), recordings.tolist(), medians.tolist(), z.tolist(), changes[:, 0].tolist(),
                   change_z.tolist())  # fmt: skip
        for robot, value, deviation, runs, median, mine, change, other in zip(robots, *columns, strict=True):
            found.append(
                JudgedQuantity(
                    robot, kind.joint, kind.quantity, kind.unit, value, deviation, runs, count, median, mine, change,
                    other, limit,
                )
            )  # fmt: skip
    return found
