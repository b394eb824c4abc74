"""A tree of five axes whose bearings rub under what they carry, in real time (Guo, Ju, Wang 2024, first case).

    τ_f = μ T_N tanh(ω/ε) + c_v ω,   T_N = R_p f_r + R_n f_a + (R_p/R_b) m_b,   μ = μ_c + (μ_s − μ_c) exp(−(ω/ω_s)²)

Forward dynamics with a fixed point over the friction, warm from the step before; all axes vertical, gravity along them.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from pydantic import Field as Setting

from hil_rig.plants.base import Floats, Jump, Parameters, Plant, PlantSettings, RigError
from hil_rig.plants.jit import inline, kernel
from hil_rig.plants.mechanisms.data_sheet import urdf
from hil_rig.plants.mechanisms.newton_euler import BODY, F, Integers, PlantTree, T, Z, forces, solve, torque, tree
from hil_rig.plants.mechanisms.shared import LOCKED, SETTLES, Driven, Shared

JOINTS: Final = 5
SUBSTEPS: Final = 4  # per sample
ITERATIONS: Final = 3  # of the fixed point in a step; the next step goes on from there
EPSILON: Final = 1e-3  # rad/s
ROUNDING: Final = 1e-6  # N·m: a change that says nothing of it
PERIODS: Final = (0.31, 0.47, 0.71)  # Hz, of the motion
STEP: Final = 1e-2  # N·m, of the torque on the wire: joint 1 takes up to 170
FRICTION: Final = ("pin", "arm", "bending", "mu", "mu_static", "stribeck", "viscous")


def published() -> PlantTree:
    """The paper's table, as read in the design."""
    offsets = np.array([[0, 0, 0], [-0.4, 0, 0], [0.6, 1.0392, 0], [-0.2, 0, 0], [0.6, -1.0392, 0]])
    centres = np.array([[-0.2, 0, 0], [0.3, 0.5196, 0], [0.3, -0.5196, 0], [0.3, -0.5196, 0], [0.3, 0.5196, 0]])
    masses = np.array([1.0, 3.0, 2.0, 3.0, 2.0])
    inertias = np.zeros((JOINTS, 6))
    inertias[:, :3] = [{1: (0.002, 0.01, 0.01), 2: (0.005, 0.04, 0.04), 3: (0.008, 0.06, 0.06)}[int(m)] for m in masses]
    return tree([-1, 0, 1, 0, 3], np.tile([0.0, 0.0, 1.0], (JOINTS, 1)), offsets, masses, centres, inertias)


class Tree5Settings(PlantSettings):
    """Arms in m, friction dimensionless, N·m·s/rad; the same for all joints."""

    pin: float = Setting(default=0.02, gt=0, description="R_p, m")
    arm: float = Setting(default=0.02, gt=0, description="R_n, m")
    bending: float = Setting(default=0.04, gt=0, description="R_b, m")
    mu: float = Setting(default=0.1, ge=0, le=0.5, description="μ_c")
    mu_static: float = Setting(default=0.1, ge=0, le=0.5, description="μ_s")
    stribeck: float = Setting(default=0.03, gt=0, description="ω_s, rad/s")
    viscous: float = Setting(default=0.05, ge=0, description="c_v, N·m·s/rad")
    amplitude: float = Setting(default=0.4, gt=0, description="rad, of each of three sines a joint")
    rate: float = Setting(default=1000.0, gt=0, description="Hz")
    bits: int = Setting(default=20, ge=8, le=28)
    torque_noise: float = Setting(default=0.02, ge=0, description="N·m, standard deviation, white")

    def robot(self, joints: int, seed: int, jumps: Sequence[Jump]) -> dict[str, Plant]:
        """All of its joints, on one simulation."""
        if joints != JOINTS:
            raise RigError(f"expected the five axes that there are, found --joints {joints}")
        shared = Shared(Tree5(self, seed, jumps), joints)
        noise = np.array([0.0, self.torque_noise])
        return {
            f"joint{i + 1}": Driven(
                shared,
                i,
                self.rate,
                self.bits,
                noise,
                (i, JOINTS + i),
                (),
                np.random.default_rng([seed, i]),
                {"kind": "rigid"},
                STEP,
            )
            for i in range(joints)
        }

    def data_sheet(self) -> str:
        """Bodies about right, lengths right."""
        return urdf("tree5", published())


