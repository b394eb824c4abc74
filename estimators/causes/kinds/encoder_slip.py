"""An encoder that has slipped on its shaft: the joint is elsewhere than it says, so gravity comes at another angle."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from estimators.causes.base import CauseKind, FaultWindow, Shape

#: rad, argued: Angles of a slip, from a tooth of a belt to a tenth of a radian and a half.
ANGLES: Final = np.concatenate([-np.geomspace(0.01, 0.15, 8), np.geomspace(0.01, 0.15, 8)])


def torque(window: FaultWindow) -> Sequence[Shape]:
    """Gravity at another angle; none with two encoders, where the motor's tells the angle."""
    if window.two_encoders:
        return ()
    sine, slope = window.gravity
    return [Shape(np.column_stack([sine, slope]), np.stack([np.cos(ANGLES) - 1.0, np.sin(ANGLES)]))]


def twist(window: FaultWindow) -> Sequence[Shape]:
    """A constant."""
    return [Shape.of(np.ones(window.size), either=True)]


CAUSE = CauseKind(
    "encoder_slip",
    "an encoder that has slipped",
    "Compare the joint's zero with its mark; tighten the encoder's hub and set the zero anew.",
    torque,
    twist,
    sudden=True,
    leak=0.025,
)
