"""Plays a recording of another program through the pipeline; two runs are the same bit for bit.

daq/replay/sources.py reads the recordings. All times are those of the recording.
"""

import time
from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from daq.core.pipeline import Pipeline
from daq.recording.reader import RecordingError
from daq.replay.sources import Batch
from daq.stream.update import Message
from drivers.base import DriverError
from drivers.reading import empty

BOOT: Final = 1  # the same in every run
SLICE: Final = 20_000_000  # ns of recording in one turn, as much as a busy core takes at once
SILENCE: Final = 500_000_000  # ns between two checks of a silence in the recording
TURNS: Final = 25  # turns that are handed over together, so that no such silence lies between them
LONGEST_SILENCE: Final = 20  # checks of one silence, at most


class Played:
    """Counts the readings that were played, and the times of the first and the last (ns)."""

    def __init__(self) -> None:
        self.readings = self.first = self.last = 0
        self.expected = 0  # readings that were read so far, of which some are still to be played

    def note(self, batch: Batch) -> None:
        """Count a batch."""
        self.first = self.first if self.readings else int(batch["time"][0])
        self.last = max(self.last, int(batch["time"][-1]))
        self.readings += len(batch)


def play(pipeline: Pipeline, source: Iterator[Batch], played: Played, speed: float | None = None) -> Iterator[Message]:
    """Every message of the pipeline about these readings; speed: 1 is real time, None: as fast as possible."""
    return (message for messages in turns(pipeline, source, played, speed) for message in messages)


def turns(
    pipeline: Pipeline, source: Iterator[Batch], played: Played, speed: float | None = None
) -> Iterator[list[Message]]:
    """The messages of each turn, one turn a batch of SLICE; as `play`."""
    begin = time.monotonic()
    together = speed is None and not pipeline.shared_pipelines
    for batch in _sliced(source, SLICE * TURNS if together else SLICE):
        ends = _ends(batch, SLICE)
        now, messages = int(batch["time"][ends[0] - 1]), list[Message]()
        if played.readings:
            for silent in range(played.last + SILENCE, min(now, played.last + LONGEST_SILENCE * SILENCE), SILENCE):
                messages += pipeline.check_silence(silent, 0)
        played.note(batch)
        if speed is not None:
            time.sleep(max(0.0, begin + (now - played.first) * 1e-9 / speed - time.monotonic()))
        if together:
            parts = pipeline.absorb_turns(batch, ends)
            yield messages + next(parts)
            yield from parts
            continue
        messages += pipeline.absorb(batch, 0, lambda now=now: now)  # type: ignore[misc]
        yield messages + pipeline.check_silence(played.last, 0)


def _sliced(source: Iterator[Batch], span: int) -> Iterator[Batch]:
    """Cut the readings into batches that end with a slice of time, of `span` ns."""
    rest = empty()
    for part in _to_the_end(source):
        if isinstance(part, Exception):
            yield from [rest] if len(rest) else []
            raise part
        if not len(part):
            continue
        pieces = np.split(part, _ends(part, span)[:-1])
        if len(rest) and rest["time"][-1] // span == part["time"][0] // span:
            pieces[0] = np.concatenate([rest, pieces[0]])
        elif len(rest):
            yield rest
        yield from pieces[:-1]
        rest = pieces[-1]
    if len(rest):
        yield rest


def _ends(readings: Batch, span: int) -> NDArray[np.int64]:
    """Number of the reading after each part that lies in one slice of `span` ns; of none, one part without any."""
    slices = np.ascontiguousarray(readings["time"]) // span
    return np.append(np.flatnonzero(slices[1:] != slices[:-1]) + 1, len(slices))


def _to_the_end(source: Iterator[Batch]) -> Iterator[Batch | Exception]:
    """Yield everything that a recording has, and at last the error where it breaks off."""
    try:
        yield from source
    except (DriverError, RecordingError) as error:
        yield error
