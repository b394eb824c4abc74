"""Layouts of real DBC files: valid messages are used, and invalid ones are reported with the reason."""

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

# errors of invalid text, invalid grammar, overlaps, unreasonable numbers
UNREADABLE: Final = (
    cantools.Error, ValueError, KeyError, IndexError, RecursionError, ArithmeticError, TypeError, AttributeError,
)  # fmt: skip
LARGEST: Final = 50_000_000  # largest size of a DBC file, bytes
logging.getLogger("cantools").setLevel(logging.ERROR)  # its warnings (duplicate ids) are reported here


def from_dbc(
    path: Path,
    corrections: Mapping[str, Correction],
    limits: bool,
    guards: Mapping[str, GuardSettings] = MappingProxyType({}),
    as_written: bool = False,
) -> FrameLayout:
    """Read the layout of a DBC file (or any other format of cantools). Raises LayoutError.

    corrections: by "MESSAGE.signal"; limits: whether limits of the file are used; guards: by message; as_written:
    whether values keep the file's units instead of SI. A message whose name occurs with two ids is named NAME@0xID.
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
    """Parse the file, including messages that cantools would refuse. Raises LayoutError."""
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
    """Refuse devices, which never end, and files that are too large for a description. Raises LayoutError."""
    try:
        state = path.stat()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise LayoutError(f"expected a readable DBC file, found {path}: {reason}") from error
    if not stat.S_ISREG(state.st_mode) or state.st_size > LARGEST:
        raise LayoutError(f"expected a DBC file of at most {LARGEST / 1e6:g} MB, found something else at {path}")


def _encoding(path: Path) -> str | None:
    """Return UTF-8 if the file is valid UTF-8, else cantools' own guess (that of Windows)."""
    try:
        path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    return "utf-8"


def _sorted(found: Iterable[Message]) -> tuple[dict[str, Message], list[tuple[str, Message, str]]]:
    """Return the valid messages by title, and the titles of the invalid ones with the reason."""
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
    """Return the reason why cantools would refuse a message; empty if it would not."""
    try:
        message.refresh(strict=True)
    except cantools.Error as error:
        return " ".join(str(error).split()).rstrip(".")
    return ""


def _why(unsound: Iterable[tuple[str, Message, str]]) -> dict[str, str]:
    return {title: why for title, _, why in reversed(list(unsound))}


def _without(unsound: Iterable[tuple[str, Message, str]], layout: FrameLayout) -> dict[str, str]:
    """Return the signals of invalid messages, each with the reason of its message."""
    every = ((f"{title}.{signal.name}", why) for title, message, why in unsound for signal in message.signals)
    return {name: why for name, why in every if name not in layout.signals}
