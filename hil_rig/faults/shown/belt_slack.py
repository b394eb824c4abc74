"""The belt loses its tension: one strand carries, the drive gets softer, and its bearings are pressed less."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault
from hil_rig.faults.servo_joint import ServoJoint


def draw(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """Stiffness falls to 10 to 30 %, Coulomb friction by 5 to 20 %."""
    now = joint.values
    return Drawn({"K": now["K"] * float(rng.uniform(0.1, 0.3)), "F_c": now["F_c"] * float(rng.uniform(0.8, 0.95))})


FAULT = Fault("belt_slack", sudden=False, draw=draw)
