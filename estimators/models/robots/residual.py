"""The residual torque of every joint at one tick: measured − links − friction, for the default friction law.

    r = τ − RNEA(q, q̇, q̈) − (fc tanh(q̇/ε) + fv q̇ + offset + Ia q̈)

Other laws give their columns by `WholeRobot.others`; this is the path of a live service's every tick.
"""

from typing import Final

import numpy as np

from estimators.models.robots.kinematics import FRAME, motion
from estimators.models.robots.newton_euler import WRENCH, forces
from estimators.numerics.jit import kernel
from estimators.numerics.nnls import Integers
from estimators.quantities import Floats

TRANSITION: Final = 0  # ε; columns of friction (n, COEFFICIENTS)
COULOMB: Final = 1
VISCOUS: Final = 2
OFFSET: Final = 3
ROTOR: Final = 4
COEFFICIENTS: Final = 5


@kernel(
    "void(i8[::1], i8[::1], f8[:, ::1], f8[::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1],"
    " f8[:, ::1], f8[:, ::1])"
)
def residual_torque(
    parent: Integers,
    kind: Integers,
    geometry: Floats,
    gravity: Floats,
    q: Floats,
    dq: Floats,
    ddq: Floats,
    measured: Floats,
    parameters: Floats,
    friction: Floats,
    residual: Floats,
) -> None:
    """Fill residual (rows, n) in N·m (N); parameters (n, 10), friction (n, COEFFICIENTS)."""
    n = len(parent)
    frames, nothing, wrench = np.empty((n, FRAME)), np.zeros((0, n, WRENCH)), np.empty((1, n, WRENCH))
    tau = np.empty((1, n))
    for row in range(len(q)):
        motion(parent, kind, geometry, gravity, q, dq, ddq, row, frames)
        forces(parent, kind, geometry, parameters, nothing, frames, 0, tau, wrench)
        for j in range(n):
            v = dq[row, j]
            smooth = np.tanh(v / friction[j, TRANSITION])
            drive = friction[j, COULOMB] * smooth + friction[j, VISCOUS] * v + friction[j, OFFSET]
            residual[row, j] = measured[row, j] - tau[0, j] - drive - friction[j, ROTOR] * ddq[row, j]
