"""Reads recordings of CAN traffic as batches of frames: candump logs with a kernel, ASC, BLF, MF4, TRC … with
python-can."""

import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import can
import numpy as np

from drivers.base import DriverError
from drivers.can.adapter import from_messages
from drivers.files.bytes_read import note
from drivers.layout.frame import Frames

BLOCK: Final = 1 << 20  # bytes of text in one batch
MESSAGES: Final = 4096  # python-can's messages in one batch
LATEST: Final = 4e9  # s since 1970; invalid times are later, or NaN
IDENTIFIERS: Final = 1 << 29  # number of ids of extended frames
CANDUMP: Final = (".log", ".txt", ".candump")


class LogFile:
    """A recording that is read once from beginning to end; times are ns as written."""

    def __init__(self, path: Path, channel: str = "") -> None:
        """channel: the channel that is used; empty: all."""
        from drivers.files.candump import CandumpParser  # kernels that only a log needs

        self._path, self._channel = path, channel
        self._text = CandumpParser(channel)
        self._others = self._malformed = 0

    @property
    def counts(self) -> Mapping[str, int]:
        """Return the counts of malformed lines and of frames of other channels."""
        counts = self._text.counts
        return {
            "malformed": counts["malformed"] + self._malformed,
            "other_channels": counts["other_channels"] + self._others,
        }

    def blocks(self) -> Iterator[Frames]:
        """Yield its frames in batches. Raises DriverError if the file cannot be read or breaks off."""
        try:
            yield from self._candump() if self._path.suffix.lower() in CANDUMP else self._messages()
        except OSError as error:
            raise DriverError(f"{self._path}: {error.strerror or error}") from error

    def _candump(self) -> Iterator[Frames]:
        with self._path.open("rb") as file:
            while True:
                data = file.read(BLOCK)
                note(len(data))
                yield self._text.feed(data, last=not data)
                if not data:
                    return

    def _messages(self) -> Iterator[Frames]:
        block: list[can.Message] = []
        count = place = 0
        damage: Exception | None = None
        try:
            with self._reader() as reader:
                for message in reader:
                    block.append(message)
                    count += 1
                    if len(block) == MESSAGES:
                        before, place = place, _place(reader)
                        note(place - before)
                        yield self._frames(block)
                        block = []
        except (OSError, DriverError):
            raise
        except Exception as error:  # python-can's readers raise any type of error for a damaged file
            damage = error
        if block:  # frames before the damage are delivered first
            yield self._frames(block)
        if damage is not None:
            raise DriverError(f"{self._path}: breaks off after {count} frames: {_reason(damage)}") from damage

    def _reader(self) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # a reader that refuses a file leaves it open
            try:
                return can.LogReader(self._path)
            except OSError:
                raise
            except NotImplementedError:  # python-can raises this if asammdf is missing, without reading the file
                raise DriverError(
                    f"{self._path}: reading MF4 takes asammdf, found none: pip install 'jointwatch[mf4]'"
                ) from None
            except Exception as error:
                reason = _reason(error)
            raise DriverError(f"{self._path}: breaks off after 0 frames: {reason}")

    def _frames(self, block: list[can.Message]) -> Frames:
        wanted = [one for one in block if not self._channel or str(one.channel) == self._channel]
        self._others += len(block) - len(wanted)
        timed = [one for one in wanted if abs(one.timestamp) < LATEST and 0 <= one.arbitration_id < IDENTIFIERS]
        self._malformed += len(wanted) - len(timed)
        wanted = timed
        stamps = np.array([one.timestamp for one in wanted], np.float64)
        return from_messages(wanted, np.rint(stamps * 1e9).astype(np.int64))


def _place(reader: Any) -> int:
    """Return the number of bytes that a reader of python-can has read from its file; 0 if unknown."""
    file = getattr(reader, "file", None)
    buffer: Any = getattr(file, "buffer", file)  # a text file: use the position of its underlying bytes
    return int(buffer.tell()) if hasattr(buffer, "tell") else 0


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
