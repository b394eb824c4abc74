"""An encoder that has slipped on its shaft: the joint is elsewhere than it says, so gravity comes at another angle."""

from collections.abc import Sequence

import numpy as np

from estimators.causes.base import Cause, FaultWindow, Shape


def torque(window: FaultWindow) -> Sequence[Shape]:
    """The derivative of gravity with the angle; none with two encoders, where the motor's tells the angle."""
    return () if window.two_encoders else [Shape.of(window.gravity[1], either=True)]


def twist(window: FaultWindow) -> Sequence[Shape]:
    """A constant."""
    return [Shape.of(np.ones(window.size), either=True)]


CAUSE = Cause(
    "encoder_slip",
    "an encoder that has slipped",
    "Compare the joint's zero with its mark; tighten the encoder's hub and set the zero anew.",
    torque,
    twist,
    sudden=True,
    leak=0.04,
)
