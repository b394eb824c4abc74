"""The gear gets play: its backlash grows from some tens of microradians to milliradians."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault
from hil_rig.faults.servo_joint import ServoJoint


def draw(_joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """Half of the play 1 to 3 mrad."""
    return Drawn({"b": float(rng.uniform(1e-3, 3e-3))})


FAULT = Fault("gear_gap", sudden=False, draw=draw)