class Tree5:
    """The simulation."""

    def __init__(self, settings: Tree5Settings, seed: int, jumps: Sequence[Jump]) -> None:
        values = {name: float(getattr(settings, name)) for name in FRICTION}
        self._parameters = Parameters(values, settings.rate, jumps, {"friction": ("mu", "mu_static")})
        self._tree, self._rate = published(), settings.rate
        rng = np.random.default_rng([seed, 5])
        self._motion = np.stack(
            [
                settings.amplitude * rng.uniform(0.5, 1.0, (JOINTS, 3)),
                2 * np.pi * np.array(PERIODS) * rng.uniform(0.8, 1.2, (JOINTS, 3)),
                rng.uniform(0, 2 * np.pi, (JOINTS, 3)),
            ]
        )
        self._state = np.zeros((5, JOINTS))  # q, dq, friction, time in steps, contraction of the friction
        self._state[0] = (self._motion[0] * np.sin(self._motion[2])).sum(axis=1)
        self._state[1] = (self._motion[0] * self._motion[1] * np.cos(self._motion[2])).sum(axis=1)

    def advance(self, count: int) -> Floats:
        """(count, 15): positions, torques, velocities."""
        out = np.empty((count, 3 * JOINTS))
        start = 0
        while start < count:
            stretch = self._parameters.next_stretch(count - start)
            step = 1 / (self._rate * SUBSTEPS)
            _run(*self._tree, self._parameters.values, self._motion, step, self._state, out[start : start + stretch])
            start += stretch
        if not self._state[4, 0] < SETTLES:  # nor where it is not a number any more
            raise RigError(LOCKED)
        return out

    def parameters(self) -> Mapping[str, float]:
        """As they are now."""
        return self._parameters.as_dict()


@inline
def rubbing(bodies: Floats, i: int, numbers: Floats, speed: float) -> float:
    """τ_f of a joint, N·m."""
    fz = bodies[i, F] * bodies[i, Z] + bodies[i, F + 1] * bodies[i, Z + 1] + bodies[i, F + 2] * bodies[i, Z + 2]
    mz = torque(bodies, i)
    across = bent = 0.0
    for k in range(3):
        across += (bodies[i, F + k] - fz * bodies[i, Z + k]) ** 2
        bent += (bodies[i, T + k] - mz * bodies[i, Z + k]) ** 2
    pin, arm, bending, mu, static, stribeck, viscous = numbers
    normal = pin * np.sqrt(across) + arm * abs(fz) + pin / bending * np.sqrt(bent)
    mu += (static - mu) * np.exp(-((speed / stribeck) ** 2))
    return float(mu * normal * np.tanh(speed / EPSILON) + viscous * speed)


@kernel("void(i8[::1], f8[:, ::1], f8[::1], f8[:, :, ::1], f8, f8[:, ::1], f8[:, ::1])")
def _run(
    parent: Integers, links: Floats, numbers: Floats, motion: Floats, step: float, state: Floats, out: Floats
) -> None:
    n = len(parent)
    bodies, mass, A, b = np.empty((n, BODY)), np.empty((n, n)), np.empty((n, n)), np.empty(n)
    none, unit, up, weightless = np.zeros(n), np.zeros(n), np.array([0.0, 0.0, 9.8]), np.zeros(3)
    acceleration, bias, drive = np.zeros(n), np.empty(n), np.empty(n)
    for row in range(len(out)):
        for substep in range(SUBSTEPS):
            q, dq, rub = state[0], state[1], state[2]
            t = state[3, 0] * step
            for j in range(n):
                unit[j] = 1.0
                forces(parent, links, weightless, q, none, unit, bodies)
                unit[j] = 0.0
                for i in range(n):
                    mass[i, j] = torque(bodies, i)
            forces(parent, links, up, q, dq, none, bodies)
            for i in range(n):
                bias[i] = torque(bodies, i)
                wanted = speed = 0.0
                for k in range(motion.shape[2]):
                    phase = motion[1, i, k] * t + motion[2, i, k]
                    wanted += motion[0, i, k] * np.sin(phase)
                    speed += motion[0, i, k] * motion[1, i, k] * np.cos(phase)
                drive[i] = mass[i, i] * (400.0 * (wanted - q[i]) + 40.0 * (speed - dq[i]))
            before = 0.0
            for iteration in range(ITERATIONS):
                for i in range(n):
                    b[i] = drive[i] - bias[i] - rub[i]
                    for j in range(n):
                        A[i, j] = mass[i, j]
                solve(A, b, n)
                for i in range(n):
                    acceleration[i] = b[i]
                forces(parent, links, up, q, dq, acceleration, bodies)
                change = 0.0
                for i in range(n):
                    fresh = rubbing(bodies, i, numbers, dq[i])
                    change = max(change, abs(fresh - rub[i]))
                    rub[i] = fresh
                if not np.isfinite(acceleration[0]):
                    state[4, 0] = np.inf
                elif iteration > 1 and before > ROUNDING:
                    state[4, 0] = max(state[4, 0], change / before)
                before = change
            if substep == 0:
                for i in range(n):
                    out[row, i], out[row, n + i], out[row, 2 * n + i] = q[i], drive[i], dq[i]
            for i in range(n):
                dq[i] += step * acceleration[i]
                q[i] += step * dq[i]
            state[3, 0] += 1.0
