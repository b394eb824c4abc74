"""Worn teeth, or aged or lost lubricant: dry friction has grown, at low speed and under load most, slowly."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from estimators.causes.base import CauseKind, FaultWindow, Shape

#: 1, argued: Stribeck part that wear adds, shares of the dry friction that it adds: none, half as much, as much.
STRIBECK: Final = (0.0, 0.5, 1.0)
#: 1, argued: Share of the top speed over which that part fades.
FADE: Final = 0.05
#: 1, argued: Share of the torque's rms over which the gear changes its flank.
PLAY: Final = 0.03


def torque(window: FaultWindow) -> Sequence[Shape]:
    """Dry friction by one factor, with more or less of a Stribeck part."""
    size = float(np.sqrt((window.dry**2).mean()))
    fading = window.side * np.exp(-np.abs(window.rows.v) / (FADE * window.healthy.scales.speed))
    return [Shape.of(window.dry + share * size * fading) for share in STRIBECK]


def twist(window: FaultWindow) -> Sequence[Shape]:
    """A little play comes with wear."""
    load = window.gear_torque
    return [Shape.of(load / np.hypot(load, PLAY * window.healthy.scales.torque))]


CAUSE = CauseKind(
    "gear_wear",
    "wear of the gear or its lubricant",
    "Look at the gear's lubricant and its wear: change the lubricant, then see whether friction falls.",
    torque,
    twist,
    sudden=False,
    in_torque=True,
)
