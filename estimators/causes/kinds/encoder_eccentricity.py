"""An eccentric encoder: its error comes once a turn, and with it gravity and inertia at a wrong angle."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from estimators.causes.base import CauseKind, FaultWindow, Shape
from estimators.quantities import Floats

#: 1, argued: Phases that are tried: it is a tenth of its size off at most.
PHASES: Final = 30


def torque(window: FaultWindow) -> Sequence[Shape]:
    """What the model would need for the error ε = sin(q + φ): τ′ε + F ε̇ + J ε̈, with a phase that is not known.

    With two encoders only the link's acceleration is read wrongly.
    """
    rows, healthy = window.rows, window.healthy
    first, bend, viscous = healthy.torque.coefficients[:3]
    columns = list[Floats]()
    for error, slope in ((np.sin(rows.q), np.cos(rows.q)), (np.cos(rows.q), -np.sin(rows.q))):
        curve = slope * rows.a - error * rows.v**2
        speed = viscous * slope * rows.v
        columns.append(bend * curve if window.two_encoders else window.gravity[1] * error + speed + first * curve)
    return [Shape.phased([(columns[0], columns[1])], PHASES)]


def twist(window: FaultWindow) -> Sequence[Shape]:
    """Once a turn."""
    return [Shape.phased([(np.sin(window.rows.q), np.cos(window.rows.q))], PHASES)]


CAUSE = CauseKind(
    "encoder_eccentricity",
    "an eccentric encoder",
    "Look at the encoder's hub and disc: centre it, and calibrate its error over a turn.",
    torque,
    twist,
    sudden=True,
    leak=0.07,
)
