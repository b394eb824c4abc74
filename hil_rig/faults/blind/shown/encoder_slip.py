"""The hub of the encoder lets go and grips again, one to three times within five seconds."""

import numpy as np

from hil_rig.faults.base import Drawn, Fault
from hil_rig.faults.servo_joint import ServoJoint


def draw(_joint: ServoJoint, rng: np.random.Generator) -> Drawn:
    """Draw a slip of 25 to 110 mrad in all, in one direction."""
    total = float(rng.choice((-1.0, 1.0)) * rng.uniform(0.025, 0.11))
    times = np.sort(np.r_[0.0, rng.uniform(0.0, 5.0, int(rng.integers(0, 3)))])
    shares = rng.uniform(0.5, 1.0, len(times))
    shares /= shares.sum()

    def slip(joint: ServoJoint, since: float) -> None:
        joint.sensors["slip"] = total * float(shares[times <= since].sum())

    return Drawn(follow=slip)


FAULT = Fault("encoder_slip", sudden=True, draw=draw)
