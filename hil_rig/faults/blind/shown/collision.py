"""The arm pushes against something soft that is in its way for a moment, and is free again."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault, Push
from hil_rig.faults.servo_joint import ServoJoint, rated_friction


def draw(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """Draw one to four pushes of 0.15 to 0.6 s within 5 s, of 2.5 to 6 times the dry friction in one direction."""
    dry, side = rated_friction(joint.values), float(rng.choice((-1.0, 1.0)))
    return Drawn(
        pushes=tuple(
            Push(float(rng.uniform(0.0, 5.0)) if turn else 0.0, float(rng.uniform(0.15, 0.6)), side * dry * strength)
            for turn, strength in enumerate(rng.uniform(2.5, 6.0, int(rng.integers(1, 5))))
        )
    )


FAULT = Fault("collision", sudden=True, draw=draw)
