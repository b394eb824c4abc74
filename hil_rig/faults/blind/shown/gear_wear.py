"""Wear as measured by Bittencourt and Axelsson (LiTH-ISY-R-3058): friction grows at low speed above all."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault, smooth
from hil_rig.faults.servo_joint import ServoJoint, rated_friction


def draw(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """Draw 0.4 to 0.9 of the dry friction below 0.2 to 0.6 of the top speed, 10 to 30 % more Coulomb friction, play."""
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


FAULT = Fault("gear_wear", sudden=False, draw=draw, law=smooth)
