"""Reads our own recordings (MCAP) as batches of frames: every recorded channel is a frame of one 64-bit float.

Signals have the names and values that they had on their wires (MESSAGE.signal): the scale and offset of the recorded
configuration are removed, so that the same configuration can be used with a file instead of the wire. Readings are
stored in attachments (see reading_block.py).
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from mcap.records import Attachment, McapRecord, Metadata

from drivers.base import DriverError, LayoutError, nearest
from drivers.files.mcap_records import records
from drivers.files.reading_block import unpack
from drivers.layout.frame import FrameLayout, Frames, Signal

SUFFIX: Final = ".mcap"
BLOCKS: Final = "application/x-jointwatch-readings"
UNIT: Final = "SI"


class _Route(NamedTuple):
    driver: str
    signal: str  # MESSAGE.signal
    scale: float
    offset: float


class RecordingFile:
    """A recording that is read once from beginning to end; times are those of the readings, ns on the recorded
    clock."""

    def __init__(self, path: Path, driver: str = "") -> None:
        """driver: the driver whose readings are used; empty: all."""
        self._path, self._driver = path, driver
        self._others = self._malformed = 0

    @property
    def counts(self) -> Mapping[str, int]:
        """Return the counts of damaged blocks and of readings of other drivers."""
        return {"malformed": self._malformed, "other_channels": self._others}

    def blocks(self) -> Iterator[Frames]:
        """Yield its readings in order of arrival. Raises DriverError if the file cannot be read."""
        mine = np.array([not self._driver or one.driver == self._driver for one in _routes(self._path)])
        for record in _records(self._path):
            if isinstance(record, Attachment) and record.media_type == BLOCKS:
                try:
                    frames = _unpacked(record.data)
                except ValueError:
                    self._malformed += 1
                    continue
                known = frames.ids < len(mine)
                wanted = known & mine[np.where(known, frames.ids, 0)]
                self._malformed += int(np.count_nonzero(~known))
                self._others += int(np.count_nonzero(known & ~wanted))
                yield frames.part(wanted)


def layout(path: Path, driver: str = "") -> FrameLayout:
    """Return the layout of all recorded signals (of one driver). Raises LayoutError."""
    try:
        routes = _routes(path)
    except DriverError as error:
        raise LayoutError(str(error)) from error
    drivers = {one.driver for one in routes}
    if driver and driver not in drivers:
        raise LayoutError(f'{path}: found no driver "{driver}" in it, {nearest(driver, drivers)}')
    signals: dict[str, Signal] = {}
    for number, one in enumerate(routes):
        if one.scale and (not driver or one.driver == driver) and one.signal not in signals:
            back = 1.0 / one.scale
            signals[one.signal] = Signal(number, 0, 64, kind="float", scale=back, offset=-back * one.offset, unit=UNIT)
    return FrameLayout(dict.fromkeys(range(len(routes)), 8), signals)


def _routes(path: Path) -> list[_Route]:
    """Return the route of each channel according to the recorded configuration. Raises DriverError."""
    for record in _records(path):
        if isinstance(record, Metadata) and record.name == "configuration":
            try:
                return list(_channels(json.loads(record.metadata["json"])))
            except (KeyError, TypeError, AttributeError, ValueError) as error:
                raise DriverError(f"{path}: its configuration cannot be used: {error!r}") from error
    raise DriverError(f"{path}: found no configuration in it: is it a recording of jointwatch?")


def _channels(config: Mapping[str, Any]) -> Iterator[_Route]:
    """Return the routes of all channels, in the order of the service's table of channels."""
    for joint in config["joints"].values():
        clocks = [joint[key] for key in ("counter", "device_time") if joint.get(key)]
        for one in (*joint["channels"].values(), *clocks):
            driver, _, signal = one["signal"].partition(".")
            yield _Route(driver, signal, float(one.get("scale", 1.0)), float(one.get("offset", 0.0)))


def _unpacked(data: bytes) -> Frames:
    """Unpack a block. Raises ValueError."""
    _, rows = unpack(data)
    payload = np.ascontiguousarray(rows["value"]).view(np.uint8).reshape(-1, 8)
    lengths = np.full(len(rows), 8)
    return Frames(rows["channel"].astype(np.uint32), payload, lengths, rows["time"].copy(), rows["flags"].copy())


def _records(path: Path) -> Iterator[McapRecord]:
    """Yield every complete record except messages. Raises DriverError."""
    try:
        yield from records(path, messages=False)
    except OSError as error:
        raise DriverError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise DriverError(f"{path}: not a recording: {error}") from error
