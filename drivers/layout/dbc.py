"""Layouts of DBC files as they are: what is sound in one is taken, and what is not is named with its reason."""

import logging
import stat
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Final

import cantools
import cantools.database
from cantools.database.can import Database, Message

from drivers.base import LayoutError, nearest
from drivers.layout.can_frames import Correction, layout_of
from drivers.layout.frame import FrameLayout
from drivers.layout.integrity import GuardSettings

# of text that is none, a grammar that is none, overlaps, numbers beyond reason
UNREADABLE: Final = (
    cantools.Error, ValueError, KeyError, IndexError, RecursionError, ArithmeticError, TypeError, AttributeError,
)  # fmt: skip
LARGEST: Final = 50_000_000  # bytes of a DBC file
logging.getLogger("cantools").setLevel(logging.ERROR)  # what it warns of (ids given twice) is reported here


def from_dbc(
    path: Path,
    corrections: Mapping[str, Correction],
    limits: bool,
    guards: Mapping[str, GuardSettings] = MappingProxyType({}),
    as_written: bool = False,
) -> FrameLayout:
    """Layout of a DBC file (or any other that cantools reads). Raises LayoutError.

    corrections: by "MESSAGE.signal"; limits: whether the file's are believed; guards: by message; as_written: in the
    file's units instead of SI. A message whose name stands on two ids is called NAME@0xID.
    """
    messages, unsound = _sorted(_read(path).messages)
    layout = layout_of(messages, corrections, limits, guards, as_written)
    unusable = {**layout.unusable, **_without(unsound, layout)}
    layout = replace(layout, unusable=unusable, unsound=_why(unsound))
    for name in guards.keys() - messages.keys():
        if name in layout.unsound:
            raise LayoutError(f'message "{name}" cannot be used: {layout.unsound[name]}')
        raise LayoutError(f'found the unknown message "{name}", {nearest(name, messages)}')
    for name in corrections.keys() - layout.signals.keys() - layout.unusable.keys():
        raise LayoutError(
            f'found the unknown signal "{name}", {nearest(name, layout.signals.keys() | layout.unusable.keys())}'
        )
    for name in corrections.keys() & layout.unusable.keys():
        raise LayoutError(f'signal "{name}" cannot be used as corrected: {layout.unusable[name]}')
    return layout


def _read(path: Path) -> Database:
    """The file, with messages that cantools would refuse. Raises LayoutError."""
    _check_size(path)
    encoding = _encoding(path) if path.suffix.lower() == ".dbc" else None
    try:
        database = cantools.database.load_file(path, strict=False, encoding=encoding)
    except OSError as error:
        raise LayoutError(f"expected a readable DBC file, found {path}: {error.strerror}") from error
    except UNREADABLE as error:
        reason = " ".join(str(error).split())
        raise LayoutError(f"expected a valid DBC file, found in {path}: {reason[:300]}") from error
    if not isinstance(database, Database):
        raise LayoutError(f"expected CAN frames, found a diagnostics database in {path}")
    return database


def _check_size(path: Path) -> None:
    """A device never ends, and what is larger than any description is none. Raises LayoutError."""
    try:
        state = path.stat()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise LayoutError(f"expected a readable DBC file, found {path}: {reason}") from error
    if not stat.S_ISREG(state.st_mode) or state.st_size > LARGEST:
        raise LayoutError(f"expected a DBC file of at most {LARGEST / 1e6:g} MB, found something else at {path}")


def _encoding(path: Path) -> str | None:
    """UTF-8 where the file is, else cantools' own guess (Windows')."""
    try:
        path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    return "utf-8"


def _sorted(found: Iterable[Message]) -> tuple[dict[str, Message], list[tuple[str, Message, str]]]:
    """Sound messages by their title, and the others with theirs and why."""
    sound: dict[str, Message] = {}
    unsound: list[tuple[str, Message, str]] = []
    every = list(found)
    ids: dict[str, list[int]] = {}
    for message in every:
        ids.setdefault(message.name, []).append(message.frame_id)
    owners: dict[tuple[int, bool], str] = {}
    for message in every:
        shared = sorted(set(ids[message.name]))
        title = message.name if len(shared) == 1 else f"{message.name}@{message.frame_id:#x}"
        owner = owners.setdefault((message.frame_id, message.is_extended_frame), title)
        why = _fault(message)
        if title in sound:
            unsound.append((title, message, "it is there twice: the first is used"))
        elif owner != title:
            unsound.append((title, message, f"its id {message.frame_id:#x} is already that of {owner}"))
        elif why:
            unsound.append((title, message, why))
        else:
            sound[title] = message
        if len(shared) > 1 and message.frame_id == shared[0]:
            names = ", ".join(f"{message.name}@{one:#x}" for one in shared)
            unsound.append((message.name, message, f"the name stands on {len(shared)} ids: say {names}"))
    return sound, unsound


def _fault(message: Message) -> str:
    """Why cantools would refuse it, empty where it would not."""
    try:
        message.refresh(strict=True)
    except cantools.Error as error:
        return " ".join(str(error).split()).rstrip(".")
    return ""


def _why(unsound: Iterable[tuple[str, Message, str]]) -> dict[str, str]:
    return {title: why for title, _, why in reversed(list(unsound))}


def _without(unsound: Iterable[tuple[str, Message, str]], layout: FrameLayout) -> dict[str, str]:
    """Their signals, each with its message's reason."""
    every = ((f"{title}.{signal.name}", why) for title, message, why in unsound for signal in message.signals)
    return {name: why for name, why in every if name not in layout.signals}
