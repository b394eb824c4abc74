"""Checkpoints: the states of parts as plain values, and back into parts that were built the same way.

The state of a part is its `kept`: a layout (all but its scratch) or a dataclass of numbers, words, arrays and tuples of
them, with a VERSION. Nothing else of a part outlives a restart of the program. No object is ever constructed from a
checkpoint: a value replaces one of its own kind, and an array is written where it lies.
"""

from collections.abc import Mapping
from dataclasses import fields
from enum import Enum
from typing import Any, Final, Protocol

import numpy as np

from jointwatch_numba.layout import Layout

ARRAY: Final = "array"
VERSION: Final = "version"
NUMBERS: Final = (bool, int, float)


class Part(Protocol):
    """Protocol of what has a state of its own."""

    @property
    def kept(self) -> Any:
        """State that outlives a restart of the program."""


class NotTheSameError(ValueError):
    """A checkpoint does not belong into these parts."""


def keep(parts: Mapping[str, Part]) -> dict[str, Any]:
    """Return the states of the parts by name, as values that msgpack can write."""
    return {name: _of(part.kept) for name, part in parts.items()}


def resume(parts: Mapping[str, Part], kept: Mapping[str, Any]) -> None:
    """Write a checkpoint into parts that were built with the same settings.

    Raises NotTheSameError where it is of other parts; then some of these are already changed.
    """
    _same(kept, parts, "parts")
    for name, part in parts.items():
        _resume(part.kept, kept[name], name)


def _resume(ours: Any, theirs: Any, name: str) -> None:
    if not isinstance(theirs, Mapping) or theirs.get(VERSION) != ours.VERSION:
        raise NotTheSameError(f"{name}: expected version {ours.VERSION} of what is kept, found another one")
    _same(theirs, (VERSION, *names(ours)), name)
    for one in names(ours):
        fresh = getattr(ours, one)
        if isinstance(fresh, Layout):
            _resume(fresh, theirs[one], f"{name}.{one}")
        else:
            setattr(ours, one, _restored(fresh, theirs[one], f"{name}.{one}"))


def _same(found: Any, wanted: Any, name: str) -> None:
    if set(found) != set(wanted):
        odd = ", ".join(sorted(map(str, set(found) ^ set(wanted))))
        raise NotTheSameError(f"{name}: expected {', '.join(sorted(wanted))}; one of the two has not: {odd}")


def _of(kept: Any) -> dict[str, Any]:
    return {VERSION: kept.VERSION, **{one: _plain(getattr(kept, one)) for one in names(kept)}}


def names(kept: Any) -> tuple[str, ...]:
    """Names of the fields of a state that a checkpoint contains."""
    if isinstance(kept, Layout):
        return tuple(one.name for one in kept.fields() if one.kept)
    return tuple(one.name for one in fields(kept))


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Layout):
        return _of(value)
    if isinstance(value, np.ndarray):
        return {ARRAY: [value.dtype.str, list(value.shape), value.tobytes()]}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (tuple, list)):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if value is not None and not isinstance(value, (*NUMBERS, str)):
        raise TypeError(f"expected numbers, words, arrays, or tuples of them, found {type(value).__name__}")
    return value


def _restored(fresh: Any, kept: Any, name: str) -> Any:
    if isinstance(fresh, np.ndarray):
        return _array(fresh, kept, name)
    if isinstance(fresh, Enum):
        return type(fresh)(kept)
    if isinstance(fresh, tuple) and isinstance(kept, list):
        if hasattr(fresh, "_fields"):
            return type(fresh)(*(_restored(*pair, name) for pair in zip(fresh, kept, strict=True)))
        return tuple(kept)
    if not isinstance(kept, type(fresh)) and not (type(kept) in NUMBERS and type(fresh) in NUMBERS):
        raise NotTheSameError(f"{name}: expected {type(fresh).__name__}, found {type(kept).__name__}")
    return kept


def _array(fresh: Any, kept: Any, name: str) -> Any:
    if not isinstance(kept, Mapping) or set(kept) != {ARRAY}:
        raise NotTheSameError(f"{name}: expected an array, found {type(kept).__name__}")
    kind, shape, data = kept[ARRAY]
    dtype = np.dtype(kind)
    if len(data) != dtype.itemsize * int(np.prod(shape)):
        raise NotTheSameError(f"{name}: expected {dtype} {tuple(shape)}, found {len(data)} bytes")
    found = np.frombuffer(data, dtype).reshape(shape)
    if not fresh.size and fresh.ndim == found.ndim and fresh.dtype == found.dtype:
        return found.copy()
    if fresh.shape != found.shape or fresh.dtype != found.dtype:
        raise NotTheSameError(f"{name}: expected {fresh.dtype} {fresh.shape}, found {found.dtype} {found.shape}")
    fresh[...] = found
    return fresh
