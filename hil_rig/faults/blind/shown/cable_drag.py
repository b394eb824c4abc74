"""A hose that has come out of its clip: it stiffens with the angle and rubs with a memory of its own."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault
from hil_rig.faults.servo_joint import ServoJoint, rated_friction


def draw(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """Draw a cubic torque from -0.5 to 0.3 of the reach on, 0.6 to 2 of the dry friction at its end; 15 to 30 % dry."""
    dry, reach = rated_friction(joint.values), joint.settings.motion.reach
    begin, pull = float(rng.uniform(-0.5, 0.3)) * reach, dry * float(rng.uniform(0.6, 2.0))
    return Drawn(
        {
            "hose": pull / (reach - begin) ** 3,
            "hose_from": begin,
            "hose_dry": pull * float(rng.uniform(0.15, 0.3)),
            "hose_reach": float(rng.uniform(0.02, 0.08)),
        }
    )


FAULT = Fault("cable_drag", sudden=True, draw=draw)
