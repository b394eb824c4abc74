"""CAN adapters: python-can opens and configures adapters of any make, and returns their frames one by one.

Three interfaces are read in bulk instead: slcan and UDP multicast through the descriptor of the port or socket that
python-can opened (reading with python-can costs 127 and 25 µs a frame), SocketCAN through our own socket.
`ignore_config`: no hidden file influences which adapter is opened. Times of reception are on CLOCK_MONOTONIC, so
changes of the wall clock do not affect them.
"""

import fcntl
import logging
import os
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, Protocol, runtime_checkable

import can
import numpy as np
from numpy.typing import NDArray

from drivers.base import LinkError
from drivers.clock import unix_offset
from drivers.decode.decoder import Decoder
from drivers.drain import drain, link_error
from drivers.layout.frame import ERROR, EXTENDED, REMOTE, Frames
from drivers.reading import BIT_RATE_SWITCH, ERROR_STATE, FD, OWN

logging.getLogger("can").setLevel(logging.CRITICAL)  # python-can also raises what it logs, and we report that

# whether recvmmsg can be used: Linux on 64-bit little-endian machines
AVAILABLE: Final = sys.platform == "linux" and sys.maxsize > 2**32 and sys.byteorder == "little"
MOST: Final = 4096  # frames in one read: on a flooded bus the first frames must not wait
WIDTH: Final = 64

# Interfaces whose time stamps are the host's CLOCK_REALTIME at reception: converted to CLOCK_MONOTONIC while draining.
# All others (device clocks of arbitrary epoch) are stamped when the frame has been read.
_REALTIME: Final = frozenset({"socketcan", "virtual"})
_SLACK: Final = 10_000_000  # ns between the time stamp of a frame and the time at which it can be read


class Adapter(Protocol):
    """An open adapter, the source of frames."""

    @property
    def counts(self) -> Mapping[str, int]: ...

    def receive(self, timeout: float) -> Frames: ...

    def close(self) -> None: ...


@runtime_checkable
class Decoding(Protocol):
    """An adapter that reads and decodes frames in one call."""

    def read(self, timeout: float, decoder: Decoder) -> NDArray[np.void]: ...


class Messages:
    """Any adapter, read frame by frame with python-can."""

    def __init__(self, interface: str, channel: str, options: Mapping[str, Any]) -> None:
        self._malformed = 0
        self._name = channel
        self._realtime = interface in _REALTIME
        named = {"state": can.BusState[options["state"]]} if isinstance(options.get("state"), str) else {}
        self._bus = can.Bus(interface=interface, channel=channel, ignore_config=True, **{**options, **named})
        self._lost: LinkError | None = None
        self._empty = time.monotonic_ns()  # time at which no frame was waiting: later frames arrived after it

    @property
    def counts(self) -> Mapping[str, int]:
        """What could not be taken for a frame."""
        return {"malformed": self._malformed}

    def receive(self, timeout: float) -> Frames:
        """Wait for the first frame, then read all available frames. Raises LinkError."""
        messages, arrivals = self._drain(timeout)
        if self._lost is not None and not messages:
            raise self._lost
        arrived = np.array(arrivals, np.int64)
        frames = from_messages(messages, arrived)
        if self._realtime:
            stamps = np.rint(np.array([message.timestamp for message in messages], np.float64) * 1e9).astype(np.int64)
            frames = frames._replace(times=on_monotonic(stamps, arrived, self._empty))  # float64 seconds: 0.24 µs
        if len(messages) < MOST:
            self._empty = time.monotonic_ns()
        return frames

    def _drain(self, timeout: float) -> tuple[list[can.Message], list[int]]:
        messages: list[can.Message] = []
        arrivals: list[int] = []
        for _ in range(MOST if self._lost is None else 0):
            try:
                message = self._bus.recv(timeout)
            except (can.CanError, OSError, ValueError) as error:
                if not _is_garbage(error):  # frames before the error are delivered first
                    self._lost = link_error(self._name, error)
                    break
                self._malformed += 1
            else:
                if message is None:
                    break
                messages.append(message)
                arrivals.append(time.monotonic_ns())
            timeout = 0.0
        return messages, arrivals

    def close(self) -> None:
        with suppress(can.CanError, OSError):
            self._bus.shutdown()


