"""A pit in a race: pulses as balls pass, strongest in the zone of load, and a little drag."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault, smooth
from hil_rig.faults.servo_joint import ServoJoint, rated_friction


def draw(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """Draw a bearing of 16 to 36 balls, one of its races, and pulses of 0.3 to 0.8 of the dry friction."""
    balls, dry = int(rng.integers(16, 37)), rated_friction(joint.values)
    share = float(rng.uniform(0.40, 0.46)) if rng.uniform() < 0.5 else float(rng.uniform(0.54, 0.60))
    return Drawn(
        {
            "spall": dry * float(rng.uniform(0.3, 0.8)),
            "spall_order": balls * share,
            "F_c": joint.values["F_c"] * float(rng.uniform(1.0, 1.2)),
        }
    )


FAULT = Fault("bearing", sudden=False, draw=draw, law=smooth)
