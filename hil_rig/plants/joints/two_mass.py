"""An elastic joint with a harmonic drive: motor and link inertia, cubic stiffness, Stribeck friction, gravity.

All quantities refer to the link side (da Silva, de Souza, Schäfer 2007, equations (3.5)–(3.8) with N + 1 = 1)::

    J_in θ̈_in   = T_m − T_stiff − [b_in θ̇_in + C1 tanh(θ̇_in/ω1) + C2 θ̇_in exp(−|θ̇_in/ω_s|^δ_s) + b_inD θ_in]
    J_out θ̈_out = T_stiff − [b_out θ̇_out + b_outC sign(θ̇_out) + A1 sin θ_out + A2 cos θ_out] + T_g sin θ_out
    T_stiff = k1 Δθ + k2 Δθ³,   Δθ = θ_in − θ_out, less the gap where the gear has one

Integration is as in rigid.py: leapfrog at 20 kHz with the velocity on the step predicted for the damping; the link
truly sticks. The joint torque sensor sits before the output friction: it measures T_stiff.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import numpy as np
from pydantic import Field as Setting

from hil_rig.messages import Message, MessageField
from hil_rig.plants.base import Floats, Jump, Parameters, PlantSettings, Role, SimulatedPlant, encoder
from hil_rig.plants.jit import kernel
from hil_rig.plants.trajectory import Trajectory, reference
from jointwatch_numba.layout import Layout

SUBSTEPS: Final = 20  # per sample
# columns of `exact`; each pair is motor side, link side
COLUMNS: Final = (
    *("theta_in", "theta_out", "omega_in", "omega_out", "alpha_in", "alpha_out"),
    *("motor_torque", "joint_torque"),
)
DRIVE: Final = {  # names of the identified parameters → symbols
    "coulomb": "C1",
    "stribeck": "C2",
    "viscous": "b_in",
    "stiffness": "b_inD",
    "omega_tanh": "omega1",
    "omega_stribeck": "omega_s",
}
ELASTIC: Final = {
    "stiffness": "k1",
    "stiffness_cubic": "k2",
    **{(f"motor_{name}" if not name.startswith("omega") else name): symbol for name, symbol in DRIVE.items()},
    "link_viscous": "b_out",
    "link_coulomb": "b_outC",
    "link_cyclic_sin": "A1",
    "link_cyclic_cos": "A2",
}
GROUPS: Final = {  # parameters that jump together in the published experiment
    "linear": ("C1", "C2", "b_in", "b_inD"),
    "nonlinear": ("omega1", "omega_s"),
}


class TwoMassPlantSettings(PlantSettings):
    """A robot's shoulder. Friction is that of the published Case 2; inertias, gravity and output friction are ours."""

    J_in: float = Setting(default=1.5, gt=0, description="kg·m²")
    J_out: float = Setting(default=4.0, gt=0, description="kg·m²")
    k1: float = Setting(default=10_000.0, gt=0, description="N·m/rad")
    k2: float = Setting(default=3e7, ge=0, description="N·m/rad³")
    C1: float = Setting(default=25.0, ge=0, description="N·m")
    C2: float = Setting(default=590.0, ge=0, description="N·m·s/rad")
    b_in: float = Setting(default=76.0, ge=0, description="N·m·s/rad")
    b_inD: float = Setting(default=40.0, ge=0, description="N·m/rad")  # noqa: N815 (the paper's symbol)
    b_out: float = Setting(default=20.0, ge=0, description="N·m·s/rad")
    b_outC: float = Setting(default=8.0, ge=0, description="N·m")  # noqa: N815 (the paper's symbol)
    A1: float = Setting(default=3.0, description="N·m")
    A2: float = Setting(default=2.0, description="N·m")
    omega1: float = Setting(default=0.0616, gt=0, description="rad/s")
    omega_s: float = Setting(default=0.1312, gt=0, description="rad/s")
    delta_s: float = Setting(default=1.0, gt=0)
    T_g: float = Setting(default=80.0, description="N·m, gravity, θ from the upright")
    gap: float = Setting(default=0.0, ge=0, description="rad, half of the lost motion of the gear")
    trajectory: Trajectory = Trajectory()
    rate: float = Setting(default=1000.0, gt=0, description="Hz")
    stiffness: float = Setting(default=20_000.0, gt=0, description="N·m/rad, of the controller")
    damping: float = Setting(default=300.0, ge=0, description="N·m·s/rad, of the controller")
    motor_bits: int = Setting(default=20, ge=8, le=28, description="encoder, link side")
    link_bits: int = Setting(default=18, ge=8, le=28, description="encoder")
    torque_constant: float = Setting(default=10.0, gt=0, description="N·m/A, (N+1)·K_m")
    motor_noise: float = Setting(default=0.5, ge=0, description="N·m, standard deviation, white")
    joint_noise: float = Setting(default=0.3, ge=0, description="N·m, standard deviation, white")
    identify: Literal["link", "elastic", "friction", "drive"] = Setting(
        default="link",
        description="what the written configuration identifies: the link, the whole joint, the drive's friction, "
        "or with it the drive's inertia and torque constant",
    )
    torque_scale: float = Setting(default=1.0, gt=0, description="times the torque constant: what is configured")
    spring_torque: bool = Setting(default=False, description="whether that of the whole joint has the torque sensor")

    def build(self, node: int, seed: int, jumps: Sequence[Jump]) -> "TwoMassPlant":
        """Build a joint; the joints of an arm differ only in their noise."""
        return TwoMassPlant(self, node, seed, jumps)


