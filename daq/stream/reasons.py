"""Reasons in messages: since version 2 of the stream maps of code, parameter, numbers, words and text; before,
texts."""

from collections.abc import Iterable, Mapping
from typing import Any

from estimators.reasons import MISFITS, Reason

Map = dict[str, Any]


def as_maps(reasons: Iterable[Reason]) -> list[Map]:
    """Convert reasons to the maps that messages contain."""
    return [one.plain | {"text": str(one)} for one in reasons]


def texts(reasons: Iterable[Mapping[str, Any] | str]) -> list[str]:
    """Return the sentences of the reasons in a message of any version."""
    return [one if isinstance(one, str) else str(one["text"]) for one in reasons]


def in_words(reasons: Iterable[Mapping[str, Any] | str]) -> str:
    """Join all sentences in one line."""
    return "; ".join(texts(reasons))


def with_todo(reasons: Iterable[Map]) -> list[Map]:
    """Return the reasons as maps, each with its remedy."""
    return [one | {"todo": Reason.of(one).todo} for one in reasons]


def says_misfit(code: str) -> bool:
    """Whether this code means that the model does not fit."""
    return code in MISFITS
