"""Reasons in messages: maps of code, parameter, numbers, words and text since version 2 of the stream, texts before."""

from collections.abc import Iterable, Mapping
from typing import Any

from estimators.reasons import MISFITS, Reason

Map = dict[str, Any]


def as_maps(reasons: Iterable[Reason]) -> list[Map]:
    """Reasons as the maps that messages contain."""
    return [one.plain | {"text": str(one)} for one in reasons]


def texts(reasons: Iterable[Mapping[str, Any] | str]) -> list[str]:
    """The sentences of those of a message, of any version."""
    return [one if isinstance(one, str) else str(one["text"]) for one in reasons]


def in_words(reasons: Iterable[Mapping[str, Any] | str]) -> str:
    """All sentences in one line."""
    return "; ".join(texts(reasons))


def with_todo(reasons: Iterable[Map]) -> list[Map]:
    """The reasons as maps, each with what to do about it."""
    return [one | {"todo": Reason.of(one).todo} for one in reasons]


def says_misfit(code: str) -> bool:
    """Whether a reason of this code says that the model does not fit."""
    return code in MISFITS
