"""Six axes with harmonic drives and two encoders each: motor and link masses, springs with ripple and hysteresis.

    M(q_l) q̈_l + h(q_l, q̇_l) = τ_w + push          J θ̈_m = τ_m − τ_f(θ̇_m, τ_w) − τ_w
    τ_w = K δ + K3 δ³ + D δ̇ + hysteresis           δ = dz(θ_m − q_l − A sin(2 N θ_m); b), inside the gap τ_w = 0
    τ_f = tanh(θ̇_m/ε) [C± + S exp(−(θ̇_m/v_s)²) + μ |τ_w|] + V± θ̇_m

(Liu et al., Actuators 2023, 12, 454, with a UR10's geometry and a 1 kg tool.) θ_m is the motor's angle at the output of
the gear N. There are twelve states, and a bristle for the hysteresis of each spring. A sample takes ten semi-implicit
steps; the controller holds its torque for a sample, and the logged torque is the one that begins to act. The motor
sides are on one bus, the link sides on the other.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Final

import numpy as np
from pydantic import Field as Setting

from hil_rig.messages import Message, MessageField
from hil_rig.plants.base import Floats, Jump, RigError, Role, encoder
from hil_rig.plants.jit import inline, kernel
from hil_rig.plants.robots.arm import Arm, ArmAxis, ArmSettings
from hil_rig.plants.robots.dynamics import (
    GRAVITY,
    body,
    geometry,
    inverse,
    inverse_dynamics,
    mass_matrices,
    masses,
    place,
    scratch,
    solve,
)
from hil_rig.plants.robots.fourier import FourierMotion, MotionLimits, reference
from jointwatch_numba.layout import Layout, Vector

SUBSTEPS: Final = 10  # per sample
SMOOTH: Final = 5e-3  # ε, rad/s
JOINTS: Final = 6
RIGHT: Final = np.pi / 2
ROWS: Final = np.array(  # α, a, d, offset of a UR10
    [
        (0.0, 0.0, 0.1273, 0.0),
        (RIGHT, 0.0, 0.0, 0.0),
        (0.0, -0.612, 0.0, 0.0),
        (0.0, -0.5723, 0.163941, 0.0),
        (RIGHT, 0.0, 0.1157, 0.0),
        (-RIGHT, 0.0, 0.0922, 0.0),
    ]
)
BODIES: Final = (  # mass (kg), centre (m), radii of gyration (m) about it
    (7.1, (0.0, -0.03, -0.02), (0.07, 0.06, 0.07)),
    (12.7, (-0.30, 0.0, 0.12), (0.07, 0.21, 0.21)),
    (4.27, (-0.26, 0.0, 0.04), (0.05, 0.17, 0.17)),
    (2.0, (0.0, -0.01, -0.015), (0.04, 0.035, 0.04)),
    (2.0, (0.0, 0.01, -0.015), (0.04, 0.035, 0.04)),
    (0.365, (0.0, 0.0, -0.026), (0.025, 0.025, 0.03)),
    (1.0, (0.01, 0.0, 0.06), (0.05, 0.05, 0.04)),  # the tool, on the last
)
DRIVE: Final = {  # parameter → of each joint; SI, at the joint
    "inertia": (1.5, 1.5, 1.0, 0.3, 0.3, 0.3),  # J
    "stiffness": (3e4, 3e4, 2e4, 8e3, 8e3, 8e3),  # K
    "stiffness_cubic": (3e8, 3e8, 2e8, 8e7, 8e7, 8e7),  # K3
    "damping": (20.0, 20.0, 12.0, 3.0, 2.0, 1.0),  # D
    "hysteresis": (3.0, 3.0, 2.0, 0.6, 0.6, 0.6),  # N·m, of the bristle at most
    "hysteresis_width": (2e-4,) * JOINTS,  # rad
    "ripple": (2e-5,) * JOINTS,  # A, rad
    "coulomb_forward": (12.0, 14.0, 8.0, 3.0, 2.6, 2.2),  # C+
    "coulomb_backward": (10.0, 12.0, 6.5, 2.5, 2.2, 1.8),
    "viscous_forward": (18.0, 20.0, 12.0, 4.0, 4.0, 3.0),  # V+
    "viscous_backward": (15.0, 17.0, 10.0, 3.5, 3.3, 2.6),
    "stribeck": (3.0, 3.0, 2.0, 0.8, 0.7, 0.6),  # S
    "stribeck_speed": (0.08,) * JOINTS,  # v_s
    "load": (0.06,) * JOINTS,  # μ
    "push": (0.0,) * JOINTS,  # N·m, somebody leans on the link
    "gap": (0.0,) * JOINTS,  # b, rad, half of the lost motion of the gear
}
INERTIA: Final = list(DRIVE).index("inertia")  # columns of the kernel's drives
PUSH: Final = list(DRIVE).index("push")
GROUPS: Final = {
    "coulomb": ("coulomb_forward", "coulomb_backward"),
    "linear": ("coulomb_forward", "coulomb_backward", "viscous_forward", "viscous_backward", "stribeck", "load"),
    "viscous": ("viscous_forward", "viscous_backward"),
    "lost_motion": ("gap",),
    "friction": ("coulomb_forward", "coulomb_backward", "viscous_forward", "viscous_backward", "stribeck", "load"),
}
LIMITS: Final = MotionLimits(  # of random motions: the peaks of the paper's Table 3, rounded up to whole degrees
    np.radians((99.0, 66.0, 54.0, 79.0, 111.0, 73.0)),
    np.radians((87.0, 43.0, 24.0, 48.0, 68.0, 60.0)),
    np.radians((96.0, 53.0, 26.0, 50.0, 58.0, 60.0)),
)
NOISE: Final = np.array((2.0, 2.0, 1.5, 0.3, 0.3, 0.2))  # N·m, standard deviation, white
TORQUE_CONSTANT: Final = np.array((20.0, 20.0, 12.0, 6.0, 6.0, 6.0))  # N·m/A at the joint
# quantities of `exact`, each per joint
MOTOR: Final = 0  # rad, at the gear's output
LINK: Final = 1  # rad
SPEED: Final = 2  # rad/s, of the motor
TORQUE: Final = 3  # N·m, of the motor
FRICTION: Final = 4  # N·m, of the motor
JOINT: Final = 5  # N·m, through the spring


class DoubleEncoderRobotSettings(ArmSettings):
    """Settings of the robot; jumps change the drives' parameters."""

    axes: ClassVar[int] = JOINTS
    trajectory: FourierMotion = FourierMotion()
    rate: float = Setting(default=1000.0, gt=0, description="Hz")
    gear: int = Setting(default=100, gt=0, description="N")
    motor_bits: int = Setting(default=17, ge=8, le=20, description="encoder, before the gear")
    link_bits: int = Setting(default=20, ge=8, le=28, description="encoder, at the gear's output")
    bandwidth: float = Setting(default=60.0, gt=0, description="rad/s, of the controller")
    noise: float = Setting(default=1.0, ge=0, description="× the torque noise 2, 2, 1.5, 0.3, 0.3, 0.2 N·m")
    coulomb: float = Setting(default=1.0, ge=0, description="× dry friction of all joints, from the beginning")
    gap: float = Setting(default=0.0, ge=0, le=0.01, description="rad, half of the lost motion of every gear")

    def arm(self, seed: int, jumps: Sequence[Jump]) -> "DoubleEncoderRobot":
        """The whole simulation. Raises RigError."""
        return DoubleEncoderRobot(self, seed, jumps)


