"""The torque channel gets late: a filter or a buffer holds it back by some hundredths of a second."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault
from hil_rig.faults.servo_joint import ServoJoint


def draw(_joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """15 to 40 ms."""
    return Drawn(sensors={"delay": float(rng.uniform(0.015, 0.04))})


FAULT = Fault("late_channel", sudden=True, draw=draw)
