"""The joint gets hotter or colder: viscous friction follows, and the Stribeck part moves the other way."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault
from hil_rig.faults.servo_joint import ServoJoint


def draw(_joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """Draw a warming of 12 to 25 K."""
    return Drawn({"heat": float(rng.choice((-1.0, 1.0)) * rng.uniform(12.0, 25.0))})


FAULT = Fault("temperature", sudden=False, draw=draw)
