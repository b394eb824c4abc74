"""A mechanism: links on joints, loops closed by cut joints, some joints driven, every joint in a bearing that may rub.

Read from TOML (`load`) or built from a mapping (`build`); description.py has the fields. All mistakes are reported at
once, in words.
"""

import copy
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from estimators.models.mechanisms.cuts import PLANAR, REVOLVING, TIED, close, jacobians
from estimators.models.mechanisms.description import Bearing, Cut, Description, MechanismError
from estimators.models.mechanisms.dynamics import ALL, DIVERGED, IDEAL, SINGULAR, forward, inverse
from estimators.models.mechanisms.joint_load import BEARING, LOADS
from estimators.models.robots.kinematics import forward_kinematics
from estimators.models.robots.newton_euler import mass_matrix
from estimators.models.robots.tree import PRISMATIC, REVOLUTE, Tree, tree
from estimators.quantities import Floats

EPSILON_INVERSE = 1e-4  # rad/s (m/s) of the friction's tanh
EPSILON_FORWARD = 1e-3
#: rad, argued: Steps in which a pose is approached: Newton's quadratic error of one is then a thousandth of a radian.
STEP_TURNED: Final = 0.05
#: m, argued: The same of a drive that slides, for links of a few centimetres and more.
STEP_SLID: Final = 0.002


class MechanismMotion(NamedTuple):
    """Motion of a mechanism that fits its loops: each (rows, n), rad (m)."""

    q: Floats
    dq: Floats
    ddq: Floats


class DynamicsSolution(NamedTuple):
    """What the dynamics say of every row."""

    tau: Floats  # (rows, n) of the drives, 0 where there is none; N·m (N)
    ddq: Floats  # (rows, n)
    cut_forces: Floats  # (rows, c), base axes
    loads: Floats  # (rows, n + cuts, LOADS), see joint_load.py
    iterations: NDArray[np.int64]  # (rows,) of the fixed point
    contraction: Floats  # (rows,) the largest ρ seen


