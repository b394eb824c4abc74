"""Checkpoints: the states of parts as plain values, and back into parts that were built the same way.

A part has a `state`: a layout (all but its scratch) or a dataclass of numbers, words, arrays and tuples of
them, with a VERSION. Nothing else of a part is kept over a restart of the program. No object is ever constructed from
a checkpoint: a value replaces one of the same kind, and an array is written in place.
"""

from collections.abc import Mapping
from dataclasses import fields
from enum import Enum
from functools import cache
from typing import Any, Final, Protocol

import numpy as np

from jointwatch_numba.layout import Layout

ARRAY: Final = "array"
VERSION: Final = "version"
NUMBERS: Final = (bool, int, float)


class Part(Protocol):
    """Protocol of an object with a state."""

    @property
    def state(self) -> Any:
        """State that outlives a restart of the program."""


class NotTheSameError(ValueError):
    """A checkpoint does not fit these parts."""


def keep(parts: Mapping[str, Part]) -> dict[str, Any]:
    """Return the states of the parts by name, as values that msgpack can write."""
    return {name: _of(part.state) for name, part in parts.items()}


def resume(parts: Mapping[str, Part], saved: Mapping[str, Any]) -> None:
    """Write a checkpoint into parts that were built with the same settings.

    Raises NotTheSameError for a checkpoint of other parts; some of these may be changed by then.
    """
    _same(saved, parts, "parts")
    for name, part in parts.items():
        _resume(part.state, saved[name], name)


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


def _of(state: Any) -> dict[str, Any]:
    return {VERSION: state.VERSION, **{one: _plain(getattr(state, one)) for one in names(state)}}


def names(state: Any) -> tuple[str, ...]:
    """Names of the fields of a state that a checkpoint contains."""
    kind: Any = type(state)
    return _names_of(kind)


@cache
def _names_of(kind: Any) -> tuple[str, ...]:
    if issubclass(kind, Layout):
        return tuple(one.name for one in kind.fields() if one.kept)
    return tuple(one.name for one in fields(kind))


def _plain(value: Any) -> Any:
    if type(value) in NUMBERS:  # most are
        return value
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


def _restored(fresh: Any, saved: Any, name: str) -> Any:
    if isinstance(fresh, np.ndarray):
        return _array(fresh, saved, name)
    if isinstance(fresh, Enum):
        return type(fresh)(saved)
    if isinstance(fresh, tuple) and isinstance(saved, list):
        if hasattr(fresh, "_fields"):
            return type(fresh)(*(_restored(*pair, name) for pair in zip(fresh, saved, strict=True)))
        return tuple(saved)
    if not isinstance(saved, type(fresh)) and not (type(saved) in NUMBERS and type(fresh) in NUMBERS):
        raise NotTheSameError(f"{name}: expected {type(fresh).__name__}, found {type(saved).__name__}")
    return saved


def _array(fresh: Any, saved: Any, name: str) -> Any:
    if not isinstance(saved, Mapping) or set(saved) != {ARRAY}:
        raise NotTheSameError(f"{name}: expected an array, found {type(saved).__name__}")
    kind, shape, data = saved[ARRAY]
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
