"""The torque constant, or the current sensor's gain or zero: the same torque is told by another number."""

from collections.abc import Sequence

import numpy as np

from estimators.causes.base import CauseKind, FaultWindow, Shape


def torque(window: FaultWindow) -> Sequence[Shape]:
    """The whole torque by one factor, or a constant."""
    return [Shape.of(window.predicted, either=True), Shape.of(np.ones(window.size), either=True)]


CAUSE = CauseKind(
    "torque_measurement",
    "torque constant or current sensor",
    "Hold a known load still and compare: if the torque told is wrong, calibrate the sensor, or check the magnets.",
    torque,
    sudden=None,
    leak=0.04,
)
