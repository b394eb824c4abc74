"""The blind faults: one function that draws the size of each fault, and its entry in one of two tables.

Faults in BLIND_SHOWN realise the causes of the estimators in another way; no cause describes faults in BLIND_UNSHOWN.
"""

from typing import Final

import numpy as np

from hil_rig.faults.base import Drawn, Fault, Push, saturating, smooth, steps
from hil_rig.faults.servo_joint import ServoJoint, rated_friction


def bearing(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """A pit in a race: pulses as balls pass, strongest in the zone of load, and a little drag.

    Draw a bearing of 16 to 36 balls, one of its races, and pulses of 0.3 to 0.8 of the dry friction.
    """
    balls, dry = int(rng.integers(16, 37)), rated_friction(joint.values)
    share = float(rng.uniform(0.40, 0.46)) if rng.uniform() < 0.5 else float(rng.uniform(0.54, 0.60))
    return Drawn(
        {
            "spall": dry * float(rng.uniform(0.3, 0.8)),
            "spall_order": balls * share,
            "F_c": joint.values["F_c"] * float(rng.uniform(1.0, 1.2)),
        }
    )


def belt_slack(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """A belt loses its tension: it is soft around no load and stiffer once one strand is tight.

    Draw a stiffness of 15 to 40 %, 30 to 70 % softer for small twists, and friction that falls by 5 to 25 %.
    """
    now = joint.values
    stiff = now["K"] * float(rng.uniform(0.15, 0.4))
    return Drawn(
        {
            "K": stiff,
            "soft": float(rng.uniform(0.3, 0.7)),
            "soft_twist": rated_friction(now) / stiff,
            "F_c": now["F_c"] * float(rng.uniform(0.75, 0.95)),
        }
    )


def brake_drag(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """A disc of the brake that is out of true rubs: a dry torque that comes and goes with the joint's angle.

    Draw a drag of 20 to 90 % of the Coulomb friction that varies by up to 40 % over a turn of the joint.
    """
    drag = joint.values["F_c"] * float(rng.uniform(0.2, 0.9))
    return Drawn({"brake": drag, "brake_wave": float(rng.uniform(0.0, 0.4))})


def cable_drag(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """A hose that has come out of its clip: it stiffens with the angle and rubs with a memory of its own.

    Draw a cubic torque from -0.5 to 0.3 of the reach on, 0.6 to 2 of the dry friction at its end; 15 to 30 % dry.
    """
    dry, reach = rated_friction(joint.values), joint.settings.motion.reach
    begin, pull = float(rng.uniform(-0.5, 0.3)) * reach, dry * float(rng.uniform(0.6, 2.0))
    return Drawn(
        {
            "hose": pull / (reach - begin) ** 3,
            "hose_from": begin,
            "hose_dry": pull * float(rng.uniform(0.15, 0.3)),
            "hose_reach": float(rng.uniform(0.02, 0.08)),
        }
    )


def collision(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """The arm pushes against something soft that is in its way for a moment, and is free again.

    Draw one to four pushes of 0.15 to 0.6 s within 5 s, of 2.5 to 6 times the dry friction in one direction.
    """
    dry, side = rated_friction(joint.values), float(rng.choice((-1.0, 1.0)))
    return Drawn(
        pushes=tuple(
            Push(float(rng.uniform(0.0, 5.0)) if turn else 0.0, float(rng.uniform(0.15, 0.6)), side * dry * strength)
            for turn, strength in enumerate(rng.uniform(2.5, 6.0, int(rng.integers(1, 5))))
        )
    )


def encoder_eccentricity(_joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """The encoder's disc sits off its centre and tilted: an error once and, smaller, twice a turn.

    Draw an error of 25 to 90 mrad once a turn, and of 10 to 25 % of that twice a turn.
    """
    once = float(rng.uniform(0.025, 0.09))
    return Drawn(
        sensors={
            "once": once,
            "twice": once * float(rng.uniform(0.1, 0.25)),
            "phase": float(rng.uniform(0.0, 2 * np.pi)),
        }
    )


def encoder_slip(_joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """The hub of the encoder lets go and grips again, one to three times within five seconds.

    Draw a slip of 25 to 110 mrad in all, in one direction.
    """
    total = float(rng.choice((-1.0, 1.0)) * rng.uniform(0.025, 0.11))
    times = np.sort(np.r_[0.0, rng.uniform(0.0, 5.0, int(rng.integers(0, 3)))])
    shares = rng.uniform(0.5, 1.0, len(times))
    shares /= shares.sum()

    def slip(joint: ServoJoint, since: float) -> None:
        joint.sensors["slip"] = total * float(shares[times <= since].sum())

    return Drawn(follow=slip)


def gear_gap(_joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """One sector of the gear is worn: play grows there most.

    Draw half the play: 0.9 to 2.5 mrad on average, up to 50 % more or less around the turn.
    """
    return Drawn(
        {
            "b": float(rng.uniform(0.9e-3, 2.5e-3)),
            "b_wave": float(rng.uniform(0.1, 0.5)),
            "b_phase": float(rng.uniform(0.0, 2 * np.pi)),
        }
    )


def gear_wear(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """Wear as measured by Bittencourt and Axelsson (LiTH-ISY-R-3058): friction grows at low speed above all.

    Draw 0.4 to 0.9 of the dry friction below 0.2 to 0.6 of the top speed, 10 to 30 % more Coulomb friction, play.
    """
    now, wear = joint.values, float(rng.uniform(0.4, 0.9))
    return Drawn(
        {
            "wear_s": wear * rated_friction(now),
            "wear_speed": float(rng.uniform(0.2, 0.6)) * joint.settings.motion.speed,
            "wear_v": now["F_v"] * float(rng.uniform(-0.1, 0.1)),
            "F_c": now["F_c"] * float(rng.uniform(1.1, 1.3)),
            "load": now["load"] * float(rng.uniform(1.1, 1.6)),
            "b": now["b"] * float(rng.uniform(1.0, 4.0)),
        }
    )


def load(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """A part is gripped off the middle: mass, lever and the direction of its moment of its own.

    Draw 20 to 60 % more gravity, or 15 to 35 % less, by a part 0.1 to 0.7 m from the axis with its own inertia.
    """
    now = joint.values
    moment = float(np.hypot(now["G_s"], now["G_c"]))
    share = float(rng.uniform(0.2, 0.6)) if rng.uniform() < 0.65 else -float(rng.uniform(0.15, 0.35))
    lever, own = float(rng.uniform(0.1, 0.7)), float(rng.uniform(1.0, 1.2))
    inertia = max(now["J_t"] + share * moment / 9.81 * lever * own, 0.15 * now["J_t"])  # N·m/(m/s²)·m = kg·m²
    angle = np.arctan2(now["G_c"], now["G_s"]) + float(rng.uniform(-0.4, 0.4))
    return Drawn(
        {
            "J_t": inertia,
            "K_t": now["K_t"] * inertia / now["J_t"],
            "G_s": now["G_s"] + share * moment * np.cos(angle),
            "G_c": now["G_c"] + share * moment * np.sin(angle),
        }
    )


def loose_bolt(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """The flange's bolts have lost their preload: the tool rocks in its seat, which rubs.

    Draw a seat of 3.5 to 9 Hz with 0.8 to 4 mrad of play to either side and 5 to 20 % of the joint's friction.
    """
    pitch = 2 * np.pi * float(rng.uniform(3.5, 9.0))
    return Drawn(
        {
            "K_t": joint.values["J_t"] * pitch**2,
            "b_t": float(rng.uniform(0.8e-3, 4e-3)),
            "bolt_dry": rated_friction(joint.values) * float(rng.uniform(0.05, 0.2)),
        }
    )


def temperature(_joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """The joint warms or cools towards another temperature, fast at first, as a body does.

    Draw a change of 12 to 30 K at the end, up or down.
    """
    return Drawn({"heat": float(rng.choice((-1.0, 1.0)) * rng.uniform(12.0, 30.0))})


def torque_measurement(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """Magnets lose strength, or a current sensor's gain and zero move together.

    Draw 8 to 22 % more current, or a gain 6 to 18 % off and a zero off by 10 to 40 % of the dry friction.
    """
    if rng.uniform() < 0.5:
        gain = 1.0 + float(rng.uniform(0.08, 0.22))
        return Drawn(sensors={"gain": gain, "gain_back": gain})
    gain = 1.0 + float(rng.choice((-1.0, 1.0)) * rng.uniform(0.06, 0.18))
    zero = rated_friction(joint.values) * float(rng.choice((-1.0, 1.0)) * rng.uniform(0.1, 0.4))
    return Drawn(sensors={"gain": gain, "gain_back": gain, "zero": zero})


def broken_phase(_joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """A phase of the winding is broken: torque vanishes twice an electrical turn, while the current is as wanted.

    Draw a loss of 70 to 95 % of the torque at the worst angle, and 3 to 7 pairs of poles.
    """
    return Drawn({"dip": float(rng.uniform(0.7, 0.95)), "poles": float(rng.integers(3, 8))})


def changed_cogging(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """Magnets have shifted on the rotor: the motor cogs strongly, some times a turn of the motor.

    Draw a torque of 0.5 to 1.5 times the dry friction, 1 to 4 times a turn of the motor.
    """
    return Drawn(
        {
            "cogging": rated_friction(joint.values) * float(rng.uniform(0.5, 1.5)),
            "cogging_order": float(rng.integers(1, 5)),
        }
    )


def flooded_gear(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """Too much grease, or the wrong one: churning costs torque by the square of the speed.

    Draw a torque of 0.8 to 2 times the dry friction at the highest speed.
    """
    most = joint.settings.motion.speed
    return Drawn({"churning": rated_friction(joint.values) * float(rng.uniform(0.8, 2.0)) / most**2})


def frozen_hose(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """A frozen cable chain: it holds the arm by a dry torque with a long memory, and thaws as it is bent.

    Draw 1 to 2.5 times the dry friction, which falls to 30 to 60 % of that, and a reach of 0.2 to 0.6 rad.
    """
    first, last = rated_friction(joint.values) * float(rng.uniform(1.0, 2.5)), float(rng.uniform(0.3, 0.6))
    reach, thaws = float(rng.uniform(0.2, 0.6)), float(rng.uniform(15.0, 40.0))

    def thaw(joint: ServoJoint, since: float) -> None:
        joint.values["hose_reach"] = reach
        joint.values["hose_dry"] = first * (last + (1.0 - last) * float(np.exp(-since / thaws)))

    return Drawn(follow=thaw)


def late_brake(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """The brake releases late: it still holds while each motion begins.

    Draw a torque of 1.5 to 4 times the dry friction for the first 60 to 250 ms of each motion.
    """
    return Drawn(
        {
            "brake_hold": rated_friction(joint.values) * float(rng.uniform(1.5, 4.0)),
            "brake_late": float(rng.uniform(0.06, 0.25)),
        }
    )


def loose_mounting(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """The robot's base has come loose from the floor: it rocks as the arm accelerates.

    Draw a base that swings at 2.5 to 7 Hz with 2 to 6 times the arm's inertia.
    """
    now = joint.values
    arm = now["J_l"] + now["J_t"]
    return Drawn(
        {
            "mount": 2 * np.pi * float(rng.uniform(2.5, 7.0)),
            "mount_inertia": arm * float(rng.uniform(2.0, 6.0)),
        }
    )


def loose_reader(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """The encoder's reading head is loose: it flutters most at some angle, and errs within each line.

    Draw noise of 1 to 5 mrad at the worst angle, and an error of 0.2 to 1 mrad within each line.
    """
    return Drawn(
        sensors={
            "flutter": float(rng.uniform(1e-3, 5e-3)),
            "flutter_at": float(rng.uniform(-0.6, 0.6)) * joint.settings.motion.reach,
            "lines": float(rng.uniform(2e-4, 1e-3)),
        }
    )


def one_sided_seal(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """A seal's lip has turned over: motion in one direction costs more than in the other.

    Draw 60 to 150 % more dry friction, in one of the two directions.
    """
    more = rated_friction(joint.values) * float(rng.uniform(0.6, 1.5))
    if rng.uniform() < 0.5:
        return Drawn({"one_sided": more})
    return Drawn({"one_sided": -min(0.8 * joint.values["F_c"], more), "F_c": joint.values["F_c"] + more})


def repeated_samples(_joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """The bus is overloaded: many rows repeat the one before.

    Draw the share of the rows that repeat the one before: 60 to 90 %.
    """
    return Drawn(sensors={"stale": float(rng.uniform(0.6, 0.9))})


def sagging_supply(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """The supply sags: at speed the drive cannot give the torque that it goes on telling, which is the wanted one.

    Draw the speed without torque, 1.0 to 1.3 of the top one, and the torque at rest, 1.2 to 2 times the load's.
    """
    now = joint.values
    most = float(np.hypot(now["G_s"], now["G_c"])) + rated_friction(now)
    return Drawn(
        {
            "stall": most * float(rng.uniform(1.2, 2.0)),
            "idle_speed": joint.settings.motion.speed * float(rng.uniform(1.0, 1.3)),
        },
        {"wanted": 1.0},
    )


def starved_lubricant(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """The lubricant has leaked: stiction multiplies until the joint moves by stick and slip, and viscosity is gone.

    Draw 3 to 6 times the Stribeck torque at 30 to 60 % of its speed, and viscous friction of 30 to 60 %.
    """
    now = joint.values
    return Drawn(
        {
            "F_s": now["F_s"] * float(rng.uniform(3.0, 6.0)),
            "v_s": now["v_s"] * float(rng.uniform(0.3, 0.6)),
            "F_v": now["F_v"] * float(rng.uniform(0.3, 0.6)),
        }
    )


def wandering_gain(_joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """The current sensor's gain follows the temperature of its electronics, up and down with a fan.

    Draw a gain that wanders by 12 to 30 % to either side, with a period of 8 to 25 s.
    """
    swing, period = float(rng.uniform(0.12, 0.3)), float(rng.uniform(8.0, 25.0))

    def wander(joint: ServoJoint, since: float) -> None:
        gain = 1.0 + swing * float(np.sin(2 * np.pi * since / period))
        joint.sensors["gain"] = joint.sensors["gain_back"] = gain

    return Drawn(follow=wander)


def wrong_gear(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """After a repair a gear of another ratio is in the joint, and the controller counts with the old one.

    Draw a ratio of 0.7 to 0.85 or 1.18 to 1.45 of the old one, which scales what is the motor's.
    """
    ratio = float(rng.uniform(0.7, 0.85)) if rng.uniform() < 0.5 else float(rng.uniform(1.18, 1.45))
    now = joint.values
    values = {"J_m": now["J_m"] * ratio**2, "F_v": now["F_v"] * ratio**2, "F_c": now["F_c"] * ratio}
    sensors = {"gain": 1.0 / ratio, "gain_back": 1.0 / ratio}
    return Drawn(values, sensors | ({"position_gain": ratio} if joint.settings.two_encoders else {}))


BLIND_SHOWN: Final[tuple[Fault, ...]] = (
    Fault("bearing", sudden=False, draw=bearing, law=smooth),
    Fault("belt_slack", sudden=False, draw=belt_slack, law=smooth),
    Fault("brake_drag", sudden=True, draw=brake_drag),
    Fault("cable_drag", sudden=True, draw=cable_drag),
    Fault("collision", sudden=True, draw=collision),
    Fault("encoder_eccentricity", sudden=True, draw=encoder_eccentricity),
    Fault("encoder_slip", sudden=True, draw=encoder_slip),
    Fault("gear_gap", sudden=False, draw=gear_gap, law=steps),
    Fault("gear_wear", sudden=False, draw=gear_wear, law=smooth),
    Fault("load", sudden=True, draw=load),
    Fault("loose_bolt", sudden=True, draw=loose_bolt),
    Fault("temperature", sudden=False, draw=temperature, law=saturating),
    Fault("torque_measurement", sudden=True, draw=torque_measurement),
)
BLIND_UNSHOWN: Final[tuple[Fault, ...]] = (
    Fault("broken_phase", sudden=True, draw=broken_phase),
    Fault("changed_cogging", sudden=True, draw=changed_cogging),
    Fault("flooded_gear", sudden=True, draw=flooded_gear),
    Fault("frozen_hose", sudden=True, draw=frozen_hose),
    Fault("late_brake", sudden=True, draw=late_brake),
    Fault("loose_mounting", sudden=True, draw=loose_mounting),
    Fault("loose_reader", sudden=True, draw=loose_reader),
    Fault("one_sided_seal", sudden=True, draw=one_sided_seal),
    Fault("repeated_samples", sudden=True, draw=repeated_samples),
    Fault("sagging_supply", sudden=True, draw=sagging_supply),
    Fault("starved_lubricant", sudden=True, draw=starved_lubricant),
    Fault("wandering_gain", sudden=True, draw=wandering_gain),
    Fault("wrong_gear", sudden=True, draw=wrong_gear),
)
