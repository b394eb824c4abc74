"""A belt loses its tension: it is soft around no load and stiffer once one strand is tight."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault, smooth
from hil_rig.faults.servo_joint import ServoJoint, rated_friction


def draw(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """Draw a stiffness of 15 to 40 %, 30 to 70 % softer for small twists, and friction that falls by 5 to 25 %."""
    now = joint.values
    stiff = now["K"] * float(rng.uniform(0.15, 0.4))
    return Drawn(
        {
            "K": stiff,
            "soft": float(rng.uniform(0.3, 0.7)),
            "soft_twist": rated_friction(now) / stiff,
            "F_c": now["F_c"] * float(rng.uniform(0.75, 0.95)),
        }
    )


FAULT = Fault("belt_slack", sudden=False, draw=draw, law=smooth)
