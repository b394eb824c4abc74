"""Logs of CAN frames, a batch at a time and bus by bus: candump's in bulk, others (ASC, BLF, …) by python-can."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import can
import numpy as np

from drivers import candump
from drivers.base import LinkError
from drivers.frame import ERROR, EXTENDED, REMOTE, Frames

BATCH: Final = 4096  # frames
CHUNK: Final = 1 << 20  # bytes
WIDTH: Final = 64
KINDS: Final = (".log", ".asc", ".blf", ".csv", ".trc", ".mf4", ".db")


class Log:
    """One log. `counts`: malformed lines, frames of other channels than those asked for."""

    def __init__(self, file: Path, channels: Sequence[str] = ("",)) -> None:
        """channels: as the log names them; "" for all."""
        self._file, self._channels = file, tuple(channels)
        self.counts = {"malformed": 0, "other_channels": 0}

    def batches(self) -> Iterator[list[Frames]]:
        """Frames of each channel, in the log's order; times: ns, as written. Raises LinkError where it breaks off."""
        try:
            yield from self._candump() if self._file.suffix.lower() == ".log" else self._any()
        except OSError as error:
            raise LinkError(f"{self._file}: {error.strerror or error}") from error

    def _candump(self) -> Iterator[list[Frames]]:
        parsers = [candump.Parser(channel) for channel in self._channels]
        found, timed = 0, False
        with self._file.open("rb") as text:
            last = False
            while not last:
                chunk = text.read(CHUNK)
                last = not chunk
                batch = [parser.feed(chunk, last) for parser in parsers]
                found += sum(len(frames.ids) for frames in batch)
                timed = timed or any(frames.times.any() for frames in batch)
                if found > 1 and not timed:
                    raise LinkError(f"{self._file}: its frames have no times; `candump -L` writes them")
                yield batch
        counts = parsers[0].counts
        self.counts["malformed"] = counts["malformed"]
        foreign = sum(parser.counts["other_channels"] for parser in parsers) - (len(parsers) - 1) * found
        self.counts["other_channels"] = foreign // len(parsers)  # a frame of one is another's to the others

    def _any(self) -> Iterator[list[Frames]]:
        batch: list[can.Message] = []
        count = 0
        failed: Exception | None = None
        try:
            with can.LogReader(self._file) as reader:
                for message in reader:
                    batch.append(message)
                    count += 1
                    if len(batch) == BATCH:
                        yield self._split(batch)
                        batch = []
        except OSError:
            raise
        except Exception as error:  # readers raise whatever they like at a damaged line
            failed = error
        if batch:  # what came before the damage is delivered first
            yield self._split(batch)
        if failed is not None:
            raise LinkError(f"{self._file}: after {count} frames: {failed or type(failed).__name__}") from failed

    def _split(self, messages: list[can.Message]) -> list[Frames]:
        if self._channels == ("",):
            return [_frames(messages)]
        names = [str(one.channel) for one in messages]
        self.counts["other_channels"] += sum(name not in self._channels for name in names)
        return [
            _frames([one for one, name in zip(messages, names, strict=True) if name == channel])
            for channel in self._channels
        ]


def _frames(messages: list[can.Message]) -> Frames:
    flags = [
        EXTENDED * one.is_extended_id | REMOTE * one.is_remote_frame | ERROR * one.is_error_frame for one in messages
    ]
    ids = np.array([one.arbitration_id | flag for one, flag in zip(messages, flags, strict=True)], np.uint32)
    rows = bytearray().join([bytes(one.data[:WIDTH]).ljust(WIDTH, b"\0") for one in messages])
    lengths = np.array([len(one.data) for one in messages], np.int64)
    times = np.array([round(one.timestamp * 1e9) for one in messages], np.int64)
    return Frames(ids, np.frombuffer(rows, np.uint8).reshape(-1, WIDTH), lengths, times)
