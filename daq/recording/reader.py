"""Reads our own recordings: messages, blocks of readings, the configuration, and the files that belong together."""

import json
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from mcap.records import Attachment, Channel, McapRecord, Message, Metadata
from pydantic import ValidationError
from pydantic_core import from_json

from daq.config.routes import routes
from daq.config.sections import Config
from daq.recording.folder import recordings
from daq.stream import transcript
from daq.stream.transcript import BLOCKS, TurnBlock
from drivers.files.mcap_records import groups, records

SUFFIX: Final = ".mcap"
UNKNOWN: Final = 1 << 31  # number of channels


class RecordingError(Exception):
    """The recording cannot be read, or lacks a column of the table; the user sees the text unchanged."""


class Said(NamedTuple):
    """One recorded message of the stream, without NaN values."""

    topic: str
    time: int  # Unix ns at which its block was closed
    update: dict[str, Any]


def said(file: Path) -> Iterator[Said]:
    """Yield every update, event, meta and clock message in order. Raises RecordingError."""
    topics: dict[int, str] = {}
    for record in _records(file):
        if isinstance(record, Channel):
            topics[record.id] = record.topic
        elif isinstance(record, Message):
            try:
                one = Said(topics[record.channel_id], record.publish_time, json.loads(record.data))
            except (KeyError, ValueError, RecursionError):
                return  # the recording breaks off here: see break_of
            yield one


def blocks(file: Path) -> Iterator[TurnBlock]:
    """Yield every block of readings in order; messages are skipped without parsing. Raises RecordingError."""
    channels = 0
    for record in _records(file, messages=False):
        if isinstance(record, Attachment) and record.media_type == BLOCKS:
            channels = channels or _channels(file)
            try:
                block = _block(record.data, channels)
            except ValueError:
                return  # the recording breaks off here: see break_of
            yield block


def contents(file: Path) -> Generator[Said | TurnBlock, None, str]:
    """Yield every message and every block of readings in the order of the file; returns the same as `break_of`.

    Raises RecordingError.
    """
    read, topics, channels = 0, dict[int, str](), 0
    try:
        for record, update in (one for group in groups(file, strict=True) for one in _with_updates(group)):
            if isinstance(record, Message):
                if record.channel_id not in topics:
                    raise ValueError(f"a message of channel {record.channel_id}, which was never introduced")
                yield Said(topics[record.channel_id], record.publish_time, update)
            elif isinstance(record, Channel):
                topics[record.id] = record.topic
            elif isinstance(record, Attachment) and record.media_type == BLOCKS:
                channels = channels or _channels(file)
                yield _block(record.data, channels)
                read += 1
    except OSError as error:
        raise RecordingError(f"{file}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        return f"{file} breaks off after {read} block{'' if read == 1 else 's'} of readings: {error}"
    return ""


def _channels(file: Path) -> int:
    """Return the number of channels in the configuration; any number if it is unusable, since nothing is played."""
    try:
        return len(routes(configuration(file)))
    except RecordingError:
        return UNKNOWN


def _block(data: bytes, channels: int) -> TurnBlock:
    """Unpack a block and check that all channels are in the configuration, as kernels require. Raises ValueError."""
    block = transcript.unpack(data)
    found = block.readings["channel"]
    if len(found) and not 0 <= found.min() <= found.max() < channels:
        raise ValueError(f"readings of channel {found.max()}, and its configuration has {channels}")
    return block


def _with_updates(group: Sequence[McapRecord]) -> Iterator[tuple[McapRecord, Any]]:
    """Return the records of a chunk, each message with its content. Raises ValueError and RecursionError.

    All texts are parsed at once, in a quarter of the time; if one of them is invalid, those before it are still used.
    """
    texts = [one.data for one in group if isinstance(one, Message)]
    try:
        updates: list[Any] = from_json(b"[%b]" % b",".join(texts)) if texts else []
    except (ValueError, RecursionError):
        updates = []
    parsed = iter(updates) if len(updates) == len(texts) else (json.loads(text.decode()) for text in texts)
    for one in group:
        yield one, next(parsed) if isinstance(one, Message) else None


def break_of(file: Path) -> str:
    """Return where a recording breaks off and why, in words; empty if it is complete. Raises RecordingError.

    `contents`, `blocks` and `said` yield everything before that place.
    """
    reading = contents(file)
    while True:
        try:
            next(reading)
        except StopIteration as end:
            words: str = end.value
            return words


def configuration(file: Path) -> Config:
    """Return the recorded configuration of the service, without drivers and addresses. Raises RecordingError."""
    recorded = _recorded_configuration(file)
    try:
        whole = json.loads(recorded["json"])
        return Config.model_validate(whole | {"drivers": {}, "publish": {"rate": whole["publish"]["rate"]}})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise RecordingError(f"{file}: its configuration cannot be used: {where}: {first['msg']}") from error
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise RecordingError(f"{file}: its configuration cannot be used: {error}") from error


def digest(file: Path) -> str:
    """Return the digest of the recorded configuration. Raises RecordingError."""
    return _recorded_configuration(file).get("digest", "")


def before(file: Path) -> list[Path]:
    """Return earlier files in the folder that come from the same start of the core as this file, the oldest first.

    Raises RecordingError.
    """
    first = next(blocks(file), None)
    siblings = recordings(file.parent, configuration(file).robot.name)
    found: list[Path] = []
    for one in reversed(siblings[: siblings.index(file)] if file in siblings else []):
        if first is None or first.number == 0:
            break
        begin = next(blocks(one), None)
        found.insert(0, one)
        if begin is None or begin.boot != first.boot or begin.number == 0:
            break
    return found


def _recorded_configuration(file: Path) -> dict[str, str]:
    for record in _records(file):
        if isinstance(record, Metadata) and record.name == "configuration":
            return record.metadata
    raise RecordingError(f"{file}: found no configuration in it; is it a recording of jointwatch?")


def _records(file: Path, messages: bool = True) -> Iterator[McapRecord]:
    """Yield every record before the first incomplete one; of a growing file, the records at its opening."""
    begun = False
    try:
        for record in records(file, messages):
            begun = True
            yield record
    except OSError as error:
        raise RecordingError(f"{file}: {error.strerror}") from error
    except ValueError as error:
        if not begun:
            raise RecordingError(
                f"{file}: not a recording of jointwatch (.mcap), or damaged: {error}; recordings of other programs are "
                "for columns, replay, skew and identify"
            ) from error
