"""The faults: one function that draws the size of each fault, and its entry in one of two tables.

The causes of the estimators describe the faults in SHOWN; for faults in UNSHOWN the right answer is "unknown".
"""

from typing import Final

import numpy as np

from hil_rig.faults.base import Drawn, Fault, Push
from hil_rig.faults.servo_joint import ServoJoint, rated_friction

GRAVITY: Final = 9.81  # m/s²


def bearing(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """A race of the joint's bearing spalls: torque ripples with the passing balls, and drags a little.

    Draw 20 to 40 balls, of which 0.40 to 0.45 times as many pass a turn, and a ripple of 15 to 40 % of dry friction.
    """
    balls, dry = int(rng.integers(20, 41)), rated_friction(joint.values)
    passing = balls * float(rng.uniform(0.40, 0.45))
    return Drawn(
        {
            "ripple": dry * float(rng.uniform(0.15, 0.4)),
            "order": passing,
            "F_c": joint.values["F_c"] * float(rng.uniform(1.05, 1.2)),
        }
    )


def belt_slack(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """The belt loses its tension: one strand carries, the drive gets softer, and its bearings are pressed less.

    Draw 10 to 30 % of the stiffness, and 80 to 95 % of the Coulomb friction.
    """
    now = joint.values
    return Drawn({"K": now["K"] * float(rng.uniform(0.1, 0.3)), "F_c": now["F_c"] * float(rng.uniform(0.8, 0.95))})


def brake_drag(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """The brake does not open fully: a dry torque that neither load nor speed changes, uneven over a turn of the motor.

    Draw a drag of 25 to 80 % of the Coulomb friction.
    """
    return Drawn(
        {
            "brake": joint.values["F_c"] * float(rng.uniform(0.25, 0.8)),
            "brake_wave": float(rng.uniform(0.0, 0.3)),
        }
    )


def cable_drag(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """A cable or hose catches: beyond some angle it pulls like a spring and rubs.

    Draw a drag from the range's middle on; at its end 0.5 to 1.5 times the dry friction, a fifth of it dry.
    """
    dry, reach = rated_friction(joint.values), joint.settings.motion.reach
    begin = float(rng.uniform(-0.4, 0.3)) * reach
    pull = dry * float(rng.uniform(0.5, 1.5))
    return Drawn(
        {
            "cable": pull / (reach - begin),
            "cable_from": begin,
            "cable_dry": pull * float(rng.uniform(0.1, 0.3)),
        }
    )


def collision(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """The arm hits something, once or a few times in a row, and is free again.

    Draw one to three pushes of 0.1 to 0.4 s within three seconds, three to eight times the dry friction.
    """
    dry = rated_friction(joint.values)
    return Drawn(
        pushes=tuple(
            Push(
                float(rng.uniform(0.0, 3.0)) if turn else 0.0,
                float(rng.uniform(0.1, 0.4)),
                dry * float(rng.choice((-1.0, 1.0)) * rng.uniform(3.0, 8.0)),
            )
            for turn in range(int(rng.integers(1, 4)))
        )
    )


def encoder_eccentricity(_joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """The encoder's disc gets eccentric, by a knock or a loose hub: its error comes once a turn.

    Draw an eccentricity of 30 to 100 mrad, in any direction.
    """
    return Drawn(sensors={"eccentricity": float(rng.uniform(0.03, 0.1)), "phase": float(rng.uniform(0.0, 2 * np.pi))})


def encoder_slip(_joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """The encoder slips on its shaft: it reads a constant angle too much or too little.

    Draw a slip of 30 to 120 mrad, either way.
    """
    return Drawn(sensors={"slip": float(rng.choice((-1.0, 1.0)) * rng.uniform(0.03, 0.12))})


def gear_gap(_joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """The gear gets play: its backlash grows from some tens of microradians to milliradians.

    Draw a play of 1 to 3 mrad to either side.
    """
    return Drawn({"b": float(rng.uniform(1e-3, 3e-3))})


def gear_wear(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """Teeth and their lubricant wear: dry friction grows, at low speed and under load most, and some play comes along.

    Draw 30 to 60 % more Coulomb friction, up to twice as much more of the Stribeck part, and more friction under load.
    """
    now, wear = joint.values, float(rng.uniform(0.3, 0.6))
    stribeck = rng.uniform(1.0, 2.0) * wear
    return Drawn(
        {
            "F_c": now["F_c"] * (1.0 + wear),
            "F_s": now["F_s"] * (1.0 + stribeck),
            "v_s": now["v_s"] * (1.0 + 0.3 * wear),
            "load": now["load"] * (1.0 + wear),
            "b": now["b"] * (1.0 + wear),
        }
    )


def load(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """Another tool or payload: more or less mass at some lever, so inertia and gravity change together.

    Draw a mass that adds 15 to 50 % to the moment of gravity, or takes 10 to 25 % away, 0.15 to 0.6 m from the axis.
    """
    now = joint.values
    moment = float(np.hypot(now["G_s"], now["G_c"]))
    share = float(rng.uniform(0.15, 0.5)) if rng.uniform() < 0.7 else -float(rng.uniform(0.1, 0.25))
    lever, turned = float(rng.uniform(0.15, 0.6)), float(rng.uniform(-0.3, 0.3))
    inertia = max(now["J_t"] + share * moment / GRAVITY * lever, 0.2 * now["J_t"])
    angle = np.arctan2(now["G_c"], now["G_s"]) + turned
    return Drawn(
        {
            "J_t": inertia,
            "K_t": now["K_t"] * inertia / now["J_t"],
            "G_s": now["G_s"] + share * moment * np.cos(angle),
            "G_c": now["G_c"] + share * moment * np.sin(angle),
        }
    )


def loose_bolt(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """Bolts or the coupling behind the gear come loose: what is mounted there has play and a soft seat.

    Draw a seat that swings at 4 to 8 Hz, with 1 to 4 mrad of play to either side.
    """
    pitch = 2 * np.pi * float(rng.uniform(4.0, 8.0))
    return Drawn({"K_t": joint.values["J_t"] * pitch**2, "b_t": float(rng.uniform(1e-3, 4e-3))})


def temperature(_joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """The joint gets hotter or colder: viscous friction follows, and the Stribeck part moves the other way.

    Draw a warming of 12 to 25 K.
    """
    return Drawn({"heat": float(rng.choice((-1.0, 1.0)) * rng.uniform(12.0, 25.0))})


def torque_measurement(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """The torque constant falls, or the current sensor's gain or zero moves: the same torque reads as another number.

    Draw a gain that is 8 to 20 % off in two cases of three, else a zero that is off by 20 to 60 % of the dry friction.
    """
    if rng.uniform() < 2 / 3:
        return Drawn(sensors={"gain": 1.0 + float(rng.choice((-1.0, 1.0)) * rng.uniform(0.08, 0.2))})
    zero = rated_friction(joint.values) * float(rng.choice((-1.0, 1.0)) * rng.uniform(0.2, 0.6))
    return Drawn(sensors={"zero": zero})


def late_channel(_joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """The torque channel gets late: a filter or a buffer holds it back by some hundredths of a second.

    Draw a delay of 15 to 40 ms.
    """
    return Drawn(sensors={"delay": float(rng.uniform(0.015, 0.04))})


def lost_balancer(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """A spring that balances the arm breaks or loses its preload: gravity changes, inertia does not.

    Draw 25 to 60 % more of gravity's moment.
    """
    factor = float(rng.uniform(1.25, 1.6))
    return Drawn({name: factor * joint.values[name] for name in ("G_s", "G_c")})


def lost_counts(_joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """The encoder loses counts: the joint's position slides away with the way it makes.

    Draw a loss of 5 to 15 mrad for each radian of way.
    """
    return Drawn(sensors={"lost": float(rng.choice((-1.0, 1.0)) * rng.uniform(0.005, 0.015))})


def saturated_amplifier(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """The amplifier of the current sensor saturates: large torques are measured too small, small ones are right.

    Draw a bend at 0.9 to 1.6 times the sum of gravity's moment and dry friction.
    """
    moment = float(np.hypot(joint.values["G_s"], joint.values["G_c"])) + rated_friction(joint.values)
    return Drawn(sensors={"limit": moment * float(rng.uniform(0.9, 1.6))})


def wedged_body(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """A foreign body sits in the gear: friction is high within a narrow range of angles.

    Draw a dry torque of 60 to 200 % of the dry friction, over 0.1 to 0.3 rad.
    """
    return Drawn(
        {
            "wedge": rated_friction(joint.values) * float(rng.uniform(0.6, 2.0)),
            "wedge_at": float(rng.uniform(-0.5, 0.5)) * joint.settings.motion.reach,
            "wedge_width": float(rng.uniform(0.05, 0.15)),
        }
    )


def winding_short(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """Turns of a winding are shorted: torque per ampere falls, and the current beats with the motor's electrical angle.

    Draw 5 to 12 % more current, which beats by 20 to 50 %, and 30 to 80 % more viscous friction of the shorted turns.
    """
    return Drawn(
        {"F_v": joint.values["F_v"] * float(rng.uniform(1.3, 1.8))},
        {"gain": 1.0 + float(rng.uniform(0.05, 0.12)), "electric": float(rng.uniform(0.2, 0.5))},
    )


SHOWN: Final[tuple[Fault, ...]] = (
    Fault("bearing", sudden=False, draw=bearing),
    Fault("belt_slack", sudden=False, draw=belt_slack),
    Fault("brake_drag", sudden=True, draw=brake_drag),
    Fault("cable_drag", sudden=True, draw=cable_drag),
    Fault("collision", sudden=True, draw=collision),
    Fault("encoder_eccentricity", sudden=True, draw=encoder_eccentricity),
    Fault("encoder_slip", sudden=True, draw=encoder_slip),
    Fault("gear_gap", sudden=False, draw=gear_gap),
    Fault("gear_wear", sudden=False, draw=gear_wear),
    Fault("load", sudden=True, draw=load),
    Fault("loose_bolt", sudden=True, draw=loose_bolt),
    Fault("temperature", sudden=False, draw=temperature),
    Fault("torque_measurement", sudden=True, draw=torque_measurement),
)
UNSHOWN: Final[tuple[Fault, ...]] = (
    Fault("late_channel", sudden=True, draw=late_channel),
    Fault("lost_balancer", sudden=True, draw=lost_balancer),
    Fault("lost_counts", sudden=True, draw=lost_counts),
    Fault("saturated_amplifier", sudden=True, draw=saturated_amplifier),
    Fault("wedged_body", sudden=True, draw=wedged_body),
    Fault("winding_short", sudden=True, draw=winding_short),
)
