"""Forces in a tree of links, in base axes: every link's frame is parallel to the base's when all joints are at zero.

    R_i = R_p Exp(n_i q_i),  o_i = o_p + R_p p_i;   forces F = m (a_c − g), moments d(I ω)/dt, summed back to the base

A second set of equations beside the estimators' own (link axes there, base axes here), so that neither judges itself.
Reference: Guo, Ju, Wang, Aerospace 2024, 11, 368 (axis invariants).
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hil_rig.plants.base import Floats
from hil_rig.plants.jit import inline

Integers = NDArray[np.int64]

# columns of links (n, LINK): axis, offset in the parent's frame, mass, centre, inertia about it xx yy zz xy xz yz
N, P, M, C, I = 0, 3, 6, 7, 10  # noqa: E741
LINK: Final = 16
# columns of bodies (n, BODY): what `motion` fills
R, O, Z, W, AL, A, F, T = 0, 9, 12, 15, 18, 21, 24, 27  # noqa: E741 (origin)
BODY: Final = 30


class PlantTree(NamedTuple):
    """For the kernels."""

    parent: Integers  # (n,) −1: the base
    links: Floats  # (n, LINK)


def tree(
    parent: list[int], axes: Floats, offsets: Floats, masses: Floats, centres: Floats, inertias: Floats
) -> PlantTree:
    """inertias: (n, 6) xx yy zz xy xz yz about the centre of mass, kg·m²."""
    links = np.column_stack([axes, offsets, masses, centres, inertias])
    return PlantTree(np.array(parent, np.int64), np.ascontiguousarray(links, np.float64))


@inline
def forces(parent: Integers, links: Floats, up: Floats, q: Floats, dq: Floats, ddq: Floats, bodies: Floats) -> None:
    """Fill bodies (n, BODY); up: (3,) acceleration of the base less gravity. F, T: force and moment at each origin."""
    n = len(parent)
    for i in range(n):
        p = parent[i]
        nx, ny, nz = links[i, N], links[i, N + 1], links[i, N + 2]
        c, s = np.cos(q[i]), np.sin(q[i])
        v = 1.0 - c
        e00, e01, e02 = c + v * nx * nx, v * nx * ny - s * nz, v * nx * nz + s * ny
        e10, e11, e12 = v * ny * nx + s * nz, c + v * ny * ny, v * ny * nz - s * nx
        e20, e21, e22 = v * nz * nx - s * ny, v * nz * ny + s * nx, c + v * nz * nz
        px, py, pz = links[i, P], links[i, P + 1], links[i, P + 2]
        if p < 0:
            bodies[i, R], bodies[i, R + 1], bodies[i, R + 2] = e00, e01, e02
            bodies[i, R + 3], bodies[i, R + 4], bodies[i, R + 5] = e10, e11, e12
            bodies[i, R + 6], bodies[i, R + 7], bodies[i, R + 8] = e20, e21, e22
            bodies[i, O], bodies[i, O + 1], bodies[i, O + 2] = px, py, pz
            zx, zy, zz = nx, ny, nz
            wx = wy = wz = ax = ay = az = 0.0
            lx, ly, lz = up[0], up[1], up[2]
        else:
            for r in range(3):
                r0, r1, r2 = bodies[p, R + 3 * r], bodies[p, R + 3 * r + 1], bodies[p, R + 3 * r + 2]
                bodies[i, R + 3 * r] = r0 * e00 + r1 * e10 + r2 * e20
                bodies[i, R + 3 * r + 1] = r0 * e01 + r1 * e11 + r2 * e21
                bodies[i, R + 3 * r + 2] = r0 * e02 + r1 * e12 + r2 * e22
                bodies[i, O + r] = r0 * px + r1 * py + r2 * pz
                bodies[i, Z + r] = r0 * nx + r1 * ny + r2 * nz
            zx, zy, zz = bodies[i, Z], bodies[i, Z + 1], bodies[i, Z + 2]
            wx, wy, wz = bodies[p, W], bodies[p, W + 1], bodies[p, W + 2]
            ax, ay, az = bodies[p, AL], bodies[p, AL + 1], bodies[p, AL + 2]
            dx, dy, dz = bodies[i, O], bodies[i, O + 1], bodies[i, O + 2]
            ux, uy, uz = wy * dz - wz * dy, wz * dx - wx * dz, wx * dy - wy * dx
            lx = bodies[p, A] + ay * dz - az * dy + wy * uz - wz * uy
            ly = bodies[p, A + 1] + az * dx - ax * dz + wz * ux - wx * uz
            lz = bodies[p, A + 2] + ax * dy - ay * dx + wx * uy - wy * ux
            for r in range(3):
                bodies[i, O + r] += bodies[p, O + r]
        bodies[i, Z], bodies[i, Z + 1], bodies[i, Z + 2] = zx, zy, zz
        bodies[i, A], bodies[i, A + 1], bodies[i, A + 2] = lx, ly, lz
        rate, second = dq[i], ddq[i]
        ax += zx * second + (wy * zz - wz * zy) * rate
        ay += zy * second + (wz * zx - wx * zz) * rate
        az += zz * second + (wx * zy - wy * zx) * rate
        wx, wy, wz = wx + zx * rate, wy + zy * rate, wz + zz * rate
        bodies[i, W], bodies[i, W + 1], bodies[i, W + 2] = wx, wy, wz
        bodies[i, AL], bodies[i, AL + 1], bodies[i, AL + 2] = ax, ay, az
        # force and moment of the link alone, about its origin
        t0, t1, t2 = bodies[i, R], bodies[i, R + 1], bodies[i, R + 2]
        t3, t4, t5 = bodies[i, R + 3], bodies[i, R + 4], bodies[i, R + 5]
        t6, t7, t8 = bodies[i, R + 6], bodies[i, R + 7], bodies[i, R + 8]
        gx, gy, gz = links[i, C], links[i, C + 1], links[i, C + 2]
        dx, dy, dz = t0 * gx + t1 * gy + t2 * gz, t3 * gx + t4 * gy + t5 * gz, t6 * gx + t7 * gy + t8 * gz
        ux, uy, uz = wy * dz - wz * dy, wz * dx - wx * dz, wx * dy - wy * dx
        m = links[i, M]
        fx = m * (lx + ay * dz - az * dy + wy * uz - wz * uy)
        fy = m * (ly + az * dx - ax * dz + wz * ux - wx * uz)
        fz = m * (lz + ax * dy - ay * dx + wx * uy - wy * ux)
        i0, i1, i2 = links[i, I], links[i, I + 1], links[i, I + 2]
        i01, i02, i12 = links[i, I + 3], links[i, I + 4], links[i, I + 5]
        b0, b1, b2 = t0 * wx + t3 * wy + t6 * wz, t1 * wx + t4 * wy + t7 * wz, t2 * wx + t5 * wy + t8 * wz  # Rᵀω
        c0, c1, c2 = t0 * ax + t3 * ay + t6 * az, t1 * ax + t4 * ay + t7 * az, t2 * ax + t5 * ay + t8 * az
        h0, h1, h2 = i0 * b0 + i01 * b1 + i02 * b2, i01 * b0 + i1 * b1 + i12 * b2, i02 * b0 + i12 * b1 + i2 * b2
        k0 = i0 * c0 + i01 * c1 + i02 * c2 + b1 * h2 - b2 * h1
        k1 = i01 * c0 + i1 * c1 + i12 * c2 + b2 * h0 - b0 * h2
        k2 = i02 * c0 + i12 * c1 + i2 * c2 + b0 * h1 - b1 * h0
        bodies[i, F], bodies[i, F + 1], bodies[i, F + 2] = fx, fy, fz
        bodies[i, T] = t0 * k0 + t1 * k1 + t2 * k2 + dy * fz - dz * fy
        bodies[i, T + 1] = t3 * k0 + t4 * k1 + t5 * k2 + dz * fx - dx * fz
        bodies[i, T + 2] = t6 * k0 + t7 * k1 + t8 * k2 + dx * fy - dy * fx
    for i in range(n - 1, -1, -1):
        p = parent[i]
        if p >= 0:
            dx, dy, dz = (
                bodies[i, O] - bodies[p, O],
                bodies[i, O + 1] - bodies[p, O + 1],
                bodies[i, O + 2] - bodies[p, O + 2],
            )
            fx, fy, fz = bodies[i, F], bodies[i, F + 1], bodies[i, F + 2]
            bodies[p, F] += fx
            bodies[p, F + 1] += fy
            bodies[p, F + 2] += fz
            bodies[p, T] += bodies[i, T] + dy * fz - dz * fy
            bodies[p, T + 1] += bodies[i, T + 1] + dz * fx - dx * fz
            bodies[p, T + 2] += bodies[i, T + 2] + dx * fy - dy * fx


@inline
def torque(bodies: Floats, i: int) -> float:
    """About joint i's axis."""
    return float(
        bodies[i, T] * bodies[i, Z] + bodies[i, T + 1] * bodies[i, Z + 1] + bodies[i, T + 2] * bodies[i, Z + 2]
    )


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
