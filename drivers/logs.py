"""Logs of CAN frames, as python-can reads them: candump, ASC, BLF, CSV, TRC, MF4; batches of frames with their channels."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

import can
import numpy as np

from drivers.base import LinkError
from drivers.frame import ERROR, EXTENDED, REMOTE, Frames

BATCH: Final = 4096
WIDTH: Final = 64
KINDS: Final = (".log", ".asc", ".blf", ".csv", ".trc", ".mf4", ".db")


class Logged(NamedTuple):
    """Frames and the channel each was recorded from ("" where the log does not say)."""

    frames: Frames  # times: ns, of the log's own clock
    channels: list[str]


def read_log(file: Path) -> Iterator[Logged]:
    """Every frame of a log, in its order. Raises LinkError where it cannot be read (any further)."""
    count = 0
    try:
        with can.LogReader(file) as reader:
            messages = iter(reader)
            while batch := list(islice(messages, BATCH)):
                yield _batch(batch)
                count += len(batch)
    except Exception as error:  # readers raise whatever they like at a damaged line
        raise LinkError(f"{file}: after {count} frames: {error or type(error).__name__}") from error


def _batch(messages: list[can.Message]) -> Logged:
    ids = np.array(
        [
            one.arbitration_id
            | EXTENDED * one.is_extended_id
            | REMOTE * one.is_remote_frame
            | ERROR * one.is_error_frame
            for one in messages
        ],
        np.uint32,
    )
    rows = bytearray().join([bytes(one.data[:WIDTH]).ljust(WIDTH, b"\0") for one in messages])
    lengths = np.array([len(one.data) for one in messages], np.int64)
    times = np.array([round(one.timestamp * 1e9) for one in messages], np.int64)
    channels = ["" if one.channel is None else str(one.channel) for one in messages]
    return Logged(Frames(ids, np.frombuffer(rows, np.uint8).reshape(-1, WIDTH), lengths, times), channels)
