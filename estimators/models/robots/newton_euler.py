"""Inverse dynamics with the wrench at every joint, and the mass matrix: the recursion back to the base, in link axes.

    F_i = m a + α × h + w × (w × h)          N_i = h × a + I α + w × (I w)          h = m c, I about the origin
    f_i = F_i + Σ R f_c − external           τ_i = z·(moment of f_i), or z·(its force) of a prismatic joint

Reference: Luh, Walker, Paul 1980; Featherstone 2008, ch. 5.
"""

from typing import Final

import numpy as np

from estimators.models.robots.kinematics import ANGULAR, FRAME, LINEAR, ORIGIN, ROTATION, TURNING, motion
from estimators.models.robots.tree import AXIS, PRISMATIC
from estimators.numerics.jit import inline, kernel
from estimators.numerics.nnls import Integers
from estimators.quantities import Floats

WRENCH: Final = 6  # force, then moment


@inline
def inertial(parameters: Floats, frames: Floats, i: int, wrench: Floats, row: int) -> None:
    """Fill what link i alone needs to move as it does, into wrench[row, i]."""
    wx, wy, wz = frames[i, ANGULAR], frames[i, ANGULAR + 1], frames[i, ANGULAR + 2]
    tx, ty, tz = frames[i, TURNING], frames[i, TURNING + 1], frames[i, TURNING + 2]
    ax, ay, az = frames[i, LINEAR], frames[i, LINEAR + 1], frames[i, LINEAR + 2]
    m, hx, hy, hz = parameters[i, 0], parameters[i, 1], parameters[i, 2], parameters[i, 3]
    xx, xy, yy = parameters[i, 4], parameters[i, 5], parameters[i, 6]
    xz, yz, zz = parameters[i, 7], parameters[i, 8], parameters[i, 9]
    ux, uy, uz = wy * hz - wz * hy, wz * hx - wx * hz, wx * hy - wy * hx  # w × h
    wrench[row, i, 0] = m * ax + ty * hz - tz * hy + wy * uz - wz * uy
    wrench[row, i, 1] = m * ay + tz * hx - tx * hz + wz * ux - wx * uz
    wrench[row, i, 2] = m * az + tx * hy - ty * hx + wx * uy - wy * ux
    sx, sy, sz = xx * wx + xy * wy + xz * wz, xy * wx + yy * wy + yz * wz, xz * wx + yz * wy + zz * wz  # I w
    wrench[row, i, 3] = hy * az - hz * ay + xx * tx + xy * ty + xz * tz + wy * sz - wz * sy
    wrench[row, i, 4] = hz * ax - hx * az + xy * tx + yy * ty + yz * tz + wz * sx - wx * sz
    wrench[row, i, 5] = hx * ay - hy * ax + xz * tx + yz * ty + zz * tz + wx * sy - wy * sx


@inline
def forces(
    parent: Integers,
    kind: Integers,
    geometry: Floats,
    parameters: Floats,
    external: Floats,
    frames: Floats,
    row: int,
    tau: Floats,
    wrench: Floats,
) -> None:
    """Fill tau[row] (rows, n) and wrench[row] (rows, n, 6) from frames filled by `motion`."""
    for i in range(len(parent)):
        inertial(parameters, frames, i, wrench, row)
        if len(external) > 0:
            for k in range(WRENCH):
                wrench[row, i, k] -= external[row, i, k]
    for i in range(len(parent) - 1, -1, -1):
        first = 0 if kind[i] == PRISMATIC else 3
        tau[row, i] = (
            geometry[i, AXIS] * wrench[row, i, first]
            + geometry[i, AXIS + 1] * wrench[row, i, first + 1]
            + geometry[i, AXIS + 2] * wrench[row, i, first + 2]
        )
        p = parent[i]
        if p >= 0:
            fx = fy = fz = mx = my = mz = 0.0
            for k in range(3):  # f = R f_i, m = R m_i
                f, m = wrench[row, i, k], wrench[row, i, 3 + k]
                fx += frames[i, ROTATION + k] * f
                fy += frames[i, ROTATION + 3 + k] * f
                fz += frames[i, ROTATION + 6 + k] * f
                mx += frames[i, ROTATION + k] * m
                my += frames[i, ROTATION + 3 + k] * m
                mz += frames[i, ROTATION + 6 + k] * m
            px, py, pz = frames[i, ORIGIN], frames[i, ORIGIN + 1], frames[i, ORIGIN + 2]
            wrench[row, p, 0] += fx
            wrench[row, p, 1] += fy
            wrench[row, p, 2] += fz
            wrench[row, p, 3] += mx + py * fz - pz * fy
            wrench[row, p, 4] += my + pz * fx - px * fz
            wrench[row, p, 5] += mz + px * fy - py * fx


@kernel(
    "void(i8[::1], i8[::1], f8[:, ::1], f8[::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, :, ::1],"
    " f8[:, ::1], f8[:, :, ::1])"
)
def newton_euler(
    parent: Integers,
    kind: Integers,
    geometry: Floats,
    gravity: Floats,
    q: Floats,
    dq: Floats,
    ddq: Floats,
    parameters: Floats,
    external: Floats,
    tau: Floats,
    wrench: Floats,
) -> None:
    """Fill tau (rows, n) in N·m or N and wrench (rows, n, 6) for the motion; external (rows or 0, n, 6)."""
    frames = np.empty((len(parent), FRAME))
    for row in range(len(q)):
        motion(parent, kind, geometry, gravity, q, dq, ddq, row, frames)
        forces(parent, kind, geometry, parameters, external, frames, row, tau, wrench)


@kernel("void(i8[::1], i8[::1], f8[:, ::1], f8[::1], f8[:, ::1], f8[:, ::1], f8[:, :, ::1])")
def mass_matrix(
    parent: Integers,
    kind: Integers,
    geometry: Floats,
    _gravity: Floats,
    q: Floats,
    parameters: Floats,
    M: Floats,
) -> None:
    """Fill M (rows, n, n): column j is the torque of a unit acceleration of joint j, at rest and without gravity."""
    n = len(parent)
    frames, nothing, none = np.empty((n, FRAME)), np.zeros((0, n, WRENCH)), np.zeros(3)
    place, rest, unit = np.empty((1, n)), np.zeros((1, n)), np.zeros((1, n))
    tau, wrench = np.empty((1, n)), np.empty((1, n, WRENCH))
    for row in range(len(q)):
        for i in range(n):
            place[0, i] = q[row, i]
        for j in range(n):
            unit[0, j] = 1.0
            motion(parent, kind, geometry, none, place, rest, unit, 0, frames)
            forces(parent, kind, geometry, parameters, nothing, frames, 0, tau, wrench)
            unit[0, j] = 0.0
            for i in range(n):
                M[row, i, j] = tau[0, i]
