"""The joint warms or cools towards another temperature, fast at first, as a body does."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault, saturating
from hil_rig.faults.servo_joint import ServoJoint


def draw(_joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """Draw a change of 12 to 30 K at the end, up or down."""
    return Drawn({"heat": float(rng.choice((-1.0, 1.0)) * rng.uniform(12.0, 30.0))})


FAULT = Fault("temperature", sudden=False, draw=draw, law=saturating)
