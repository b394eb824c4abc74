"""A servo joint with more ways to fail than servo_joint.py: base, hose with memory, wall, phases, worn teeth, voltage.

The same healthy settings and motions, another law of friction and more parts; angles on the link's side::

    J_m θ̈_m = T_m − T_gear − F(θ̇_m, T_gear) − brake·sign(θ̇_m)
    J_l (θ̈_l + θ̈_b) = T_gear − T_bolt − G(θ_l + θ_b) − hose − bearing − wall + push
    J_t θ̈_t = T_bolt                            J_b θ̈_b = −k_b θ_b − d_b θ̇_b − T_gear    base, where it gives way
    T_m = T wanted, within what voltage allows, times what the phases leave, plus cogging
    F = [F_c(1 + c|T|) + F_s e^(−(|θ̇|/v_s)^1.3) + w_s e^(−(|θ̇|/v_w)^1.3)] sign θ̇ + (F_v e^(−ΔT/T_v) + w_v)θ̇ + F_q θ̇|θ̇|
    T_gear = K·twist beyond the gap b(1 + a cos(θ_l − φ)), softer by s for small twists (lost motion)
    hose = k₃ (θ_l − θ_h)³ where beyond θ_h, and Dahl's dry torque: dz/dt = θ̇_l − |θ̇_l| z / z_m
    bearing = pulses at multiples of the passing angle, weighted by the zone of load

Friction: Bittencourt & Axelsson, LiTH-ISY-R-3058, the wear terms w_s, v_w, w_v as there. Dahl 1968. Pulses: McFadden &
Smith 1984, "Model for the vibration produced by a single point defect in a rolling element bearing".
"""

from typing import Final

import numpy as np

from hil_rig.faults.servo_joint import DAMPING, STEP, STRIBECK_HEAT, VISCOUS_HEAT, ServoJoint, ServoJointSettings
from hil_rig.plants.base import Floats, encoder
from hil_rig.plants.jit import inline, kernel
from hil_rig.plants.point_to_point import target
from jointwatch_numba.layout import Layout

STRIBECK_EXPONENT: Final = 1.3
BASE_DAMPING: Final = 0.03  # of critical
READ_HEAD_LINES: Final = 1024.0  # signal periods a turn of the encoder


class JointParts(Layout):
    """The present parameters of the joint; units, where not stated: kg·m², N·m, N·m·s/rad, rad."""

    J_m: float
    J_l: float
    J_t: float
    K: float
    K_t: float
    F_c: float
    F_s: float
    v_s: float
    F_v: float
    load: float
    G_s: float
    G_c: float
    ratio: float
    gear_error: float
    b: float
    b_t: float = 0.0
    bolt_dry: float = 0.0  # of the bolted seat, N·m
    soft: float = 0.0  # share by which the gear is softer for small twists
    soft_twist: float = 1.0  # rad
    b_wave: float = 0.0  # how unevenly play is spread over a turn
    b_phase: float = 0.0
    heat: float = 0.0  # K
    wear_s: float = 0.0  # N·m
    wear_speed: float = 1.0  # rad/s
    wear_v: float = 0.0
    churning: float = 0.0  # N·m·s²/rad²
    one_sided: float = 0.0  # N·m that forward motion costs more than backward motion
    brake: float = 0.0
    brake_wave: float = 0.0
    brake_hold: float = 0.0  # N·m for brake_late s after each start of a motion
    brake_late: float = 0.0
    hose: float = 0.0  # N·m/rad³
    hose_from: float = -10.0  # rad
    hose_dry: float = 0.0
    hose_reach: float = 0.05  # rad
    spall: float = 0.0  # N·m
    spall_order: float = 1.0  # passings a turn
    spall_width: float = 0.15  # of a passing
    wall: float = 0.0  # N·m/rad
    wall_at: float = 10.0
    wall_side: float = 1.0
    mount: float = 0.0  # rad/s, of the base; 0: it is rigid
    mount_inertia: float = 1.0
    cogging: float = 0.0
    cogging_order: float = 1.0  # a turn of the motor
    dip: float = 0.0  # share of torque that a lost phase takes away at its worst angle
    poles: float = 4.0
    stall: float = 1e9  # N·m
    idle_speed: float = 1e9  # rad/s at which no torque is left
    push: float = 0.0


class JointMotionState(Layout):
    """Angles and speeds of motor (m), link (l), tool (t) and base (b), and the hose's deflection."""

    q_m: float
    q_l: float
    q_t: float
    q_b: float = 0.0
    w_m: float = 0.0  # rad/s, half a step ago
    w_l: float = 0.0
    w_t: float = 0.0
    w_b: float = 0.0
    a_m: float = 0.0
    a_l: float = 0.0
    a_t: float = 0.0
    hose: float = 0.0
    moving: float = 0.0  # s since the wanted motion began
    time: float = 0.0  # steps
    leg: int = 0


