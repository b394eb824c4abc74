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
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgpack
import numpy as np
from numpy.typing import NDArray

from daq.config.load import Config, ConfigError, load, routes, wanted
from daq.core.pipeline import Message, Pipeline
from daq.recording.columns import Columns, RecordingError, load_columns, read
from drivers.base import DriverError
from drivers.can.bus import CanBusSettings
from drivers.decode.decoder import Decoder
from drivers.files.can_log import LogFile
from drivers.files.player import CsvFile, FileSettings, Recording
from drivers.reading import READING, empty

BOOT: Final = 1  # the same in every run
SLICE: Final = 20_000_000  # ns of recording in one batch, as much as a busy core takes at once
SILENCE: Final = 500_000_000  # ns between two looks at a recording's silence …
LONGEST_SILENCE: Final = 20  # … of which so many are looked at

Batch = NDArray[np.void]
Counts = dict[str, Counter[str]]  # driver → cause → count


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


def readings_of(
    file: Path, config: Config, counts: Counts, driver: str | None = None, columns: Columns | None = None
) -> Iterator[Batch]:
    """Readings of a recording, whatever its kind; counts are filled at its end. Raises RecordingError, DriverError."""
    if columns is None and file.suffix.lower() == ".npz" and _is_readings(file):
        return _stored(file, config)
    described = any(isinstance(one, FileSettings) and one.columns for one in config.drivers.values())
    if columns is not None or file.suffix.lower() in (".npz", ".mat") or (not described and _has_columns(file)):
        return _from_columns(file, config, columns)
    return _from_log(file, _drivers(file, config, driver), config, counts)


def _is_readings(file: Path) -> bool:
    try:
        with file.open("rb") as stream, np.load(stream, allow_pickle=False) as data:
            return "readings" in data
    except (OSError, ValueError) as error:
        raise RecordingError(f"{file}: cannot be read: {error}") from error


def _stored(file: Path, config: Config) -> Iterator[Batch]:
    with file.open("rb") as stream, np.load(stream, allow_pickle=False) as data:
        readings = data["readings"]
    if readings.dtype != READING or readings.ndim != 1:
        raise RecordingError(f"{file}: expected readings of {READING}, found {readings.dtype}")
    if len(readings) and not 0 <= readings["channel"].min() <= readings["channel"].max() < len(routes(config)):
        raise RecordingError(f"{file}: its readings have channels that the configuration has not")
    yield readings


def _has_columns(file: Path) -> bool:
    """Whether a .csv has columns of ours rather than python-can's frames."""
    if file.suffix.lower() != ".csv":
        return False
    try:
        with file.open(encoding="utf-8", errors="replace") as lines:
            return "arbitration_id" not in next(lines, "")
    except OSError as error:
        raise RecordingError(f"{file}: {error.strerror}") from error


def _from_columns(file: Path, config: Config, columns: Columns | None) -> Iterator[Batch]:
    """One reading per channel and row; where a joint has a counter, the rows are counted."""
    channels = read(file, columns)
    parts = []
    for index, route in enumerate(routes(config)):
        roles = channels.get(route.joint, {})
        if route.role == "counter" and route.role not in roles:
            raise RecordingError(f"{file}: found no column {route.joint}.counter: add it, or leave the counter out")
        if route.role not in roles:
            raise RecordingError(
                f"{file}: found no column {route.joint}.{route.role}, which the configuration asks for"
            )
        series = roles[route.role]
        part = np.zeros(len(series.time), READING)
        part["time"] = np.round(series.time * 1e9).astype(np.int64)
        part["value"], part["channel"] = series.values, index
        parts.append(part)
    readings = np.concatenate(parts)
    readings = readings[np.argsort(readings["time"], kind="stable")]
    yield _after_zero(readings)


def _drivers(file: Path, config: Config, driver: str | None) -> dict[str, CanBusSettings | FileSettings]:
    """Those whose layout can say what is in a log."""
    found = {name: one for name, one in config.drivers.items() if isinstance(one, CanBusSettings | FileSettings)}
    if driver is not None and driver not in found:
        raise RecordingError(
            f"found no driver {driver} for logs in the configuration, only {', '.join(found) or 'none'}"
        )
    if not found:
        raise RecordingError(f"{file}: a log needs a CAN (or file) driver in the configuration, to say what is in it")
    return found if driver is None else {driver: found[driver]}


def _from_log(
    file: Path, drivers: Mapping[str, CanBusSettings | FileSettings], config: Config, counts: Counts
) -> Iterator[Batch]:
    """Frames decoded by the one driver there is; of several, each decodes what its channel carried."""
    if len(drivers) == 1:
        [(name, settings)] = drivers.items()
        channel = settings.channel if isinstance(settings, FileSettings) else ""
        yield from _decoded(file, name, settings, channel, config, counts)
        return
    parts = [
        part for name, one in drivers.items() for part in _decoded(file, name, one, one.channel, config, counts)
    ]  # in order of time, whole
    readings = np.concatenate([empty(), *parts])
    yield readings[np.argsort(readings["time"], kind="stable")]


def _decoded(
    file: Path, name: str, settings: CanBusSettings | FileSettings, channel: str, config: Config, counts: Counts
) -> Iterator[Batch]:
    decoder = Decoder(settings.layout, wanted(config, name))
    recording: Recording = LogFile(file, channel)
    if isinstance(settings, FileSettings) and settings.columns:
        recording = CsvFile(settings.model_copy(update={"path": file}))
    timed, frames = False, 0
    try:
        for block in recording.blocks():
            frames += len(block.ids)
            timed = timed or bool(block.times.any())
            if frames > 1 and not timed:
                raise RecordingError(f"{file}: its frames have no times; `candump -L` writes them")
            yield _after_zero(decoder.decode(block))
    finally:
        counts[name] = Counter({**decoder.counts, **recording.counts})


def _after_zero(readings: Batch) -> Batch:
    """Recordings that begin at zero begin at one second: time zero means "never" to the pipeline."""
    if len(readings) and int(readings["time"][0]) < 10**15:
        readings["time"] += 10**9
    return readings


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
