"""A gear with lost motion between two encoders in random point-to-point motion; the arm may pass the upright position.

All quantities refer to the link side. The gear transmits torque only when its backlash is taken up (dz: dead zone of
half width b, the lost motion is 2b), and its error repeats twice a turn of the motor::

    J_m θ̈_m = T_m − T − F_v θ̇_m − F_c sign(θ̇_m)
    J_l θ̈_l = T − f_v θ̇_l − f_c sign(θ̇_l) + T_g sin θ_l                θ_l from the upright
    T = K dz(δ; b) + D δ̇ where the gap is closed,    δ = θ_m − θ_l − E sin(2N θ_m + φ)

The link's encoder is read `skew` after the motor's. Integration is as in rigid.py, at 20 kHz; both frictions truly
stick.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import numpy as np
from pydantic import Field as Setting

from hil_rig.messages import Message, MessageField
from hil_rig.plants.base import Floats, Jump, Parameters, PlantSettings, Role, SimulatedPlant, encoder
from hil_rig.plants.jit import kernel
from hil_rig.plants.point_to_point import PointToPoint, target
from jointwatch_numba.layout import Layout

SUBSTEPS: Final = 20  # per sample
COLUMNS: Final = ("theta_m", "theta_l", "torque", "load")  # of `exact`; load: T, the torque in the gear
DAMPING: Final = 15.0  # N·m·s/rad, of the closed gear
ERROR_PHASE: Final = 0.7  # rad


class GearPlantSettings(PlantSettings):
    """The gear of the specification; units: kg·m², N·m, N·m·s/rad, rad."""

    J_m: float = Setting(default=0.5, gt=0, description="kg·m², motor")
    J_l: float = Setting(default=2.0, gt=0, description="kg·m², link")
    K: float = Setting(default=2e4, gt=0, description="N·m/rad")
    half_gap: float = Setting(default=75e-6, ge=0, description="rad, half of the lost motion")
    F_c: float = Setting(default=6.0, ge=0, description="N·m, motor side")
    F_v: float = Setting(default=8.0, ge=0, description="N·m·s/rad, motor side")
    f_c: float = Setting(default=1.0, ge=0, description="N·m, link side")
    f_v: float = Setting(default=2.0, ge=0, description="N·m·s/rad, link side")
    gear_error: float = Setting(default=100e-6, ge=0, description="rad, twice a turn of the motor")
    T_g: float = Setting(default=60.0, description="N·m, gravity, θ from the upright; 0: a vertical axis")
    soft_torque: float = Setting(default=0.0, ge=0, description="N·m up to which the spring is softer")
    soft_factor: float = Setting(default=1.67, ge=1, description="× softer there")
    ratio: float = Setting(default=100.0, ge=1, description="N")
    ratio_told: float = Setting(default=0.0, ge=0, description="that the configuration states; 0: the true one")
    identify: Literal["joint", "transmission"] = Setting(
        default="joint", description="what the written configuration identifies: the elastic joint, the gear's ratio"
    )
    centre: float = Setting(default=0.0, description="rad from the upright, of the motion")
    motion: PointToPoint = PointToPoint()
    rate: float = Setting(default=1000.0, gt=0, description="Hz")
    stiffness: float = Setting(default=10_000.0, gt=0, description="N·m/rad, of the controller")
    damping: float = Setting(default=200.0, ge=0, description="N·m·s/rad, of the controller")
    motor_bits: int = Setting(default=17, ge=8, le=20, description="encoder, before the gear")
    link_bits: int = Setting(default=17, ge=8, le=28, description="encoder")
    skew: float = Setting(default=0.5e-3, ge=0, le=5e-3, description="s that the link's encoder is read late")
    torque_noise: float = Setting(default=0.5, ge=0, description="N·m, standard deviation, white")
    torque_constant: float = Setting(default=10.0, gt=0, description="N·m/A")

    def build(self, node: int, seed: int, jumps: Sequence[Jump]) -> "GearPlant":
        """Build a joint; the joints of an arm differ only in noise and motion."""
        return GearPlant(self, node, seed, jumps)


class GearPlantState(Layout):
    """The state of motion of a gear; m: motor, l: link, both at the gear's output."""

    q_m: float  # rad
    q_l: float  # rad
    w_m: float = 0.0  # rad/s, half a step ago
    w_l: float = 0.0  # rad/s, half a step ago
    a_m: float = 0.0  # rad/s²
    a_l: float = 0.0  # rad/s²
    time: float = 0.0  # steps
    leg: int = 0  # number of the present move


