"""The encoder's disc gets eccentric, by a knock or a loose hub: its error comes once a turn."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault
from hil_rig.faults.servo_joint import ServoJoint


def draw(_joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """30 to 100 mrad, in any direction."""
    return Drawn(sensors={"eccentricity": float(rng.uniform(0.03, 0.1)), "phase": float(rng.uniform(0.0, 2 * np.pi))})


FAULT = Fault("encoder_eccentricity", sudden=True, draw=draw)