class DoubleEncoderRobotState(Layout):
    """Where the arm is."""

    motor: Annotated[Vector, "joints"]  # rad, behind the gear
    motor_speed: Annotated[Vector, "joints"]  # rad/s
    link: Annotated[Vector, "joints"]  # rad
    link_speed: Annotated[Vector, "joints"]  # rad/s
    bristle: Annotated[Vector, "joints"]  # of the spring's hysteresis, share of the most
    time: float = 0.0  # steps


class DoubleEncoderRobot(Arm):
    """The arm in motion; `exact` gives (count, joints, 6): MOTOR, LINK (rad), SPEED (rad/s), then torques (N·m)."""

    def __init__(self, settings: DoubleEncoderRobotSettings, seed: int, jumps: Sequence[Jump]) -> None:
        values: list[Mapping[str, float]] = [{key: float(of[j]) for key, of in DRIVE.items()} for j in range(JOINTS)]
        for own in values:
            assert isinstance(own, dict)
            for key in ("coulomb_forward", "coulomb_backward", "stribeck"):
                own[key] *= settings.coulomb
            own["gap"] = settings.gap
        super().__init__(settings.rate, values, links(), jumps, GROUPS)
        self.geometry = geometry(ROWS)
        self._settings = settings
        self._series = settings.trajectory.series(LIMITS)
        self._rng = np.random.default_rng([seed, 0xD0])
        self._nominal = links()  # what the controller knows
        self._state = DoubleEncoderRobotState.zeros(joints=JOINTS)
        self._gains = self._design()
        self._rest()

    def axis(self, node: int) -> ArmAxis:
        """Return one axis: its motor side is on the first bus, its link side on the second."""
        motor_steps = self._settings.gear << self._settings.motor_bits
        motor = (
            MessageField("position", 32, "counts", counts_per_rev=motor_steps),
            MessageField("current", 16, "A", 1e-3),
        )
        link = (MessageField("position", 32, "counts", counts_per_rev=1 << self._settings.link_bits),)
        messages = (Message("MOTOR", motor), Message("LINK", link, rank=1, bus=1))
        constant = float(TORQUE_CONSTANT[node - 1])
        roles = {"position": Role("MOTOR.position"), "torque": Role("MOTOR.current", constant)}
        roles["link_position"] = Role("LINK.position")
        return ArmAxis(self, node, messages, roles)

    def simulate(self, values: Floats, links: Floats, count: int) -> Floats:
        """Simulate count rows with these values; see the class for the columns."""
        out = np.empty((count, JOINTS, 6))
        step = 1 / (self.rate * SUBSTEPS)
        drives, amplitude = np.ascontiguousarray(values), self._series.amplitude
        control = (self._gains, self._nominal, 2.0 * self._settings.gear, step)
        motion = (amplitude, self._series.omega)
        _run(self.geometry, links, drives, *control, *motion, self._state, out)
        if not np.isfinite(out[-1]).all():
            raise RigError("the simulation of the arm diverged: its controller cannot hold this load or motion")
        return out

    def measured(self, exact: Floats) -> Floats:
        """Return motor position (rad), motor current (A), link position (rad)."""
        settings = self._settings
        noise = settings.noise * NOISE * self._rng.standard_normal(exact.shape[:2])
        motor = encoder(exact[:, :, MOTOR] * settings.gear, settings.motor_bits) / settings.gear
        current = (exact[:, :, TORQUE] + noise) / TORQUE_CONSTANT
        return np.stack((motor, current, encoder(exact[:, :, LINK], settings.link_bits)), axis=2)

    def _design(self) -> Floats:
        """Stiffness and damping (joints, 2) of the controller for its bandwidth, at the inertia in mid-motion."""
        M = np.empty((1, JOINTS, JOINTS))
        mass_matrices(self.geometry, self._nominal, np.zeros((1, JOINTS)), M)
        inertia = np.diag(M[0]) + np.array(DRIVE["inertia"])
        wide = self._settings.bandwidth
        return np.ascontiguousarray(np.column_stack((wide**2 * inertia, 1.4 * wide * inertia)))

    def _rest(self) -> None:
        """Set the positions at which the springs hold the weight; the motors are where the motion begins."""
        motor = self._series.at(np.zeros(1))[0]
        link, torque, none = motor.copy(), np.empty((1, JOINTS)), np.zeros((1, JOINTS))
        K, K3 = np.array(DRIVE["stiffness"]), np.array(DRIVE["stiffness_cubic"])
        for _ in range(50):
            inverse_dynamics(self.geometry, self.link_parameters(), GRAVITY, link, none, none, torque)
            wound = motor - link - np.sign(torque) * self._settings.gap
            link = motor - np.sign(torque) * self._settings.gap - torque / (K + K3 * wound**2)
        self._state.motor[:], self._state.link[:] = motor[0], link[0]