class GearPlant(SimulatedPlant):
    """One joint with a gear that wears; `exact` returns COLUMNS without rounding and noise."""

    columns, substeps = len(COLUMNS), SUBSTEPS

    def __init__(self, settings: GearPlantSettings, node: int, seed: int, jumps: Sequence[Jump]) -> None:
        self.rate = settings.rate
        self._settings = settings
        names = list(GearPlantSettings.model_fields)
        names = names[: names.index("ratio")]
        values = {name: float(getattr(settings, name)) for name in names}
        self.physics = Parameters(values, settings.rate, jumps, {"lost_motion": ("half_gap",)})
        self._constants = np.array([settings.stiffness, settings.damping, settings.ratio, settings.skew])
        self._rng = np.random.default_rng([seed, node])
        self._motion = settings.motion.table(self._rng, settings.centre)
        first = float(self._motion[0, 1])
        self._state = GearPlantState(q_m=first, q_l=first + settings.T_g * np.sin(first) / settings.K)
        motor = (
            MessageField("position", 32, "counts", counts_per_rev=1 << settings.motor_bits),
            MessageField("current", 16, "A", 2e-3),
        )
        link = (MessageField("position", 32, "counts", counts_per_rev=1 << settings.link_bits),)
        self.messages: tuple[Message, ...] = (Message("MOTOR", motor), Message("LINK", link, rank=1))
        self.model: Mapping[str, Any] = {
            "kind": "two_mass",
            "inertia_motor": settings.J_m,
            "inertia_link": settings.J_l,
            "gravity": settings.T_g,
            "motor_friction": {"kind": "viscous_coulomb"},
            "link_friction": {"kind": "viscous_coulomb"},
        }
        if settings.identify == "transmission":
            self.model = {"kind": "transmission", "inertia": settings.J_m}
        self.roles: Mapping[str, Role] = {
            "position": Role("MOTOR.position", 1 / (settings.ratio_told or settings.ratio)),
            "link_position": Role("LINK.position"),
            "torque": Role("MOTOR.current", settings.torque_constant),
        }

    def integrate(self, step: float, out: Floats) -> None:
        _run(self.physics.values, self._constants, self._motion, step, self._state, out)

    def rows(self, count: int) -> Floats:
        """Return (count, 3): motor position before the gear (rad), motor current (A), link position (rad)."""
        exact, settings = self.exact(count), self._settings
        noise = settings.torque_noise * self._rng.standard_normal(count)
        motor = encoder(exact[:, 0] * settings.ratio, settings.motor_bits)
        current = (exact[:, 2] + noise) / settings.torque_constant
        return np.column_stack((motor, current, encoder(exact[:, 1], settings.link_bits)))

    def truth(self) -> Mapping[str, float]:
        """Return the true ratio; the values that fit a spring without a gap best are unknown."""
        one = self._settings
        return {"ratio": one.ratio / (one.ratio_told or one.ratio)} if one.identify == "transmission" else {}


@kernel(("f8[::1]", "f8[::1]", "f8[:, ::1]", "f8", GearPlantState, "f8[:, ::1]"))
def _run(
    parameters: Floats, constants: Floats, motion: Floats, step: float, state: GearPlantState, out: Floats
) -> None:
    J_m, J_l, K, b, F_c, F_v, f_c, f_v, E, T_g, T_1, soft = parameters
    kp, kd, N, skew = constants
    for row in range(len(out)):
        for substep in range(SUBSTEPS):
            q_m, q_l = state.q_m, state.q_l
            v_m, v_l = state.w_m + step / 2 * state.a_m, state.w_l + step / 2 * state.a_l
            state.leg, wanted, speed = target(motion, state.leg, state.time * step)
            torque = kp * (wanted - q_m) + kd * (speed - v_m)
            phase = 2 * N * q_m + ERROR_PHASE
            twist = q_m - q_l - E * np.sin(phase)
            wound = twist - np.sign(twist) * min(abs(twist), b)
            joint = 0.0
            if wound != 0.0:
                first = T_1 * soft / K  # twist at the end of the softer spring
                joint = K / soft * wound if abs(wound) < first else K * (wound - np.sign(wound) * (first - T_1 / K))
                joint += DAMPING * (v_m * (1.0 - 2 * N * E * np.cos(phase)) - v_l)
            free = state.w_m + step / J_m * (torque - joint - F_v * v_m)
            after_m = free - np.sign(free) * min(abs(free), step / J_m * F_c)
            free = state.w_l + step / J_l * (joint - f_v * v_l + T_g * np.sin(q_l))
            after_l = free - np.sign(free) * min(abs(free), step / J_l * f_c)
            if substep == 0:
                a_l = (after_l - state.w_l) / step
                out[row, 0] = q_m
                out[row, 1] = q_l + skew * (state.w_l + after_l) / 2 + skew * skew / 2 * a_l
                out[row, 2] = torque
                out[row, 3] = joint
            state.a_m, state.a_l = (after_m - state.w_m) / step, (after_l - state.w_l) / step
            state.w_m, state.w_l = after_m, after_l
            state.q_m = q_m + step * after_m
            state.q_l = q_l + step * after_l
            state.time += 1.0  # counted in steps, which is exact for centuries
