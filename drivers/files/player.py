"""A recording as a driver: at recorded speed, N times as fast, or as fast as it can be read.

Times keep the recorded spacing at any speed, so that rates and derivatives stay correct. With speed 0 (as fast as
possible) they are the recorded times, so that two runs give the same result; otherwise they begin with the present
time.
"""

import csv
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Final, Literal, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationInfo, field_validator

from drivers.base import DriverError, EndOfFileError, LinkError, Wanted
from drivers.decode.decoder import Decoder
from drivers.files import recording as recording_file
from drivers.files.can_log import LogFile
from drivers.layout.can_settings import CanLayoutSettings, beside
from drivers.layout.frame import FrameLayout, Frames, Signal
from drivers.reading import empty
from drivers.units import QuantitySettings, Scale

LATEST: Final = float(1 << 62)  # ns
ROWS: Final = 4096  # rows of a CSV file in one batch
SEPARATORS: Final = ",;\t|"
MESSAGE: Final = "row"
_TIMES: Final = {"s": 1e9, "ms": 1e6, "us": 1e3, "µs": 1e3, "ns": 1.0}


class ColumnSettings(QuantitySettings):
    """One column of a CSV file."""

    column: str | None = Field(default=None, description="its heading, where it is not the signal's name")
    scale: Scale = 1.0
    offset: float = Field(default=0.0, allow_inf_nan=False)


class FileSettings(CanLayoutSettings):
    """A recording: CAN traffic with its layout, a CSV file with its columns ("row.NAME"), or our own recording
    (MCAP)."""

    kind: Literal["file"]
    path: Path = Field(description="candump log, .asc, .blf, .mf4, .trc …, .csv, or our own .mcap")
    speed: float = Field(
        default=1.0, ge=0, allow_inf_nan=False, description="times the recorded; 0: as fast as it goes"
    )
    channel: str = Field(default="", description="of a log of several buses (.mcap: drivers): the one that is wanted")
    columns: dict[str, ColumnSettings] = Field(default={}, description="of a CSV file: signal → column")
    time: str = Field(default="time", description="of a CSV file: heading of the time")
    time_unit: Literal["s", "ms", "us", "µs", "ns"] = "s"

    @field_validator("path")
    @classmethod
    def _beside(cls, path: Path, info: ValidationInfo) -> Path:
        return beside(path, info) or path

    def _described(self) -> FrameLayout:
        if self.path.suffix.lower() == recording_file.SUFFIX:
            if self.columns or self.dbc is not None or self.frames or self.layouts:
                raise ValueError("a recording of our own says what is in it: expected neither columns nor a layout")
            return recording_file.layout(self.path, self.channel)
        if not self.columns:
            return super()._described()
        if self.dbc is not None or self.frames or self.layouts:
            raise ValueError("expected either columns or a layout of frames, found both")
        signals = {f"{MESSAGE}.{name}": _signal(place, one) for place, (name, one) in enumerate(self.columns.items())}
        return FrameLayout({0: 8 * len(signals)}, signals)

    def modules(self) -> tuple[str, ...]:
        """Return the modules with kernels of the decoder and of candump logs."""
        return "drivers.files.player", "drivers.files.candump"

    def wire(self) -> tuple[str, ...]:
        """Return the file and bus, since every bus of a log counts as one wire."""
        return "file", str(self.path), self.channel

    def open(self, wanted: Sequence[Wanted]) -> "FilePlayer":
        """A driver for exactly these signals. Raises LayoutError."""
        self.check(wanted)
        return FilePlayer(self, wanted)


class PlayedFile(Protocol):
    """The interface of a file that can be played."""

    @property
    def counts(self) -> Mapping[str, int]: ...

    def blocks(self) -> Iterator[Frames]: ...


def _recording(settings: FileSettings) -> PlayedFile:
    if settings.path.suffix.lower() == recording_file.SUFFIX:
        return recording_file.RecordingFile(settings.path, settings.channel)
    return CsvFile(settings) if settings.columns else LogFile(settings.path, settings.channel)


