"""The arm hits something, once or a few times in a row, and is free again."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault, Push
from hil_rig.faults.servo_joint import ServoJoint, rated_friction


def draw(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """One to three pushes of 0.1 to 0.4 s within three seconds, three to eight times the dry friction."""
    dry = rated_friction(joint.values)
    return Drawn(
        pushes=tuple(
            Push(
                float(rng.uniform(0.0, 3.0)) if turn else 0.0,
                float(rng.uniform(0.1, 0.4)),
                dry * float(rng.choice((-1.0, 1.0)) * rng.uniform(3.0, 8.0)),
            )
            for turn in range(int(rng.integers(1, 4)))
        )
    )


FAULT = Fault("collision", sudden=True, draw=draw)
