"""Reads SocketCAN in bulk: filters, size of the queue, causes of error frames, interfaces that go down and come back.

An interface that is down keeps its socket and continues by itself. A removed interface must be opened again.
"""

import errno
import fcntl
import socket
import struct
from collections.abc import Collection, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from drivers.base import LinkError, LinkPausedError
from drivers.can.bus_errors import BusErrors
from drivers.can.receive_buffer import enlarge
from drivers.can.recvmmsg import BulkReceiver, prepare
from drivers.decode.decoder import Decoder
from drivers.drain import link_error
from drivers.layout.frame import ERROR, EXTENDED, REMOTE, Frames

MOST_FILTERS: Final = 512
# linux/can/raw.h
_SOL_CAN_RAW: Final = 101
_FILTER, _ERROR_FILTER, _FLEXIBLE = 1, 2, 5
_ALL_ERRORS: Final = 0x1FFF_FFFF
_SIOCGIFFLAGS: Final = 0x8913
_UP: Final = 1


class SocketCan:
    """One CAN interface of the kernel, open for reading."""

    def __init__(self, channel: str, only: Collection[int] = (), keep_own: bool = True) -> None:
        """only: ids that pass the kernel's filter, empty: all. Raises OSError."""
        self._name = channel
        self._down = False
        self._lost: LinkError | None = None
        self._errors = BusErrors(channel)
        self._socket = socket.socket(socket.AF_CAN, socket.SOCK_RAW, socket.CAN_RAW)
        try:
            prepare(self._socket)
            self._socket.setsockopt(_SOL_CAN_RAW, _ERROR_FILTER, _ALL_ERRORS)
            self._socket.setsockopt(_SOL_CAN_RAW, _FLEXIBLE, 1)
            if 0 < len(only) <= MOST_FILTERS:
                self._socket.setsockopt(_SOL_CAN_RAW, _FILTER, filters(only))
            self.room = enlarge(self._socket, channel)
            self._socket.bind((channel,))
        except BaseException:
            self._socket.close()
            raise
        self._receiver = BulkReceiver(self._socket.fileno(), keep_own)

    @property
    def counts(self) -> Mapping[str, int]:
        """Return the counts of dropped frames, frames of this host, malformed records, and bus errors."""
        receiver = self._receiver
        return {
            "dropped": receiver.dropped,
            "own_frames": receiver.own,
            "malformed": receiver.malformed,
            "restamped": receiver.restamped,
            **self._errors.counts,
        }

    def receive(self, timeout: float) -> Frames:
        """Wait for the first frame, then read all available frames. Raises LinkError."""
        before = self._before()
        try:
            frames = self._receiver.receive(timeout)
        except OSError as error:
            raise self._wrong(error) from error
        self._look(before, len(frames.ids))
        return frames

    def read(self, timeout: float, decoder: Decoder) -> NDArray[np.void]:
        """Receive and decode in one call: a READING array. Raises LinkError."""
        before = self._before()
        try:
            found, readings = self._receiver.read(timeout, decoder)
        except OSError as error:
            raise self._wrong(error) from error
        self._look(before, found)
        return readings

    def _before(self) -> int:
        """Return the number of error frames so far. Raises LinkError."""
        if self._lost is not None:
            raise self._lost
        return self._receiver.errors

    def _wrong(self, error: OSError) -> LinkError:
        if error.errno == errno.ENETDOWN:
            self._down = True
            return self._paused()
        self._lost = link_error(self._name, error)
        return self._lost

    def _look(self, before: int, found: int) -> None:
        """Process bus errors among these frames, and check that the interface is up. Raises LinkPausedError."""
        if self._receiver.errors != before:
            frames = self._receiver.frames(found)
            which = np.flatnonzero(frames.ids & ERROR)
            self._errors.absorb(frames.ids[which], frames.payload[which])
        if self._down:
            if not found and not self._is_up():
                raise self._paused()
            self._down = False

    def close(self) -> None:
        self._socket.close()

    def _is_up(self) -> bool:
        request = struct.pack("@16s16x", self._name.encode())
        try:
            answer = fcntl.ioctl(self._socket, _SIOCGIFFLAGS, request)
        except OSError as error:  # the interface was removed
            raise link_error(self._name, error) from error
        return bool(struct.unpack_from("@H", answer, 16)[0] & _UP)

    def _paused(self) -> LinkPausedError:
        return LinkPausedError(str(link_error(self._name, OSError(errno.ENETDOWN, "down"))))


def filters(ids: Collection[int]) -> bytes:
    """Return the CAN_RAW_FILTER for exactly these data frames (ids with EXTENDED)."""
    exact = EXTENDED | REMOTE
    return b"".join(struct.pack("=II", one, exact | (0x1FFF_FFFF if one & EXTENDED else 0x7FF)) for one in sorted(ids))
