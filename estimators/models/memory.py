"""Memory of a model's friction: the deflections at which its springs slip, each a channel after the measured ones."""

from estimators.models.base import Model
from estimators.models.friction.base import FrictionSettings


def thresholds(model: Model) -> tuple[float, ...]:
    """Thresholds of all laws of a model, rad (m), in the order of their channels."""
    found: list[float] = []
    for place in model.blocks:
        assert isinstance(place.law, FrictionSettings)
        found += place.law.law(place.axis).stops
    return tuple(found)


def bristle(model: Model) -> tuple[float, float] | None:
    """Breakaway and speed of the law whose springs are LuGre's bristles; None where they are stops."""
    for place in model.blocks:
        assert isinstance(place.law, FrictionSettings)
        if (pair := place.law.law(place.axis).bristle) is not None:
            return pair
    return None
