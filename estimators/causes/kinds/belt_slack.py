"""A slack belt, or a gear that has lost stiffness: the drive yields more under torque, and rubs a little less."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from estimators.causes.base import CauseKind, FaultWindow, Shape

#: 1, argued: Dry friction that is lost, shares of what the winding adds: none, less, more.
LESS: Final = (0.0, 0.5, 1.5)
#: 1, argued: Shares of the torque's rms up to which a slack belt yields more than beyond: its slack strand is straight
#: then. None is a gear that is softer at any torque; a sharper knee than the first is a gap.
STRAIGHT: Final = (0.4, 0.8, 1.6)


def torque(window: FaultWindow) -> Sequence[Shape]:
    """Less dry friction, and with one encoder the motor's own acceleration as it winds the belt."""
    if window.two_encoders:
        return [Shape.of(-window.side)]
    winding = window.second_derivative(window.healthy.needed)
    size = float(np.sqrt((winding**2).mean()))
    return [Shape.of(winding - share * size * window.side) for share in LESS]


def twist(window: FaultWindow) -> Sequence[Shape]:
    """More twist for the same torque, most where the torque is small."""
    load = window.gear_torque
    knees = [share * window.healthy.scales.torque for share in STRAIGHT]
    return [Shape.of(load), *(Shape.of(load / np.hypot(load, knee)) for knee in knees)]


CAUSE = CauseKind(
    "belt_slack",
    "a slack belt or a softer gear",
    "Check the belt's tension by its tone, and teeth and clamps; on a gear without a belt, the flexible part.",
    torque,
    twist,
    sudden=False,
    leak=0.1,
    alike=("gear_gap", "loose_bolt"),
)
