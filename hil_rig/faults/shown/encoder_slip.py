"""The encoder slips on its shaft: it reads a constant angle too much or too little."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault
from hil_rig.faults.servo_joint import ServoJoint


def draw(_joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """30 to 120 mrad, either way."""
    return Drawn(sensors={"slip": float(rng.choice((-1.0, 1.0)) * rng.uniform(0.03, 0.12))})


FAULT = Fault("encoder_slip", sudden=True, draw=draw)
