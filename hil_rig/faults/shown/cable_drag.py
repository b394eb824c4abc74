"""A cable or hose catches: beyond some angle it pulls like a spring and rubs."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault
from hil_rig.faults.servo_joint import ServoJoint, rated_friction


def draw(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """Draw a drag from the range's middle on; at its end 0.5 to 1.5 times the dry friction, a fifth of it dry."""
    dry, reach = rated_friction(joint.values), joint.settings.motion.reach
    begin = float(rng.uniform(-0.4, 0.3)) * reach
    pull = dry * float(rng.uniform(0.5, 1.5))
    return Drawn(
        {
            "cable": pull / (reach - begin),
            "cable_from": begin,
            "cable_dry": pull * float(rng.uniform(0.1, 0.3)),
        }
    )


FAULT = Fault("cable_drag", sudden=True, draw=draw)