class Mechanism:
    """Arrays for the kernels, and the calls on them."""

    def __init__(self, description: Description) -> None:
        """Raises MechanismError when it cannot be closed or the number of drives is not what it can move."""
        self.description = description
        links, cuts = description.links, description.cuts
        self.names = tuple(link.name for link in links)
        self.joints = self.names + tuple(cut.name for cut in cuts)  # rows of loads and bearings
        number = {"": -1} | {name: i for i, name in enumerate(self.names)}
        poses = np.tile(np.eye(4), (len(links), 1, 1))
        poses[:, :3, 3] = [link.origin for link in links]
        kinds = [PRISMATIC if link.kind == "prismatic" else REVOLUTE for link in links]
        axes = np.array([link.axis for link in links])
        self.tree: Tree = tree([number[link.parent] for link in links], kinds, poses, axes, description.gravity)
        self.parameters = np.array([link.parameters() for link in links])
        self.drive = np.array([link.drive for link in links], np.int64)
        rows = [PLANAR if cut.kind == "planar" else REVOLVING for cut in cuts]
        ends = [(number[cut.link], number[cut.other], n) for cut, n in zip(cuts, rows, strict=True)]
        self.ends = np.array(ends, np.int64).reshape(len(cuts), 3)
        self.tied = np.array([_tied(cut) for cut in cuts]).reshape(len(cuts), TIED)
        self.bearings = self._numbers([link.bearing for link in links] + [cut.bearing for cut in cuts])
        self.rows = sum(rows)
        self.home = np.zeros(len(links))
        self._check()

    def with_parameters(self, parameters: Floats) -> Self:
        """This mechanism with other links; parameters: (n, 10)."""
        other = copy.copy(self)
        other.parameters = np.ascontiguousarray(parameters, np.float64)
        return other

    def with_bearings(self, bearings: Sequence[Bearing]) -> Self:
        """This mechanism with other bearings, one for each of `joints`."""
        other = copy.copy(self)
        other.bearings = self._numbers(bearings)
        return other

    def _numbers(self, bearings: Sequence[Bearing]) -> Floats:
        slides = [link.kind == "prismatic" for link in self.description.links] + [False] * len(self.description.cuts)
        found = [one.numbers(own) for one, own in zip(bearings, slides, strict=True)]
        return np.array(found).reshape(len(self.joints), BEARING)

    def size(self) -> int:
        """Number of tree joints n."""
        return len(self.names)

    def _check(self) -> None:
        n, drives = self.size(), int(self.drive.sum())
        if self.rows:
            mobility = n - int(np.linalg.matrix_rank(self.loops(np.zeros((1, n)))[0][0], 1e-6))
            if mobility == n - self.rows and drives == mobility:
                self.home = self.fit(np.zeros((1, n))).q[0]
                return
            if mobility != n - self.rows:
                raise MechanismError(
                    f"the loops' {self.rows} conditions are not independent ({n - mobility} are): expected planar cuts "
                    "in a planar mechanism, and no loop closed twice"
                )
        else:
            mobility = n
        if drives != mobility:
            driven = ", ".join(name for name, drive in zip(self.names, self.drive, strict=True) if drive) or "none"
            raise MechanismError(
                f"expected {mobility} driven joints, in as many ways as the mechanism can move; "
                f"found {drives} ({driven})"
            )

    def loops(self, q: Floats) -> tuple[Floats, Floats]:
        """J (rows, c, n) of the loops at q (rows, n), and how joints turn the cuts (rows, cuts, n)."""
        rows, n = q.shape
        J, turns = np.empty((rows, self.rows, n)), np.empty((rows, len(self.ends), n))
        jacobians(*self.tree, self.ends, self.tied, np.ascontiguousarray(q), J, turns)
        return J, turns

    def fit(
        self, q: Floats, dq: Floats | None = None, ddq: Floats | None = None, near: Floats | None = None
    ) -> MechanismMotion:
        """Passive joints that fit the driven ones. q, dq, ddq: (rows, n), driven columns given; dq, ddq None: rest.

        near: (n,) a pose that fits, from which the first row is reached in small steps, so that the loops stay
        assembled as they are there; by default all drives at zero. Raises MechanismError at the first row where the
        loops cannot close.
        """
        q = np.array(q, np.float64, order="C")
        if np.all(self.drive == 1):
            return MechanismMotion(
                q, *(np.zeros_like(q) if one is None else np.array(one, np.float64, order="C") for one in (dq, ddq))
            )
        free, start = self.drive == 0, self.home if near is None else near
        q[0, free] = start[free] if start.any() else q[0, free]
        dq, ddq = (np.zeros_like(q) if one is None else np.array(one, np.float64, order="C") for one in (dq, ddq))
        failed = self._approach(start, q[0])
        failed = close(*self.tree, self.ends, self.tied, self.drive, q, dq, ddq) if failed is None else 0
        if failed >= 0:
            driven = ", ".join(f"{name} {q[failed, i]:.4g}" for i, name in enumerate(self.names) if self.drive[i])
            raise MechanismError(f"the loops cannot close at row {failed}, with {driven} (rad, m)")
        return MechanismMotion(q, dq, ddq)

    def _approach(self, start: Floats, row: Floats) -> int | None:
        """Move the passive joints of `row` (n,) with its drives, from a pose that fits; where that fails, the step."""
        drives = self.drive == 1
        way = np.abs((row - start)[drives]) / np.where(self.tree.kind[drives] == REVOLUTE, STEP_TURNED, STEP_SLID)
        steps = int(np.ceil(way.max(initial=0.0)))
        if steps <= 1:
            return None
        path = np.tile(start, (steps, 1))
        path[:, drives] += np.linspace(0.0, 1.0, steps)[:, None] * (row - start)[drives]
        path[0] = start
        still = np.zeros_like(path)
        failed = int(close(*self.tree, self.ends, self.tied, self.drive, path, still, still.copy()))
        row[~drives] = path[-1, ~drives]
        return failed if failed >= 0 else None

    def inverse(self, motion: MechanismMotion, mode: int = ALL, epsilon: float = EPSILON_INVERSE) -> DynamicsSolution:
        """Torques of the drives for a motion that fits. Raises MechanismError on self-locking and singular poses."""
        solution = self._empty(len(motion.q))
        solution.ddq[:] = motion.ddq
        results: tuple[Any, ...] = solution.tau, *self._filled(solution)
        arguments: tuple[Any, ...] = (*self._constants(mode, epsilon), *motion, *results)
        inverse(*arguments)
        return self._checked(solution)

    def forward(
        self, q: Floats, dq: Floats, tau: Floats, mode: int = ALL, epsilon: float = EPSILON_FORWARD
    ) -> DynamicsSolution:
        """Accelerations for the torques tau (rows, n) at places that fit. Raises as `inverse`."""
        solution = self._empty(len(q))
        solution.tau[:] = tau
        results: tuple[Any, ...] = solution.tau, solution.ddq, *self._filled(solution)
        arguments: tuple[Any, ...] = (*self._constants(mode, epsilon), q, dq, *results)
        forward(*arguments)
        return self._checked(solution)

    def energy(self, motion: MechanismMotion) -> Floats:
        """Kinetic and potential energy, (rows,) J, with the tree's own zero."""
        rows, n = motion.q.shape
        rotation, origin = np.empty((rows, n, 3, 3)), np.empty((rows, n, 3))
        forward_kinematics(*self.tree, motion.q, rotation, origin)
        M = np.empty((rows, n, n))
        mass_matrix(*self.tree, motion.q, self.parameters, M)
        moment = self.parameters[:, 0, None] * origin + np.einsum("rnij,nj->rni", rotation, self.parameters[:, 1:4])
        return np.asarray(
            0.5 * np.einsum("ri,rij,rj->r", motion.dq, M, motion.dq) - moment.sum(axis=1) @ self.tree.gravity
        )

    def ideal(self, motion: MechanismMotion) -> DynamicsSolution:
        """Without friction."""
        return self.inverse(motion, IDEAL)

    def _constants(self, mode: int, epsilon: float) -> tuple[Any, ...]:
        return (*self.tree, self.ends, self.tied, self.drive, self.bearings, self.parameters, mode, epsilon)

    def _filled(self, solution: DynamicsSolution) -> tuple[Any, ...]:
        """What either kernel fills besides torque and acceleration."""
        return solution.cut_forces, solution.loads, solution.iterations, solution.contraction

    def _empty(self, rows: int) -> DynamicsSolution:
        n, joints = self.size(), len(self.joints)
        return DynamicsSolution(
            np.zeros((rows, n)),
            np.zeros((rows, n)),
            np.zeros((rows, self.rows)),
            np.zeros((rows, joints, LOADS)),
            np.zeros(rows, np.int64),
            np.zeros(rows),
        )

    def _checked(self, solution: DynamicsSolution) -> DynamicsSolution:
        bad = np.flatnonzero(solution.iterations < 0)
        if not len(bad):
            return solution
        row = int(bad[0])
        if solution.iterations[row] == SINGULAR:
            raise MechanismError(f"row {row}: a singular pose, the drives do not determine the motion")
        assert solution.iterations[row] == DIVERGED
        raise MechanismError(
            f"row {row}: the friction of the joints' own forces does not settle (contraction "
            f"{solution.contraction[row]:.2f}, below 0.9 is needed): self-locking, or arms and coefficients too large"
        )


