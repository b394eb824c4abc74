"""Loops of a mechanism, cut open: what the cut joints demand of the tree, its Jacobian, and Newton's closure.

A planar cut ties two points in the plane across its axis (2 rows), a ball in space (3), a revolute one also two
directions to the axis (5):

    φ = P·(A − B) = 0,  n_a·e_b = 0          φ̇ = J q̇          φ̈ = J q̈ + J̇q̇

Passive velocities follow from J_p q̇_p = −J_a q̇_a (Guo, Ju, Wang 2024, (24)), accelerations from the same with J̇q̇.
"""

from typing import Final

import numpy as np

from estimators.models.robots.kinematics import ANGULAR, FRAME, LINEAR, ORIGIN, ROTATION, TURNING, motion
from estimators.models.robots.tree import AXIS as OWN_AXIS
from estimators.models.robots.tree import REVOLUTE
from estimators.numerics.elimination import eliminate
from estimators.numerics.jit import inline, kernel
from estimators.numerics.nnls import Integers
from estimators.quantities import Floats

# columns of world (n + 1, WORLD): links in base axes; the last row is the base itself
TURN: Final = 0  # rotation, row by row
PLACE: Final = 9  # of the joint's origin
AXIS: Final = 12
SPIN: Final = 15  # angular velocity
SPIN_RATE: Final = 18
RISE: Final = 21  # acceleration of the origin, −g included
WORLD: Final = 24

# kinds of cuts: their numbers of rows
PLANAR: Final = 2
REVOLVING: Final = 5
# columns of tied (cuts, TIED)
POINT_A: Final = 0  # point on a, in its frame
POINT_B: Final = 3  # point on b, in its frame
ACROSS: Final = 6  # base directions P, row by row
AXIS_A: Final = 15  # axis on a
SIDES_B: Final = 18  # two directions across it on b
TIED: Final = 24
NEWTON: Final = 30  # iterations
CLOSED: Final = 1e-13  # m


@inline
def cross(a: Floats, b: Floats, out: Floats) -> None:
    """Fill out (3,) with a × b."""
    x, y, z = a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]
    out[0], out[1], out[2] = x, y, z


@inline
def dot(a: Floats, b: Floats) -> float:
    """a · b of three numbers."""
    return float(a[0] * b[0] + a[1] * b[1] + a[2] * b[2])


@inline
def rotated(turn: Floats, vector: Floats, out: Floats) -> None:
    """Fill out (3,) with R v; turn: R row by row."""
    for k in range(3):
        out[k] = turn[3 * k] * vector[0] + turn[3 * k + 1] * vector[1] + turn[3 * k + 2] * vector[2]


@inline
def to_world(parent: Integers, geometry: Floats, gravity: Floats, frames: Floats, world: Floats) -> None:
    """Fill world (n + 1, WORLD) from frames that `motion` filled."""
    n = len(parent)
    world[n, :] = 0.0
    for k in range(3):
        world[n, TURN + 4 * k] = 1.0
        world[n, RISE + k] = -gravity[k]
    for i in range(n):
        up = n if parent[i] < 0 else parent[i]
        for r in range(3):
            entry = world[up, PLACE + r]
            for m in range(3):
                entry += world[up, TURN + 3 * r + m] * frames[i, ORIGIN + m]
            world[i, PLACE + r] = entry
            for c in range(3):
                entry = 0.0
                for m in range(3):
                    entry += world[up, TURN + 3 * r + m] * frames[i, ROTATION + 3 * m + c]
                world[i, TURN + 3 * r + c] = entry
        turn = world[i, TURN:PLACE]
        rotated(turn, geometry[i, OWN_AXIS : OWN_AXIS + 3], world[i, AXIS:SPIN])
        rotated(turn, frames[i, ANGULAR : ANGULAR + 3], world[i, SPIN:SPIN_RATE])
        rotated(turn, frames[i, TURNING : TURNING + 3], world[i, SPIN_RATE:RISE])
        rotated(turn, frames[i, LINEAR : LINEAR + 3], world[i, RISE:WORLD])


@inline
def column(parent: Integers, kind: Integers, world: Floats, link: int, arm: Floats, along: Floats, J: Floats) -> None:
    """Add to J (n,) what each joint's rate moves a point of a link along a direction; arm: the point in base axes."""
    lever, speed = np.empty(3), np.empty(3)
    i = link
    while i >= 0 and i < len(parent):
        axis = world[i, AXIS:SPIN]
        if kind[i] == REVOLUTE:
            for k in range(3):
                lever[k] = arm[k] - world[i, PLACE + k]
            cross(axis, lever, speed)
            J[i] += dot(speed, along)
        else:
            J[i] += dot(axis, along)
        i = parent[i]


