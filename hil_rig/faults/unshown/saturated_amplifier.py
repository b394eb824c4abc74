"""The amplifier of the current sensor saturates: large torques are measured too small, small ones are right."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault
from hil_rig.faults.servo_joint import ServoJoint, rated_friction


def draw(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """It bends at 0.9 to 1.6 times the sum of gravity's moment and dry friction."""
    moment = float(np.hypot(joint.values["G_s"], joint.values["G_c"])) + rated_friction(joint.values)
    return Drawn(sensors={"limit": moment * float(rng.uniform(0.9, 1.6))})


FAULT = Fault("saturated_amplifier", sudden=True, draw=draw)
