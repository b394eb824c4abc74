"""CAN adapters: python-can opens and configures them and hands over their frames one by one, whatever the make.

Three are read otherwise, in bulk: slcan and UDP multicast through the descriptor of the port or socket that python-can
opened (its own reading costs 127 and 25 µs a frame), SocketCAN through a socket of our own. `ignore_config`: no hidden
file has a say in what is opened. Times of reception are on CLOCK_MONOTONIC, whatever is done to the wall clock.
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

logging.getLogger("can").setLevel(logging.CRITICAL)  # what it logs it also raises, and we say it in one sentence

# whether recvmmsg can be used: Linux on 64-bit little-endian machines
AVAILABLE: Final = sys.platform == "linux" and sys.maxsize > 2**32 and sys.byteorder == "little"
MOST: Final = 4096  # frames in one go: a flooded bus must not keep its first frames waiting
WIDTH: Final = 64

# Interfaces whose time stamps are the host's CLOCK_REALTIME at reception: converted to CLOCK_MONOTONIC while draining.
# All others (device clocks of arbitrary epoch) are stamped when the frame is in our hands.
_REALTIME: Final = frozenset({"socketcan", "virtual"})
_SLACK: Final = 10_000_000  # ns between a frame's stamp and its being there to be read


class Adapter(Protocol):
    """One adapter, open: where frames come from."""

    @property
    def counts(self) -> Mapping[str, int]: ...

    def receive(self, timeout: float) -> Frames: ...

    def close(self) -> None: ...


@runtime_checkable
class Decoding(Protocol):
    """An adapter that decodes what it reads at once."""

    def read(self, timeout: float, decoder: Decoder) -> NDArray[np.void]: ...


class Messages:
    """Any adapter, frame by frame through python-can."""

    def __init__(self, interface: str, channel: str, options: Mapping[str, Any]) -> None:
        self._malformed = 0
        self._name = channel
        self._realtime = interface in _REALTIME
        named = {"state": can.BusState[options["state"]]} if isinstance(options.get("state"), str) else {}
        self._bus = can.Bus(interface=interface, channel=channel, ignore_config=True, **{**options, **named})
        self._lost: LinkError | None = None
        self._empty = time.monotonic_ns()  # when nothing was waiting last: what comes now has arrived later

    @property
    def counts(self) -> Mapping[str, int]:
        """What could not be taken for a frame."""
        return {"malformed": self._malformed}

    def receive(self, timeout: float) -> Frames:
        """Wait for the first frame, then take all that are there. Raises LinkError."""
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
                if not _is_garbage(error):  # what came before the end is delivered first
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
    """An slcan adapter, its text read in bulk through the descriptor of the port that python-can opened."""

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
        """Wait for the first byte, then take all that are there. Raises LinkError."""
        data = drain(self._bus.fileno(), self._name, timeout)
        return self._parser.feed(data, time.monotonic_ns())

    def close(self) -> None:
        """Close the adapter's channel and the port, whatever is left of them."""
        if self._bus is not None:
            with suppress(can.CanError, OSError):
                self._bus.shutdown()
            self._bus.serialPortOrig.close()  # python-can leaves it open where the command could not be sent
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def open_adapter(
    interface: str, channel: str, options: Mapping[str, Any], only: Collection[int] = (), keep_own: bool = True
) -> Adapter:
    """Open an adapter with python-can's options. Raises whatever its library raises.

    For SocketCAN: only: ids that the kernel lets through (all where empty); keep_own: deliver what this host sends.
    Where options of python-can are given for it, python-can reads it.
    """
    if interface == "socketcan" and AVAILABLE and not options.keys() - {"fd"}:
        from drivers.can.socketcan import SocketCan

        return SocketCan(channel, only, keep_own)
    if interface == "udp_multicast" and AVAILABLE:
        from drivers.can.multicast import MulticastGroup

        return MulticastGroup(channel, options)
    return Slcan(channel, options) if interface == "slcan" else Messages(interface, channel, options)


def _claim(port: str) -> int | None:
    """Lock a port before a command is sent to it: two readers would steal each other's bytes. Raises OSError."""
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
    """Something arrived that python-can cannot read (a datagram that is no frame); the link itself is there."""
    return isinstance(error, can.CanOperationError) and not isinstance(error.__cause__, OSError | None)


def from_messages(messages: Sequence[can.Message], times: NDArray[np.int64]) -> Frames:
    """python-can's messages as a batch; times: ns."""
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
    """Bytes; of a remote request those that it asks for."""
    return int(message.dlc) if message.is_remote_frame else len(message.data)


def on_monotonic(stamps: NDArray[np.int64], arrived: NDArray[np.int64], empty: int) -> NDArray[np.int64]:
    """Times of reception; the arrival where a stamp cannot be true, as after a step of the wall clock.

    stamps: ns, CLOCK_REALTIME; arrived: ns, CLOCK_MONOTONIC, when the frame was in our hands; empty: ns, when none was
    waiting.
    """
    times = stamps - unix_offset()
    believable = (times >= empty - _SLACK) & (times <= arrived + _SLACK)
    return np.where(believable, np.minimum(times, arrived), arrived)
