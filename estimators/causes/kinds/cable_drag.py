"""A cable or hose that catches: beyond some angle it pulls back like a spring, harder when stretched, and rubs."""

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
    """A hinge over the angle, from either end, with friction where it pulls or wherever the joint is."""
    pulls, rubs = list[Floats](), list[Floats]()
    for begin in BEGINS:
        for way in (1.0, -1.0):
            beyond = np.maximum(way * (window.place - 0.5) + 0.5 - begin, 0.0) / (1.0 - begin)
            for power in POWERS:
                pulls.append(way * beyond**power)
                rubs.append(window.side * (beyond > 0.0))
    one, none, anywhere = np.eye(len(pulls)), np.zeros((len(pulls), len(pulls))), np.ones((1, len(pulls)))
    mixes = [np.vstack([one, dry * one, 0.0 * anywhere]) for dry in DRY]
    mixes += [np.vstack([one, none, dry * anywhere]) for dry in DRY if dry > 0.0]
    return [Shape(np.column_stack([*pulls, *rubs, window.side]), np.hstack(mixes))]


CAUSE = CauseKind(
    "cable_drag",
    "a cable or hose that drags",
    "Move the joint by hand through its range, and look where cables and hoses catch or are stretched.",
    torque,
    torque,
    sudden=True,
    in_torque=True,
)
