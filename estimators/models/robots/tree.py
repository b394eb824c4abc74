"""A tree of revolute and prismatic joints as kernels take it: a few arrays."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.quantities import Floats

REVOLUTE: Final = 0  # of kind
PRISMATIC: Final = 1
PARAMETERS: Final = 10  # of a link: m, mx, my, mz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz

# columns of geometry: rotation of the link's axes in its parent's A + B cos q + C sin q, origin = OFFSET + SLIDE q
AXIS: Final = 0  # unit vector in the link's own axes
OFFSET: Final = 3
SLIDE: Final = 6
FIXED: Final = 9  # A, row by row
COSINE: Final = 18  # B
SINE: Final = 27  # C
GEOMETRY: Final = 36


class Tree(NamedTuple):
    """Joints, their parents and where they sit; see the package."""

    parent: NDArray[np.int64]  # (n,) −1: the base; always less than the joint's own number
    kind: NDArray[np.int64]  # (n,) REVOLUTE or PRISMATIC
    geometry: Floats  # (n, GEOMETRY)
    gravity: Floats  # (3,) m/s² in the base frame

    def weightless(self) -> "Tree":
        """This tree without gravity."""
        return self._replace(gravity=np.zeros(3))

    def size(self) -> int:
        """Number of joints n."""
        return len(self.parent)


def tree(
    parent: Sequence[int], kind: Sequence[int], placement: Floats, direction: Floats, gravity: Sequence[float] | Floats
) -> Tree:
    """Tree by each joint's pose in its parent's link frame at q = 0, (n, 4, 4), and its axis in its own, (n, 3)."""
    geometry = np.zeros((len(parent), GEOMETRY))
    for i, (pose, axis) in enumerate(zip(placement, direction, strict=True)):
        unit = np.asarray(axis, np.float64) / np.linalg.norm(axis)
        R, along = pose[:3, :3], np.outer(unit, unit)
        across = np.array([[0.0, -unit[2], unit[1]], [unit[2], 0.0, -unit[0]], [-unit[1], unit[0], 0.0]])
        geometry[i, AXIS:OFFSET], geometry[i, OFFSET:SLIDE] = unit, pose[:3, 3]
        if kind[i] == PRISMATIC:
            geometry[i, SLIDE:FIXED] = R @ unit
            geometry[i, FIXED:COSINE] = R.ravel()
            continue
        geometry[i, FIXED:COSINE] = (R @ along).ravel()
        geometry[i, COSINE:SINE] = (R @ (np.eye(3) - along)).ravel()
        geometry[i, SINE:] = (R @ across).ravel()
    parents, kinds = np.array(parent, np.int64), np.array(kind, np.int64)
    return Tree(parents, kinds, geometry, np.array(gravity, np.float64))