def links() -> Floats:
    """Parameters of the links with the tool, (joints, LINK)."""
    bodies = [body(mass, np.array(centre), mass * np.diag(np.square(size))) for mass, centre, size in BODIES]
    bodies[JOINTS - 1] = bodies[JOINTS - 1] + bodies.pop()
    return np.array(bodies)


@inline
def _drive(
    own: Floats, cycles: float, step: float, torque: float, j: int, state: DoubleEncoderRobotState
) -> tuple[float, float, float]:
    """Compute a step of a drive: torques of spring and friction, N·m, and the motor's next speed, rad/s.

    own: (DRIVE,) of joint j; cycles: of the gear's ripple per turn.
    """
    J, K, K3, D, H, width, A, C_forward, C_backward, V_forward, V_backward, S, v_s, load, _push, gap = own
    motor, speed, bristle = state.motor[j], state.motor_speed[j], state.bristle[j]
    twist = motor - state.link[j] - A * np.sin(cycles * motor)
    twist -= np.sign(twist) * min(np.abs(twist), gap)
    rate = speed - state.link_speed[j] - A * cycles * np.cos(cycles * motor) * speed
    joint = K * twist + K3 * twist**3 + D * rate + H * bristle
    if gap > 0.0 and twist == 0.0:
        joint = rate = 0.0  # no contact: the bristle stays as it is
    state.bristle[j] = bristle + step / width * (rate - np.abs(rate) * bristle)
    dry, viscous = (C_forward, V_forward) if speed >= 0.0 else (C_backward, V_backward)
    dry += S * np.exp(-((speed / v_s) ** 2)) + load * np.abs(joint)
    bent = np.tanh(speed / SMOOTH)
    friction = dry * bent + viscous * speed
    slope = dry / SMOOTH * (1.0 - bent * bent) + viscous  # implicit in the friction
    push = step / J
    return joint, friction, (speed + push * (torque - joint - friction + slope * speed)) / (1.0 + push * slope)


