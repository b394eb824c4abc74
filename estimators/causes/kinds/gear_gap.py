"""Backlash: the gear changes its flank with a jump, where its torque changes sign."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from estimators.causes.base import CauseKind, FaultWindow, Shape
from estimators.causes.sample_rows import SignatureRows
from estimators.quantities import Floats

#: 1, argued: Shares of the torque's rms over which the flank changes: a sharp gap, and one that a kernel has smoothed.
FLANKS: Final = (0.03, 0.15)


def torque(window: FaultWindow) -> Sequence[Shape]:
    """Shapes of the motor's own acceleration while it crosses the gap; none with two encoders, which measure it."""
    if window.two_encoders:
        return ()

    def flank(rows: SignatureRows) -> Floats:
        load = window.healthy.needed(rows)
        return np.asarray(load / np.hypot(load, FLANKS[1] * window.healthy.scales.torque))

    return [Shape.of(window.second_derivative(flank))]


def twist(window: FaultWindow) -> Sequence[Shape]:
    """A jump with the sign of the gear's torque."""
    load = window.gear_torque
    return [Shape.of(load / np.hypot(load, share * window.healthy.scales.torque)) for share in FLANKS]


CAUSE = CauseKind(
    "gear_gap",
    "backlash of the gear",
    "Measure the backlash at the output with the brake closed; readjust the preload, or change the gear.",
    torque,
    twist,
    sudden=False,
    alike=("belt_slack", "loose_bolt"),
)
