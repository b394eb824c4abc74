"""Another tool or payload: more or less mass at some lever, so inertia and gravity change together."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault
from hil_rig.faults.servo_joint import ServoJoint

GRAVITY = 9.81  # m/s²


def draw(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """A mass that adds 15 to 50 % to the moment of gravity, or takes 10 to 25 % away, 0.15 to 0.6 m from the axis."""
    now = joint.values
    moment = float(np.hypot(now["G_s"], now["G_c"]))
    share = float(rng.uniform(0.15, 0.5)) if rng.uniform() < 0.7 else -float(rng.uniform(0.1, 0.25))
    lever, turned = float(rng.uniform(0.15, 0.6)), float(rng.uniform(-0.3, 0.3))
    inertia = max(now["J_t"] + share * moment / GRAVITY * lever, 0.2 * now["J_t"])
    angle = np.arctan2(now["G_c"], now["G_s"]) + turned
    return Drawn(
        {
            "J_t": inertia,
            "K_t": now["K_t"] * inertia / now["J_t"],
            "G_s": now["G_s"] + share * moment * np.cos(angle),
            "G_c": now["G_c"] + share * moment * np.sin(angle),
        }
    )


FAULT = Fault("load", sudden=True, draw=draw)
