"""The torque constant falls, or the current sensor's gain or zero moves: the same torque reads as another number."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault
from hil_rig.faults.servo_joint import ServoJoint, rated_friction


def draw(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """The gain is 8 to 20 % off in two cases of three, otherwise the zero by 20 to 60 % of the dry friction."""
    if rng.uniform() < 2 / 3:
        return Drawn(sensors={"gain": 1.0 + float(rng.choice((-1.0, 1.0)) * rng.uniform(0.08, 0.2))})
    zero = rated_friction(joint.values) * float(rng.choice((-1.0, 1.0)) * rng.uniform(0.2, 0.6))
    return Drawn(sensors={"zero": zero})


FAULT = Fault("torque_measurement", sudden=True, draw=draw)
