"""Inverse and forward dynamics of trees and closed chains whose joints rub under their own constraint forces.

    M q̈ + h = S τ_a + Jᵀλ + Q_f(λ, q̈)             φ(q) = 0

λ are the cut joints' forces. Put back as external forces they give the wrench of every tree joint, that its friction,
that Q_f, that λ again: a fixed point. It contracts when friction is small compared with what drives the mechanism, at a
rate ρ that the iteration itself shows; where ρ stays at 0.9 or above (self-locking) the row is marked DIVERGED. A tree
driven at every joint needs no iteration: nothing across an axis depends on the torque about it. Reference: Guo, Ju,
Wang, Aerospace 2024, 11, 368, (24), (42), (52), (54); fixed point and its test are ours.
"""

from typing import Final

import numpy as np

from estimators.models.mechanisms.cuts import (
    ACROSS,
    AXIS_A,
    PLACE,
    POINT_A,
    POINT_B,
    REVOLVING,
    SIDES_B,
    SPIN,
    SPIN_RATE,
    TURN,
    WORLD,
    constraint,
    cross,
    dot,
    rotated,
    to_world,
    turning,
)
from estimators.models.mechanisms.joint_load import NORMAL, RUB, resolve, rub
from estimators.models.robots.kinematics import FRAME, motion
from estimators.models.robots.newton_euler import WRENCH, forces
from estimators.models.robots.tree import AXIS as OWN_AXIS
from estimators.models.robots.tree import PRISMATIC
from estimators.numerics.elimination import eliminate
from estimators.numerics.jit import inline, kernel
from estimators.numerics.nnls import Integers
from estimators.quantities import Floats

# whose friction counts
IDEAL: Final = 0  # no friction
ACTIVE: Final = 1  # that of driven joints, without iteration
ALL: Final = 2  # that of every joint
SINGULAR: Final = -1  # of status, else the iterations that the row took
DIVERGED: Final = -2
MOST: Final = 100  # iterations
EXACT: Final = 1e-10  # of the largest torque: the fixed point has settled
SLOWEST: Final = 0.9  # contraction in TWICE iterations one after the other that is none
TWICE: Final = 2


@inline
def _push(
    ends: Integers, tied: Floats, world: Floats, lam: Floats, rubbed: Floats, external: Floats, cut_wrench: Floats
) -> None:
    """Fill external (1, n, 6), in link axes, and cut_wrench (cuts, 6) on link a, in base axes, from λ and friction."""
    external[:] = 0.0
    n = external.shape[1]
    force, moment, axis, side, normal, turned = np.empty((6, 3))
    c = 0
    for cut in range(len(ends)):
        a, b, rows = ends[cut, 0], ends[cut, 1], ends[cut, 2]
        force[:] = 0.0
        moment[:] = 0.0
        for row in range(min(rows, 3)):
            for k in range(3):
                force[k] += lam[c] * tied[cut, ACROSS + 3 * row + k]
            c += 1
        rotated(world[n if a < 0 else a, TURN:PLACE], tied[cut, AXIS_A:SIDES_B], axis)
        if rows == REVOLVING:
            for row in range(2):
                start = SIDES_B + 3 * row
                rotated(world[n if b < 0 else b, TURN:PLACE], tied[cut, start : start + 3], side)
                cross(axis, side, normal)
                for k in range(3):
                    moment[k] += lam[c] * normal[k]
                c += 1
        for k in range(3):
            cut_wrench[cut, k], cut_wrench[cut, 3 + k] = force[k], moment[k]
            moment[k] -= rubbed[cut] * axis[k]
        for side_of in range(2):
            link = ends[cut, side_of]
            if link < 0:
                continue
            sign = 1.0 - 2.0 * side_of
            own = tied[cut, POINT_B:ACROSS] if side_of else tied[cut, POINT_A:POINT_B]
            for k in range(3):  # Rᵀ
                normal[k] = turned[k] = 0.0
                for m in range(3):
                    normal[k] += sign * world[link, TURN + 3 * m + k] * force[m]
                    turned[k] += sign * world[link, TURN + 3 * m + k] * moment[m]
            cross(own, normal, side)
            for k in range(3):
                external[0, link, k] += normal[k]
                external[0, link, 3 + k] += side[k] + turned[k]


