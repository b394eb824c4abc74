"""A controller that sends its joint's state in UDP datagrams: number (u32), position (f64, rad), torque (f64, N·m)."""

import select
import socket
import struct
import time
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from drivers.base import DriverSettings, LinkError, Loss, Wanted
from drivers.reading import READING

DATAGRAM = struct.Struct("<Idd")
PLACES = {"STATE.number": (0, "1"), "STATE.position": (1, "rad"), "STATE.torque": (2, "N·m")}


class UdpStateSettings(DriverSettings):
    """Where the datagrams arrive."""

    losses: ClassVar[Mapping[str, Loss]] = {
        "lost": Loss("datagrams missing by their number", "a shorter way, or a larger socket buffer"),
        "malformed": Loss("datagrams of another size", "is the sender the right one?"),
    }
    example: ClassVar[str] = """\
[drivers.arm]
kind = "udp_state"
port = 7777

[joints.elbow]
rate = 1000
model = { kind = "rigid" }
counter = { signal = "arm.STATE.number", modulo = 4294967296 }
channels = { position = { signal = "arm.STATE.position" }, torque = { signal = "arm.STATE.torque" } }
"""

    kind: Literal["udp_state"]
    port: int = Field(ge=1, le=65535)

    def signals(self) -> Mapping[str, str]:
        return {name: unit for name, (_, unit) in PLACES.items()}

    def wire(self) -> tuple[str, ...]:
        return "udp", str(self.port)

    def open(self, wanted: Sequence[Wanted]) -> "UdpState":
        self.check(wanted)
        return UdpState(self.port, wanted)


class UdpState:
    def __init__(self, port: int, wanted: Sequence[Wanted]) -> None:
        self.port, self.wanted = port, [(PLACES[one.signal][0], one) for one in wanted]
        self.socket: socket.socket | None = None
        self.counts = dict.fromkeys(("frames", "lost", "malformed"), 0)

    def __enter__(self) -> Self:
        self.counts = dict.fromkeys(self.counts, 0)
        self.last: int | None = None
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self.socket.bind(("127.0.0.1", self.port))
        except OSError as error:
            raise LinkError(f"UDP port {self.port}: {error.strerror}: does another program listen there?") from error
        return self

    def __exit__(self, *_: object) -> None:
        if self.socket is not None:
            self.socket.close()
            self.socket = None

    def read(self, timeout: float) -> NDArray[np.void]:
        if self.socket is None:
            raise LinkError(f"UDP port {self.port}: not open")
        found = []
        while select.select([self.socket], [], [], 0.0 if found else timeout)[0]:
            data, now = self.socket.recv(65536), time.monotonic_ns()
            if len(data) != DATAGRAM.size:
                self.counts["malformed"] += 1
                continue
            values = DATAGRAM.unpack(data)
            self.counts["frames"] += 1
            self.counts["lost"] += 0 if self.last is None else max(0, values[0] - self.last - 1)
            self.last = values[0]
            found += [(now, one.scale * values[place] + one.offset, one.channel, 0) for place, one in self.wanted]
            timeout = 0.0
        return np.array(found, READING)

    def counters(self) -> Mapping[str, int]:
        return dict(self.counts)


class OldSettings(UdpStateSettings):
    """Written for another edition of the contract."""

    API: ClassVar[int] = 0
    kind: Literal["old_state"]  # type: ignore[assignment]
