"""A serial arm's inverse dynamics, mass matrix and acceleration in link axes, shared by the robots' plants.

An arm has rows of modified Denavit-Hartenberg parameters, ^{i-1}T_i = Rx(α) Tx(a) Rz(q + offset) Tz(d) (Craig), and
each link ten parameters about the origin of its frame: Ixx Ixy Ixz Iyy Iyz Izz mx my mz m. Newton-Euler recursion (Luh,
Walker, Paul 1980); mass matrix by composite bodies (Walker, Orin 1982); gravity is an acceleration of the base.
"""

from typing import Final, NamedTuple

import numpy as np

from hil_rig.plants.base import Floats
from hil_rig.plants.jit import inline, kernel

LINK: Final = 10  # parameters
GRAVITY: Final = 9.81  # m/s², along −z of the base
# columns of geometry
COSINE: Final = 0  # of α
SINE: Final = 1  # of α
LENGTH: Final = 2  # a, m
DEPTH: Final = 3  # d, m
OFFSET: Final = 4  # of the joint's angle, rad


class Scratch(NamedTuple):
    """Working memory of the recursions; see `scratch`."""

    turn: Floats  # (n, 3, 3) rotation of a link's axes relative to those of the previous link
    origin: Floats  # (n, 3) in the axes of the previous link
    spin: Floats  # (n, 3) angular velocity
    twist: Floats  # (n, 3) angular acceleration
    pull: Floats  # (n, 3) acceleration of the origin
    force: Floats  # (n, 3)
    moment: Floats  # (n, 3)
    body: Floats  # (n, LINK) composite of a link and all after it
    mass: Floats  # (n, n)
    vector: Floats  # (n,)


def geometry(rows: Floats) -> Floats:
    """Convert rows of (α, a, d, offset) in rad and m into the form of the kernels, (n, 5)."""
    return np.column_stack((np.cos(rows[:, 0]), np.sin(rows[:, 0]), rows[:, 1:]))


def body(mass: float, centre: Floats, about_centre: Floats) -> Floats:
    """The ten parameters (LINK,) of a body from mass (kg), centre (3,) m, inertia about the centre (3, 3) kg·m²."""
    inertia = about_centre + mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    return np.concatenate((inertia[np.triu_indices(3)], mass * centre, [mass]))


@inline
def scratch(n: int) -> Scratch:
    """Allocate the working memory of an arm with n joints."""
    return Scratch(
        np.empty((n, 3, 3)),
        np.empty((n, 3)),
        np.empty((n, 3)),
        np.empty((n, 3)),
        np.empty((n, 3)),
        np.empty((n, 3)),
        np.empty((n, 3)),
        np.empty((n, LINK)),
        np.empty((n, n)),
        np.empty(n),
    )


@inline
def place(arm: Floats, q: Floats, room: Scratch) -> None:
    """Fill turn and origin for the positions q (n,)."""
    for i in range(len(arm)):
        ca, sa, length, depth = arm[i, COSINE], arm[i, SINE], arm[i, LENGTH], arm[i, DEPTH]
        c, s = np.cos(q[i] + arm[i, OFFSET]), np.sin(q[i] + arm[i, OFFSET])
        turn, origin = room.turn[i], room.origin[i]
        turn[0, 0], turn[0, 1], turn[0, 2] = c, -s, 0.0
        turn[1, 0], turn[1, 1], turn[1, 2] = s * ca, c * ca, -sa
        turn[2, 0], turn[2, 1], turn[2, 2] = s * sa, c * sa, ca
        origin[0], origin[1], origin[2] = length, -sa * depth, ca * depth