class CsvFile:
    """The rows of a CSV file as frames of 64-bit floats; entries that are not numbers are NaN."""

    def __init__(self, settings: FileSettings) -> None:
        self._path, self._unit = settings.path, _TIMES[settings.time_unit]
        self._headings = [settings.time, *(one.column or name for name, one in settings.columns.items())]
        self._malformed = 0

    @property
    def counts(self) -> Mapping[str, int]:
        """Return the number of rows without a time."""
        return {"malformed": self._malformed, "other_channels": 0}

    def blocks(self) -> Iterator[Frames]:
        """Yield its rows in batches. Raises DriverError."""
        try:
            with self._path.open(newline="", encoding="utf-8-sig") as file:
                separator = self._separator(file.readline())
                file.seek(0)
                rows = csv.reader(file, delimiter=separator)
                places = self._places(next(rows, []))
                while block := list(islice(rows, ROWS)):
                    yield self._frames([[_number(row, place) for place in places] for row in block])
        except FileNotFoundError:
            raise DriverError(f"{self._path}: there is no such file") from None
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise DriverError(f"{self._path}: not a readable CSV file ({error})") from error

    def _separator(self, line: str) -> str:
        """Return the separator of the headings: the sign that gives all requested headings, by default a comma."""
        parted = {sign: {name.strip() for name in next(csv.reader([line], delimiter=sign), [])} for sign in SEPARATORS}
        return next((sign for sign in SEPARATORS if parted[sign].issuperset(self._headings)), SEPARATORS[0])

    def _places(self, headings: list[str]) -> list[int]:
        names = [heading.strip() for heading in headings]
        missing = [name for name in self._headings if name not in names]
        if missing:
            raise DriverError(f"{self._path}: expected columns {', '.join(missing)}, found {', '.join(names[:20])}")
        return [names.index(name) for name in self._headings]

    def _frames(self, rows: list[list[float]]) -> Frames:
        table = np.array(rows, np.float64)
        good = np.abs(table[:, 0]) < LATEST / self._unit  # excludes NaN
        self._malformed += int(len(table) - good.sum())
        table = table[good]
        count, width = len(table), 8 * (table.shape[1] - 1)
        payload = np.ascontiguousarray(table[:, 1:]).view(np.uint8).reshape(count, width)
        times = np.rint(table[:, 0] * self._unit).astype(np.int64)
        return Frames(np.zeros(count, np.uint32), payload, np.full(count, width), times)


class FilePlayer:
    """Plays one recording."""

    def __init__(self, settings: FileSettings, wanted: Sequence[Wanted]) -> None:
        self._settings, self._wanted = settings, wanted
        self._open = False
        self._begin()

    def _begin(self) -> None:
        settings = self._settings
        self._decoder = Decoder(settings.layout, self._wanted)
        self._file = _recording(settings)
        self._blocks = self._file.blocks()
        self._block: Frames | None = None
        self._place = 0
        self._end = ""
        self._first = self._started = 0  # ns: first time of the recording, and start on our clock

    def __enter__(self) -> Self:
        if not self._settings.path.exists():
            raise LinkError(f"{self._settings.path}: there is no such file")
        self._begin()
        self._open = True
        return self

    def __exit__(self, *_: object) -> None:
        self._open = False

    def read(self, timeout: float) -> NDArray[np.void]:
        """Return the readings of the frames that are due. Raises EndOfFileError after the last one, LinkError if not
        open."""
        if not self._open:
            raise LinkError(f"{self._settings.path}: not open")
        if not self._load():
            raise EndOfFileError(self._end)
        assert self._block is not None
        due = self._due(timeout)
        if due == self._place:
            return empty()
        part = self._block.part(slice(self._place, due))
        self._place = due
        if self._settings.speed:
            part = part._replace(times=part.times - self._first + self._started)
        return self._decoder.decode(part)

    def counters(self) -> Mapping[str, int]:
        """Return the number of played frames (or rows), and every loss by cause (see Decoder)."""
        return {**self._decoder.counts, **self._file.counts}

    def _load(self) -> bool:
        """Load the next block if the present one is finished; returns False at the end."""
        while not self._end and (self._block is None or self._place == len(self._block.ids)):
            try:
                self._block, self._place = next(self._blocks), 0
            except StopIteration:
                self._end = f"{self._settings.path}: played to its end"
            except DriverError as error:
                self._end = str(error)
            else:
                if not self._started and len(self._block.ids):
                    self._first, self._started = int(self._block.times.min()), time.monotonic_ns()
        return not self._end

    def _due(self, timeout: float) -> int:
        """Return the index up to which the block is due, after waiting up to timeout seconds for the first frame."""
        assert self._block is not None
        if self._settings.speed == 0:
            return len(self._block.ids)
        ages = np.maximum.accumulate(self._block.times - self._first)  # two buses in one log may be out of order
        wait = self._started + ages[self._place] / self._settings.speed - time.monotonic_ns()
        if wait > 0:
            time.sleep(min(max(0.0, timeout), wait / 1e9))
        played = (time.monotonic_ns() - self._started) * self._settings.speed
        return max(self._place, int(np.searchsorted(ages, played, side="right")))


def _signal(place: int, one: ColumnSettings) -> Signal:
    si = one.conversion("")
    scale, offset = si.factor * one.scale, si.factor * one.offset + si.offset
    return Signal(0, 64 * place, 64, kind="float", scale=scale, offset=offset, unit=si.unit)


def _number(row: list[str], place: int) -> float:
    try:
        return float(row[place])
    except (ValueError, IndexError):
        return float("nan")
