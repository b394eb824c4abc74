"""Teeth and their lubricant wear: dry friction grows, at low speed and under load most, and some play comes along."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault
from hil_rig.faults.servo_joint import ServoJoint


def draw(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """Coulomb friction 30 to 60 % up, the Stribeck part up to twice as far, friction under load as well."""
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


FAULT = Fault("gear_wear", sudden=False, draw=draw)
