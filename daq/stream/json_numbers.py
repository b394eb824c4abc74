"""Numbers in JSON, which has neither NaN nor infinity."""

import math
from typing import Any


def finite(value: Any) -> Any:
    """Replace every number that is not finite, at any depth of maps and lists, by None (null in JSON)."""
    if isinstance(value, dict):
        return {key: finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
