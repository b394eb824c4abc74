"""The encoder starts again after one turn: the position jumps by the turn between two samples, from end to end."""

import math
from typing import Final

import numpy as np

from estimators.plausibility.mistakes.base import Finding, Motion
from estimators.quantities import Axis
from estimators.reasons import Reason

TURN: Final = 2.0 * math.pi  # rad
#: 1, argued: A jump is a turn give or take this share of it, which the joint moves meanwhile: `unwrap` believes a
#: quarter.
NEAR: Final = 0.25
#: 1, argued: Every other step is less than this share of the turn: else the motion itself might jump.
STEP: Final = 0.05


def find_position_wraps(motion: Motion) -> Finding | None:
    """Look for steps of a whole turn, of 2π or of 360."""
    if motion.axis is not Axis.ROTARY:
        return None
    q = motion.position[np.isfinite(motion.position)]
    steps = np.abs(np.diff(q))
    for turn in (TURN, 360.0):
        jumps = np.abs(steps - turn) < NEAR * turn
        if not jumps.any() or not np.ptp(q) <= (1.0 + STEP) * turn:
            continue
        others = steps[~jumps]
        rest = np.diff(q)[jumps]
        rest = rest - turn * np.sign(rest)  # how far the joint moved meanwhile
        if len(others) and max(float(others.max()), float(np.abs(rest).max())) < STEP * turn:
            code = "position_wraps" if turn == TURN else "position_in_degrees"
            if code == "position_wraps":
                return Finding(Reason("position_wraps", "position", {"jumps": float(jumps.sum())}), math.inf)
            return Finding(Reason("position_in_degrees", "position"), math.inf)
    return None
