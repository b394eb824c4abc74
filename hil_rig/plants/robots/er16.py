"""The first three axes of an ER-16 with the published parameters, friction that bends in an arctangent, PID control.

    τ = Φ(q, q̇, q̈) θ + f0 + fc tanh(q̇/ε) + fv q̇ + fa atan(fb q̇)

Ding et al., J. Robotics 2018, 8219123, Table 3. θ are fifteen base parameters: taken as standard parameters, all others
zero, they make the same torque. The geometry is not published: d1 = 0.5, a1 = 0.15, a2 = 0.6 m. Ten semi-implicit
steps a sample; the controller holds its torque for a sample.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from pydantic import Field as Setting

from hil_rig.messages import Field, Message
from hil_rig.plants.base import Floats, Jump, Plant, PlantSettings, RigError, Role, encoder
from hil_rig.plants.jit import kernel
from hil_rig.plants.robots.arm import Arm, Axis, exactly
from hil_rig.plants.robots.dynamics import (
    GRAVITY,
    LINK,
    geometry,
    inverse,
    inverse_dynamics,
    mass_matrices,
    masses,
    place,
    scratch,
    solve,
)
from hil_rig.plants.robots.fourier import Fourier, Limits, reference

SUBSTEPS: Final = 10  # per sample
SMOOTH: Final = 5e-3  # ε, rad/s
JOINTS: Final = 3
ROWS: Final = np.array([(0.0, 0.0, 0.5, 0.0), (-np.pi / 2, 0.15, 0.0, 0.0), (0.0, 0.6, 0.0, 0.0)])  # α, a, d, offset
FIRST: Final = 51.3846  # Izz1
SECOND: Final = (
    -24.4871,
    1.1452,
    -0.3699,
    0.0,
    0.4574,
    44.5863,
    32.1287,
    5.4040,
    0.0,
    0.0,
)  # Ixx Ixy Ixz – Iyz Izz mx my
THIRD: Final = (3.1263, 1.9361, 0.4849, 0.0, 0.6900, 11.7725, 5.1317, 10.3145, 0.0, 0.0)
FRICTION: Final = {
    "offset": (0.7044, 53.2922, -3.4499),  # f0, N·m
    "coulomb": (3.9877, -2.8909, 30.6465),  # fc, N·m
    "viscous": (8.0, -70.0174, 4.3297),  # fv, N·m·s/rad
    "bend": (32.3929, 70.0243, -2.7533),  # fa, N·m
    "bend_rate": (6.9975, 19.7363, 5.0),  # fb, s/rad
    "push": (0.0, 0.0, 0.0),  # N·m
}
GROUPS: Final = {"linear": ("offset", "coulomb", "viscous", "bend"), "friction": ("coulomb", "viscous", "bend")}
LIMITS: Final = Limits(
    np.radians((90.0, 60.0, 60.0)),
    np.radians((60.0, 50.0, 60.0)),
    np.radians((50.0, 40.0, 65.0)),  # as published
)
NOISE: Final = np.array((3.0, 8.0, 4.0))  # N·m
TORQUE_CONSTANT: Final = np.array((60.0, 80.0, 50.0))  # N·m/A at the joint
# of `exact`, each per joint
POSITION, SPEED, TORQUE, DRAG = range(4)


class Er16Settings(PlantSettings):
    """What may be chosen; the friction changes by jumps."""

    trajectory: Fourier = Fourier()
    rate: float = Setting(default=1000.0, gt=0, description="Hz")
    encoder_bits: int = Setting(default=24, ge=8, le=28, description="at the joint")
    bandwidth: float = Setting(default=40.0, gt=0, description="rad/s, of the controller")
    noise: float = Setting(default=1.0, ge=0, description="× the torque noise 3, 8, 4 N·m")

    def build(self, node: int, seed: int, jumps: Sequence[Jump]) -> Plant:
        """One axis of the whole."""
        return self.robot(JOINTS, seed, jumps)[f"joint{node}"]

    def robot(self, joints: int, seed: int, jumps: Sequence[Jump]) -> dict[str, Plant]:
        """All axes of one simulation. Raises RigError."""
        exactly(joints, JOINTS)
        arm = Er16(self, seed, jumps)
        return {f"joint{node}": arm.axis(node) for node in range(1, JOINTS + 1)}


class Er16(Arm):
    """The arm in motion; `exact` gives (count, joints, 4): POSITION (rad), SPEED (rad/s), TORQUE, DRAG (N·m)."""

    def __init__(self, settings: Er16Settings, seed: int, jumps: Sequence[Jump]) -> None:
        values = [{key: float(of[j]) for key, of in FRICTION.items()} for j in range(JOINTS)]
        super().__init__(settings.rate, values, links(), jumps, GROUPS)
        self.geometry = geometry(ROWS)
        self._settings = settings
        self._series = settings.trajectory.series(LIMITS)
        self._rng = np.random.default_rng([seed, 0xE16])
        self._state = np.zeros((JOINTS, 3))  # position, velocity, the integral's torque
        self._state[:, 0] = self._series.at(np.zeros(1))[0]
        weight, none = np.empty((1, JOINTS)), np.zeros((1, JOINTS))
        inverse_dynamics(self.geometry, links(), GRAVITY, self._state[:, 0].reshape(1, -1).copy(), none, none, weight)
        self._state[:, 2] = weight
        self._time = np.zeros(1)
        M = np.empty((1, JOINTS, JOINTS))
        mass_matrices(self.geometry, links(), np.zeros((1, JOINTS)), M)
        wide, inertia = settings.bandwidth, np.diag(M[0])
        self._gains = np.ascontiguousarray(np.outer(inertia, (2.0 * wide**2, 2.0 * wide, 0.5 * wide**3)))

    def axis(self, node: int) -> Axis:
        """Position and current."""
        fields = (
            Field("position", 32, "counts", counts_per_rev=1 << self._settings.encoder_bits),
            Field("current", 16, "A", 1e-3),
        )
        roles = {
            "position": Role("STATE.position"),
            "torque": Role("STATE.current", float(TORQUE_CONSTANT[node - 1])),
        }
        return Axis(self, node, (Message("STATE", fields),), roles)

    def simulate(self, values: Floats, links: Floats, count: int) -> Floats:
        """As the class says."""
        out = np.empty((count, JOINTS, 4))
        step = 1 / (self.rate * SUBSTEPS)
        drag, amplitude = np.ascontiguousarray(values), self._series.amplitude
        motion = (amplitude, self._series.omega)
        _run(self.geometry, links, drag, self._gains, step, *motion, self._time, self._state, out)
        if not np.isfinite(out[-1]).all():
            raise RigError("the arm flew apart: its controller does not hold what it was told to carry or to do")
        return out

    def measured(self, exact: Floats) -> Floats:
        """Position (rad), motor current (A)."""
        noise = self._settings.noise * NOISE * self._rng.standard_normal(exact.shape[:2])
        current = (exact[:, :, TORQUE] + noise) / TORQUE_CONSTANT
        return np.stack((encoder(exact[:, :, POSITION], self._settings.encoder_bits), current), axis=2)


def links() -> Floats:
    """The published base parameters as those of the links, (joints, LINK)."""
    found = np.zeros((JOINTS, LINK))
    found[0, 5] = FIRST
    found[1], found[2] = SECOND, THIRD
    return found


@kernel("void(f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8, f8[:, ::1], f8, f8[::1], f8[:, ::1], f8[:, :, ::1])")
def _run(
    arm: Floats,
    links: Floats,
    drag: Floats,
    gains: Floats,
    step: float,
    amplitude: Floats,
    omega: float,
    time: Floats,
    state: Floats,
    out: Floats,
) -> None:
    n = len(arm)
    room = scratch(n)
    q, dq, ddq, still = np.empty(n), np.empty(n), np.empty(n), np.zeros(n)
    torque, friction, bias = np.empty(n), np.empty(n), np.empty(n)
    for row in range(len(out)):
        reference(amplitude, omega, time[0] * step, q, dq, ddq)
        for j in range(n):
            error = q[j] - state[j, 0]
            state[j, 2] += gains[j, 2] * error * step * SUBSTEPS
            torque[j] = state[j, 2] + gains[j, 0] * error + gains[j, 1] * (dq[j] - state[j, 1])
        for substep in range(SUBSTEPS):
            for j in range(n):
                q[j], dq[j] = state[j, 0], state[j, 1]
                offset, dry, viscous, bend, sharp = drag[j, 0], drag[j, 1], drag[j, 2], drag[j, 3], drag[j, 4]
                dry = offset + dry * np.tanh(dq[j] / SMOOTH)
                friction[j] = dry + viscous * dq[j] + bend * np.arctan(sharp * dq[j])
            place(arm, q, room)
            inverse(links, dq, still, GRAVITY, room, bias)
            masses(links, room)
            for j in range(n):
                bias[j] = torque[j] + drag[j, 5] - friction[j] - bias[j]
            solve(room.mass, bias)
            for j in range(n):
                if substep == 0:
                    out[row, j, POSITION], out[row, j, SPEED] = state[j, 0], state[j, 1]
                    out[row, j, TORQUE], out[row, j, DRAG] = torque[j], friction[j]
                state[j, 1] += step * bias[j]
                state[j, 0] += step * state[j, 1]
            time[0] += 1.0  # in steps