@inline
def _bear(
    kind: Integers,
    geometry: Floats,
    ends: Integers,
    tied: Floats,
    bearings: Floats,
    world: Floats,
    wrench: Floats,
    cut_wrench: Floats,
    dq: Floats,
    epsilon: float,
    loads: Floats,
) -> None:
    """Fill loads (n + cuts, LOADS) from the wrenches of tree joints (n, 6) and cuts (cuts, 6)."""
    n = len(kind)
    axis = np.empty(3)
    for i in range(n):
        own = geometry[i, OWN_AXIS : OWN_AXIS + 3]
        resolve(wrench[i, 0:3], wrench[i, 3:6], own, kind[i] == PRISMATIC, bearings[i], loads[i])
        loads[i, RUB] = rub(bearings[i], loads[i, NORMAL], dq[i], epsilon)
    for cut in range(len(ends)):
        a = n if ends[cut, 0] < 0 else ends[cut, 0]
        b = n if ends[cut, 1] < 0 else ends[cut, 1]
        rotated(world[a, TURN:PLACE], tied[cut, AXIS_A:SIDES_B], axis)
        speed = dot(world[a, SPIN:SPIN_RATE], axis) - dot(world[b, SPIN:SPIN_RATE], axis)
        resolve(cut_wrench[cut, 0:3], cut_wrench[cut, 3:6], axis, False, bearings[n + cut], loads[n + cut])
        loads[n + cut, RUB] = rub(bearings[n + cut], loads[n + cut, NORMAL], speed, epsilon)


@inline
def _generalised(
    parent: Integers, kind: Integers, ends: Integers, tied: Floats, world: Floats, loads: Floats, Q: Floats
) -> None:
    """Fill Q (n,) with what the friction of every joint does to the tree."""
    n = len(parent)
    axis = np.empty(3)
    for i in range(n):
        Q[i] = -loads[i, RUB]
    for cut in range(len(ends)):
        a = n if ends[cut, 0] < 0 else ends[cut, 0]
        rotated(world[a, TURN:PLACE], tied[cut, AXIS_A:SIDES_B], axis)
        turning(parent, kind, world, ends[cut, 0], axis, -loads[n + cut, RUB], Q)
        turning(parent, kind, world, ends[cut, 1], axis, loads[n + cut, RUB], Q)


@inline
def _settled(Q: Floats, fresh: Floats, scale: float, trace: Floats) -> int:
    """Take the new friction; 1 settled, 0 go on, DIVERGED. trace: last step, largest ρ, how often it was too large."""
    step = 0.0
    for i in range(len(Q)):
        step = max(step, abs(fresh[i] - Q[i]))
        Q[i] = fresh[i]
    if not np.isfinite(step):
        return DIVERGED
    if step <= EXACT * scale:
        return 1
    if trace[0] > 0.0:
        ratio = step / trace[0]
        trace[1] = max(trace[1], ratio)
        trace[2] = trace[2] + 1.0 if ratio >= SLOWEST else 0.0
        if trace[2] >= TWICE:
            return DIVERGED
    trace[0] = step
    return 0