class Slcan:
    """An slcan adapter; its text is read in bulk through the descriptor of the port that python-can opened."""

    def __init__(self, channel: str, options: Mapping[str, Any]) -> None:
        from drivers.can.slcan import SlcanParser  # kernels that no other adapter needs

        self._name = channel.partition("@")[0]
        self._parser = SlcanParser()
        self._bus: Any = None
        self._lock = _claim(self._name)
        try:
            self._bus = can.Bus(interface="slcan", channel=channel, ignore_config=True, **options)
        except BaseException:
            self.close()
            raise

    @property
    def counts(self) -> Mapping[str, int]:
        """What could not be taken for a frame."""
        return self._parser.counts

    def receive(self, timeout: float) -> Frames:
        """Wait for the first byte, then read all available bytes. Raises LinkError."""
        data = drain(self._bus.fileno(), self._name, timeout)
        return self._parser.feed(data, time.monotonic_ns())

    def close(self) -> None:
        """Close the adapter's channel and the port, even if the adapter is gone."""
        if self._bus is not None:
            with suppress(can.CanError, OSError):
                self._bus.shutdown()
            self._bus.serialPortOrig.close()  # python-can leaves the port open if the command could not be sent
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def open_adapter(
    interface: str, channel: str, options: Mapping[str, Any], only: Collection[int] = (), keep_own: bool = True
) -> Adapter:
    """Open an adapter with python-can's options. Raises any error of its library.

    For SocketCAN: only: ids that pass the kernel's filter (empty: all); keep_own: whether frames sent by this host are
    delivered. If options of python-can are given, python-can reads the interface.
    """
    if interface == "socketcan" and AVAILABLE and not options.keys() - {"fd"}:
        from drivers.can.socketcan import SocketCan

        return SocketCan(channel, only, keep_own)
    if interface == "udp_multicast" and AVAILABLE:
        from drivers.can.multicast import MulticastGroup

        return MulticastGroup(channel, options)
    return Slcan(channel, options) if interface == "slcan" else Messages(interface, channel, options)


def _claim(port: str) -> int | None:
    """Lock a port before a command is sent to it, since two readers would take each other's bytes. Raises OSError."""
    if "://" in port:
        return None
    descriptor = os.open(port, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _is_garbage(error: Exception) -> bool:
    """Whether the error means that python-can cannot parse a datagram, while the link itself works."""
    return isinstance(error, can.CanOperationError) and not isinstance(error.__cause__, OSError | None)


def from_messages(messages: Sequence[can.Message], times: NDArray[np.int64]) -> Frames:
    """Convert messages of python-can to a batch; times: ns."""
    flags = [
        EXTENDED * message.is_extended_id | REMOTE * message.is_remote_frame | ERROR * message.is_error_frame
        for message in messages
    ]
    ids = np.array([one.arbitration_id | flag for one, flag in zip(messages, flags, strict=True)], np.uint32)
    kinds = [
        OWN * (not message.is_rx)
        | FD * message.is_fd
        | BIT_RATE_SWITCH * message.bitrate_switch
        | ERROR_STATE * message.error_state_indicator
        for message in messages
    ]
    rows = bytearray().join([message.data[:WIDTH].ljust(WIDTH, b"\0") for message in messages])
    payload = np.frombuffer(rows, np.uint8).reshape(-1, WIDTH)
    return Frames(ids, payload, np.array([_size(one) for one in messages], np.int64), times, np.array(kinds, np.uint32))


def _size(message: can.Message) -> int:
    """Return the number of bytes; of a remote request the number of requested bytes."""
    return int(message.dlc) if message.is_remote_frame else len(message.data)


def on_monotonic(stamps: NDArray[np.int64], arrived: NDArray[np.int64], empty: int) -> NDArray[np.int64]:
    """Return times of reception; the arrival time replaces an impossible stamp, as after a step of the wall clock.

    stamps: ns, CLOCK_REALTIME; arrived: ns, CLOCK_MONOTONIC, time at which the frame had been read; empty: ns, time at
    which no frame was waiting.
    """
    times = stamps - unix_offset()
    believable = (times >= empty - _SLACK) & (times <= arrived + _SLACK)
    return np.where(believable, np.minimum(times, arrived), arrived)
