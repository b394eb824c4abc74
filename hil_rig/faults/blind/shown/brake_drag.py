"""A disc of the brake that is out of true rubs: a dry torque that comes and goes with the joint's angle."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault
from hil_rig.faults.servo_joint import ServoJoint


def draw(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """Draw a drag of 20 to 90 % of the Coulomb friction that varies by up to 40 % over a turn of the joint."""
    drag = joint.values["F_c"] * float(rng.uniform(0.2, 0.9))
    return Drawn({"brake": drag, "brake_wave": float(rng.uniform(0.0, 0.4))})


FAULT = Fault("brake_drag", sudden=True, draw=draw)