@kernel(
    "void(i8[::1], i8[::1], f8[:, ::1], f8[::1], i8[:, ::1], f8[:, ::1], i8[::1], f8[:, ::1], f8[:, ::1], i8, f8,"
    " f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, :, ::1], i8[::1], f8[::1])"
)
def inverse(
    parent: Integers,
    kind: Integers,
    geometry: Floats,
    gravity: Floats,
    ends: Integers,
    tied: Floats,
    drive: Integers,
    bearings: Floats,
    parameters: Floats,
    mode: int,
    epsilon: float,
    q: Floats,
    dq: Floats,
    ddq: Floats,
    tau: Floats,
    lam: Floats,
    loads: Floats,
    status: Integers,
    contraction: Floats,
) -> None:
    """Fill tau (rows, n), 0 where nothing drives, lam (rows, c), loads (rows, n + cuts, LOADS), status, contraction.

    q, dq, ddq: (rows, n), fitting the loops; mode: IDEAL, ACTIVE or ALL; epsilon: rad/s of the friction's tanh.
    """
    n, c = len(parent), lam.shape[1]
    frames, world = np.empty((n, FRAME)), np.empty((n + 1, WORLD))
    phi, J, bias = np.empty(c), np.empty((c, n)), np.empty(c)
    A, b = np.empty((n, n)), np.empty((n, 1))
    none, external, cut_wrench = np.zeros((0, n, WRENCH)), np.zeros((1, n, WRENCH)), np.zeros((len(ends), WRENCH))
    h, ignored, wrench = np.empty((1, n)), np.empty((1, n)), np.empty((1, n, WRENCH))
    Q, fresh, trace = np.zeros(n), np.zeros(n), np.zeros(3)
    for row in range(len(q)):
        motion(parent, kind, geometry, gravity, q, dq, ddq, row, frames)
        to_world(parent, geometry, gravity, frames, world)
        forces(parent, kind, geometry, parameters, none, frames, 0, h, wrench)
        constraint(parent, kind, ends, tied, world, phi, J, bias)
        trace[:] = 0.0
        loads[row, :, RUB] = 0.0
        if mode != ALL:
            Q[:] = 0.0
        status[row] = MOST
        for iteration in range(1, MOST + 1):
            place, scale = 0, 0.0
            for j in range(n):
                b[j, 0] = h[0, j] - Q[j]
                scale = max(scale, abs(h[0, j]))
                if drive[j] == 1:
                    A[:, place] = 0.0
                    A[j, place] = 1.0
                    place += 1
            for k in range(c):
                for j in range(n):
                    A[j, place + k] = J[k, j]
            if not eliminate(A, b, n, 1):
                status[row] = SINGULAR
                break
            place = 0
            for j in range(n):
                tau[row, j] = b[place, 0] if drive[j] == 1 else 0.0
                place += drive[j]
            for k in range(c):
                lam[row, k] = b[place + k, 0]
            _push(ends, tied, world, lam[row], loads[row, n:, RUB], external, cut_wrench)
            forces(parent, kind, geometry, parameters, external, frames, 0, ignored, wrench)
            _bear(kind, geometry, ends, tied, bearings, world, wrench[0], cut_wrench, dq[row], epsilon, loads[row])
            if mode != ALL:
                for j in range(n):
                    if mode == ACTIVE and drive[j] == 1:
                        tau[row, j] += loads[row, j, RUB]
                status[row] = 1
                break
            _generalised(parent, kind, ends, tied, world, loads[row], fresh)
            state = _settled(Q, fresh, scale, trace)
            if state != 0:
                status[row] = iteration if state == 1 else DIVERGED
                break
        if status[row] == MOST:
            status[row] = DIVERGED
        if status[row] < 0:
            Q[:] = 0.0
        contraction[row] = trace[1]


