"""Reads our own recordings: what was said, the blocks of readings, and the same updates once more, bit for bit."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mcap.exceptions import EndOfFile, McapError
from mcap.records import Attachment, Channel, McapRecord, Message, Metadata
from mcap.stream_reader import StreamReader
from pydantic import ValidationError

from daq import transcript
from daq.config import Config
from daq.latch import Latch
from daq.pipeline import Pipeline
from daq.recorder import BLOCKS
from daq.recording import RecordingError
from daq.transcript import Block
from estimators.refit_job import Inline


class Said(NamedTuple):
    """One message of the stream as it was recorded: NaN is left out."""

    topic: str
    time: int  # Unix ns at which its block was closed
    update: dict[str, Any]


def said(file: Path) -> Iterator[Said]:
    """Every update, event, meta and clock message. Raises RecordingError."""
    topics: dict[int, str] = {}
    for record in _records(file):
        if isinstance(record, Channel):
            topics[record.id] = record.topic
        elif isinstance(record, Message):
            yield Said(topics[record.channel_id], record.publish_time, json.loads(record.data))


def blocks(file: Path) -> Iterator[Block]:
    """Every block of readings. Raises RecordingError."""
    for record in _records(file):
        if isinstance(record, Attachment) and record.media_type == BLOCKS:
            try:
                yield transcript.unpack(record.data)
            except ValueError as error:
                raise RecordingError(f"{file}: {record.name}: {error}") from error


def configuration(file: Path) -> Config:
    """The configuration that was running; what only concerns wires is left out. Raises RecordingError."""
    for record in _records(file):
        if isinstance(record, Metadata) and record.name == "configuration":
            try:
                return Config.model_validate(json.loads(record.metadata["json"]) | {"drivers": {}})
            except (KeyError, ValueError, ValidationError) as error:
                raise RecordingError(f"{file}: its configuration cannot be used: {error}") from error
    raise RecordingError(f"{file}: found no configuration in it: is it a recording of jointwatch?")


def again(files: Sequence[Path]) -> Iterator[tuple[bytes, bytes]]:
    """What the pipeline says to the readings of consecutive files: the same as then.

    Raises RecordingError where something is missing, since what follows would not be the same.
    """
    config = configuration(files[0])
    expected = (0, 0)
    for file in files:
        for block in blocks(file):
            boot, number = expected
            if block.boot != boot:
                number = 0
                latch = Latch(Inline())
                pipeline = Pipeline(config, block.boot, latch)
            if block.number != number:
                raise RecordingError(
                    f"{file}: expected block {number} of this start of the core, found {block.number}: "
                    f"{'give the files before it, too' if number == 0 else 'some were lost'}"
                )
            expected = (block.boot, block.number + 1)
            yield from _repeat(pipeline, latch, block)


def _repeat(pipeline: Pipeline, latch: Latch, block: Block) -> Iterator[tuple[bytes, bytes]]:
    start = 0
    for batch in block.batches:
        latch.release(batch.refits)
        clock = iter(batch.clock)
        if batch.length:
            readings = block.readings[start : start + batch.length]
            yield from pipeline.absorb(readings, batch.epoch, lambda clock=clock: next(clock))  # type: ignore[misc]
        yield from pipeline.watch(batch.watched, batch.epoch)
        start += batch.length


def _records(file: Path) -> Iterator[McapRecord]:
    """Every record; one that breaks off at its end (the machine lost power) ends there."""
    try:
        with file.open("rb") as stream:
            yield from StreamReader(stream).records
    except EndOfFile:
        return
    except OSError as error:
        raise RecordingError(f"{file}: {error.strerror}") from error
    except (McapError, ValueError) as error:
        raise RecordingError(f"{file}: not a recording: {error}") from error
