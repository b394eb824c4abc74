"""Causes in what measures: encoders that slip or are eccentric, and the torque's scale and zero."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from estimators.causes.base import CauseKind, FaultWindow, Shape, unit
from estimators.quantities import Floats

#: rad, argued: Angles of a slip, from a tooth of a belt to a tenth of a radian and a half.
ANGLES: Final = np.concatenate([-np.geomspace(0.01, 0.15, 8), np.geomspace(0.01, 0.15, 8)])
#: 1, argued: Phases that are tried: it is a tenth of its size off at most.
ERROR_PHASES: Final = 30
#: 1, argued: Mixes of gain and zero that are tried: one amplifier makes both, and a mix is a twelfth of its size off.
MIXES: Final = 24


# --- An encoder that has slipped on its shaft: the joint is elsewhere than it says, so gravity comes at another angle.


def encoder_slip_torque(window: FaultWindow) -> Sequence[Shape]:
    """Gravity at another angle; none with two encoders, where the motor's tells the angle."""
    if window.two_encoders:
        return ()
    sine, slope = window.gravity
    return [Shape(np.column_stack([sine, slope]), np.stack([np.cos(ANGLES) - 1.0, np.sin(ANGLES)]))]


def encoder_slip_twist(window: FaultWindow) -> Sequence[Shape]:
    """A constant."""
    return [Shape.of(np.ones(window.size), either=True)]


ENCODER_SLIP = CauseKind(
    "encoder_slip",
    "an encoder that has slipped",
    "Compare the joint's zero with its mark; tighten the encoder's hub and set the zero anew.",
    encoder_slip_torque,
    encoder_slip_twist,
    sudden=True,
    leak=0.025,
)


# --- An eccentric encoder: its error comes once a turn, and with it gravity and inertia at a wrong angle.


def encoder_eccentricity_torque(window: FaultWindow) -> Sequence[Shape]:
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
    return [Shape.phased([(columns[0], columns[1])], ERROR_PHASES)]


def encoder_eccentricity_twist(window: FaultWindow) -> Sequence[Shape]:
    """Once a turn."""
    return [Shape.phased([(np.sin(window.rows.q), np.cos(window.rows.q))], ERROR_PHASES)]


ENCODER_ECCENTRICITY = CauseKind(
    "encoder_eccentricity",
    "an eccentric encoder",
    "Look at the encoder's hub and disc: centre it, and calibrate its error over a turn.",
    encoder_eccentricity_torque,
    encoder_eccentricity_twist,
    sudden=True,
    leak=0.07,
)


# --- The torque constant, or the current sensor's gain or zero: the same torque is measured as another number.


def torque_measurement_torque(window: FaultWindow) -> Sequence[Shape]:
    """The whole torque by one factor, a constant, or both at once."""
    return [Shape.phased([(unit(window.predicted), np.ones(window.size))], MIXES)]


TORQUE_MEASUREMENT = CauseKind(
    "torque_measurement",
    "torque constant or current sensor",
    "Hold a known load still and compare: if the reported torque is wrong, calibrate the sensor, or check the magnets.",
    torque_measurement_torque,
    sudden=None,
    leak=0.04,
)
