"""Criteria of a motion by its information on a robot's parameters.

    cond    cond(Γ),  Γ = Y_b stacked, rows divided by the joints' torque noise
    block   (wα + wβ + wγ) cond(Γ) + wα cond(Γα) + wβ cond(Γβ) + wγ cond(Γγ)     inertial, velocity and gravity parts
    dopt    −log det ΓᵀΓ

The three parts sum to Y_b but tell fewer columns than it: each is taken with its own independent columns. Weights: the
mean variance of a part's columns at random motions, normalised to sum 1.

After Liu et al., Actuators 2023, 12, 454, (13)–(18), corrected: what stands above is what is done.
"""

import math
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.models.robots.base_parameters import base_projection, project
from estimators.models.robots.kinematics import FRAME, motion
from estimators.models.robots.regressor import SCREW, regressor, regressor_row
from estimators.models.robots.tree import PARAMETERS, Tree
from estimators.numerics.jit import kernel
from estimators.numerics.nnls import Integers
from estimators.offline.excitation.trajectory import SAMPLES, TrajectoryMotion
from estimators.quantities import Floats

Objective = Literal["cond", "block", "dopt"]
OBJECTIVES: Final[tuple[Objective, ...]] = ("cond", "block", "dopt")
WORST: Final = 1e16  # cond of a matrix without full rank


class Criteria(NamedTuple):
    """The criteria of one motion; lower is better."""

    cond: float
    block: float
    dopt: float


class Judge:
    """Criteria of motions of one robot."""

    def __init__(self, tree: Tree, noise: Floats | None = None) -> None:
        """noise: (n,) N·m (N) of each joint's torque; one for all by default."""
        self.tree = tree
        n = tree.size()
        self._weight = 1.0 / (np.ones(n) if noise is None else noise)
        self.columns = base_projection(tree).columns
        random = np.random.default_rng(0)
        some = TrajectoryMotion(*random.uniform(-math.pi, math.pi, (3, SAMPLES, n)))
        parts = [self._stacked(*part) for part in self._parts(some)]
        every = np.arange(len(self.columns))
        self._independent: list[NDArray[np.int64]] = [np.sort(project(part, every).columns) for part in parts]
        size = np.array(
            [_spread(part[:, independent]) for part, independent in zip(parts, self._independent, strict=True)]
        )
        self.weights = size / size.sum()

    def information(self, tree: Tree, moved: TrajectoryMotion) -> Floats:
        """ΓᵀΓ (base parameters, base parameters)."""
        A = np.empty((len(self.columns), len(self.columns)))
        q, dq, ddq = (np.ascontiguousarray(one) for one in moved)
        _information(*tree, q, dq, ddq, self.columns, self._weight**2, A)
        return A

    def cond(self, moved: TrajectoryMotion) -> float:
        """cond(Γ)."""
        return _cond(self.information(self.tree, moved))

    def block(self, moved: TrajectoryMotion) -> float:
        """(14); a part that identifies nothing, as gravity where all axes are upright, adds nothing."""
        found = float(self.weights.sum()) * self.cond(moved)
        for weight, independent, part in zip(self.weights, self._independent, self._parts(moved), strict=True):
            if len(independent):
                found += float(weight) * _cond(self.information(*part)[np.ix_(independent, independent)])
        return found

    def dopt(self, moved: TrajectoryMotion) -> float:
        """−log det ΓᵀΓ."""
        sign, value = np.linalg.slogdet(self.information(self.tree, moved))
        return -float(value) if sign > 0 else math.inf

    def all(self, moved: TrajectoryMotion) -> Criteria:
        """The three."""
        return Criteria(self.cond(moved), self.block(moved), self.dopt(moved))

    def _parts(self, moved: TrajectoryMotion) -> list[tuple[Tree, TrajectoryMotion]]:
        """Inertial, velocity and gravity part, as motions of the robot with and without gravity."""
        still, weightless = np.zeros_like(moved.q), self.tree.weightless()
        return [
            (weightless, TrajectoryMotion(moved.q, still, moved.ddq)),
            (weightless, TrajectoryMotion(moved.q, moved.dq, still)),
            (self.tree, TrajectoryMotion(moved.q, still, still)),
        ]

    def _stacked(self, tree: Tree, moved: TrajectoryMotion) -> Floats:
        n = tree.size()
        Y = np.empty((len(moved.q), n, PARAMETERS * n))
        q, dq, ddq = (np.ascontiguousarray(one) for one in moved)
        regressor(*tree, q, dq, ddq, Y)
        G = Y[:, :, self.columns] * self._weight[:, np.newaxis]
        return np.asarray(G.reshape(-1, len(self.columns)))


def _spread(part: Floats) -> float:
    """Mean variance of the columns, 0 where there are none."""
    return float(part.var(axis=0).mean()) if part.shape[1] else 0.0


def _cond(A: Floats) -> float:
    """Condition number of Γ, from ΓᵀΓ."""
    values = np.linalg.eigvalsh(A)
    return math.sqrt(float(values[-1] / values[0])) if values[0] > values[-1] / WORST else math.sqrt(WORST)


@kernel("void(i8[::1], i8[::1], f8[:, ::1], f8[::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], i8[::1], f8[::1], f8[:, ::1])")
def _information(
    parent: Integers,
    kind: Integers,
    geometry: Floats,
    gravity: Floats,
    q: Floats,
    dq: Floats,
    ddq: Floats,
    columns: Integers,
    weight: Floats,
    A: Floats,
) -> None:
    n, p = len(parent), len(columns)
    frames, screws, Y = np.empty((n, FRAME)), np.empty((n, n, SCREW)), np.empty((1, n, PARAMETERS * n))
    g = np.empty(p)
    A[:] = 0.0
    for row in range(len(q)):
        motion(parent, kind, geometry, gravity, q, dq, ddq, row, frames)
        regressor_row(parent, kind, geometry, frames, screws, 0, Y)
        for j in range(n):
            for k in range(p):
                g[k] = Y[0, j, columns[k]]
            for k in range(p):
                entry = weight[j] * g[k]
                if entry != 0.0:
                    for m in range(p):
                        A[k, m] += entry * g[m]