@kernel(
    "void(i8[::1], i8[::1], f8[:, ::1], f8[::1], i8[:, ::1], f8[:, ::1], i8[::1], f8[:, ::1], f8[:, ::1], i8, f8,"
    " f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, :, ::1], i8[::1], f8[::1])"
)
def forward(
    parent: Integers,
    kind: Integers,
    geometry: Floats,
    gravity: Floats,
    ends: Integers,
    tied: Floats,
    drive: Integers,
    bearings: Floats,
    parameters: Floats,
    mode: int,
    epsilon: float,
    q: Floats,
    dq: Floats,
    tau: Floats,
    ddq: Floats,
    lam: Floats,
    loads: Floats,
    status: Integers,
    contraction: Floats,
) -> None:
    """Fill ddq (rows, n), lam, loads, status and contraction for the torques tau (rows, n), 0 where nothing drives.

    q, dq: (rows, n), fitting the loops. The friction of a row starts from that of the row before it.
    """
    n, c = len(parent), lam.shape[1]
    frames, world = np.empty((n, FRAME)), np.empty((n + 1, WORLD))
    phi, J, bias = np.empty(c), np.empty((c, n)), np.empty(c)
    M, A, b = np.empty((n, n)), np.empty((n + c, n + c)), np.empty((n + c, 1))
    none, external, cut_wrench = np.zeros((0, n, WRENCH)), np.zeros((1, n, WRENCH)), np.zeros((len(ends), WRENCH))
    h, unit, wrench = np.empty((1, n)), np.empty((1, n)), np.empty((1, n, WRENCH))
    still, push, weightless = np.zeros((1, n)), np.zeros((1, n)), np.zeros(3)
    Q, fresh, trace = np.zeros(n), np.zeros(n), np.zeros(3)
    for row in range(len(q)):
        for j in range(n):
            push[0, j] = 1.0
            motion(parent, kind, geometry, weightless, q[row : row + 1], still, push, 0, frames)
            push[0, j] = 0.0
            forces(parent, kind, geometry, parameters, none, frames, 0, unit, wrench)
            for i in range(n):
                M[i, j] = unit[0, i]
        motion(parent, kind, geometry, gravity, q[row : row + 1], dq[row : row + 1], still, 0, frames)
        to_world(parent, geometry, gravity, frames, world)
        forces(parent, kind, geometry, parameters, none, frames, 0, h, wrench)
        constraint(parent, kind, ends, tied, world, phi, J, bias)
        trace[:] = 0.0
        loads[row, :, RUB] = 0.0
        if mode != ALL and mode != ACTIVE:
            Q[:] = 0.0
        status[row] = MOST
        for iteration in range(1, MOST + 1):
            scale = 0.0
            for i in range(n):
                b[i, 0] = tau[row, i] + Q[i] - h[0, i]
                scale = max(scale, abs(h[0, i]), abs(tau[row, i]))
                for j in range(n):
                    A[i, j] = M[i, j]
                for k in range(c):
                    A[i, n + k] = -J[k, i]
                    A[n + k, i] = J[k, i]
            for k in range(c):
                b[n + k, 0] = -bias[k]
                for m in range(c):
                    A[n + k, n + m] = 0.0
            if not eliminate(A, b, n + c, 1):
                status[row] = SINGULAR
                break
            for j in range(n):
                ddq[row, j] = b[j, 0]
            for k in range(c):
                lam[row, k] = b[n + k, 0]
            if mode == IDEAL and iteration == 1:
                status[row] = 1
            motion(parent, kind, geometry, gravity, q[row : row + 1], dq[row : row + 1], ddq[row : row + 1], 0, frames)
            _push(ends, tied, world, lam[row], loads[row, n:, RUB], external, cut_wrench)
            forces(parent, kind, geometry, parameters, external, frames, 0, unit, wrench)
            _bear(kind, geometry, ends, tied, bearings, world, wrench[0], cut_wrench, dq[row], epsilon, loads[row])
            if mode == IDEAL:
                break
            _generalised(parent, kind, ends, tied, world, loads[row], fresh)
            if mode == ACTIVE:
                for j in range(n):
                    fresh[j] = -loads[row, j, RUB] if drive[j] == 1 else 0.0
            state = _settled(Q, fresh, scale, trace)
            if state != 0:
                status[row] = iteration if state == 1 else DIVERGED
                break
        if status[row] == MOST:
            status[row] = DIVERGED
        if status[row] < 0:
            Q[:] = 0.0
        contraction[row] = trace[1]