@inline
def turning(parent: Integers, kind: Integers, world: Floats, link: int, along: Floats, sign: float, J: Floats) -> None:
    """Add to J (n,) what each joint's rate turns a link about a direction."""
    i = link
    while i >= 0 and i < len(parent):
        if kind[i] == REVOLUTE:
            J[i] += sign * dot(world[i, AXIS:SPIN], along)
        i = parent[i]


@inline
def point(world: Floats, link: int, own: Floats, where: Floats, acceleration: Floats) -> None:
    """Fill place and acceleration (−g included) of a link's point, base axes; own: in the link's frame."""
    lever, inner, outer = np.empty(3), np.empty(3), np.empty(3)
    rotated(world[link, TURN:PLACE], own, lever)
    cross(world[link, SPIN:SPIN_RATE], lever, inner)
    cross(world[link, SPIN:SPIN_RATE], inner, outer)
    cross(world[link, SPIN_RATE:RISE], lever, inner)
    for k in range(3):
        where[k] = world[link, PLACE + k] + lever[k]
        acceleration[k] = world[link, RISE + k] + inner[k] + outer[k]


@inline
def constraint(
    parent: Integers,
    kind: Integers,
    ends: Integers,
    tied: Floats,
    world: Floats,
    phi: Floats,
    J: Floats,
    bias: Floats,
) -> int:
    """Fill φ (c,), J (c, n) and φ̈ for the accelerations in world (J̇q̇ where those are none); returns c."""
    n = len(parent)
    A, B, up, down = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    axis, side, normal, first, second, along = np.empty((6, 3))
    c = 0
    for cut in range(len(ends)):
        a, b, rows = ends[cut, 0], ends[cut, 1], ends[cut, 2]
        link_a, link_b = (n if a < 0 else a), (n if b < 0 else b)
        point(world, link_a, tied[cut, POINT_A:POINT_B], A, up)
        point(world, link_b, tied[cut, POINT_B:ACROSS], B, down)
        for row in range(min(rows, 3)):
            along[:] = tied[cut, ACROSS + 3 * row : ACROSS + 3 * row + 3]
            phi[c] = bias[c] = 0.0
            J[c, :] = 0.0
            for k in range(3):
                phi[c] += along[k] * (A[k] - B[k])
                bias[c] += along[k] * (up[k] - down[k])
            column(parent, kind, world, a, A, along, J[c])
            for k in range(3):
                along[k] = -along[k]
            column(parent, kind, world, b, B, along, J[c])
            c += 1
        if rows < REVOLVING:
            continue
        rotated(world[link_a, TURN:PLACE], tied[cut, AXIS_A:SIDES_B], axis)
        for row in range(2):
            start = SIDES_B + 3 * row
            rotated(world[link_b, TURN:PLACE], tied[cut, start : start + 3], side)
            cross(axis, side, normal)
            phi[c] = dot(axis, side)
            J[c, :] = 0.0
            turning(parent, kind, world, a, normal, 1.0, J[c])
            turning(parent, kind, world, b, normal, -1.0, J[c])
            cross(world[link_a, SPIN:SPIN_RATE], axis, up)
            cross(world[link_b, SPIN:SPIN_RATE], side, down)
            cross(up, side, first)
            cross(axis, down, second)
            bias[c] = 0.0
            for k in range(3):
                bias[c] += (world[link_a, SPIN_RATE + k] - world[link_b, SPIN_RATE + k]) * normal[k]
                bias[c] += (world[link_a, SPIN + k] - world[link_b, SPIN + k]) * (first[k] + second[k])
            c += 1
    return c


@inline
def passive_system(J: Floats, drive: Integers, c: int, A: Floats) -> None:
    """Fill A (c, c) with the columns of J that nothing drives."""
    place = 0
    for j in range(len(drive)):
        if drive[j] == 0:
            for i in range(c):
                A[i, place] = J[i, j]
            place += 1


