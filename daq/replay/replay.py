"""`jointwatch replay FILE CONFIG`: a recording through the same pipeline; two runs are the same bit for bit.

Recordings are logs of CAN frames (decoded by the layout of the configuration's own driver), a CSV file that a file
driver describes, columns of JOINT.ROLE in SI (see daq/recording.py), or Readings as they are (.npz with the array
`readings`). Time is the recording's own throughout.
"""

import argparse
import json
import math
import os
import sys
import time
from collections.abc import Iterator
from typing import Any, Final

import msgpack
import numpy as np

from daq.config.load import load
from daq.config.words import ConfigError
from daq.core.joint_line import Message
from daq.core.pipeline import Pipeline
from daq.recording.columns import RecordingError, load_columns
from daq.replay.sources import Batch, Counts, readings_of
from drivers.base import DriverError
from drivers.reading import empty

BOOT: Final = 1  # the same in every run
SLICE: Final = 20_000_000  # ns of recording in one batch, as much as a busy core takes at once
SILENCE: Final = 500_000_000  # ns between two looks at a recording's silence …
LONGEST_SILENCE: Final = 20  # … of which so many are looked at


def run(options: argparse.Namespace) -> int:
    """The command."""
    try:
        config = load(options.config)
        columns = None if options.columns is None else load_columns(options.columns)
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 78
    counts: Counts = {}
    pipeline = Pipeline(config, BOOT)
    begin = time.monotonic()
    failed = ""
    played = Played()
    try:
        source = readings_of(options.file, config, counts, options.driver, columns)
        for message in play(pipeline, source, played, options.speed):
            if options.json:
                print(line(message))
    except (DriverError, RecordingError) as error:
        failed = str(error)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    tell(pipeline, counts, played, time.monotonic() - begin, sys.stderr if options.json else sys.stdout)
    if not failed and not played.readings:
        failed = f"{options.file}: none of its frames carries a configured signal"
    if failed:
        print(f"jointwatch: {failed}", file=sys.stderr)
    return 1 if failed else 0


class Played:
    """What has gone through: how many readings, from when to when, ns."""

    def __init__(self) -> None:
        self.readings = self.first = self.last = 0

    def note(self, batch: Batch) -> None:
        """Count a batch."""
        self.first = self.first if self.readings else int(batch["time"][0])
        self.last = max(self.last, int(batch["time"][-1]))
        self.readings += len(batch)


def play(pipeline: Pipeline, source: Iterator[Batch], played: Played, speed: float | None = None) -> Iterator[Message]:
    """Everything that the pipeline says to these readings; speed: times the recording's own (None: all there is)."""
    begin = time.monotonic()
    for batch in _sliced(source):
        now = int(batch["time"][-1])
        if played.readings:
            for silent in range(played.last + SILENCE, min(now, played.last + LONGEST_SILENCE * SILENCE), SILENCE):
                yield from pipeline.watch(silent, 0)
        played.note(batch)
        if speed is not None:
            time.sleep(max(0.0, begin + (now - played.first) * 1e-9 / speed - time.monotonic()))
        yield from pipeline.absorb(batch, 0, lambda now=now: now)  # type: ignore[misc]
        yield from pipeline.watch(played.last, 0)


def _sliced(source: Iterator[Batch]) -> Iterator[Batch]:
    """The same readings in batches that end where a slice of time does."""
    rest = empty()
    for part in _to_the_end(source):
        if isinstance(part, Exception):
            yield from [rest] if len(rest) else []
            raise part
        rest = np.concatenate([rest, part])
        slots = rest["time"] // SLICE
        cuts = np.flatnonzero(np.diff(slots)) + 1
        pieces = np.split(rest, cuts)
        yield from (piece for piece in pieces[:-1] if len(piece))
        rest = pieces[-1]
    if len(rest):
        yield rest


def _to_the_end(source: Iterator[Batch]) -> Iterator[Batch | Exception]:
    """A recording that breaks off gives what it has, then why."""
    try:
        yield from source
    except (DriverError, RecordingError) as error:
        yield error


def line(message: Message) -> str:
    """One JSON object; null for what is not known."""
    topic, body = message
    return json.dumps({"topic": topic.decode()} | _finite(msgpack.unpackb(body)), ensure_ascii=False)


def _finite(value: Any) -> Any:
    """JSON has no NaN."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    return [_finite(one) for one in value] if isinstance(value, list) else value


def tell(pipeline: Pipeline, counts: Counts, played: Played, wall: float, stream: Any) -> None:
    """Final estimates and every counter."""
    seconds = (played.last - played.first) * 1e-9
    speed = seconds / wall if wall > 0 else math.inf
    print(f"{played.readings} readings of {seconds:.3f} s in {wall:.2f} s ({speed:.0f}×)", file=stream)
    for name, causes in counts.items():
        losses = (f", {cause} {count}" for cause, count in causes.items() if count and cause != "frames")
        print(f"{name}: frames {causes['frames']}{''.join(losses)}", file=stream)
    for joint in pipeline.lines:
        estimate = joint.estimator.estimate()
        missing = {**joint.aligner.lost(), "interpolated": joint.aligner.interpolated()}
        lost = ", ".join(f"{cause} {count}" for cause, count in missing.items())
        print(f"{joint.name}: {estimate.phase}, {estimate.status}; {joint.samples} samples; {lost}", file=stream)
        for reason in estimate.reasons:
            print(f"    {reason}", file=stream)
        if estimate.spectrum.values:
            print(f"    {estimate.spectrum}", file=stream)
        for parameter, value, deviation in zip(estimate.names, estimate.values, estimate.deviations, strict=True):
            print(f"    {parameter:20} {value:14.6g} ± {deviation:.2g}", file=stream)
