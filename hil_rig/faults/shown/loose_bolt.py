"""Bolts or the coupling behind the gear come loose: what is mounted there has play and a soft seat."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault
from hil_rig.faults.servo_joint import ServoJoint


def draw(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """A seat that swings at 4 to 8 Hz, with 1 to 4 mrad of play to either side."""
    pitch = 2 * np.pi * float(rng.uniform(4.0, 8.0))
    return Drawn({"K_t": joint.values["J_t"] * pitch**2, "b_t": float(rng.uniform(1e-3, 4e-3))})


FAULT = Fault("loose_bolt", sudden=True, draw=draw)
