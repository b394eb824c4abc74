"""The bus is overloaded: many rows repeat the one before."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault
from hil_rig.faults.servo_joint import ServoJoint


def draw(_joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """Draw the share of the rows that repeat the one before: 60 to 90 %."""
    return Drawn(sensors={"stale": float(rng.uniform(0.6, 0.9))})


FAULT = Fault("repeated_samples", sudden=True, draw=draw)
