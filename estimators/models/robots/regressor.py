"""τ = Y(q, q̇, q̈) π: the torque of every joint, linear in the ten standard parameters of every link.

Row j, link i: the screw of joint j carried into frame i as s (angular) and l (velocity of i's origin) at unit rate;
with u = s × w and K = [α]× + [w]×[w]×

    Y_m = l·a      Y_h = Kᵀl + a × s      Y_Ixx = s_x α_x + u_x w_x      Y_Ixy = s_x α_y + s_y α_x + u_x w_y + u_y w_x …

so that no 6 × 10 matrix is ever formed. Derived from the virtual power s·N + l·F of newton_euler.py.
"""

from typing import Final

import numpy as np

from estimators.models.robots.kinematics import ANGULAR, FRAME, LINEAR, ORIGIN, ROTATION, TURNING, motion
from estimators.models.robots.tree import AXIS, PARAMETERS, REVOLUTE
from estimators.numerics.jit import inline, kernel
from estimators.numerics.nnls import Integers
from estimators.quantities import Floats

SCREW: Final = 6  # s, then l


@inline
def _carry(screws: Floats, frames: Floats, p: int, i: int, j: int) -> None:
    """The screw of joint j from the frame of link p into that of its child i."""
    sx, sy, sz = screws[p, j, 0], screws[p, j, 1], screws[p, j, 2]
    px, py, pz = frames[i, ORIGIN], frames[i, ORIGIN + 1], frames[i, ORIGIN + 2]
    lx = screws[p, j, 3] + sy * pz - sz * py
    ly = screws[p, j, 4] + sz * px - sx * pz
    lz = screws[p, j, 5] + sx * py - sy * px
    for k in range(3):
        r0, r1, r2 = frames[i, ROTATION + k], frames[i, ROTATION + 3 + k], frames[i, ROTATION + 6 + k]
        screws[i, j, k] = r0 * sx + r1 * sy + r2 * sz
        screws[i, j, 3 + k] = r0 * lx + r1 * ly + r2 * lz


@inline
def regressor_row(
    parent: Integers, kind: Integers, geometry: Floats, frames: Floats, screws: Floats, row: int, Y: Floats
) -> None:
    """Fill Y[row] (rows, n, 10·n) from frames filled by `motion`; screws: (n, n, SCREW) scratch."""
    n = len(parent)
    for j in range(n):
        for k in range(PARAMETERS * n):
            Y[row, j, k] = 0.0
    for i in range(n):
        p = parent[i]
        for k in range(3):
            axis = geometry[i, AXIS + k]
            screws[i, i, k] = axis if kind[i] == REVOLUTE else 0.0
            screws[i, i, 3 + k] = 0.0 if kind[i] == REVOLUTE else axis
        wx, wy, wz = frames[i, ANGULAR], frames[i, ANGULAR + 1], frames[i, ANGULAR + 2]
        tx, ty, tz = frames[i, TURNING], frames[i, TURNING + 1], frames[i, TURNING + 2]
        ax, ay, az = frames[i, LINEAR], frames[i, LINEAR + 1], frames[i, LINEAR + 2]
        # K
        xx, yy, zz = -wy * wy - wz * wz, -wx * wx - wz * wz, -wx * wx - wy * wy
        xy, yx = wx * wy - tz, wx * wy + tz
        xz, zx = wx * wz + ty, wx * wz - ty
        yz, zy = wy * wz - tx, wy * wz + tx
        c = PARAMETERS * i
        j = i
        while j >= 0:
            if j != i:
                _carry(screws, frames, p, i, j)
            sx, sy, sz = screws[i, j, 0], screws[i, j, 1], screws[i, j, 2]
            lx, ly, lz = screws[i, j, 3], screws[i, j, 4], screws[i, j, 5]
            ux, uy, uz = sy * wz - sz * wy, sz * wx - sx * wz, sx * wy - sy * wx
            Y[row, j, c] = lx * ax + ly * ay + lz * az
            Y[row, j, c + 1] = xx * lx + yx * ly + zx * lz + ay * sz - az * sy
            Y[row, j, c + 2] = xy * lx + yy * ly + zy * lz + az * sx - ax * sz
            Y[row, j, c + 3] = xz * lx + yz * ly + zz * lz + ax * sy - ay * sx
            Y[row, j, c + 4] = sx * tx + ux * wx
            Y[row, j, c + 5] = sx * ty + sy * tx + ux * wy + uy * wx
            Y[row, j, c + 6] = sy * ty + uy * wy
            Y[row, j, c + 7] = sx * tz + sz * tx + ux * wz + uz * wx
            Y[row, j, c + 8] = sy * tz + sz * ty + uy * wz + uz * wy
            Y[row, j, c + 9] = sz * tz + uz * wz
            j = parent[j]


@kernel("void(i8[::1], i8[::1], f8[:, ::1], f8[::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, :, ::1])")
def regressor(
    parent: Integers,
    kind: Integers,
    geometry: Floats,
    gravity: Floats,
    q: Floats,
    dq: Floats,
    ddq: Floats,
    Y: Floats,
) -> None:
    """Fill Y (rows, n, 10·n) for the motion q, dq, ddq (rows, n)."""
    n = len(parent)
    frames, screws = np.empty((n, FRAME)), np.empty((n, n, SCREW))
    for row in range(len(q)):
        motion(parent, kind, geometry, gravity, q, dq, ddq, row, frames)
        regressor_row(parent, kind, geometry, frames, screws, row, Y)
