"""Listens for a while to a wire about which nothing is known: raw frames of a bus, or raw bytes of a port."""

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from drivers.can.adapter import open_adapter
from drivers.can.bus import UNHURRIED
from drivers.drain import drain, link_error
from drivers.layout.frame import Frames
from drivers.serial.serial_line import SerialLine


def listen_bus(
    interface: str, channel: str, options: Mapping[str, Any], seconds: float
) -> tuple[Frames, dict[str, int]]:
    """Return all frames that arrive, and the adapter's own counters; options: of python-can. Raises LinkError."""
    try:
        adapter = open_adapter(interface, channel, {**UNHURRIED.get(interface, {}), **options})
    except Exception as error:  # libraries of adapters raise errors of any type if opening fails
        raise link_error(channel, error) from error
    parts: list[Frames] = []
    try:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            parts.append(adapter.receive(min(left, 0.1)).copy())
        counts = dict(adapter.counts)
    finally:
        adapter.close()
    return _together(parts), counts


def listen_port(port: str, baudrate: int, seconds: float) -> bytes:
    """Return all bytes that arrive. Raises LinkError."""
    parts: list[bytes] = []
    with SerialLine(port, baudrate) as line:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            parts.append(drain(line.opened().fileno(), port, min(left, 0.1)))
    return b"".join(parts)


def _together(parts: list[Frames]) -> Frames:
    width = max((part.payload.shape[1] for part in parts), default=8)
    return Frames(
        np.concatenate([np.zeros(0, np.uint32), *(part.ids for part in parts)]),
        np.concatenate(
            [
                np.zeros((0, width), np.uint8),
                *(np.pad(part.payload, ((0, 0), (0, width - part.payload.shape[1]))) for part in parts),
            ]
        ),
        np.concatenate([np.zeros(0, np.int64), *(part.lengths for part in parts)]),
        np.concatenate([np.zeros(0, np.int64), *(part.times for part in parts)]),
    )
