"""A foreign body sits in the gear: friction is high within a narrow range of angles."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault
from hil_rig.faults.servo_joint import ServoJoint, rated_friction


def draw(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """60 to 200 % of the dry friction over 0.1 to 0.3 rad."""
    return Drawn(
        {
            "wedge": rated_friction(joint.values) * float(rng.uniform(0.6, 2.0)),
            "wedge_at": float(rng.uniform(-0.5, 0.5)) * joint.settings.motion.reach,
            "wedge_width": float(rng.uniform(0.05, 0.15)),
        }
    )


FAULT = Fault("wedged_body", sudden=True, draw=draw)
