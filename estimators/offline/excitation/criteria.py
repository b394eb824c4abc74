"""Trajectories that tell most of a robot: criteria of a motion, and the search for the best one within the limits.

    cond    cond(Γ),  Γ = Y_b stacked, rows divided by the joints' torque noise
    block   (wα + wβ + wγ) cond(Γ) + wα cond(Γα) + wβ cond(Γβ) + wγ cond(Γγ)     inertial, velocity and gravity parts
    dopt    −log det ΓᵀΓ

The three parts sum to Y_b but tell fewer columns than it: each is taken with its own independent columns. Weights: the
mean variance of a part's columns at random motions, normalised to sum 1.

Search: the coefficients of a joint are confined to those that begin and end at rest (Σ a = 0, Σ l b = 0) at its home
(q0 = home + Σ b/(l w)), then scaled so that it just keeps its limits: every candidate is feasible. CMA-ES (Hansen,
Ostermeier 2001) on the logarithm of the criterion from the best of 300 random ones.

After Liu et al., Actuators 2023, 12, 454, (13)–(18), corrected: what stands above is what is done.
"""

import math
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import null_space

from estimators.models.robots.base_parameters import base_projection, project
from estimators.models.robots.kinematics import FRAME, motion
from estimators.models.robots.regressor import SCREW, regressor, regressor_row
from estimators.models.robots.tree import PARAMETERS, Tree
from estimators.numerics.jit import kernel
from estimators.numerics.nnls import Integers
from estimators.offline.excitation.trajectory import FINER, SAMPLES, Fourier, JointLimits, TrajectoryMotion, basis
from estimators.quantities import Floats

Objective = Literal["cond", "block", "dopt"]
Mode = Literal["peak", "bound"]
OBJECTIVES: Final[tuple[Objective, ...]] = ("cond", "block", "dopt")
MARGIN: Final = 0.985  # of the limits, for peaks between the samples of the search
RANDOM: Final = 300
POPULATION: Final = 16
FIRST_STEP: Final = 0.15  # of a joint's coefficients
WORST: Final = 1e16  # cond of a matrix that tells less than all


class Criteria(NamedTuple):
    """The criteria of one motion; lower is better."""

    cond: float
    block: float
    dopt: float


class FoundTrajectory(NamedTuple):
    """The best trajectory, its criteria, and how it was found."""

    fourier: Fourier
    criteria: Criteria
    evaluations: int
    seconds: float  # by the clock
    processor: float  # s of it that the processor was ours


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
        self._told: list[NDArray[np.int64]] = [np.sort(project(part, every).columns) for part in parts]
        size = np.array([float(part[:, told].var(axis=0).mean()) for part, told in zip(parts, self._told, strict=True)])
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
        """(14)."""
        found = float(self.weights.sum()) * self.cond(moved)
        for weight, told, part in zip(self.weights, self._told, self._parts(moved), strict=True):
            found += float(weight) * _cond(self.information(*part)[np.ix_(told, told)])
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


