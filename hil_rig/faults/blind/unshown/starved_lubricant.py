"""The lubricant has leaked: stiction multiplies until the joint moves by stick and slip, and viscosity is gone."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault
from hil_rig.faults.servo_joint import ServoJoint


def draw(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """Draw 3 to 6 times the Stribeck torque at 30 to 60 % of its speed, and viscous friction of 30 to 60 %."""
    now = joint.values
    return Drawn(
        {
            "F_s": now["F_s"] * float(rng.uniform(3.0, 6.0)),
            "v_s": now["v_s"] * float(rng.uniform(0.3, 0.6)),
            "F_v": now["F_v"] * float(rng.uniform(0.3, 0.6)),
        }
    )


FAULT = Fault("starved_lubricant", sudden=True, draw=draw)
