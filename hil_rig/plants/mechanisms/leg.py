"""A leg of seven links in three loops with one drive, every joint rubbing, in real time (Guo 2024, second case).

Integrated in the drive's angle alone, so that the loops never drift apart: Newton closes them at every step, q̇ = B ω,
and (BᵀM B) α = τ + Bᵀ(…). λ of the cut joints follows from the passive rows, their friction from λ of the step before.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from pydantic import Field as Setting

from hil_rig.plants.base import Floats, Jump, Parameters, Plant, PlantSettings, RigError
from hil_rig.plants.jit import inline, kernel
from hil_rig.plants.mechanisms.newton_euler import BODY, F, Integers, O, PlantTree, R, forces, solve, torque, tree
from hil_rig.plants.mechanisms.shared import LOCKED, SETTLES, Driven, Shared

LINKS: Final = ("thigh", "shin", "coupler", "tie", "lower", "rocker", "crank")  # A … G; the crank is driven
CRANK: Final = 6
SUBSTEPS: Final = 2  # per sample
EPSILON: Final = 1e-3  # rad/s
CUTS: Final = np.array([[2, 3], [3, 5], [5, 6]], np.int64)
TIPS: Final = np.array(  # of each cut, on one link and on the other, m
    [
        [[-0.0375, 0.0249], [-0.0457, -0.0306]],
        [[-0.0457, -0.0306], [0.049, -0.01]],
        [[-0.049, 0.01], [-0.0069, -0.0445]],
    ]
)
CONTRACTION: Final = 72.0  # per m of μ R_p, of the fixed point over the friction: measured on this mechanism
FRICTION: Final = ("pin", "mu", "mu_static", "stribeck", "viscous")


def published() -> PlantTree:
    """The paper's table, its centres of mass recovered to its own four decimals."""
    x = np.array(
        [[0, 0], [0.0737, -0.0676], [-0.0451, -0.0217], [0.0368, -0.0338], [-0.05, 0], [-0.0079, -0.0544], [-0.1, 0]]
    )
    c = np.array(
        [[0.0369, -0.0338], [-0.0451, -0.0217], [-0.0187, 0.0124], [-0.0229, -0.0153], [-0.0039, -0.0272], [0, 0],
         [-0.0034, -0.0222]]
    )  # fmt: skip
    masses = np.array([2, 2, 1, 1.2, 1.2, 2, 1])
    sizes = {2.0: (0.005, 0.04, 0.04), 1.0: (0.002, 0.01, 0.01), 1.2: (0.003, 0.02, 0.02)}
    inertias = np.zeros((7, 6))
    inertias[:, :3] = [sizes[float(m)] for m in masses]
    zero = np.zeros((7, 1))
    axes = np.tile([0.0, 0.0, 1.0], (7, 1))
    return tree([-1, 0, 1, 0, -1, 4, -1], axes, np.hstack([x, zero]), masses, np.hstack([c, zero]), inertias)


class LegSettings(PlantSettings):
    """Arms in m, friction dimensionless, N·m·s/rad; the same for all ten joints."""

    pin: float = Setting(default=0.005, gt=0, description="R_p, m")
    mu: float = Setting(default=0.05, ge=0, description="μ_c")
    mu_static: float = Setting(default=0.05, ge=0, description="μ_s")
    stribeck: float = Setting(default=0.1, gt=0, description="ω_s, rad/s")
    viscous: float = Setting(default=0.01, ge=0, description="c_v, N·m·s/rad")
    amplitude: float = Setting(default=0.5, gt=0, le=1.2, description="rad, of the crank")
    frequency: float = Setting(default=0.5, gt=0, description="Hz")
    rate: float = Setting(default=1000.0, gt=0, description="Hz")
    bits: int = Setting(default=20, ge=8, le=28)
    torque_noise: float = Setting(default=0.005, ge=0, description="N·m, standard deviation, white")

    def robot(self, joints: int, seed: int, jumps: Sequence[Jump]) -> dict[str, Plant]:
        """The one joint that is driven."""
        if joints != 1:
            raise RigError(f"expected the one drive that there are, found --joints {joints}")
        noise = np.array([0.0, self.torque_noise])
        shared = Shared(Leg(self, jumps), 1)
        rng = np.random.default_rng([seed, 1])
        return {
            "joint1": Driven(
                shared,
                0,
                self.rate,
                self.bits,
                noise,
                (0, 1),
                (),
                rng,
                {"kind": "rigid", "gravity_sin": True, "gravity_cos": True},
            )
        }


