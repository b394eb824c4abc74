"""A tree of five axes whose friction depends on their bearings' load, in real time (Guo, Ju, Wang 2024, first case).

    τ_f = μ T_N tanh(ω/ε) + c_v ω,   T_N = R_p f_r + R_n f_a + (R_p/R_b) m_b,   μ = μ_c + (μ_s − μ_c) exp(−(ω/ω_s)²)

Forward dynamics with a fixed-point iteration of the friction that starts from the previous step; all axes are vertical.
"""

from collections.abc import Sequence
from typing import Annotated, Final

import numpy as np
from pydantic import Field as Setting

from hil_rig.plants.base import Floats, Jump, Parameters, Plant, PlantSettings, RigError, SimulatedPlant
from hil_rig.plants.jit import inline, kernel
from hil_rig.plants.mechanisms.data_sheet import urdf
from hil_rig.plants.mechanisms.newton_euler import Bodies, PlantTree, bodies_of, forces, solve, torque, tree
from hil_rig.plants.mechanisms.shared import LOCKED, SETTLES, Driven, Shared
from jointwatch_numba.layout import Layout, Matrix, Vector

JOINTS: Final = 5
SUBSTEPS: Final = 4  # per sample
ITERATIONS: Final = 3  # of the fixed point in a step; the next step continues from there
EPSILON: Final = 1e-3  # rad/s
ROUNDING: Final = 1e-6  # N·m: a smaller change counts as rounding
PERIODS: Final = (0.31, 0.47, 0.71)  # Hz, of the motion
STEP: Final = 1e-2  # N·m, resolution of the torque on the wire: joint 1 needs up to 170
FRICTION: Final = ("pin", "arm", "bending", "mu", "mu_static", "stribeck", "viscous")


def published() -> PlantTree:
    """The links of the paper's table."""
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
    amplitude: float = Setting(default=0.4, gt=0, description="rad, of each of a joint's three sines")
    rate: float = Setting(default=1000.0, gt=0, description="Hz")
    bits: int = Setting(default=20, ge=8, le=28)
    torque_noise: float = Setting(default=0.02, ge=0, description="N·m, standard deviation, white")

    def robot(self, joints: int, seed: int, jumps: Sequence[Jump]) -> dict[str, Plant]:
        """Build all joints of one simulation."""
        if joints != JOINTS:
            raise RigError(f"expected --joints 5, since this mechanism has five axes, found --joints {joints}")
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
        """Return a URDF with exact lengths and approximate bodies."""
        return urdf("tree5", published())


class TreeMotion(Layout):
    """The reference of the controllers: three sines for each joint."""

    amplitude: Annotated[Matrix, "joints", "sines"]  # rad
    frequency: Annotated[Matrix, "joints", "sines"]  # rad/s
    phase: Annotated[Matrix, "joints", "sines"]  # rad


class TreeState(Layout):
    """The state of motion of the tree."""

    angles: Annotated[Vector, "joints"]  # rad
    rates: Annotated[Vector, "joints"]  # rad/s
    friction: Annotated[Vector, "joints"]  # N·m, in the previous step
    contraction: float = 0.0  # largest contraction of the fixed-point iteration so far
    time: float = 0.0  # steps


class Tree5(SimulatedPlant):
    """The simulation."""

    columns, substeps = 3 * JOINTS, SUBSTEPS

    def __init__(self, settings: Tree5Settings, seed: int, jumps: Sequence[Jump]) -> None:
        values = {name: float(getattr(settings, name)) for name in FRICTION}
        self.physics = Parameters(values, settings.rate, jumps, {"friction": ("mu", "mu_static")})
        self._tree, self.rate = published(), settings.rate
        rng = np.random.default_rng([seed, 5])
        self._motion = motion = TreeMotion(
            amplitude=settings.amplitude * rng.uniform(0.5, 1.0, (JOINTS, 3)),
            frequency=2 * np.pi * np.array(PERIODS) * rng.uniform(0.8, 1.2, (JOINTS, 3)),
            phase=rng.uniform(0, 2 * np.pi, (JOINTS, 3)),
        )
        self._state = TreeState.zeros(joints=JOINTS)
        self._state.angles[:] = (motion.amplitude * np.sin(motion.phase)).sum(axis=1)
        self._state.rates[:] = (motion.amplitude * motion.frequency * np.cos(motion.phase)).sum(axis=1)

    def exact(self, count: int) -> Floats:
        """Return (count, 15): positions, torques, velocities."""
        out = super().exact(count)
        if not self._state.contraction < SETTLES:  # also true if it is NaN
            raise RigError(LOCKED)
        return out

    def integrate(self, step: float, out: Floats) -> None:
        _run(self._tree, self.physics.values, self._motion, step, self._state, out)


