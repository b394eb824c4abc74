"""Causes in what transmits the torque: a gap, a slack belt, loose bolts."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from estimators.causes.base import CauseKind, FaultWindow, Shape
from estimators.causes.sample_rows import SignatureRows
from estimators.quantities import Floats

#: 1, argued: Shares of the torque's rms over which the flank changes: a sharp gap, and one that a kernel has smoothed.
FLANKS: Final = (0.03, 0.15)
#: 1, argued: Dry friction that is lost, shares of what the winding adds: none, less, more.
LESS: Final = (0.0, 0.5, 1.5)
#: 1, argued: Shares of the torque's rms up to which a slack belt yields more than beyond: its slack strand is straight
#: then. None is a gear that is softer at any torque; a sharper knee than the first is a gap.
STRAIGHT: Final = (0.4, 0.8, 1.6)


# --- Backlash: the gear changes its flank with a jump, where its torque changes sign.


def gear_gap_torque(window: FaultWindow) -> Sequence[Shape]:
    """Shapes of the motor's own acceleration while it crosses the gap; none with two encoders, which measure it."""
    if window.two_encoders:
        return ()

    def flank(rows: SignatureRows) -> Floats:
        load = window.healthy.needed(rows)
        return np.asarray(load / np.hypot(load, FLANKS[1] * window.healthy.scales.torque))

    return [Shape.of(window.second_derivative(flank))]


def gear_gap_twist(window: FaultWindow) -> Sequence[Shape]:
    """A jump with the sign of the gear's torque."""
    load = window.gear_torque
    return [Shape.of(load / np.hypot(load, share * window.healthy.scales.torque)) for share in FLANKS]


GEAR_GAP = CauseKind(
    "gear_gap",
    "backlash of the gear",
    "Measure the backlash at the output with the brake closed; readjust the preload, or change the gear.",
    gear_gap_torque,
    gear_gap_twist,
    sudden=False,
    alike=("belt_slack", "loose_bolt"),
)


# --- A slack belt, or a gear that has lost stiffness: the drive yields more under torque, and rubs a little less.


def belt_slack_torque(window: FaultWindow) -> Sequence[Shape]:
    """Less dry friction, and with one encoder the motor's own acceleration as it winds the belt."""
    if window.two_encoders:
        return [Shape.of(-window.side)]
    winding = window.second_derivative(window.healthy.needed)
    size = float(np.sqrt((winding**2).mean()))
    return [Shape.of(winding - share * size * window.side) for share in LESS]


def belt_slack_twist(window: FaultWindow) -> Sequence[Shape]:
    """More twist for the same torque, most where the torque is small."""
    load = window.gear_torque
    knees = [share * window.healthy.scales.torque for share in STRAIGHT]
    return [Shape.of(load), *(Shape.of(load / np.hypot(load, knee)) for knee in knees)]


BELT_SLACK = CauseKind(
    "belt_slack",
    "a slack belt or a softer gear",
    "Check the belt's tension by its tone, and teeth and clamps; on a gear without a belt, the flexible part.",
    belt_slack_torque,
    belt_slack_twist,
    sudden=False,
    leak=0.1,
    alike=("gear_gap", "loose_bolt"),
)


# --- Loose bolts or a loose coupling behind the gear: what is mounted there swings by itself at some hertz.
# A base that swings under the joint gives it the same equation of motion, so that one joint cannot tell the two apart.
# Play and a soft seat have no shape over the motion; ringing.py finds the swinging in what no other column explains.


LOOSE_BOLT = CauseKind(
    "loose_bolt",
    "loose bolts or a loose coupling, of the joint or of its base",
    "Stop the joint, secure it, and tighten the bolts of flange, tool, coupling and base with their torque.",
    sudden=True,
    rings=True,
)
