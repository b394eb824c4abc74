"""What is known of a joint, or of the whole robot, at one instant: what a baseline is made of."""

from collections.abc import Sequence
from typing import Any, NamedTuple

Map = dict[str, Any]


class Standing(NamedTuple):
    """What is known of a joint at one instant."""

    time: float  # Unix s
    status: str
    reasons: Sequence[Map]  # why the status is not valid, as messages have them
    values: dict[str, float]
    deviations: dict[str, float]
    friction: Map | None  # the law in use
