"""The brake releases late: it still holds while each motion begins."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault
from hil_rig.faults.servo_joint import ServoJoint, rated_friction


def draw(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """Draw a torque of 1.5 to 4 times the dry friction for the first 60 to 250 ms of each motion."""
    return Drawn(
        {
            "brake_hold": rated_friction(joint.values) * float(rng.uniform(1.5, 4.0)),
            "brake_late": float(rng.uniform(0.06, 0.25)),
        }
    )


FAULT = Fault("late_brake", sudden=True, draw=draw)
