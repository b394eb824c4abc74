"""CAN over UDP multicast: a bus without hardware."""

import os
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import can
import numpy as np
from can.interfaces.udp_multicast.utils import pack_message

from hil_rig.plants.base import RigError
from hil_rig.wire.can import CanFrames

DATAGRAMS: Final = 40  # in a row at most: a reader's socket queues some 270 by default, and cannot say stop


class Multicast(CanFrames):
    """CAN frames as python-can sends them over UDP multicast; they do not leave this host."""

    settle = 0.0
    burst = DATAGRAMS

    def __init__(self, link: Path | None) -> None:
        if link is not None:
            raise RigError("--link goes with a terminal: there is none on udp")
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
        try:
            self._socket.connect((self.device, self.port))
        except OSError as error:
            raise RigError(f"no route for multicast to {self.device}: {error.strerror}") from error

    def listening(self) -> bool:
        """Whether some program has ever joined the group."""
        self._heard = self._heard or _members(self.device) > 0
        return self._heard

    def send(self, units: Sequence[bytes]) -> None:
        """One datagram a frame."""
        for unit in units:
            try:
                self._socket.send(unit)
                self.sent += 1
            except OSError:
                self.refused += 1

    def full(self) -> bool:
        return False

    def _can(self, identifier: int, payload: bytes) -> bytes:
        return pack_message(can.Message(arbitration_id=identifier, data=payload, is_extended_id=False))

    def rubbish(self, rng: np.random.Generator) -> bytes:
        return b"\xc1" + rng.bytes(int(rng.integers(1, 20)))  # 0xC1 never begins msgpack

    def close(self) -> None:
        self._socket.close()


def _members(group: str) -> int:
    """How many sockets of this host have joined a group."""
    wanted = f"{int.from_bytes(socket.inet_aton(group), 'little'):08X}"
    rows = (line.split() for line in Path("/proc/net/igmp").read_text().splitlines())
    return sum(int(row[1]) for row in rows if row and row[0] == wanted)