@inline
def rubbing(bodies: Bodies, i: int, numbers: Floats, speed: float) -> float:
    """Friction τ_f of a joint, N·m."""
    f, m, z = bodies.force[i], bodies.moment[i], bodies.axis[i]
    fz = f[0] * z[0] + f[1] * z[1] + f[2] * z[2]
    mz = torque(bodies, i)
    across = bent = 0.0
    for k in range(3):
        across += (f[k] - fz * z[k]) ** 2
        bent += (m[k] - mz * z[k]) ** 2
    pin, arm, bending, mu, static, stribeck, viscous = numbers
    normal = pin * np.sqrt(across) + arm * abs(fz) + pin / bending * np.sqrt(bent)
    mu += (static - mu) * np.exp(-((speed / stribeck) ** 2))
    return float(mu * normal * np.tanh(speed / EPSILON) + viscous * speed)


@inline
def _controlled(motion: TreeMotion, mass: Floats, time: float, q: Floats, dq: Floats, drive: Floats) -> None:
    """Fill the drives' torques, N·m, without gravity compensation; mass: (n, n) kg·m²; time: s."""
    for i in range(len(q)):
        wanted = speed = 0.0
        for k in range(motion.amplitude.shape[1]):
            phase = motion.frequency[i, k] * time + motion.phase[i, k]
            wanted += motion.amplitude[i, k] * np.sin(phase)
            speed += motion.amplitude[i, k] * motion.frequency[i, k] * np.cos(phase)
        drive[i] = mass[i, i] * (400.0 * (wanted - q[i]) + 40.0 * (speed - dq[i]))


@kernel((PlantTree, "f8[::1]", TreeMotion, "f8", TreeState, "f8[:, ::1]"))
def _run(links: PlantTree, numbers: Floats, motion: TreeMotion, step: float, state: TreeState, out: Floats) -> None:
    n = links.links
    bodies, mass, A, b = bodies_of(n), np.empty((n, n)), np.empty((n, n)), np.empty(n)
    none, unit, up, weightless = np.zeros(n), np.zeros(n), np.array([0.0, 0.0, 9.8]), np.zeros(3)
    acceleration, bias, drive = np.zeros(n), np.empty(n), np.empty(n)
    q, dq, rub = state.angles, state.rates, state.friction
    for row in range(len(out)):
        for substep in range(SUBSTEPS):
            for j in range(n):
                unit[j] = 1.0
                forces(links, weightless, q, none, unit, bodies)
                unit[j] = 0.0
                for i in range(n):
                    mass[i, j] = torque(bodies, i)
            forces(links, up, q, dq, none, bodies)
            for i in range(n):
                bias[i] = torque(bodies, i)
            _controlled(motion, mass, state.time * step, q, dq, drive)
            before = 0.0
            for iteration in range(ITERATIONS):
                for i in range(n):
                    b[i] = drive[i] - bias[i] - rub[i]
                    for j in range(n):
                        A[i, j] = mass[i, j]
                solve(A, b, n)
                for i in range(n):
                    acceleration[i] = b[i]
                forces(links, up, q, dq, acceleration, bodies)
                change = 0.0
                for i in range(n):
                    fresh = rubbing(bodies, i, numbers, dq[i])
                    change = max(change, abs(fresh - rub[i]))
                    rub[i] = fresh
                if not np.isfinite(acceleration[0]):
                    state.contraction = np.inf
                elif iteration > 1 and before > ROUNDING:
                    state.contraction = max(state.contraction, change / before)
                before = change
            if substep == 0:
                for i in range(n):
                    out[row, i], out[row, n + i], out[row, 2 * n + i] = q[i], drive[i], dq[i]
            for i in range(n):
                dq[i] += step * acceleration[i]
                q[i] += step * dq[i]
            state.time += 1.0
