"""The brake does not open fully: a dry torque that neither load nor speed changes, uneven over a turn of the motor."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault
from hil_rig.faults.servo_joint import ServoJoint


def draw(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """25 to 80 % of the Coulomb friction."""
    return Drawn(
        {
            "brake": joint.values["F_c"] * float(rng.uniform(0.25, 0.8)),
            "brake_wave": float(rng.uniform(0.0, 0.3)),
        }
    )


FAULT = Fault("brake_drag", sudden=True, draw=draw)