@inline
def inverse(links: Floats, dq: Floats, ddq: Floats, gravity: float, room: Scratch, torque: Floats) -> None:
    """Fill the torque (n,), N·m, for a motion; `place` must have been called."""
    n = len(links)
    for i in range(n):
        R, p = room.turn[i], room.origin[i]
        wx = wy = wz = tx = ty = tz = 0.0
        ax, ay, az = 0.0, 0.0, gravity
        if i > 0:
            wx, wy, wz = room.spin[i - 1, 0], room.spin[i - 1, 1], room.spin[i - 1, 2]
            tx, ty, tz = room.twist[i - 1, 0], room.twist[i - 1, 1], room.twist[i - 1, 2]
            cx, cy, cz = wy * p[2] - wz * p[1], wz * p[0] - wx * p[2], wx * p[1] - wy * p[0]
            ax = room.pull[i - 1, 0] + ty * p[2] - tz * p[1] + wy * cz - wz * cy
            ay = room.pull[i - 1, 1] + tz * p[0] - tx * p[2] + wz * cx - wx * cz
            az = room.pull[i - 1, 2] + tx * p[1] - ty * p[0] + wx * cy - wy * cx
        ox = R[0, 0] * wx + R[1, 0] * wy + R[2, 0] * wz
        oy = R[0, 1] * wx + R[1, 1] * wy + R[2, 1] * wz
        oz = R[0, 2] * wx + R[1, 2] * wy + R[2, 2] * wz
        room.spin[i, 0], room.spin[i, 1], room.spin[i, 2] = ox, oy, oz + dq[i]
        room.twist[i, 0] = R[0, 0] * tx + R[1, 0] * ty + R[2, 0] * tz + oy * dq[i]
        room.twist[i, 1] = R[0, 1] * tx + R[1, 1] * ty + R[2, 1] * tz - ox * dq[i]
        room.twist[i, 2] = R[0, 2] * tx + R[1, 2] * ty + R[2, 2] * tz + ddq[i]
        for k in range(3):
            room.pull[i, k] = R[0, k] * ax + R[1, k] * ay + R[2, k] * az
        _alone(links[i], room.spin[i], room.twist[i], room.pull[i], room.force[i], room.moment[i])
    for i in range(n - 1, -1, -1):
        torque[i] = room.moment[i, 2]
        if i > 0:
            _carry(room.turn[i], room.origin[i], room.force[i], room.moment[i], room.force[i - 1], room.moment[i - 1])


@inline
def _alone(link: Floats, w: Floats, t: Floats, a: Floats, force: Floats, moment: Floats) -> None:
    """Fill the force and moment of one link: m a + α×h + w×(w×h), and h×a + I α + w×I w."""
    xx, xy, xz, yy, yz, zz = link[0], link[1], link[2], link[3], link[4], link[5]
    hx, hy, hz, m = link[6], link[7], link[8], link[9]
    ux, uy, uz = w[1] * hz - w[2] * hy, w[2] * hx - w[0] * hz, w[0] * hy - w[1] * hx
    force[0] = m * a[0] + t[1] * hz - t[2] * hy + w[1] * uz - w[2] * uy
    force[1] = m * a[1] + t[2] * hx - t[0] * hz + w[2] * ux - w[0] * uz
    force[2] = m * a[2] + t[0] * hy - t[1] * hx + w[0] * uy - w[1] * ux
    lx = xx * w[0] + xy * w[1] + xz * w[2]
    ly = xy * w[0] + yy * w[1] + yz * w[2]
    lz = xz * w[0] + yz * w[1] + zz * w[2]
    moment[0] = hy * a[2] - hz * a[1] + xx * t[0] + xy * t[1] + xz * t[2] + w[1] * lz - w[2] * ly
    moment[1] = hz * a[0] - hx * a[2] + xy * t[0] + yy * t[1] + yz * t[2] + w[2] * lx - w[0] * lz
    moment[2] = hx * a[1] - hy * a[0] + xz * t[0] + yz * t[1] + zz * t[2] + w[0] * ly - w[1] * lx


@inline
def _carry(R: Floats, p: Floats, f: Floats, n: Floats, force: Floats, moment: Floats) -> None:
    """Add the wrench of a link to that of the previous link."""
    fx = R[0, 0] * f[0] + R[0, 1] * f[1] + R[0, 2] * f[2]
    fy = R[1, 0] * f[0] + R[1, 1] * f[1] + R[1, 2] * f[2]
    fz = R[2, 0] * f[0] + R[2, 1] * f[1] + R[2, 2] * f[2]
    force[0] += fx
    force[1] += fy
    force[2] += fz
    moment[0] += R[0, 0] * n[0] + R[0, 1] * n[1] + R[0, 2] * n[2] + p[1] * fz - p[2] * fy
    moment[1] += R[1, 0] * n[0] + R[1, 1] * n[1] + R[1, 2] * n[2] + p[2] * fx - p[0] * fz
    moment[2] += R[2, 0] * n[0] + R[2, 1] * n[1] + R[2, 2] * n[2] + p[0] * fy - p[1] * fx