SENSORS: Final = {
    "gain": 1.0,
    "gain_back": 1.0,  # of negative torques
    "zero": 0.0,
    "slip": 0.0,  # rad
    "once": 0.0,
    "twice": 0.0,
    "phase": 0.0,
    "position_gain": 1.0,  # of the motor's or of the only encoder
    "flutter": 0.0,  # rad, noise of a loose reader at its worst angle
    "flutter_at": 0.0,
    "lines": 0.0,  # rad, error within each line
    "stale": 0.0,  # share of the samples that repeat the one before
    "wanted": 0.0,  # 1: the channel shows the torque that was commanded
}


class BlindJoint(ServoJoint):
    """A servo joint with the parameters of JointParts, by name in `values`."""

    def __init__(self, settings: ServoJointSettings, seed: int) -> None:
        super().__init__(settings, seed)
        known = {name: value for name, value in self.values.items() if name in JointParts._fields}
        self._parts = JointParts(**known)
        self.values = {name: float(getattr(self._parts, name)) for name in JointParts._fields}
        self.sensors = dict(SENSORS)
        start = self.state.q_m
        self.place = JointMotionState(q_m=start, q_l=start, q_t=start)
        self._last = np.zeros((1, 3))

    def rows(self, count: int) -> Floats:
        """The next samples as measured, (count, 2 or 3): position (rad), torque (N·m), link position (rad)."""
        out = np.empty((count, 4))
        for name, value in self.values.items():
            setattr(self._parts, name, value)
        _run(self._parts, self.control, self.table, round(1.0 / (self.settings.rate * STEP)), self.place, out)
        sensors, settings, rng = self.sensors, self.settings, self.rng
        theta_m, theta_l, true, wanted = out.T
        wrong = sensors["slip"] + sensors["once"] * np.sin(theta_l + sensors["phase"])
        wrong = wrong + sensors["twice"] * np.sin(2.0 * theta_l + 1.7 * sensors["phase"])
        wrong = wrong + sensors["lines"] * np.sin(READ_HEAD_LINES * theta_l)
        near = np.exp(-(((theta_l - sensors["flutter_at"]) / 0.3) ** 2))
        wrong = wrong + sensors["flutter"] * (0.1 + near) * rng.standard_normal(count)
        torque = np.where(sensors["wanted"] > 0.0, wanted, true)
        sensed = np.where(torque > 0.0, sensors["gain"], sensors["gain_back"]) * torque + sensors["zero"]
        sensed = sensed + settings.noise * rng.standard_normal(count)
        scale = sensors["position_gain"]
        link = encoder((theta_l + wrong) * (1.0 if settings.two_encoders else scale), settings.bits)
        motor = encoder(theta_m * scale * settings.ratio, 17) / settings.ratio
        sensed_rows = np.column_stack([motor if settings.two_encoders else link, sensed, link])
        stale = rng.uniform(size=count) < sensors["stale"]
        rows = np.concatenate([self._last, sensed_rows])
        keep = np.where(np.r_[False, stale], -1, np.arange(count + 1))
        rows = rows[np.maximum.accumulate(keep)]
        self._last = rows[-1:]
        return rows[1:, : 3 if settings.two_encoders else 2]


@inline
def _gap_torque(twist: float, gap: float) -> float:
    """The twist less the gap; 0 within the gap."""
    return float(twist - np.sign(twist) * min(abs(twist), gap))


@inline
def _friction(parts: JointParts, speed: float, gear: float) -> float:
    """Magnitude of the dry friction torque, N·m."""
    stiction = parts.F_s * max(1.0 + STRIBECK_HEAT * parts.heat, 0.0)
    dry = parts.F_c * (1.0 + parts.load * abs(gear))
    dry += stiction * np.exp(-((abs(speed) / parts.v_s) ** STRIBECK_EXPONENT))
    dry += parts.wear_s * np.exp(-((abs(speed) / parts.wear_speed) ** STRIBECK_EXPONENT))
    return float(dry + (parts.one_sided if speed > 0.0 else 0.0))


@inline
def _spall(parts: JointParts, angle: float) -> float:
    """Torque of a pitted race: one pulse for each ball that passes, weighted by the load zone."""
    passing = angle * parts.spall_order / (2 * np.pi)
    phase = passing - np.floor(passing)
    pulse = np.exp(-(((phase - 0.5) / parts.spall_width) ** 2)) - 1.77 * parts.spall_width
    return float(parts.spall * pulse * (1.0 + 0.6 * np.cos(angle)))


