"""A frozen cable chain: it holds the arm by a dry torque with a long memory, and thaws as it is bent."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault
from hil_rig.faults.servo_joint import ServoJoint, rated_friction


def draw(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """Draw 1 to 2.5 times the dry friction, which falls to 30 to 60 % of that, and a reach of 0.2 to 0.6 rad."""
    first, last = rated_friction(joint.values) * float(rng.uniform(1.0, 2.5)), float(rng.uniform(0.3, 0.6))
    reach, thaws = float(rng.uniform(0.2, 0.6)), float(rng.uniform(15.0, 40.0))

    def thaw(joint: ServoJoint, since: float) -> None:
        joint.values["hose_reach"] = reach
        joint.values["hose_dry"] = first * (last + (1.0 - last) * float(np.exp(-since / thaws)))

    return Drawn(follow=thaw)


FAULT = Fault("frozen_hose", sudden=True, draw=draw)
