"""Forces in a tree of links, in base axes: every link's frame is parallel to the base's when all joints are at zero.

    R_i = R_p Exp(n_i q_i),  o_i = o_p + R_p p_i;   forces F = m (a_c − g), moments d(I ω)/dt, summed back to the base

These equations are independent of the estimators' (link axes there, base axes here), so that each tests the other.
Reference: Guo, Ju, Wang, Aerospace 2024, 11, 368 (axis invariants).
"""

from typing import Annotated, NamedTuple

import numpy as np

from hil_rig.plants.base import Floats
from hil_rig.plants.jit import inline
from jointwatch_numba.layout import Integers, Layout, Matrix, Vector


class PlantTree(Layout):
    """A tree of links for kernels."""

    links: int
    parent: Annotated[Integers, "links"]  # −1: the base
    axis: Annotated[Matrix, "links", "3"]  # of the joint, in the parent's frame
    offset: Annotated[Matrix, "links", "3"]  # m, of the joint, in the parent's frame
    mass: Annotated[Vector, "links"]  # kg
    centre: Annotated[Matrix, "links", "3"]  # m, of mass
    inertia: Annotated[Matrix, "links", "6"]  # kg·m², xx yy zz xy xz yz about the centre of mass


class Bodies(NamedTuple):
    """Results of `forces` in base axes; the row after the last link is the base."""

    rotation: Floats  # (n + 1, 3, 3)
    arm: Floats  # (n + 1, 3) m, from the parent's origin to the link's origin
    origin: Floats  # (n + 1, 3) m
    axis: Floats  # (n + 1, 3) of the joint
    spin: Floats  # (n + 1, 3) rad/s
    twist: Floats  # (n + 1, 3) rad/s²
    pull: Floats  # (n + 1, 3) m/s², of the origin, less gravity
    centre: Floats  # (n + 1, 3) m, from the origin to the centre of mass
    force: Floats  # (n + 1, 3) N, of the link and all that it carries
    moment: Floats  # (n + 1, 3) N·m, about the origin


def tree(
    parent: list[int], axes: Floats, offsets: Floats, masses: Floats, centres: Floats, inertias: Floats
) -> PlantTree:
    """Make the tree of these links; inertias: (n, 6) xx yy zz xy xz yz about the centre of mass, kg·m²."""
    axis, offset, mass, centre, inertia = (
        np.ascontiguousarray(one, np.float64) for one in (axes, offsets, masses, centres, inertias)
    )
    return PlantTree(
        links=len(parent),
        parent=np.array(parent, np.int64),
        axis=axis,
        offset=offset,
        mass=mass,
        centre=centre,
        inertia=inertia,
    )


@inline
def bodies_of(n: int) -> Bodies:
    """Allocate the bodies of n links."""
    base = np.zeros((n + 1, 3, 3))
    base[n, 0, 0] = base[n, 1, 1] = base[n, 2, 2] = 1.0
    return Bodies(
        base,
        np.zeros((n + 1, 3)),
        np.zeros((n + 1, 3)),
        np.zeros((n + 1, 3)),
        np.zeros((n + 1, 3)),
        np.zeros((n + 1, 3)),
        np.zeros((n + 1, 3)),
        np.zeros((n + 1, 3)),
        np.zeros((n + 1, 3)),
        np.zeros((n + 1, 3)),
    )


@inline
def forces(links: PlantTree, up: Floats, q: Floats, dq: Floats, ddq: Floats, bodies: Bodies) -> None:
    """Fill the bodies for a motion; up: (3,) acceleration of the base less gravity, m/s²."""
    n = links.links
    for k in range(3):
        bodies.pull[n, k] = up[k]
    for i in range(n):
        p = links.parent[i] if links.parent[i] >= 0 else n
        _place(links.axis[i], links.offset[i], q[i], i, p, bodies)
        _move(dq[i], ddq[i], i, p, bodies)
        _load(links.mass[i], links.centre[i], links.inertia[i], i, bodies)
    for i in range(n - 1, -1, -1):
        p = links.parent[i]
        if p >= 0:
            f, m, d = bodies.force[i], bodies.moment[i], bodies.origin
            dx, dy, dz = d[i, 0] - d[p, 0], d[i, 1] - d[p, 1], d[i, 2] - d[p, 2]
            for k in range(3):
                bodies.force[p, k] += f[k]
            bodies.moment[p, 0] += m[0] + dy * f[2] - dz * f[1]
            bodies.moment[p, 1] += m[1] + dz * f[0] - dx * f[2]
            bodies.moment[p, 2] += m[2] + dx * f[1] - dy * f[0]


@inline
def _place(axis: Floats, offset: Floats, angle: float, i: int, p: int, bodies: Bodies) -> None:
    """Fill rotation, arm, origin and axis of link i, whose parent is p."""
    x, y, z = axis[0], axis[1], axis[2]
    c, s = np.cos(angle), np.sin(angle)
    v = 1.0 - c
    e00, e01, e02 = c + v * x * x, v * x * y - s * z, v * x * z + s * y
    e10, e11, e12 = v * y * x + s * z, c + v * y * y, v * y * z - s * x
    e20, e21, e22 = v * z * x - s * y, v * z * y + s * x, c + v * z * z
    for r in range(3):
        r0, r1, r2 = bodies.rotation[p, r, 0], bodies.rotation[p, r, 1], bodies.rotation[p, r, 2]
        bodies.rotation[i, r, 0] = r0 * e00 + r1 * e10 + r2 * e20
        bodies.rotation[i, r, 1] = r0 * e01 + r1 * e11 + r2 * e21
        bodies.rotation[i, r, 2] = r0 * e02 + r1 * e12 + r2 * e22
        bodies.arm[i, r] = r0 * offset[0] + r1 * offset[1] + r2 * offset[2]
        bodies.axis[i, r] = r0 * x + r1 * y + r2 * z
        bodies.origin[i, r] = bodies.arm[i, r] + bodies.origin[p, r]