@kernel((JointParts, "f8[::1]", "f8[:, ::1]", "i8", JointMotionState, "f8[:, ::1]"))
def _run(
    parts: JointParts, control: Floats, motion: Floats, substeps: int, state: JointMotionState, out: Floats
) -> None:
    kp, kd = control
    J_m, J_l, J_t = parts.J_m, parts.J_l, parts.J_t
    D = 2 * DAMPING * np.sqrt(parts.K * J_m * J_l / (J_m + J_l))
    D_t = 2 * DAMPING * np.sqrt(parts.K_t * J_t)
    viscous = parts.F_v * np.exp(-parts.heat / VISCOUS_HEAT) + parts.wear_v
    for row in range(len(out)):
        for substep in range(substeps):
            q_m, q_l, q_t = state.q_m, state.q_l, state.q_t
            v_m, v_l = state.w_m + STEP / 2 * state.a_m, state.w_l + STEP / 2 * state.a_l
            v_t = state.w_t + STEP / 2 * state.a_t
            state.leg, wanted, speed = target(motion, state.leg, state.time * STEP)
            state.moving = state.moving + STEP if speed != 0.0 else 0.0
            asked = kp * (wanted - q_m) + kd * (speed - v_m)
            left = max(parts.stall * (1.0 - abs(v_m) / parts.idle_speed), 0.0) if asked * v_m > 0.0 else parts.stall
            torque = min(max(asked, -left), left)
            current = min(max(asked, -parts.stall), parts.stall)
            electric = parts.ratio * q_m
            driven = torque * (1.0 - parts.dip * 0.5 * (1.0 + np.cos(2.0 * parts.poles * electric)))
            driven += parts.cogging * np.sin(parts.cogging_order * electric)
            twist = q_m - q_l - parts.gear_error * np.sin(2 * parts.ratio * q_m)
            wound = _gap_torque(twist, parts.b * (1.0 + parts.b_wave * np.cos(q_l - parts.b_phase)))
            softer = wound - parts.soft * parts.soft_twist * np.tanh(wound / parts.soft_twist)
            gear = parts.K * softer + D * (v_m - v_l) if wound != 0.0 else 0.0
            wound = _gap_torque(q_l - q_t, parts.b_t)
            bolt = parts.K_t * wound + D_t * (v_l - v_t) if parts.b_t == 0.0 or wound != 0.0 else 0.0
            bolt += parts.bolt_dry * np.tanh((v_l - v_t) / 0.005)
            dry = _friction(parts, v_m, gear) + parts.brake * (1.0 + parts.brake_wave * np.sin(q_m))
            dry += parts.brake_hold if state.moving < parts.brake_late else 0.0
            smooth = (viscous + parts.churning * abs(v_m)) * v_m
            free = state.w_m + STEP / J_m * (driven - gear - smooth)
            after_m = free - np.sign(free) * min(abs(free), STEP / J_m * dry)
            angle = q_l + state.q_b
            beyond = max(q_l - parts.hose_from, 0.0)
            state.hose += STEP * (v_l - abs(v_l) * state.hose / parts.hose_reach)
            other = parts.G_s * np.sin(angle) + parts.G_c * np.cos(angle) + _spall(parts, q_l)
            other += parts.hose * beyond**3 + parts.hose_dry * state.hose / parts.hose_reach
            other += parts.wall_side * parts.wall * max(parts.wall_side * (q_l - parts.wall_at), 0.0)
            a_b = 0.0
            if parts.mount > 0.0:
                a_b = -(parts.mount**2) * state.q_b - 2 * BASE_DAMPING * parts.mount * state.w_b
                a_b -= gear / parts.mount_inertia
                state.w_b += STEP * a_b
                state.q_b += STEP * state.w_b
            after_l = state.w_l + STEP / J_l * (gear - bolt - other + parts.push) - STEP * a_b
            after_t = state.w_t + STEP / J_t * bolt - STEP * a_b
            if substep == 0:
                out[row, 0], out[row, 1], out[row, 2], out[row, 3] = q_m, q_l, torque, current
            state.a_m, state.a_l = (after_m - state.w_m) / STEP, (after_l - state.w_l) / STEP
            state.a_t = (after_t - state.w_t) / STEP
            state.w_m, state.w_l, state.w_t = after_m, after_l, after_t
            state.q_m, state.q_l, state.q_t = q_m + STEP * after_m, q_l + STEP * after_l, q_t + STEP * after_t
            state.time += 1.0
