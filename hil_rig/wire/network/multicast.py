"""CAN over UDP multicast: a bus without hardware."""

import ctypes
import os
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import can
import numpy as np
from can.interfaces.udp_multicast.utils import pack_message
from numpy.typing import NDArray

from hil_rig.messages import Message
from hil_rig.plants.base import RigError
from hil_rig.wire.can import CanFrames

DATAGRAMS: Final = 40  # in a row at most: a reader's socket queues about 270 by default, without flow control


class MulticastWire(CanFrames):
    """CAN frames as python-can sends them over UDP multicast; they do not leave this host."""

    settle = 0.0
    burst = DATAGRAMS

    def __init__(self, link: Path | None) -> None:
        if link is not None:
            raise RigError("--link is for terminals only: udp has none")
        self.sent = self.refused = self.unheard = 0
        pid = os.getpid()
        self.device = f"239.74.{pid >> 8 & 255}.{pid & 255}"
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind(("", 0))
            self.port: int = probe.getsockname()[1]
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 0)  # stays on this host
        self._socket.setblocking(False)
        self._heard = False
        self._batch: _Datagrams | None = None
        try:
            self._socket.connect((self.device, self.port))
        except OSError as error:
            raise RigError(f"no route for multicast to {self.device}: {error.strerror}") from error

    def listening(self) -> bool:
        """Whether some program has ever joined the group."""
        self._heard = self._heard or _members(self.device) > 0
        return self._heard

    def send(self, units: Sequence[bytes]) -> None:
        """Send one datagram for each frame."""
        for unit in units:
            try:
                self._socket.send(unit)
                self.sent += 1
            except OSError:
                self.refused += 1

    def template(self, message: Message) -> tuple[bytes, int]:
        """Return a frame of this message, and the place of its fields."""
        data = bytes(range(0xA0, 0xA0 + sum(field.bits // 8 for field in message.fields) + 2))
        unit = self._can(message.can_id, data)
        return unit, unit.index(data)

    def send_packed(self, samples: NDArray[np.uint8], ends: Sequence[int]) -> None:
        """Send one datagram for each frame, all of a sample in one system call."""
        if self._batch is None or self._batch.ends != tuple(ends):
            self._batch = _Datagrams(ends)
        for sample in samples:
            sent = self._batch.send(self._socket.fileno(), sample)
            self.sent += sent
            self.refused += len(ends) - sent

    def full(self) -> bool:
        return False

    def _can(self, identifier: int, payload: bytes) -> bytes:
        return pack_message(can.Message(arbitration_id=identifier, data=payload, is_extended_id=False))

    def rubbish(self, rng: np.random.Generator) -> bytes:
        return b"\xc1" + rng.bytes(int(rng.integers(1, 20)))  # 0xC1 never begins msgpack

    def close(self) -> None:
        self._socket.close()


class _Datagrams:
    """The arguments of sendmmsg(2) for datagrams that lie after each other (Linux, 64 bits)."""

    def __init__(self, ends: Sequence[int]) -> None:
        """Make the arguments; ends: end of each datagram, in bytes."""
        self.ends = tuple(ends)
        starts = np.array([0, *ends[:-1]], np.int64)
        self._starts = starts
        self._vectors = np.zeros((len(ends), 2), np.int64)  # iovec: where, how many bytes
        self._vectors[:, 1] = np.array(ends) - starts
        self._headers = np.zeros((len(ends), 8), np.int64)  # mmsghdr
        self._headers[:, 2] = self._vectors.ctypes.data + 16 * np.arange(len(ends))
        self._headers[:, 3] = 1
        self._address = self._headers.ctypes.data
        self._sendmmsg = ctypes.CDLL(None).sendmmsg
        self._sendmmsg.argtypes = (ctypes.c_int, ctypes.c_ssize_t, ctypes.c_uint, ctypes.c_int)

    def send(self, descriptor: int, data: NDArray[np.uint8]) -> int:
        """Send one sample and return how many datagrams the kernel accepted; data: contiguous bytes."""
        self._vectors[:, 0] = data.ctypes.data + self._starts
        return max(0, int(self._sendmmsg(descriptor, self._address, len(self.ends), 0)))


def _members(group: str) -> int:
    """Number of this host's sockets that have joined a group."""
    wanted = f"{int.from_bytes(socket.inet_aton(group), 'little'):08X}"
    rows = (line.split() for line in Path("/proc/net/igmp").read_text().splitlines())
    return sum(int(row[1]) for row in rows if row and row[0] == wanted)
