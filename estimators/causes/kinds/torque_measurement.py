"""The torque constant, or the current sensor's gain or zero: the same torque is measured as another number."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from estimators.causes.base import CauseKind, FaultWindow, Shape, unit

#: 1, argued: Mixes of gain and zero that are tried: one amplifier makes both, and a mix is a twelfth of its size off.
MIXES: Final = 24


def torque(window: FaultWindow) -> Sequence[Shape]:
    """The whole torque by one factor, a constant, or both at once."""
    return [Shape.phased([(unit(window.predicted), np.ones(window.size))], MIXES)]


CAUSE = CauseKind(
    "torque_measurement",
    "torque constant or current sensor",
    "Hold a known load still and compare: if the reported torque is wrong, calibrate the sensor, or check the magnets.",
    torque,
    sudden=None,
    leak=0.04,
)