class Leg:
    """The simulation."""

    def __init__(self, settings: LegSettings, jumps: Sequence[Jump]) -> None:
        values = {name: float(getattr(settings, name)) for name in FRICTION}
        self._parameters = Parameters(values, settings.rate, jumps, {"friction": ("mu", "mu_static")})
        self._tree, self._rate = published(), settings.rate
        self._motion = np.array([settings.amplitude, 2 * np.pi * settings.frequency])
        self._state = np.zeros((4, 7))  # q; λ of the step before; rate of the crank and time in steps; torque
        self._state[2, 0] = self._motion[0] * self._motion[1]
        self._settles()

    def advance(self, count: int) -> Floats:
        """(count, 11): crank angle, its torque, its velocity, the ideal torque, λ (6), the largest |φ| (m)."""
        out = np.empty((count, 11))
        start = 0
        while start < count:
            stretch = self._parameters.next_stretch(count - start)
            step = 1 / (self._rate * SUBSTEPS)
            numbers = self._settles()
            _run(*self._tree, CUTS, TIPS, numbers, self._motion, step, self._state, out[start : start + stretch])
            start += stretch
        return out

    def _settles(self) -> Floats:
        """The friction's numbers. Raises RigError where joints would lock themselves."""
        pin, mu, static = self._parameters.values[:3]
        if not CONTRACTION * max(mu, static) * pin < SETTLES:
            raise RigError(LOCKED)
        return self._parameters.values

    def parameters(self) -> Mapping[str, float]:
        """As they are now."""
        return self._parameters.as_dict()


@inline
def _loops(
    parent: Integers, cuts: Integers, tips: Floats, bodies: Floats, phi: Floats, J: Floats, bias: Floats
) -> None:
    """φ, J (6, 7) and φ̈ of the accelerations in bodies."""
    for cut in range(len(cuts)):
        for k in range(2):
            phi[2 * cut + k] = bias[2 * cut + k] = 0.0
            J[2 * cut + k, :] = 0.0
        for side in range(2):
            sign = 1.0 - 2.0 * side
            link = cuts[cut, side]
            x, y = tips[cut, side, 0], tips[cut, side, 1]
            dx, dy = bodies[link, R] * x + bodies[link, R + 1] * y, bodies[link, R + 3] * x + bodies[link, R + 4] * y
            px, py = bodies[link, O] + dx, bodies[link, O + 1] + dy
            w, a = bodies[link, 17], bodies[link, 20]
            phi[2 * cut] += sign * px
            phi[2 * cut + 1] += sign * py
            bias[2 * cut] += sign * (bodies[link, 21] - a * dy - w * w * dx)
            bias[2 * cut + 1] += sign * (bodies[link, 22] + a * dx - w * w * dy)
            i = link
            while i >= 0:
                J[2 * cut, i] -= sign * (py - bodies[i, O + 1])
                J[2 * cut + 1, i] += sign * (px - bodies[i, O])
                i = parent[i]


@inline
def _friction(
    parent: Integers, cuts: Integers, bodies: Floats, lam: Floats, numbers: Floats, dq: Floats, rub: Floats
) -> None:
    """τ_f of the tree's joints, then of the cuts: (10,)."""
    pin, mu, static, stribeck, viscous = numbers
    n = len(parent)
    for joint in range(n + len(cuts)):
        if joint < n:
            fx, fy, speed = bodies[joint, F], bodies[joint, F + 1], dq[joint]
            for cut in range(len(cuts)):
                for side in range(2):
                    i = cuts[cut, side]
                    while i >= 0 and i != joint:
                        i = parent[i]
                    if i == joint:  # λ pushes the first link of a cut, and the joint carries less
                        fx -= (1.0 - 2.0 * side) * lam[2 * cut]
                        fy -= (1.0 - 2.0 * side) * lam[2 * cut + 1]
        else:
            cut = joint - n
            fx, fy = lam[2 * cut], lam[2 * cut + 1]
            speed = bodies[cuts[cut, 0], 17] - bodies[cuts[cut, 1], 17]
        now = mu + (static - mu) * np.exp(-((speed / stribeck) ** 2))
        rub[joint] = now * pin * np.sqrt(fx * fx + fy * fy) * np.tanh(speed / EPSILON) + viscous * speed


