"""A spring that balances the arm breaks or loses its preload: gravity changes, inertia does not."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault
from hil_rig.faults.servo_joint import ServoJoint


def draw(joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """The moment grows by 25 to 60 %."""
    factor = float(rng.uniform(1.25, 1.6))
    return Drawn({name: factor * joint.values[name] for name in ("G_s", "G_c")})


FAULT = Fault("lost_balancer", sudden=True, draw=draw)
