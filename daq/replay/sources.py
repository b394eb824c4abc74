"""Reads readings from recordings of other programs.

These are logs of CAN frames (decoded by the layout of the configuration's driver), CSV files that a file driver
describes, columns JOINT.ROLE in SI (see daq/recording/columns.py), and stored readings (.npz with the array
`readings`).
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from daq.config.routes import COUNTER, Route, routes, wanted
from daq.config.sections import Config
from daq.recording.columns import Columns, read
from daq.recording.reader import RecordingError
from daq.recording.ros_bag import is_bag
from daq.replay.own_stamps import even, is_uneven, once_an_instant, without_repeated_rows
from drivers.can.bus import CanBusSettings
from drivers.decode.decoder import Decoder
from drivers.files.can_log import LogFile
from drivers.files.player import CsvFile, FileSettings, PlayedFile
from drivers.reading import READING, empty

# endings that only tables have; .csv, .txt, .log and .mf4 may be logs of frames
COLUMNAR: Final = (".npz", ".npy", ".mat", ".json", ".jsonl", ".ndjson", ".parquet", ".pq", ".feather", ".tsv", ".dat")

Batch = NDArray[np.void]
Counts = dict[str, Counter[str]]  # driver → cause → count


def readings_of(
    file: Path, config: Config, counts: Counts, driver: str | None = None, columns: Columns | None = None
) -> Iterator[Batch]:
    """The readings of a recording of any kind; counts are filled at its end. Raises RecordingError, DriverError."""
    if columns is None and file.suffix.lower() == ".npz" and _is_readings(file):
        return _stored(file, config)
    described = any(isinstance(one, FileSettings) and one.columns for one in config.drivers.values())
    columnar = (
        file.is_dir() or file.suffix.lower() in COLUMNAR or is_bag(file) or (not described and _has_columns(file))
    )
    if columns is not None or columnar:
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
        raise RecordingError(f"{file}: its readings have channels that the configuration does not have")
    yield readings


def _has_columns(file: Path) -> bool:
    """Whether a .csv has columns JOINT.ROLE rather than frames of python-can."""
    if file.suffix.lower() != ".csv":
        return False
    try:
        with file.open(encoding="utf-8", errors="replace") as lines:
            return "arbitration_id" not in next(lines, "")
    except OSError as error:
        raise RecordingError(f"{file}: {error.strerror}") from error


def _from_columns(file: Path, config: Config, columns: Columns | None) -> Iterator[Batch]:
    """One reading per channel and row; a joint's counter must be one of the columns."""
    channels, repeating = without_repeated_rows(read(file, columns))
    asked = routes(config)
    missing = [one for one in asked if one.role not in channels.get(one.joint, {})]
    if missing:
        raise RecordingError("\n".join(f"{file}: {_missing(route)}" for route in missing))
    parts = []
    counted = {route.joint for route in asked if route.role == COUNTER}
    uneven = {route.joint for route in asked if repeating or is_uneven(channels[route.joint][route.role])} - counted
    for index, route in enumerate(asked):
        series = channels[route.joint][route.role]
        if route.joint not in counted:
            series = once_an_instant(series)
        if route.joint in uneven:
            joint = config.joints[route.joint]
            series = even(series, joint.channels[route.role].rate or joint.rate)
        part = np.zeros(len(series.time), READING)
        part["time"] = np.round(series.time * 1e9).astype(np.int64)
        part["value"], part["channel"] = series.values, index
        parts.append(part)
    readings = np.concatenate(parts)
    readings = readings[np.argsort(readings["time"], kind="stable")]
    if len(readings) and readings["time"][0] < 0:  # times count from a trigger: here from the first row
        readings["time"] -= readings["time"][0]
    yield _after_zero(readings)


def _missing(route: Route) -> str:
    reason = ": add it, or leave the counter out" if route.role == COUNTER else ", which the configuration asks for"
    return f"found no column {route.joint}.{route.role}{reason}"


def _drivers(file: Path, config: Config, driver: str | None) -> dict[str, CanBusSettings | FileSettings]:
    """The drivers whose layout can decode a log."""
    found = {name: one for name, one in config.drivers.items() if isinstance(one, CanBusSettings | FileSettings)}
    if driver is not None and driver not in found:
        raise RecordingError(
            f"found no driver {driver} for logs in the configuration, only {', '.join(found) or 'none'}"
        )
    if not found:
        raise RecordingError(f"{file}: a log needs a CAN (or file) driver in the configuration, which describes it")
    return found if driver is None else {driver: found[driver]}


def _from_log(
    file: Path, drivers: Mapping[str, CanBusSettings | FileSettings], config: Config, counts: Counts
) -> Iterator[Batch]:
    """Decode the log by the only driver; where there are several, each decodes the frames of its channel."""
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
    recording: PlayedFile = LogFile(file, channel)
    if isinstance(settings, FileSettings) and settings.columns:
        recording = CsvFile(settings.model_copy(update={"path": file}))
    timed, frames = False, 0
    try:
        for block in recording.blocks():
            frames += len(block.ids)
            timed = timed or bool(block.times.any())
            if frames > 1 and not timed:
                raise RecordingError(f"{file}: its frames have no times; record it with `candump -L`")
            yield _after_zero(decoder.decode(block))
    finally:
        counts[name] = Counter({**decoder.counts, **recording.counts})


def _after_zero(readings: Batch) -> Batch:
    """Shift recordings that begin at time zero by a microsecond: zero means "never" to the pipeline."""
    if len(readings) and int(readings["time"][0]) < 10**15:
        readings["time"] += 1000  # ns
    return readings
