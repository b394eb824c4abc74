"""Updates as JSON."""

import math
from typing import Any


def finite(value: Any) -> Any:
    """The same with null for what is not known: JSON has no NaN."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(one) for key, one in value.items()}
    return [finite(one) for one in value] if isinstance(value, list) else value
