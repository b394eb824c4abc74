"""Turns of a winding are shorted: torque per ampere falls, and the current beats with the motor's electrical angle."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault
from hil_rig.faults.servo_joint import ServoJoint


def draw(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """5 to 12 % more current, which beats by 20 to 50 %; shorted turns brake in proportion to speed."""
    return Drawn(
        {"F_v": joint.values["F_v"] * float(rng.uniform(1.3, 1.8))},
        {"gain": 1.0 + float(rng.uniform(0.05, 0.12)), "electric": float(rng.uniform(0.2, 0.5))},
    )


FAULT = Fault("winding_short", sudden=True, draw=draw)
