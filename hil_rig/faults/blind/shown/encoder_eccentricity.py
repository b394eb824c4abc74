"""The encoder's disc sits off its centre and tilted: an error once and, smaller, twice a turn."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault
from hil_rig.faults.servo_joint import ServoJoint


def draw(_joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """Draw an error of 25 to 90 mrad once a turn, and of 10 to 25 % of that twice a turn."""
    once = float(rng.uniform(0.025, 0.09))
    return Drawn(
        sensors={
            "once": once,
            "twice": once * float(rng.uniform(0.1, 0.25)),
            "phase": float(rng.uniform(0.0, 2 * np.pi)),
        }
    )


FAULT = Fault("encoder_eccentricity", sudden=True, draw=draw)
