"""What an object has learnt as plain values, and back into another one that was built the same way.

Numbers, words, arrays, and tuples and lists of them are kept; an object inside is walked through; everything else (a
model, an executor) stays what the new object has built. Nothing is ever constructed from what is read. An attribute
that is a view of another one is left to that one, which then keeps its place in memory.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final

import numpy as np

from estimators.quantities import Settings

ARRAY: Final = "array"
NUMBERS: Final = (bool, int, float, np.float64)
PLAIN: Final = (bool, int, float, str, type(None))


class NotTheSameError(ValueError):
    """What is read does not belong into such an object."""


def keep(thing: object, left: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Its attributes but those left out, as what msgpack can write."""
    owners = _owners(thing)
    found = {
        name: _plain(value)
        for name, value in vars(thing).items()
        if name not in left and not (isinstance(value, np.ndarray) and id(value.base) in owners)
    }
    return {name: value for name, value in found.items() if value is not NotImplemented}


def resume(thing: object, kept: Mapping[str, Any]) -> None:
    """Set the attributes of an object that was built with the same settings.

    Raises NotTheSameError for what is of another one; some are set then.
    """
    arrays = [value for value in vars(thing).values() if isinstance(value, np.ndarray)]
    looked_at = {id(value.base) for value in arrays if value.base is not None}
    for name, value in kept.items():
        if not hasattr(thing, name):
            raise NotTheSameError(f"expected the attributes of {type(thing).__name__}, found {name}")
        fresh = getattr(thing, name)
        restored = _restored(fresh, value, name)
        if id(fresh) in looked_at:
            fresh[...] = restored
        else:
            setattr(thing, name, restored)


def _owners(thing: object) -> set[int]:
    return {id(value) for value in vars(thing).values() if isinstance(value, np.ndarray)}


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, PLAIN):
        return value
    if isinstance(value, np.ndarray):
        return {ARRAY: [value.dtype.str, list(value.shape), value.tobytes()]}
    if isinstance(value, (tuple, list)):
        parts = [_plain(one) for one in value]
        return NotImplemented if any(part is NotImplemented for part in parts) else parts
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    ours = type(value).__module__.startswith("estimators.") and hasattr(value, "__dict__")
    return keep(value) if ours and not isinstance(value, Settings) else NotImplemented


def _restored(fresh: Any, kept: Any, name: str) -> Any:
    if isinstance(kept, dict) and ARRAY in kept:
        kind, shape, data = kept[ARRAY]
        return _array(fresh, kind, shape, data, name)
    if isinstance(fresh, Enum):
        return type(fresh)(kept)
    if isinstance(kept, list):
        if hasattr(fresh, "_fields"):
            return type(fresh)(*(_restored(old, new, name) for old, new in zip(fresh, kept, strict=True)))
        old = list(fresh) if isinstance(fresh, (tuple, list)) and len(fresh) == len(kept) else [None] * len(kept)
        parts = [_restored(*pair, name) for pair in zip(old, kept, strict=True)]
        return parts if isinstance(fresh, list) else tuple(parts)
    if isinstance(kept, dict) and not isinstance(fresh, dict):
        resume(fresh, kept)
        return fresh
    if (
        fresh is not None
        and not isinstance(kept, type(fresh))
        and not (type(kept) in NUMBERS and type(fresh) in NUMBERS)
    ):
        raise NotTheSameError(f"{name}: expected {type(fresh).__name__}, found {type(kept).__name__}")
    return kept


def _array(fresh: Any, kind: str, shape: list[int], data: bytes, name: str) -> Any:
    found = np.frombuffer(data, np.dtype(kind)).reshape(shape).copy()
    unlike = isinstance(fresh, np.ndarray) and (fresh.shape != found.shape or fresh.dtype != found.dtype)
    if unlike and fresh.size:
        raise NotTheSameError(f"{name}: expected {fresh.dtype} {fresh.shape}, found {found.dtype} {found.shape}")
    return found
