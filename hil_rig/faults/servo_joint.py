"""A servo joint whose parts can fail: motor, gear, link and a bolted tool, with heat, brake, cable and sensors.

Three masses in a row, all angles on the link's side; dz: dead zone of half width b::

    J_m θ̈_m = T_m − T_gear − F(θ̇_m, T_gear) − brake·sign(θ̇_m)
    J_l θ̈_l = T_gear − T_bolt − (G_s sin θ_l + G_c cos θ_l) − cable − ripple − wedge + push
    J_t θ̈_t = T_bolt
    T_gear = K dz(θ_m − θ_l; b) + D(θ̇_m − θ̇_l) where closed        T_bolt alike with K_t, b_t
    F = [F_c (1 + c|T_gear|) + F_s e^(−|θ̇|/v_s)] sign θ̇ + F_v e^(−(T − T_0)/T_v) θ̇
    brake, wedge: dry torques; wedge: within a narrow range of θ_l only
    cable = k (θ_l − θ_k) beyond θ_k, and a dry torque there           ripple = R sin(n θ_l)

The stiction depends on temperature as Bittencourt measured it: warmer raises F_s a little and lowers F_v. Integration
is leapfrog with true sticking, as in plants/joints/gear.py. Every parameter can be changed while the joint moves.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from hil_rig.plants.base import Floats, FrozenSettings, encoder
from hil_rig.plants.jit import kernel
from hil_rig.plants.point_to_point import PointToPoint, target
from jointwatch_numba.layout import Layout

STEP: Final = 1e-4  # s, step of the integration
DAMPING: Final = 0.06  # damping of gear and bolts as a share of critical damping
STRIBECK_HEAT: Final = 0.004  # 1/K by which the Stribeck part grows
VISCOUS_HEAT: Final = 21.0  # K over which the viscous part falls by e
SENSORS: Final = ("gain", "zero", "slip", "eccentricity", "phase", "delay", "limit", "lost", "electric")
COLUMNS: Final = ("theta_m", "theta_l", "omega_l", "torque")  # of the kernel


class ServoJointSettings(FrozenSettings):
    """A healthy joint and its motion; units: kg·m², N·m, N·m·s/rad, rad."""

    J_m: float
    J_l: float
    J_t: float
    K: float
    F_c: float
    F_s: float
    F_v: float
    G: float  # N·m, amplitude of gravity
    ratio: float
    b: float = 5e-5
    v_s: float = 0.08
    load: float = 0.004  # 1/(N·m)
    gear_error: float = 5e-5
    two_encoders: bool = False
    motion: PointToPoint = PointToPoint()
    rate: float = 1000.0
    bits: int = 19
    noise: float = 0.3  # N·m
    bandwidth: float = 60.0  # rad/s, of the controller


class ServoParts(Layout):
    """The present parameters of the joint; units, where not stated: kg·m², N·m, N·m·s/rad, rad."""

    J_m: float
    J_l: float
    J_t: float
    K: float
    b: float
    K_t: float
    b_t: float
    F_c: float
    F_s: float
    v_s: float
    F_v: float
    load: float
    G_s: float
    G_c: float
    heat: float  # K
    brake: float
    brake_wave: float  # share of the brake torque that varies over a turn of the motor
    cable: float
    cable_from: float
    cable_dry: float
    ripple: float
    order: float  # periods of the ripple in a turn of the joint
    wedge: float
    wedge_at: float
    wedge_width: float
    push: float
    gear_error: float
    ratio: float


class ServoState(Layout):
    """The state of motion of a servo joint; m: motor, l: link, t: tool."""

    q_m: float
    q_l: float
    q_t: float
    w_m: float = 0.0  # rad/s, half a step ago
    w_l: float = 0.0
    w_t: float = 0.0
    a_m: float = 0.0  # rad/s²
    a_l: float = 0.0
    a_t: float = 0.0
    time: float = 0.0  # steps
    leg: int = 0


class ServoJoint:
    """One servo joint; `values` and `sensors` may be changed between two calls of `rows`."""

    def __init__(self, settings: ServoJointSettings, seed: int) -> None:
        self.settings = settings
        self.rng = np.random.default_rng([seed, 11])
        one, phase = settings, float(self.rng.uniform(-0.6, 0.6))
        own = {
            name: float(getattr(one, name)) for name in ServoJointSettings.model_fields if name in ServoParts._fields
        }
        spread = {name: float(self.rng.uniform(0.85, 1.15)) for name in ("J_l", "J_t", "F_c", "F_s", "F_v", "K")}
        own = {name: value * spread.get(name, 1.0) for name, value in own.items()}
        self.values: dict[str, float] = dict.fromkeys(ServoParts._fields, 0.0) | own
        self.values |= {"K_t": 3e5 * own["J_t"], "G_s": one.G * np.cos(phase), "G_c": one.G * np.sin(phase)}
        self.values |= {"wedge_width": 0.1, "order": 1.0, "cable_from": 10.0}
        self.sensors: dict[str, float] = dict.fromkeys(SENSORS, 0.0) | {"gain": 1.0, "limit": 1e9}
        self.table = one.motion.table(self.rng)
        first = float(self.table[0, 1])
        self.state = ServoState(q_m=first, q_l=first, q_t=first)
        inertia = own["J_m"] + own["J_l"] + own["J_t"]
        self.control = np.array([inertia * one.bandwidth**2, 1.6 * inertia * one.bandwidth])
        self._recent = np.zeros(64)  # torques of the last samples, for a delayed channel
        self._travel = 0.0

    def rows(self, count: int) -> Floats:
        """Return the next measured samples, (count, 2 or 3): position (rad), torque (N·m), link position (rad)."""
        out = np.empty((count, len(COLUMNS)))
        parts = ServoParts(**self.values)
        _run(parts, self.control, self.table, round(1.0 / (self.settings.rate * STEP)), self.state, out)
        sensors, settings = self.sensors, self.settings
        theta_m, theta_l, omega_l, torque = out.T
        way = self._travel + np.cumsum(np.abs(omega_l)) / settings.rate
        self._travel = float(way[-1])
        wrong = sensors["slip"] + sensors["eccentricity"] * np.sin(theta_l + sensors["phase"]) - sensors["lost"] * way
        wave = 1.0 + sensors["electric"] * np.sin(4.0 * settings.ratio * theta_m)
        noise = settings.noise * self.rng.standard_normal(count)
        true = torque * wave + noise
        sensed = sensors["gain"] * sensors["limit"] * np.tanh(true / sensors["limit"]) + sensors["zero"]
        late = round(sensors["delay"] * settings.rate)
        series = np.concatenate([self._recent, sensed])
        self._recent = series[-len(self._recent) :]
        sensed = series[len(series) - count - late : len(series) - late]
        link = encoder(theta_l + wrong, settings.bits)
        if not settings.two_encoders:
            return np.column_stack([link, sensed])
        motor = encoder(theta_m * settings.ratio, 17) / settings.ratio
        return np.column_stack([motor, sensed, link])


def rated_friction(values: Mapping[str, float]) -> float:
    """Return the dry friction of the joint, N·m, with which faults are scaled."""
    return values["F_c"] + 0.5 * values["F_s"]


@kernel((ServoParts, "f8[::1]", "f8[:, ::1]", "i8", ServoState, "f8[:, ::1]"))
def _run(parts: ServoParts, control: Floats, motion: Floats, substeps: int, state: ServoState, out: Floats) -> None:
    J_m, J_l, J_t = parts.J_m, parts.J_l, parts.J_t
    kp, kd = control
    D = 2 * DAMPING * np.sqrt(parts.K * J_m * J_l / (J_m + J_l))
    D_t = 2 * DAMPING * np.sqrt(parts.K_t * J_t)
    viscous = parts.F_v * np.exp(-parts.heat / VISCOUS_HEAT)
    stiction = parts.F_s * max(1.0 + STRIBECK_HEAT * parts.heat, 0.0)
    for row in range(len(out)):
        for substep in range(substeps):
            q_m, q_l, q_t = state.q_m, state.q_l, state.q_t
            v_m, v_l = state.w_m + STEP / 2 * state.a_m, state.w_l + STEP / 2 * state.a_l
            v_t = state.w_t + STEP / 2 * state.a_t
            state.leg, wanted, speed = target(motion, state.leg, state.time * STEP)
            torque = kp * (wanted - q_m) + kd * (speed - v_m)
            twist = q_m - q_l - parts.gear_error * np.sin(2 * parts.ratio * q_m)
            wound = twist - np.sign(twist) * min(abs(twist), parts.b)
            gear = parts.K * wound + D * (v_m - v_l) if wound != 0.0 else 0.0
            twist = q_l - q_t
            wound = twist - np.sign(twist) * min(abs(twist), parts.b_t)
            bolt = parts.K_t * wound + D_t * (v_l - v_t) if parts.b_t == 0.0 or wound != 0.0 else 0.0
            dry = parts.F_c * (1.0 + parts.load * abs(gear)) + stiction * np.exp(-abs(v_m) / parts.v_s)
            dry += parts.brake * (1.0 + parts.brake_wave * np.sin(parts.ratio * q_m))
            on_link = parts.wedge * np.exp(-(((q_l - parts.wedge_at) / parts.wedge_width) ** 2))
            pull = 0.0
            if q_l > parts.cable_from:
                pull, on_link = parts.cable * (q_l - parts.cable_from), on_link + parts.cable_dry
            free = state.w_m + STEP / J_m * (torque - gear - viscous * v_m)
            after_m = free - np.sign(free) * min(abs(free), STEP / J_m * dry)
            other = parts.G_s * np.sin(q_l) + parts.G_c * np.cos(q_l) + pull + parts.ripple * np.sin(parts.order * q_l)
            free = state.w_l + STEP / J_l * (gear - bolt - other + parts.push)
            after_l = free - np.sign(free) * min(abs(free), STEP / J_l * on_link)
            after_t = state.w_t + STEP / J_t * bolt
            if substep == 0:
                out[row, 0], out[row, 1], out[row, 2], out[row, 3] = q_m, q_l, (state.w_l + after_l) / 2, torque
            state.a_m, state.a_l = (after_m - state.w_m) / STEP, (after_l - state.w_l) / STEP
            state.a_t = (after_t - state.w_t) / STEP
            state.w_m, state.w_l, state.w_t = after_m, after_l, after_t
            state.q_m, state.q_l, state.q_t = q_m + STEP * after_m, q_l + STEP * after_l, q_t + STEP * after_t
            state.time += 1.0