class TwoMassState(Layout):
    """The state of motion of an elastic joint; in: motor, out: link."""

    q_in: float  # rad
    q_out: float  # rad
    w_in: float = 0.0  # rad/s, half a step ago
    w_out: float = 0.0  # rad/s, half a step ago
    a_in: float = 0.0  # rad/s²
    a_out: float = 0.0  # rad/s²
    time: float = 0.0  # steps


class TwoMassPlant(SimulatedPlant):
    """One elastic joint in motion."""

    columns, substeps = len(COLUMNS), SUBSTEPS

    def __init__(self, settings: TwoMassPlantSettings, node: int, seed: int, jumps: Sequence[Jump]) -> None:
        self.rate = settings.rate
        self._settings = settings
        names = list(TwoMassPlantSettings.model_fields)
        names = names[: names.index("trajectory")]
        values = {name: float(getattr(settings, name)) for name in names}
        self.physics = Parameters(values, settings.rate, jumps, GROUPS)
        self._control = np.array([settings.stiffness, settings.damping])
        self._trajectory = settings.trajectory.constants()
        motor_angle, link_angle = self._at_rest(settings.trajectory.lowest())
        self._state = TwoMassState(q_in=motor_angle, q_out=link_angle)
        self._rng = np.random.default_rng([seed, node])
        motor = (
            MessageField("position", 32, "counts", counts_per_rev=1 << settings.motor_bits),
            MessageField("current", 16, "A", 2e-3),
        )
        link = (
            MessageField("position", 32, "counts", counts_per_rev=1 << settings.link_bits),
            MessageField("torque", 16, "N·m", 1e-2),
        )
        self.messages: tuple[Message, ...] = (Message("MOTOR", motor), Message("LINK", link, rank=1))
        self.model, self.roles = _identified(settings)

    def integrate(self, step: float, out: Floats) -> None:
        _run(self.physics.values, self._control, self._trajectory, step, self._state, out)

    def rows(self, count: int) -> Floats:
        """Return (count, 4): motor position (rad), motor current (A), link position (rad), joint torque (N·m)."""
        exact, settings = self.exact(count), self._settings
        noise = self._rng.standard_normal((count, 2)) * (settings.motor_noise, settings.joint_noise)
        return np.column_stack(
            (
                encoder(exact[:, 0], settings.motor_bits),
                (exact[:, 6] + noise[:, 0]) / settings.torque_constant,
                encoder(exact[:, 1], settings.link_bits),
                exact[:, 7] + noise[:, 1],
            )
        )

    def truth(self) -> Mapping[str, float]:
        """Return the true values by the names of the identified model.

        The link's model: J_out θ̈ + b_out θ̇ + b_outC sign(θ̇) + (A1 − T_g) sin θ + A2 cos θ = joint torque.
        """
        now = self.physics.as_dict()
        if self._settings.identify == "drive":
            scale = self._settings.torque_scale
            law = {name: (1.0 if name.startswith("omega") else scale) * now[symbol] for name, symbol in DRIVE.items()}
            return law | {"torque_scale": scale, "inertia_motor": scale * now["J_in"]}
        if self._settings.identify != "link":
            names = ELASTIC if self._settings.identify == "elastic" else DRIVE
            return {name: now[symbol] for name, symbol in names.items()}
        return {
            "inertia": now["J_out"],
            "viscous": now["b_out"],
            "coulomb": now["b_outC"],
            "offset": 0.0,
            "gravity_sin": now["A1"] - now["T_g"],
            "gravity_cos": now["A2"],
        }

    def _at_rest(self, motor: float) -> tuple[float, float]:
        """Return the positions of motor and link while the drive holds the load (fixed point, a contraction by
        T_g/k1)."""
        now = self.physics.as_dict()
        link = motor
        for _ in range(20):
            load = (now["A1"] - now["T_g"]) * np.sin(link) + now["A2"] * np.cos(link)
            wound = load / now["k1"]
            for _ in range(20):
                wound = load / (now["k1"] + now["k2"] * wound**2)
            link = motor - wound
        return motor, float(link)


