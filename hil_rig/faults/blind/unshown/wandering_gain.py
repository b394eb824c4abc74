"""The current sensor's gain follows the temperature of its electronics, up and down with a fan."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault
from hil_rig.faults.servo_joint import ServoJoint


def draw(_joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """Draw a gain that wanders by 12 to 30 % to either side, with a period of 8 to 25 s."""
    swing, period = float(rng.uniform(0.12, 0.3)), float(rng.uniform(8.0, 25.0))

    def wander(joint: ServoJoint, since: float) -> None:
        gain = 1.0 + swing * float(np.sin(2 * np.pi * since / period))
        joint.sensors["gain"] = joint.sensors["gain_back"] = gain

    return Drawn(follow=wander)


FAULT = Fault("wandering_gain", sudden=True, draw=draw)