class Space:
    """What the search moves in: coefficients that begin and end at rest at home, scaled into the limits."""

    def __init__(self, limits: JointLimits, home: Floats, frequency: float, harmonics: int, mode: Mode) -> None:
        self._limits, self._home, self._mode = limits, home, mode
        self._frequency, self._harmonics = frequency, harmonics
        order = np.arange(1, harmonics + 1)
        rest = np.zeros((2, 2 * harmonics))
        rest[0, :harmonics] = 1.0  # velocity at t = 0
        rest[1, harmonics:] = order  # acceleration
        self._free = null_space(rest)
        self._order = 2 * np.pi * frequency * order
        q, dq, ddq = basis(frequency, harmonics, np.arange(SAMPLES) / SAMPLES / frequency)
        self._basis = ((q - q[0]) @ self._free, dq @ self._free, ddq @ self._free)
        self.joints, self.numbers = len(home), self._free.shape[1]

    def motion(self, x: Floats) -> TrajectoryMotion:
        """x (joints · numbers,): the feasible motion on the grid of the search."""
        z = self._scaled(x)
        q, dq, ddq = (one @ z.T for one in self._basis)
        return TrajectoryMotion(self._home + q, dq, ddq)

    def fourier(self, x: Floats) -> Fourier:
        """The feasible trajectory; its peaks are inside the limits on the finer grid too."""
        y = self._scaled(x) @ self._free.T
        found = self._series(y)
        if self._mode == "peak":
            fine = found.grid(FINER)
            found = self._series(y * np.minimum(1.0, MARGIN * self._room(fine))[:, np.newaxis])
        return found

    def _series(self, y: Floats) -> Fourier:
        a, b = y[:, : self._harmonics], y[:, self._harmonics :]
        return Fourier(self._frequency, self._home + (b / self._order).sum(axis=1), a, b)

    def _scaled(self, x: Floats) -> Floats:
        z = x.reshape(self.joints, self.numbers)
        if self._mode == "peak":
            q, dq, ddq = (one @ z.T for one in self._basis)
            return z * (MARGIN * self._room(TrajectoryMotion(self._home + q, dq, ddq)))[:, np.newaxis]
        y = z @ self._free.T
        a, b = y[:, : self._harmonics], y[:, self._harmonics :]
        size = np.hypot(a, b)
        away, limits = (b / self._order).sum(axis=1), self._limits  # of q0 from home
        reach = (size / self._order).sum(axis=1)
        up, down = limits.upper - self._home, self._home - limits.lower
        with np.errstate(divide="ignore"):
            room = np.minimum(up / np.maximum(reach + away, 1e-300), down / np.maximum(reach - away, 1e-300))
            room = np.minimum(room, limits.velocity / size.sum(axis=1))
            room = np.minimum(room, limits.acceleration / (size * self._order).sum(axis=1))
        return np.asarray(z * (room * (1.0 - 1e-12))[:, np.newaxis])

    def _room(self, moved: TrajectoryMotion) -> Floats:
        """Factor by which each joint's motion about home may grow to touch its first limit, (n,)."""
        limits, away = self._limits, moved.q - self._home
        with np.errstate(divide="ignore"):
            room = (limits.upper - self._home) / np.maximum(away.max(axis=0), 1e-300)
            room = np.minimum(room, (self._home - limits.lower) / np.maximum(-away.min(axis=0), 1e-300))
            room = np.minimum(room, limits.velocity / np.abs(moved.dq).max(axis=0))
            return np.asarray(np.minimum(room, limits.acceleration / np.abs(moved.ddq).max(axis=0)))


def search(
    judge: Judge,
    space: Space,
    objective: Objective = "cond",
    seconds: float = 45.0,
    evaluations: int = 1_000_000,
    seed: int = 1,
    told: Callable[[int, float], None] = lambda _count, _best: None,
) -> FoundTrajectory:
    """The best trajectory found; told: what is called now and then with evaluations so far and the best criterion."""
    criterion = {"cond": judge.cond, "block": judge.block, "dopt": judge.dopt}[objective]
    logarithm = objective != "dopt"
    began, busy, rng = time.monotonic(), time.process_time(), np.random.default_rng(seed)
    best, value, count = np.zeros(0), math.inf, 0

    def cost(x: Floats) -> float:
        nonlocal best, value, count
        count += 1
        found = criterion(space.motion(x))
        found = math.log(found) if logarithm else found
        if found < value:
            best, value = x.copy(), found
        return found

    while True:
        starts = [rng.normal(size=(space.joints, space.numbers)) for _ in range(RANDOM)]
        starts = [(one / np.linalg.norm(one, axis=1, keepdims=True)).ravel() for one in starts]
        first = starts[int(np.argmin([cost(one) for one in starts[: max(1, evaluations - count)]]))]
        for _ in _generations(cost, first, int(rng.integers(1, 2**31))):
            told(count, math.exp(value) if logarithm else value)
            if time.monotonic() - began > seconds or count >= evaluations:
                fourier = space.fourier(best)
                spent = (time.monotonic() - began, time.process_time() - busy)
                return FoundTrajectory(fourier, judge.all(fourier.grid()), count, *spent)


def _generations(cost: Callable[[Floats], float], start: Floats, seed: int) -> Iterator[None]:
    """Generation after generation until the strategy stands still."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of cma, on what else it could do
        import cma

        strategy = cma.CMAEvolutionStrategy(start, FIRST_STEP, {"popsize": POPULATION, "seed": seed, "verbose": -9})
    while not strategy.stop():
        points = strategy.ask()
        strategy.tell(points, [cost(one) for one in points])
        yield


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
