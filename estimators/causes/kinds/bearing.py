"""A damaged bearing: torque ripples as balls pass the damage, many times a turn, and drags a little."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from estimators.causes.base import CauseKind, FaultWindow, Shape
from estimators.quantities import Floats

#: 1/turn, argued: Orders that a row's bandwidth shows, from above what gravity and cables make to a ring of 45 balls.
ORDERS: Final = np.arange(6.0, 20.0, 0.5)
#: 1, argued: Phases of a ripple that are tried: it is a tenth of its size off at most, but for what leaks.
PHASES: Final = 12


def torque(window: FaultWindow) -> Sequence[Shape]:
    """A ripple of one order, whose phase is not known, with a little friction."""
    return [Shape.phased(_waves(window), PHASES, window.side)]


def twist(window: FaultWindow) -> Sequence[Shape]:
    """The gear is wound by that ripple, too."""
    return [Shape.phased(_waves(window), PHASES)]


def _waves(window: FaultWindow) -> list[tuple[Floats, Floats]]:
    q = window.rows.q
    return [(np.sin(order * q), np.cos(order * q)) for order in ORDERS]


CAUSE = CauseKind(
    "bearing",
    "damage of a bearing",
    "Turn the joint by hand or slowly: does it rattle at even angles? Listen to it, and change the bearing.",
    torque,
    twist,
    sudden=False,
    in_torque=True,
)
