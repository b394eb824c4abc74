"""The values of a joint, or of the whole robot, at one instant, from which a baseline is made."""

from collections.abc import Sequence
from typing import NamedTuple

from daq.stream.update import Map


class CurrentValues(NamedTuple):
    """The values of a joint, or of the robot, at one instant."""

    time: float  # Unix s
    status: str
    reasons: Sequence[Map]  # why the status is not valid, as messages have them
    values: dict[str, float]
    deviations: dict[str, float]
    friction: Map | None  # the law in use
    known: tuple[str, ...] | None = None  # which parameters are known; None: all