def _identified(settings: TwoMassPlantSettings) -> tuple[Mapping[str, Any], Mapping[str, Role]]:
    """Return `model` of the configuration, and the sources of its channels."""
    torque = Role("MOTOR.current", settings.torque_scale * settings.torque_constant)
    motor = {"position": Role("MOTOR.position"), "torque": torque}
    law = {"kind": "tanh_stribeck", "exponent": settings.delta_s, "stiffness": True}
    if settings.identify == "elastic":
        known = {"inertia_motor": settings.J_in, "inertia_link": settings.J_out, "gravity": settings.T_g}
        model = {"kind": "two_mass", **known, "motor_friction": law}
        roles = motor | {"link_position": Role("LINK.position")}
        if settings.spring_torque:
            return model | {"spring_torque": True}, roles | {"joint_torque": Role("LINK.torque")}
        return model, roles
    if settings.identify == "friction":
        model = {"kind": "friction", "inertia": settings.J_in, "joint_torque": True, "friction": law}
        return model, motor | {"joint_torque": Role("LINK.torque")}
    if settings.identify == "drive":
        model = {"kind": "friction", "joint_torque": True, "torque_scale": True, "inertia_motor": True, "friction": law}
        return model, motor | {"joint_torque": Role("LINK.torque")}
    # the values of a rigid model between the torque sensor and the link's encoder
    link = {"position": Role("LINK.position"), "torque": Role("LINK.torque")}
    return {"kind": "rigid", "gravity_sin": True, "gravity_cos": True}, link


@kernel(("f8[::1]", "f8[::1]", "f8[::1]", "f8", TwoMassState, "f8[:, ::1]"))
def _run(
    parameters: Floats, control: Floats, trajectory: Floats, step: float, state: TwoMassState, out: Floats
) -> None:
    J_in, J_out, k1, k2, C1, C2, b_in, b_inD, b_out, b_outC, A1, A2, omega1, omega_s, delta_s, T_g, gap = parameters
    kp, kd = control
    for row in range(len(out)):
        for substep in range(SUBSTEPS):
            q_in, q_out, w_in, w_out = state.q_in, state.q_out, state.w_in, state.w_out
            v_in = w_in + step / 2 * state.a_in
            v_out = w_out + step / 2 * state.a_out
            wanted, speed = reference(trajectory, state.time * step)
            torque = kp * (wanted - q_in) + kd * (speed - v_in)
            twist = q_in - q_out
            twist -= np.sign(twist) * min(abs(twist), gap)
            joint = k1 * twist + k2 * twist**3
            stribeck = C2 * v_in * np.exp(-(np.abs(v_in / omega_s) ** delta_s))
            friction = b_in * v_in + C1 * np.tanh(v_in / omega1) + stribeck + b_inD * q_in
            a_in = (torque - joint - friction) / J_in
            free = w_out + step / J_out * (joint - b_out * v_out - (A1 - T_g) * np.sin(q_out) - A2 * np.cos(q_out))
            after = free - np.sign(free) * min(abs(free), step / J_out * b_outC)
            a_out = (after - w_out) / step
            if substep == 0:
                out[row, 0], out[row, 1] = q_in, q_out
                out[row, 2], out[row, 3] = w_in + step / 2 * a_in, (w_out + after) / 2
                out[row, 4], out[row, 5] = a_in, a_out
                out[row, 6], out[row, 7] = torque, joint
            state.w_in = w_in + step * a_in
            state.w_out = after
            state.q_in = q_in + step * state.w_in
            state.q_out = q_out + step * after
            state.a_in, state.a_out = a_in, a_out
            state.time += 1.0  # counted in steps, which is exact for centuries
