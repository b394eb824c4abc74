"""The twist of a gear between two encoders, and the friction that grows with it.

    θ_m − θ_l = τ/K + zero + lag·q̇          τ: the rigid body's torque on the joint
    column    |θ_m − θ_l − zero − lag·q̇| tanh(q̇/ε)

The zeros of two encoders differ, and one is read later than the other: at 1 rad/s a millisecond is a milliradian, more
than most gears twist. Both are taken off before the twist says anything of the load. See docs/identify.md.
"""

from typing import Final, NamedTuple

import numpy as np

from estimators.quantities import Floats

TRANSITION: Final = 0.01  # ε, rad/s (m/s)


class GearTwist(NamedTuple):
    """The twist of one joint's gear."""

    zero: float  # rad (m)
    lag: float  # s by which the second encoder is late
    stiffness: float  # N·m/rad (N/m)
    deviation: float = 0.0  # of the stiffness; 0 where a model file of before has none

    def of(self, twist: Floats, dq: Floats) -> Floats:
        """What the load makes of the difference of the two encoders, rad (m): (rows,)."""
        return np.asarray(twist - self.zero - self.lag * dq)


def friction(twist: Floats, dq: Floats) -> Floats:
    """The column, of a twist that the load makes: (rows,) rad (m)."""
    return np.asarray(np.abs(twist) * np.tanh(dq / TRANSITION))
