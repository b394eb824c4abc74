"""Too much grease, or the wrong one: churning costs torque by the square of the speed."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault
from hil_rig.faults.servo_joint import ServoJoint, rated_friction


def draw(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """Draw a torque of 0.8 to 2 times the dry friction at the highest speed."""
    most = joint.settings.motion.speed
    return Drawn({"churning": rated_friction(joint.values) * float(rng.uniform(0.8, 2.0)) / most**2})


FAULT = Fault("flooded_gear", sudden=True, draw=draw)
