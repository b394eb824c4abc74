"""The columns whose combinations explain a residual, in one order for every cause.

r = [X Y S T D E] ψ    X: of θ and the lags (q); Y: of the last link's body (10); S: of each encoder's slip (n);
                       T: of the base's tilt about its x and y (2); D: predicted torque, of each torque constant (n);
                       E: of a spring on each axis (4 n)

S_i = −∂τ/∂q_i (an encoder reads δ too much), T_k = τ of the gravity that a turn of the base about its axis adds, which
turns gravity the other way in the base's frame; E: q_j, 1, sin q_j, cos q_j, each of its own axis alone
"""

from typing import Final, NamedTuple

import numpy as np

from estimators.models.robots.newton_euler import WRENCH, newton_euler
from estimators.models.robots.tree import PARAMETERS
from estimators.models.robots.whole_robot import WholeRobot
from estimators.numerics.nnls import Integers
from estimators.quantities import Floats

TILTS: Final = 2  # axes about which a base may be tilted
#: shapes, derived: Shapes of a spring's torque over its axis' angle: q, 1, sin q, cos q.
SHAPES: Final = 4
#: rad (m), derived: Step of a central difference: its error is a 1e-7 of the torque, rounding another.
STEP: Final = 1e-4


class CauseColumns(NamedTuple):
    """Places of the columns of a robot with n joints and q parameters, its lags included."""

    q: int
    n: int

    @property
    def theta(self) -> slice:
        """Columns of θ and the lags."""
        return slice(0, self.q)

    @property
    def body(self) -> slice:
        """Columns of the last link's payload."""
        return slice(self.q, self.q + PARAMETERS)

    @property
    def slips(self) -> slice:
        """Columns of the slip of each encoder."""
        return slice(self.q + PARAMETERS, self.q + PARAMETERS + self.n)

    @property
    def tilts(self) -> slice:
        """Columns of the tilt of the base."""
        return slice(self.slips.stop, self.slips.stop + TILTS)

    @property
    def gains(self) -> slice:
        """Columns of the gain of each torque constant."""
        return slice(self.tilts.stop, self.tilts.stop + self.n)

    @property
    def springs(self) -> slice:
        """Columns of a spring on each axis, shape by shape of SHAPES."""
        return slice(self.gains.stop, self.gains.stop + SHAPES * self.n)

    def spring(self, j: int) -> Integers:
        """Places (SHAPES,) of the columns of a spring on axis j."""
        return np.asarray(self.springs.start + j + self.n * np.arange(SHAPES), np.int64)

    @property
    def size(self) -> int:
        """How many they are."""
        return self.q + PARAMETERS + (2 + SHAPES) * self.n + TILTS

    def of_joints(self, model: WholeRobot) -> Integers:
        """Columns that may differ from zero on each joint, in order, (n, m); where others have more, some of zeros."""
        shared = [*range(model.base), *range(self.q, self.gains.start)]
        terms = [[model.base + k for k, term in enumerate(model.terms) if j in term.joints] for j in range(self.n)]
        beside = [{model.size + j, self.gains.start + j, *self.spring(j).tolist()} for j in range(self.n)]
        own = [{*shared, *terms[j], *beside[j]} for j in range(self.n)]
        most = max(map(len, own))
        spare = [sorted(set(range(self.size)) - one)[: most - len(one)] for one in own]
        return np.array([sorted([*one, *more]) for one, more in zip(own, spare, strict=True)], np.int64)


def slip_columns(model: WholeRobot, bodies: Floats, q: Floats, dq: Floats, ddq: Floats) -> Floats:
    """S (rows, n, n): torque by which each joint's prediction is off per rad (m) that an encoder reads too much.

    bodies: (n, 10) standard parameters, the payload included; q, dq, ddq: (rows, n).
    """
    n = q.shape[1]
    found = np.empty((len(q), n, n))
    for i in range(n):
        step = np.zeros(n)
        step[i] = STEP
        before, after = (model.torque(bodies, q + way * step, dq, ddq) for way in (-1.0, 1.0))
        found[:, :, i] = (before - after) / (2.0 * STEP)
    return found


def tilt_columns(model: WholeRobot, bodies: Floats, q: Floats) -> Floats:
    """T (rows, n, 2): torque per rad of tilt about the base's x and y; arguments as of `slip_columns`."""
    n = q.shape[1]
    still, q, bodies = np.zeros_like(q), np.ascontiguousarray(q), np.ascontiguousarray(bodies)
    found = np.empty((len(q), n, TILTS))
    for k in range(TILTS):
        turned = np.cross(model.tree.gravity, np.eye(3)[k])
        tau, wrench = np.empty((len(q), n)), np.empty((len(q), n, WRENCH))
        newton_euler(
            *model.tree._replace(gravity=turned), q, still, still, bodies, np.zeros((0, n, WRENCH)), tau, wrench
        )
        found[:, :, k] = tau
    return found


def spring_shapes(q: Floats) -> Floats:
    """Shapes (SHAPES, rows, n) of a spring's torque on each axis by its own angle; q: (rows, n)."""
    return np.stack([q, np.ones_like(q), np.sin(q), np.cos(q)])


def spring_columns(q: Floats) -> Floats:
    """E (rows, n, SHAPES n): torque of a spring on each axis, which no other axis feels; q: (rows, n)."""
    rows, n = q.shape
    found = np.zeros((rows, n, SHAPES, n))
    for j in range(n):
        found[:, j, :, j] = spring_shapes(q)[:, :, j].T
    return found.reshape(rows, n, SHAPES * n)
