"""A race of the joint's bearing spalls: torque ripples with the passing balls, and drags a little."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault
from hil_rig.faults.servo_joint import ServoJoint, rated_friction


def draw(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """0.4 times 20 to 40 balls a turn of the joint; ripple 15 to 40 % of the dry friction, which grows by 5 to 20 %."""
    balls, dry = int(rng.integers(20, 41)), rated_friction(joint.values)
    passing = balls * float(rng.uniform(0.40, 0.45))
    return Drawn(
        {
            "ripple": dry * float(rng.uniform(0.15, 0.4)),
            "order": passing,
            "F_c": joint.values["F_c"] * float(rng.uniform(1.05, 1.2)),
        }
    )


FAULT = Fault("bearing", sudden=False, draw=draw)
