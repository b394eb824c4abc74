"""The flange's bolts have lost their preload: the tool rocks in its seat, which rubs."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault
from hil_rig.faults.servo_joint import ServoJoint, rated_friction


def draw(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """Draw a seat of 3.5 to 9 Hz with 0.8 to 4 mrad of play to either side and 5 to 20 % of the joint's friction."""
    pitch = 2 * np.pi * float(rng.uniform(3.5, 9.0))
    return Drawn(
        {
            "K_t": joint.values["J_t"] * pitch**2,
            "b_t": float(rng.uniform(0.8e-3, 4e-3)),
            "bolt_dry": rated_friction(joint.values) * float(rng.uniform(0.05, 0.2)),
        }
    )


FAULT = Fault("loose_bolt", sudden=True, draw=draw)
