"""A part is gripped off the middle: mass, lever and the direction of its moment of its own."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault
from hil_rig.faults.servo_joint import ServoJoint


def draw(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """Draw 20 to 60 % more gravity, or 15 to 35 % less, by a part 0.1 to 0.7 m from the axis with its own inertia."""
    now = joint.values
    moment = float(np.hypot(now["G_s"], now["G_c"]))
    share = float(rng.uniform(0.2, 0.6)) if rng.uniform() < 0.65 else -float(rng.uniform(0.15, 0.35))
    lever, own = float(rng.uniform(0.1, 0.7)), float(rng.uniform(1.0, 1.2))
    inertia = max(now["J_t"] + share * moment / 9.81 * lever * own, 0.15 * now["J_t"])  # N·m/(m/s²)·m = kg·m²
    angle = np.arctan2(now["G_c"], now["G_s"]) + float(rng.uniform(-0.4, 0.4))
    return Drawn(
        {
            "J_t": inertia,
            "K_t": now["K_t"] * inertia / now["J_t"],
            "G_s": now["G_s"] + share * moment * np.cos(angle),
            "G_c": now["G_c"] + share * moment * np.sin(angle),
        }
    )


FAULT = Fault("load", sudden=True, draw=draw)
