"""Where every link is and how it moves: the recursion from the base outwards, in link axes.

    w_i = Rᵀw_p + z q̇          α_i = Rᵀα_p + z q̈ + Rᵀw_p × z q̇                            (revolute)
    a_i = Rᵀ(a_p + α_p × p + w_p × (w_p × p))   (+ z q̈ + 2 w_i × z q̇, prismatic)           a_0 = −g

Reference: Featherstone, "Rigid Body Dynamics Algorithms", 2008, ch. 5; Luh, Walker, Paul 1980.
"""

from typing import Final

import numpy as np

from estimators.models.robots.tree import AXIS, COSINE, FIXED, OFFSET, REVOLUTE, SINE, SLIDE
from estimators.numerics.jit import inline, kernel
from estimators.numerics.nnls import Integers
from estimators.quantities import Floats

# columns of frames (n, FRAME), the state of every link at one instant
ROTATION: Final = 0  # of the link's axes in its parent's, row by row
ORIGIN: Final = 9  # in the parent's frame
ANGULAR: Final = 12  # velocity w, in the link's own axes as all that follow
TURNING: Final = 15  # angular acceleration α
LINEAR: Final = 18  # acceleration a of the origin, gravity taken as an acceleration upwards
FRAME: Final = 21


@inline
def pose(kind: Integers, geometry: Floats, q: float, i: int, frames: Floats) -> None:
    """Fill rotation and origin of link i."""
    if kind[i] == REVOLUTE:
        c, s = np.cos(q), np.sin(q)
        for k in range(9):
            frames[i, ROTATION + k] = geometry[i, FIXED + k] + c * geometry[i, COSINE + k] + s * geometry[i, SINE + k]
        for k in range(3):
            frames[i, ORIGIN + k] = geometry[i, OFFSET + k]
    else:
        for k in range(9):
            frames[i, ROTATION + k] = geometry[i, FIXED + k]
        for k in range(3):
            frames[i, ORIGIN + k] = geometry[i, OFFSET + k] + q * geometry[i, SLIDE + k]


@inline
def motion(
    parent: Integers,
    kind: Integers,
    geometry: Floats,
    gravity: Floats,
    q: Floats,
    dq: Floats,
    ddq: Floats,
    row: int,
    frames: Floats,
) -> None:
    """Fill frames (n, FRAME) for one row of q, dq, ddq (rows, n)."""
    for i in range(len(parent)):
        pose(kind, geometry, q[row, i], i, frames)
        p = parent[i]
        wx = wy = wz = ax = ay = az = 0.0
        lx, ly, lz = -gravity[0], -gravity[1], -gravity[2]
        if p >= 0:
            wx, wy, wz = frames[p, ANGULAR], frames[p, ANGULAR + 1], frames[p, ANGULAR + 2]
            ax, ay, az = frames[p, TURNING], frames[p, TURNING + 1], frames[p, TURNING + 2]
            px, py, pz = frames[i, ORIGIN], frames[i, ORIGIN + 1], frames[i, ORIGIN + 2]
            ux, uy, uz = wy * pz - wz * py, wz * px - wx * pz, wx * py - wy * px  # w × p
            lx = frames[p, LINEAR] + ay * pz - az * py + wy * uz - wz * uy
            ly = frames[p, LINEAR + 1] + az * px - ax * pz + wz * ux - wx * uz
            lz = frames[p, LINEAR + 2] + ax * py - ay * px + wx * uy - wy * ux
        for k in range(3):
            r0, r1, r2 = frames[i, ROTATION + k], frames[i, ROTATION + 3 + k], frames[i, ROTATION + 6 + k]
            frames[i, ANGULAR + k] = r0 * wx + r1 * wy + r2 * wz
            frames[i, TURNING + k] = r0 * ax + r1 * ay + r2 * az
            frames[i, LINEAR + k] = r0 * lx + r1 * ly + r2 * lz
        rate, second = dq[row, i], ddq[row, i]
        zx, zy, zz = geometry[i, AXIS], geometry[i, AXIS + 1], geometry[i, AXIS + 2]
        wx, wy, wz = frames[i, ANGULAR], frames[i, ANGULAR + 1], frames[i, ANGULAR + 2]
        cx, cy, cz = wy * zz - wz * zy, wz * zx - wx * zz, wx * zy - wy * zx  # w × z
        if kind[i] == REVOLUTE:
            frames[i, ANGULAR] += zx * rate
            frames[i, ANGULAR + 1] += zy * rate
            frames[i, ANGULAR + 2] += zz * rate
            frames[i, TURNING] += zx * second + cx * rate
            frames[i, TURNING + 1] += zy * second + cy * rate
            frames[i, TURNING + 2] += zz * second + cz * rate
        else:
            frames[i, LINEAR] += zx * second + 2.0 * cx * rate
            frames[i, LINEAR + 1] += zy * second + 2.0 * cy * rate
            frames[i, LINEAR + 2] += zz * second + 2.0 * cz * rate


@kernel("void(i8[::1], i8[::1], f8[:, ::1], f8[::1], f8[:, ::1], f8[:, :, :, ::1], f8[:, :, ::1])")
def forward_kinematics(
    parent: Integers, kind: Integers, geometry: Floats, _gravity: Floats, q: Floats, rotation: Floats, origin: Floats
) -> None:
    """Fill the pose of every link in the base frame: rotation (rows, n, 3, 3), origin (rows, n, 3) in m."""
    frames = np.empty((len(parent), FRAME))
    for row in range(len(q)):
        for i in range(len(parent)):
            pose(kind, geometry, q[row, i], i, frames)
            p = parent[i]
            for k in range(3):
                if p < 0:
                    origin[row, i, k] = frames[i, ORIGIN + k]
                    for c in range(3):
                        rotation[row, i, k, c] = frames[i, ROTATION + 3 * k + c]
                    continue
                entry = origin[row, p, k]
                for m in range(3):
                    entry += rotation[row, p, k, m] * frames[i, ORIGIN + m]
                origin[row, i, k] = entry
                for c in range(3):
                    entry = 0.0
                    for m in range(3):
                        entry += rotation[row, p, k, m] * frames[i, ROTATION + 3 * m + c]
                    rotation[row, i, k, c] = entry
