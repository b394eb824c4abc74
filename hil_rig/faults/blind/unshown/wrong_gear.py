"""After a repair a gear of another ratio is in the joint, and the controller counts with the old one."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault
from hil_rig.faults.servo_joint import ServoJoint


def draw(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """Draw a ratio of 0.7 to 0.85 or 1.18 to 1.45 of the old one, which scales what is the motor's."""
    ratio = float(rng.uniform(0.7, 0.85)) if rng.uniform() < 0.5 else float(rng.uniform(1.18, 1.45))
    now = joint.values
    values = {"J_m": now["J_m"] * ratio**2, "F_v": now["F_v"] * ratio**2, "F_c": now["F_c"] * ratio}
    sensors = {"gain": 1.0 / ratio, "gain_back": 1.0 / ratio}
    return Drawn(values, sensors | ({"position_gain": ratio} if joint.settings.two_encoders else {}))


FAULT = Fault("wrong_gear", sudden=True, draw=draw)
