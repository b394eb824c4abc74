"""A cable or hose that catches: beyond some angle it pulls back like a spring, harder as it is stretched, and rubs."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from estimators.causes.base import CauseKind, FaultWindow, Shape
from estimators.quantities import Floats

#: 1, argued: Shares of the range from which on the cable pulls.
BEGINS: Final = (0.2, 0.35, 0.5, 0.65, 0.8)
#: 1, argued: Powers of the stretch by which it pulls: a spring, and a hose that straightens first.
POWERS: Final = (1.0, 2.0)
#: 1, argued: Dry part, shares of the pull at the end of the range.
DRY: Final = (0.0, 0.2, 0.4)


def torque(window: FaultWindow) -> Sequence[Shape]:
    """A hinge over the angle, from either end, with friction where it pulls."""
    columns = list[Floats]()
    for begin in BEGINS:
        for way in (1.0, -1.0):
            beyond = np.maximum(way * (window.place - 0.5) + 0.5 - begin, 0.0) / (1.0 - begin)
            for power in POWERS:
                columns += [way * beyond**power, window.side * (beyond > 0.0)]
    return [Shape(np.column_stack(columns), np.kron(np.eye(len(columns) // 2), np.array([np.ones(len(DRY)), DRY])))]


CAUSE = CauseKind(
    "cable_drag",
    "a cable or hose that drags",
    "Move the joint by hand through its range, and look where cables and hoses catch or are stretched.",
    torque,
    torque,
    sudden=True,
    in_torque=True,
)
