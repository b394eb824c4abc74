"""The encoder loses counts: the joint's position slides away with the way it makes."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault
from hil_rig.faults.servo_joint import ServoJoint


def draw(_joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """5 to 15 mrad for each radian of way."""
    return Drawn(sensors={"lost": float(rng.choice((-1.0, 1.0)) * rng.uniform(0.005, 0.015))})


FAULT = Fault("lost_counts", sudden=True, draw=draw)