@kernel("void(i8[::1], f8[:, ::1], i8[:, ::1], f8[:, :, ::1], f8[::1], f8[::1], f8, f8[:, ::1], f8[:, ::1])")
def _run(
    parent: Integers,
    links: Floats,
    cuts: Integers,
    tips: Floats,
    numbers: Floats,
    motion: Floats,
    step: float,
    state: Floats,
    out: Floats,
) -> None:
    n, c, crank = len(parent), 2 * len(cuts), len(parent) - 1
    bodies, phi, J, bias = np.empty((n, BODY)), np.empty(c), np.empty((c, n)), np.empty(c)
    A, b = np.empty((c, c)), np.empty(c)
    none, up, weightless = np.zeros(n), np.array([0.0, 9.8, 0.0]), np.zeros(3)
    B, rate, curve, moved, rub = np.zeros(n), np.empty(n), np.zeros(n), np.empty(n), np.empty(n + len(cuts))
    for row in range(len(out)):
        for substep in range(SUBSTEPS):
            q, lam, w = state[0], state[1], state[2, 0]
            t = state[2, 1] * step
            off = 0.0
            for _ in range(6):
                forces(parent, links, weightless, q, none, none, bodies)
                _loops(parent, cuts, tips, bodies, phi, J, bias)
                off = 0.0
                for i in range(c):
                    off = max(off, abs(phi[i]))
                if off < 1e-14:
                    break
                for i in range(c):
                    b[i] = phi[i]
                    for j in range(c):
                        A[i, j] = J[i, j]
                solve(A, b, c)
                for i in range(c):
                    q[i] -= b[i]
            for i in range(c):
                b[i] = J[i, crank]
                for j in range(c):
                    A[i, j] = J[i, j]
            solve(A, b, c)
            for i in range(c):
                B[i] = -b[i]
            B[crank] = 1.0
            for i in range(n):
                rate[i] = B[i] * w
            forces(parent, links, weightless, q, rate, none, bodies)
            _loops(parent, cuts, tips, bodies, phi, J, bias)
            for i in range(c):
                b[i] = bias[i]
                for j in range(c):
                    A[i, j] = J[i, j]
            solve(A, b, c)
            for i in range(c):
                curve[i] = -b[i]
            forces(parent, links, weightless, q, none, B, bodies)
            inertia = 0.0
            for i in range(n):
                inertia += B[i] * torque(bodies, i)
            forces(parent, links, up, q, rate, curve, bodies)
            pull = 0.0
            for i in range(n):
                pull += B[i] * torque(bodies, i)
            _friction(parent, cuts, bodies, lam, numbers, rate, rub)
            against = 0.0  # Σ τ_f,k ∂(relative angle k)/∂(crank)
            for i in range(n):
                against += rub[i] * B[i]
            for cut in range(len(cuts)):
                i = cuts[cut, 0]
                while i >= 0:
                    against += rub[n + cut] * B[i]
                    i = parent[i]
                i = cuts[cut, 1]
                while i >= 0:
                    against -= rub[n + cut] * B[i]
                    i = parent[i]
            phase = motion[1] * t
            wanted, speed = motion[0] * np.sin(phase), motion[0] * motion[1] * np.cos(phase)
            drive = pull + inertia * (900.0 * (wanted - q[crank]) + 60.0 * (speed - w))
            a = (drive - pull - against) / inertia
            for i in range(n):
                moved[i] = B[i] * a + curve[i]
            forces(parent, links, up, q, rate, moved, bodies)
            for i in range(c):  # passive rows: M q̈ + h + friction = Jᵀλ
                b[i] = torque(bodies, i) + rub[i]
                for j in range(c):
                    A[i, j] = J[j, i]
            for cut in range(len(cuts)):
                for side in range(2):
                    i = cuts[cut, side]
                    while i >= 0:
                        if i != crank:
                            b[i] += (1.0 - 2.0 * side) * rub[n + cut]
                        i = parent[i]
            solve(A, b, c)
            for i in range(c):
                lam[i] = b[i]
            if substep == 0:
                out[row, 0], out[row, 1], out[row, 2], out[row, 3] = q[crank], drive, w, pull + inertia * a
                for i in range(c):
                    out[row, 4 + i] = lam[i]
                out[row, 10] = off
            state[2, 0] = w + step * a
            for i in range(n):
                q[i] += step * (w + step * a) * B[i]
            state[2, 1] += 1.0