@kernel(
    (*("f8[:, ::1]",) * 5, "f8", "f8", "f8[:, ::1]", "f8", DoubleEncoderRobotState, "f8[:, :, ::1]"),
)
def _run(
    arm: Floats,
    links: Floats,
    drives: Floats,
    gains: Floats,
    nominal: Floats,
    cycles: float,
    step: float,
    amplitude: Floats,
    omega: float,
    state: DoubleEncoderRobotState,
    out: Floats,
) -> None:
    n = len(arm)
    room = scratch(n)
    q, dq, ddq, ahead, still = np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.zeros(n)
    torque, joint, friction, bias = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    for row in range(len(out)):
        reference(amplitude, omega, state.time * step, q, dq, ddq)
        place(arm, q, room)
        inverse(nominal, dq, ddq, GRAVITY, room, ahead)
        for j in range(n):
            error, slip = q[j] - state.motor[j], dq[j] - state.motor_speed[j]
            torque[j] = ahead[j] + drives[j, INERTIA] * ddq[j] + gains[j, 0] * error + gains[j, 1] * slip
        for substep in range(SUBSTEPS):
            for j in range(n):
                joint[j], friction[j], ddq[j] = _drive(drives[j], cycles, step, torque[j], j, state)
                q[j], dq[j], bias[j] = state.link[j], state.link_speed[j], 0.0
            place(arm, q, room)
            inverse(links, dq, still, GRAVITY, room, bias)
            masses(links, room)
            for j in range(n):
                bias[j] = joint[j] + drives[j, PUSH] - bias[j]
            solve(room.mass, bias)
            for j in range(n):
                if substep == 0:
                    out[row, j, MOTOR], out[row, j, LINK] = state.motor[j], state.link[j]
                    out[row, j, SPEED], out[row, j, TORQUE] = state.motor_speed[j], torque[j]
                    out[row, j, FRICTION], out[row, j, JOINT] = friction[j], joint[j]
                state.motor_speed[j] = ddq[j]
                state.motor[j] += step * state.motor_speed[j]
                state.link_speed[j] += step * bias[j]
                state.link[j] += step * state.link_speed[j]
            state.time += 1.0  # in steps
