"""The contact alone: how a pin bounces, and that it never makes energy."""

import numpy as np

from hil_rig.plants.mechanisms.contact import Steel
from hil_rig.plants.mechanisms.journal import Journal, collide, drift


def free_drop(restitution: float, speed: float = 0.05) -> float:
    """Speed after an impact over the speed before it, contact of Lankarani and Nikravesh, no torque and no gravity."""
    return collide(Journal(steel=Steel(restitution=restitution)), speed)


def worst_energy_rise() -> float:
    """Largest rise of energy in a tick of free motion with impacts, relative to all there was at the beginning."""
    energy = drift(Journal(steel=Steel(clearance=200e-6)), 2.0)
    return float(np.max(np.diff(energy)) / energy[0])
