"""A brake that does not open fully: a dry torque that neither speed nor load changes, at once."""

from collections.abc import Sequence

from estimators.causes.base import CauseKind, FaultWindow, Shape


def torque(window: FaultWindow) -> Sequence[Shape]:
    """Against the motion, the same at any speed."""
    return [Shape.of(window.side)]


CAUSE = CauseKind(
    "brake_drag",
    "a dragging brake",
    "Measure the brake's voltage while it is open, and its air gap; let it open and close a few times.",
    torque,
    sudden=True,
)