@inline
def masses(links: Floats, room: Scratch) -> None:
    """Fill mass (n, n), kg·m²; `place` must have been called."""
    n = len(links)
    for i in range(n):
        for k in range(LINK):
            room.body[i, k] = links[i, k]
    for i in range(n - 1, 0, -1):
        _merge(room.turn[i], room.origin[i], room.body[i], room.body[i - 1])
    for j in range(n):
        one, f, m = room.body[j], room.force[j], room.moment[j]
        f[0], f[1], f[2] = -one[7], one[6], 0.0  # z × h
        m[0], m[1], m[2] = one[2], one[4], one[5]
        room.mass[j, j] = m[2]
        for i in range(j, 0, -1):
            f, m = room.force[i - 1], room.moment[i - 1]
            f[0] = f[1] = f[2] = m[0] = m[1] = m[2] = 0.0
            _carry(room.turn[i], room.origin[i], room.force[i], room.moment[i], f, m)
            room.mass[i - 1, j] = room.mass[j, i - 1] = m[2]


@inline
def _merge(R: Floats, p: Floats, link: Floats, before: Floats) -> None:
    """Add a body to the previous one."""
    m = link[9]
    hx = R[0, 0] * link[6] + R[0, 1] * link[7] + R[0, 2] * link[8]
    hy = R[1, 0] * link[6] + R[1, 1] * link[7] + R[1, 2] * link[8]
    hz = R[2, 0] * link[6] + R[2, 1] * link[7] + R[2, 2] * link[8]
    # R I Rᵀ, then moved to the previous origin: h·p + p·h + m p·p on the diagonal, less the outer products
    shift = 2.0 * (hx * p[0] + hy * p[1] + hz * p[2]) + m * (p[0] * p[0] + p[1] * p[1] + p[2] * p[2])
    k = 0
    for r in range(3):
        a0 = R[r, 0] * link[0] + R[r, 1] * link[1] + R[r, 2] * link[2]
        a1 = R[r, 0] * link[1] + R[r, 1] * link[3] + R[r, 2] * link[4]
        a2 = R[r, 0] * link[2] + R[r, 1] * link[4] + R[r, 2] * link[5]
        hr = hx if r == 0 else (hy if r == 1 else hz)
        for c in range(r, 3):
            hc = hx if c == 0 else (hy if c == 1 else hz)
            before[k] += a0 * R[c, 0] + a1 * R[c, 1] + a2 * R[c, 2] - hr * p[c] - p[r] * hc - m * p[r] * p[c]
            if r == c:
                before[k] += shift
            k += 1
    before[6] += hx + m * p[0]
    before[7] += hy + m * p[1]
    before[8] += hz + m * p[2]
    before[9] += m


@inline
def solve(M: Floats, x: Floats) -> None:
    """Turn the right-hand side x (n,) into M⁻¹ x; M (n, n), symmetric and positive definite, is destroyed."""
    n = len(x)
    for i in range(n):  # M = L Lᵀ
        for j in range(i + 1):
            entry = M[i, j]
            for k in range(j):
                entry -= M[i, k] * M[j, k]
            M[i, j] = np.sqrt(entry) if i == j else entry / M[j, j]
    for i in range(n):
        for k in range(i):
            x[i] -= M[i, k] * x[k]
        x[i] /= M[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            x[i] -= M[k, i] * x[k]
        x[i] /= M[i, i]


@kernel("void(f8[:, ::1], f8[:, ::1], f8, f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1])")
def inverse_dynamics(
    arm: Floats, links: Floats, gravity: float, q: Floats, dq: Floats, ddq: Floats, torque: Floats
) -> None:
    """Fill torque (rows, n) of the motions q, dq, ddq (rows, n)."""
    room = scratch(len(arm))
    for row in range(len(q)):
        place(arm, q[row], room)
        inverse(links, dq[row], ddq[row], gravity, room, torque[row])


@kernel("void(f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, :, ::1])")
def mass_matrices(arm: Floats, links: Floats, q: Floats, M: Floats) -> None:
    """Fill M (rows, n, n) at the positions q (rows, n)."""
    room = scratch(len(arm))
    for row in range(len(q)):
        place(arm, q[row], room)
        masses(links, room)
        M[row] = room.mass