@inline
def _move(rate: float, second: float, i: int, p: int, bodies: Bodies) -> None:
    """Fill spin, twist and pull of link i; rate, second: of its joint, rad/s and rad/s²."""
    w, z = bodies.spin[p], bodies.axis[i]
    _accelerated(bodies.pull[p], bodies.twist[p], w, bodies.arm[i], bodies.pull[i])
    bodies.twist[i, 0] = bodies.twist[p, 0] + (z[0] * second + (w[1] * z[2] - w[2] * z[1]) * rate)
    bodies.twist[i, 1] = bodies.twist[p, 1] + (z[1] * second + (w[2] * z[0] - w[0] * z[2]) * rate)
    bodies.twist[i, 2] = bodies.twist[p, 2] + (z[2] * second + (w[0] * z[1] - w[1] * z[0]) * rate)
    for k in range(3):
        bodies.spin[i, k] = w[k] + z[k] * rate


@inline
def _load(mass: float, centre: Floats, inertia: Floats, i: int, bodies: Bodies) -> None:
    """Fill force and moment of link i alone, about its origin."""
    R, w, a, d = bodies.rotation[i], bodies.spin[i], bodies.twist[i], bodies.centre[i]
    for r in range(3):
        d[r] = R[r, 0] * centre[0] + R[r, 1] * centre[1] + R[r, 2] * centre[2]
    f, moment = bodies.force[i], bodies.moment[i]
    _accelerated(bodies.pull[i], a, w, d, f)
    for r in range(3):
        f[r] = mass * f[r]
    i0, i1, i2, i01, i02, i12 = inertia[0], inertia[1], inertia[2], inertia[3], inertia[4], inertia[5]
    b0, c0 = R[0, 0] * w[0] + R[1, 0] * w[1] + R[2, 0] * w[2], R[0, 0] * a[0] + R[1, 0] * a[1] + R[2, 0] * a[2]  # Rᵀω
    b1, c1 = R[0, 1] * w[0] + R[1, 1] * w[1] + R[2, 1] * w[2], R[0, 1] * a[0] + R[1, 1] * a[1] + R[2, 1] * a[2]
    b2, c2 = R[0, 2] * w[0] + R[1, 2] * w[1] + R[2, 2] * w[2], R[0, 2] * a[0] + R[1, 2] * a[1] + R[2, 2] * a[2]
    h0, h1, h2 = i0 * b0 + i01 * b1 + i02 * b2, i01 * b0 + i1 * b1 + i12 * b2, i02 * b0 + i12 * b1 + i2 * b2
    k0 = i0 * c0 + i01 * c1 + i02 * c2 + b1 * h2 - b2 * h1
    k1 = i01 * c0 + i1 * c1 + i12 * c2 + b2 * h0 - b0 * h2
    k2 = i02 * c0 + i12 * c1 + i2 * c2 + b0 * h1 - b1 * h0
    moment[0] = R[0, 0] * k0 + R[0, 1] * k1 + R[0, 2] * k2 + d[1] * f[2] - d[2] * f[1]
    moment[1] = R[1, 0] * k0 + R[1, 1] * k1 + R[1, 2] * k2 + d[2] * f[0] - d[0] * f[2]
    moment[2] = R[2, 0] * k0 + R[2, 1] * k1 + R[2, 2] * k2 + d[0] * f[1] - d[1] * f[0]


@inline
def _accelerated(a: Floats, alpha: Floats, w: Floats, d: Floats, out: Floats) -> None:
    """Fill out with a + α × d + ω × (ω × d), the acceleration of a body's point at distance d."""
    ux, uy, uz = w[1] * d[2] - w[2] * d[1], w[2] * d[0] - w[0] * d[2], w[0] * d[1] - w[1] * d[0]
    out[0] = a[0] + alpha[1] * d[2] - alpha[2] * d[1] + w[1] * uz - w[2] * uy
    out[1] = a[1] + alpha[2] * d[0] - alpha[0] * d[2] + w[2] * ux - w[0] * uz
    out[2] = a[2] + alpha[0] * d[1] - alpha[1] * d[0] + w[0] * uy - w[1] * ux


@inline
def torque(bodies: Bodies, i: int) -> float:
    """Torque about joint i's axis, N·m."""
    m, z = bodies.moment[i], bodies.axis[i]
    return float(m[0] * z[0] + m[1] * z[1] + m[2] * z[2])


@inline
def solve(A: Floats, b: Floats, n: int) -> None:
    """Turn b (n,) into A⁻¹b by elimination with pivoting; A (n, n) is destroyed."""
    for j in range(n):
        best = j
        for i in range(j + 1, n):
            if abs(A[i, j]) > abs(A[best, j]):
                best = i
        if best != j:
            for k in range(n):
                A[j, k], A[best, k] = A[best, k], A[j, k]
            b[j], b[best] = b[best], b[j]
        for i in range(j + 1, n):
            factor = A[i, j] / A[j, j]
            for k in range(j + 1, n):
                A[i, k] -= factor * A[j, k]
            b[i] -= factor * b[j]
    for j in range(n - 1, -1, -1):
        for i in range(j + 1, n):
            b[j] -= A[j, i] * b[i]
        b[j] /= A[j, j]
