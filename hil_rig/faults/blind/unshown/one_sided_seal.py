"""A seal's lip has turned over: motion in one direction costs more than in the other."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault
from hil_rig.faults.servo_joint import ServoJoint, rated_friction


def draw(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """Draw 60 to 150 % more dry friction, in one of the two directions."""
    more = rated_friction(joint.values) * float(rng.uniform(0.6, 1.5))
    if rng.uniform() < 0.5:
        return Drawn({"one_sided": more})
    return Drawn({"one_sided": -min(0.8 * joint.values["F_c"], more), "F_c": joint.values["F_c"] + more})


FAULT = Fault("one_sided_seal", sudden=True, draw=draw)