def load(file: Path) -> Mechanism:
    """A mechanism from TOML. Raises MechanismError with all mistakes."""
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise MechanismError(f"{file}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise MechanismError(f"{file}: {error}") from error
    return build(content, str(file))


def build(content: Mapping[str, Any], source: str = "mechanism") -> Mechanism:
    """A mechanism from a mapping as TOML gives it."""
    try:
        description = Description.model_validate(content)
    except ValidationError as error:
        lines = (
            f"{source}: {_place(one['loc'], content)}{one['msg']}, found {one['input']!r}" for one in error.errors()
        )
        raise MechanismError("\n".join(lines)) from error
    return Mechanism(description)


def _place(location: Sequence[int | str], content: Mapping[str, Any]) -> str:
    """Where a mistake is, with the link's own name."""
    words = []
    for depth, step in enumerate(location):
        if isinstance(step, int) and depth == 1:
            listed = content.get(str(location[0]), [])
            own = listed[step].get("name") if step < len(listed) and isinstance(listed[step], Mapping) else None
            words.append(f'"{own}"' if own else str(step + 1))
        else:
            words.append(str(step))
    return " ".join(words) + ": " if words else ""


def _tied(cut: Cut) -> Floats:
    """A row of `tied`."""
    z = np.array(cut.axis, np.float64)
    z /= np.linalg.norm(z)
    x = np.cross(z, np.eye(3)[int(np.argmin(np.abs(z)))])
    x /= np.linalg.norm(x)
    if cut.kind == "planar" and abs(z[2]) > 1 - 1e-12:
        x = np.array([1.0, 0.0, 0.0])
    y = np.cross(z, x)
    across = np.stack([x, y, z]) if cut.kind == "planar" else np.eye(3)
    return np.concatenate([cut.point, cut.other_point, across.ravel(), z, x, y])
