"""CAN frames over UDP multicast, as python-can sends them: its socket, drained with one system call a frame.

A datagram is a msgpack map of a can.Message's attributes. python-can's own way (select, recvmsg, a Message made and
checked) costs some 25 µs a frame, and its socket has room for 270 of them: a busy host lost frames.
"""

import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

import can
import msgpack
import numpy as np

from drivers.base import LinkError
from drivers.can.arrival_time import on_monotonic
from drivers.can.receive_buffer import enlarge
from drivers.can.recvmmsg import SO_RXQ_OVFL, SO_TIMESTAMPNS, prepare
from drivers.drain import link_error
from drivers.layout.frame import ERROR, EXTENDED, REMOTE, Frames

MOST: Final = 4096  # frames in one go: a flooded bus must not keep its first frames waiting
WIDTH: Final = 64
_DATAGRAM: Final = 4096  # bytes
_STAMP_BYTES: Final = 16
_ANCILLARY: Final = socket.CMSG_SPACE(_STAMP_BYTES) + socket.CMSG_SPACE(4)
_BLANK: Final = bytes(WIDTH)


class Multicast:
    """A group, joined."""

    def __init__(self, channel: str, options: Mapping[str, Any]) -> None:
        """Raises whatever python-can raises, OSError."""
        self._name = channel
        self._bus = can.Bus(interface="udp_multicast", channel=channel, ignore_config=True, **options)
        self._socket = socket.socket(fileno=self._bus.fileno())
        prepare(self._socket)
        enlarge(self._socket, channel)
        self._malformed = self._dropped = 0
        self._lost: LinkError | None = None
        self._empty = time.monotonic_ns()  # when nothing was waiting last: what comes now has arrived later

    @property
    def counts(self) -> Mapping[str, int]:
        """What the kernel dropped for want of room, and what could not be taken for a frame."""
        return {"dropped": self._dropped, "malformed": self._malformed}

    def receive(self, timeout: float) -> Frames:
        """Wait for the first frame, then take all that are there. Raises LinkError."""
        datagrams, stamps = self._drain(timeout)
        if self._lost is not None and not datagrams:
            raise self._lost
        arrived = time.monotonic_ns()
        ids, lengths, taken = [], [], []
        payload = bytearray()
        for at, datagram in enumerate(datagrams):
            try:
                ident, data = _frame(datagram)
            except (ValueError, TypeError, KeyError):
                self._malformed += 1
                continue
            ids.append(ident)
            lengths.append(len(data))
            payload += data
            payload += _BLANK[len(data) :]
            taken.append(stamps[at])
        when = np.frombuffer(b"".join(taken), np.int64).reshape(-1, 2) @ np.array([1_000_000_000, 1])
        times = on_monotonic(when, np.full(len(ids), arrived), self._empty)
        if len(datagrams) < MOST:
            self._empty = arrived
        return Frames(
            np.array(ids, np.uint32),
            np.frombuffer(payload, np.uint8).reshape(-1, WIDTH),
            np.array(lengths, np.int64),
            times,
        )

    def _drain(self, timeout: float) -> tuple[list[bytes], list[bytes]]:
        """Datagrams and the kernel's stamp of each, a timespec."""
        datagrams: list[bytes] = []
        stamps: list[bytes] = []
        try:
            self._socket.settimeout(timeout)
            while len(datagrams) < MOST and self._lost is None:
                datagram, ancillary, _, _ = self._socket.recvmsg(_DATAGRAM, _ANCILLARY)
                self._socket.settimeout(0.0)
                said = {kind: data for _, kind, data in ancillary}
                datagrams.append(datagram)
                stamps.append(said[SO_TIMESTAMPNS])
                if SO_RXQ_OVFL in said:
                    self._dropped = int.from_bytes(said[SO_RXQ_OVFL], "little")
        except (BlockingIOError, TimeoutError, InterruptedError):
            pass
        except OSError as error:  # what came before the end is delivered first
            self._lost = link_error(self._name, error)
        return datagrams, stamps

    def close(self) -> None:
        self._socket.detach()  # python-can closes it
        with suppress(can.CanError, OSError):
            self._bus.shutdown()


def _frame(datagram: bytes) -> tuple[int, bytes]:
    """Id with flags, and data. Raises ValueError, TypeError or KeyError where it is no frame."""
    one = msgpack.unpackb(datagram)
    ident, data, extended, remote = one["arbitration_id"], one["data"], one["is_extended_id"], one["is_remote_frame"]
    if not 0 <= ident < (1 << 29 if extended else 1 << 11) or len(data) > WIDTH or not isinstance(data, bytes):
        raise ValueError("no frame")
    return ident | EXTENDED * extended | REMOTE * remote | ERROR * one["is_error_frame"], b"" if remote else data
