"""The robot's base has come loose from the floor: it rocks as the arm accelerates."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault
from hil_rig.faults.servo_joint import ServoJoint


def draw(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """Draw a base that swings at 2.5 to 7 Hz with 2 to 6 times the arm's inertia."""
    now = joint.values
    arm = now["J_l"] + now["J_t"]
    return Drawn(
        {
            "mount": 2 * np.pi * float(rng.uniform(2.5, 7.0)),
            "mount_inertia": arm * float(rng.uniform(2.0, 6.0)),
        }
    )


FAULT = Fault("loose_mounting", sudden=True, draw=draw)
