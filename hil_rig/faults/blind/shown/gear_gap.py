"""One sector of the gear is worn: play grows there most."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault, steps
from hil_rig.faults.servo_joint import ServoJoint


def draw(_joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """Draw half the play: 0.9 to 2.5 mrad on average, up to 50 % more or less around the turn."""
    return Drawn(
        {
            "b": float(rng.uniform(0.9e-3, 2.5e-3)),
            "b_wave": float(rng.uniform(0.1, 0.5)),
            "b_phase": float(rng.uniform(0.0, 2 * np.pi)),
        }
    )


FAULT = Fault("gear_gap", sudden=False, draw=draw, law=steps)
