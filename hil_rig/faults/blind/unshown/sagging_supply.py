"""The supply sags: at speed the drive cannot give the torque that it goes on telling, which is the wanted one."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault
from hil_rig.faults.servo_joint import ServoJoint, rated_friction


def draw(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """Draw the speed without torque, 1.0 to 1.3 of the top one, and the torque at rest, 1.2 to 2 times the load's."""
    now = joint.values
    most = float(np.hypot(now["G_s"], now["G_c"])) + rated_friction(now)
    return Drawn(
        {
            "stall": most * float(rng.uniform(1.2, 2.0)),
            "idle_speed": joint.settings.motion.speed * float(rng.uniform(1.0, 1.3)),
        },
        {"wanted": 1.0},
    )


FAULT = Fault("sagging_supply", sudden=True, draw=draw)
