"""A phase of the winding is broken: torque vanishes twice an electrical turn, while the current is as wanted."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault
from hil_rig.faults.servo_joint import ServoJoint


def draw(_joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """Draw a loss of 70 to 95 % of the torque at the worst angle, and 3 to 7 pairs of poles."""
    return Drawn({"dip": float(rng.uniform(0.7, 0.95)), "poles": float(rng.integers(3, 8))})


FAULT = Fault("broken_phase", sudden=True, draw=draw)
