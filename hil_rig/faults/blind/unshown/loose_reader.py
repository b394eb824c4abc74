"""The encoder's reading head is loose: it flutters most at some angle, and errs within each line."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault
from hil_rig.faults.servo_joint import ServoJoint


def draw(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """Draw noise of 1 to 5 mrad at the worst angle, and an error of 0.2 to 1 mrad within each line."""
    return Drawn(
        sensors={
            "flutter": float(rng.uniform(1e-3, 5e-3)),
            "flutter_at": float(rng.uniform(-0.6, 0.6)) * joint.settings.motion.reach,
            "lines": float(rng.uniform(2e-4, 1e-3)),
        }
    )


FAULT = Fault("loose_reader", sudden=True, draw=draw)