@inline
def _passive_rates(J: Floats, bias: Floats, drive: Integers, c: int, A: Floats, b: Floats, rates: Floats) -> bool:
    """Fill the passive joints' part of rates (n,), with J·rates + bias = 0 over c rows; False where that has none."""
    for i in range(c):
        b[i, 0] = bias[i]
        for j in range(len(drive)):
            if drive[j] == 1:
                b[i, 0] += J[i, j] * rates[j]
    passive_system(J, drive, c, A)
    if not eliminate(A, b, c, 1):
        return False
    place = 0
    for j in range(len(drive)):
        if drive[j] == 0:
            rates[j] = -b[place, 0]
            place += 1
    return True


@kernel(
    "i8(i8[::1], i8[::1], f8[:, ::1], f8[::1], i8[:, ::1], f8[:, ::1], i8[::1], f8[:, ::1], f8[:, ::1], f8[:, ::1])"
)
def close(
    parent: Integers,
    kind: Integers,
    geometry: Floats,
    gravity: Floats,
    ends: Integers,
    tied: Floats,
    drive: Integers,
    q: Floats,
    dq: Floats,
    ddq: Floats,
) -> int:
    """Make passive joints of every row fit the driven ones, each row starting from the one before it.

    drive: (n,) 1 where a joint is driven. q, dq, ddq: (rows, n), driven columns given, the others filled; row 0 of q is
    where Newton begins. Returns the first row that cannot be closed, or −1.
    """
    n = len(parent)
    most = 5 * len(ends) + 1
    frames, world = np.empty((n, FRAME)), np.empty((n + 1, WORLD))
    phi, J, bias, none = np.empty(most), np.empty((most, n)), np.empty(most), np.zeros(most)
    A, b, still = np.empty((most, most)), np.empty((most, 1)), np.zeros((1, n))
    here = np.empty((1, n))
    for row in range(len(q)):
        if row > 0:
            for j in range(n):
                if drive[j] == 0:
                    q[row, j] = q[row - 1, j]
        done, c, last = False, 0, np.inf
        for _ in range(NEWTON):
            here[0] = q[row]
            motion(parent, kind, geometry, gravity, here, still, still, 0, frames)
            to_world(parent, geometry, gravity, frames, world)
            c = constraint(parent, kind, ends, tied, world, phi, J, bias)
            off = 0.0
            for i in range(c):
                off = max(off, abs(phi[i]))
            if off < CLOSED or (off < 1e-12 and off >= last):
                done = True
                break
            last = off
            passive_system(J, drive, c, A)
            for i in range(c):
                b[i, 0] = phi[i]
            if not eliminate(A, b, c, 1):
                return row
            place = 0
            for j in range(n):
                if drive[j] == 0:
                    q[row, j] -= min(max(b[place, 0], -0.5), 0.5)
                    place += 1
        if not done:
            return row
        if not _passive_rates(J, none, drive, c, A, b, dq[row]):
            return row
        here[0] = q[row]
        motion(parent, kind, geometry, gravity, here, dq[row : row + 1], still, 0, frames)
        to_world(parent, geometry, gravity, frames, world)
        constraint(parent, kind, ends, tied, world, phi, J, bias)
        if not _passive_rates(J, bias, drive, c, A, b, ddq[row]):
            return row
    return -1


@kernel("void(i8[::1], i8[::1], f8[:, ::1], f8[::1], i8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, :, ::1], f8[:, :, ::1])")
def jacobians(
    parent: Integers,
    kind: Integers,
    geometry: Floats,
    gravity: Floats,
    ends: Integers,
    tied: Floats,
    q: Floats,
    J: Floats,
    turns: Floats,
) -> None:
    """Fill J (rows, c, n), and turns (rows, cuts, n): how fast each joint's unit rate turns each cut about its axis."""
    n, c = len(parent), J.shape[1]
    frames, world, still = np.empty((n, FRAME)), np.empty((n + 1, WORLD)), np.zeros((1, n))
    phi, bias, axis = np.empty(c), np.empty(c), np.empty(3)
    for row in range(len(q)):
        motion(parent, kind, geometry, gravity, q[row : row + 1], still, still, 0, frames)
        to_world(parent, geometry, gravity, frames, world)
        constraint(parent, kind, ends, tied, world, phi, J[row], bias)
        for cut in range(len(ends)):
            a = n if ends[cut, 0] < 0 else ends[cut, 0]
            rotated(world[a, TURN:PLACE], tied[cut, AXIS_A:SIDES_B], axis)
            turns[row, cut, :] = 0.0
            turning(parent, kind, world, ends[cut, 0], axis, 1.0, turns[row, cut])
            turning(parent, kind, world, ends[cut, 1], axis, -1.0, turns[row, cut])
