"""Magnets have shifted on the rotor: the motor cogs strongly, some times a turn of the motor."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault
from hil_rig.faults.servo_joint import ServoJoint, rated_friction


def draw(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """Draw a torque of 0.5 to 1.5 times the dry friction, 1 to 4 times a turn of the motor."""
    return Drawn(
        {
            "cogging": rated_friction(joint.values) * float(rng.uniform(0.5, 1.5)),
            "cogging_order": float(rng.integers(1, 5)),
        }
    )


FAULT = Fault("changed_cogging", sudden=True, draw=draw)
