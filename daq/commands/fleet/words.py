"""A quantity that stands out, as a sentence and as a JSON object, for recordings and for running fleets."""

import math
from typing import Any

from daq.fleet.comparison import JudgedQuantity


def sentence(one: JudgedQuantity) -> str:
    """One sentence about a quantity that is odd or drifts."""
    unit = f" {one.unit}" if one.unit else ""
    if (one.drifts and abs(one.change_z) >= abs(one.z)) or not one.odd:
        text = f"drifts: {one.quantity} changed by {one.change:+.3g}{unit} to {one.value:.4g}"
        return f"{one.robot} {one.joint} {text}, {abs(one.change_z):.0f} σ off its siblings' change"
    text = f"is odd: {one.quantity} {one.value:.4g}{unit}, its siblings {one.median:.4g}"
    return f"{one.robot} {one.joint} {text}, {abs(one.z):.0f} σ off"


def as_map(one: JudgedQuantity) -> dict[str, Any]:
    """A judged quantity as a JSON object; NaN becomes null."""
    found = {name: known(value) if isinstance(value, float) else value for name, value in one._asdict().items()}
    return found | {"odd": one.odd, "drifts": one.drifts}


def known(value: float) -> float | None:
    """The value; None if it is not finite."""
    return value if math.isfinite(value) else None
