"""Magnets lose strength, or a current sensor's gain and zero move together."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault
from hil_rig.faults.servo_joint import ServoJoint, rated_friction


def draw(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """Draw 8 to 22 % more current, or a gain 6 to 18 % off and a zero off by 10 to 40 % of the dry friction."""
    if rng.uniform() < 0.5:
        gain = 1.0 + float(rng.uniform(0.08, 0.22))
        return Drawn(sensors={"gain": gain, "gain_back": gain})
    gain = 1.0 + float(rng.choice((-1.0, 1.0)) * rng.uniform(0.06, 0.18))
    zero = rated_friction(joint.values) * float(rng.choice((-1.0, 1.0)) * rng.uniform(0.1, 0.4))
    return Drawn(sensors={"gain": gain, "gain_back": gain, "zero": zero})


FAULT = Fault("torque_measurement", sudden=True, draw=draw)
