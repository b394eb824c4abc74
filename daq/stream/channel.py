"""From driver processes to the core: batches of Readings over one PUSH/PULL, every loss counted by sequence.

A message is one frame: a header (``HEADER``), a body, and the driver's name. Readings go as the raw bytes of their
NumPy array; a driver's own counters go, now and then, as a msgpack map on the same socket, so both stay in order.
"""

import os
import struct
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

import msgpack
import numpy as np
import zmq
from numpy.typing import NDArray

from drivers.reading import READING

# magic, kind, length of the name, boot (drawn at every start of the driver), readings made before this batch
HEADER: Final = struct.Struct("<4sHHQQ")
TIME: Final = struct.Struct("<q")  # of a reading
MAGIC: Final = b"JWR2"
READINGS, COUNTERS = 0, 1
QUEUE: Final = 20_000  # messages that may wait for a busy core: > 1 s at 8 kframe/s even when each comes alone


class Sender:
    """A driver's end. It never waits: what the core cannot take is lost, and the sequence says how much."""

    def __init__(self, endpoint: str, driver: str) -> None:
        self._socket: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.PUSH)
        self._socket.setsockopt(zmq.SNDHWM, QUEUE)
        self._socket.setsockopt(zmq.LINGER, 100)
        self._socket.connect(endpoint)
        self._name = driver.encode()
        self._boot = int.from_bytes(os.urandom(7), "little")
        self._made = 0

    def send(self, readings: NDArray[np.void]) -> None:
        """Hand over one batch, contiguous."""
        self._put(READINGS, readings.data)
        self._made += len(readings)

    def report(self, up: bool, counters: Mapping[str, int], cause: str = "") -> None:
        """Hand over the driver's own totals."""
        self._put(COUNTERS, msgpack.packb({"up": up, "cause": cause, "counters": dict(counters)}))

    def close(self) -> None:
        """Give what is queued 100 ms to leave."""
        self._socket.close()

    def _put(self, kind: int, body: bytes | memoryview) -> None:
        head = HEADER.pack(MAGIC, kind, len(self._name), self._boot, self._made)
        try:
            self._socket.send(b"".join((head, body, self._name)), zmq.NOBLOCK)
        except zmq.Again:
            return  # the gap in the sequence tells


@dataclass(slots=True)
class DriverLink:
    """What the core knows of one driver."""

    boot: int = 0
    next: int = 0  # sequence expected
    readings: int = 0
    lost: int = 0
    restarts: int = -1  # the first boot is a start, not a restart
    up: bool = False
    cause: str = ""
    seen: float = 0.0  # monotonic s of the last message
    counters: dict[str, int] = field(default_factory=dict)


class Ledger:
    """How far each driver was heard, in a file that a new core finds: what the old one took is not lost."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            self._known: dict[str, list[int]] = msgpack.unpackb(os.pread(self._file, 1 << 20, 0))
        except (ValueError, msgpack.UnpackException):
            self._known = {}  # the first core, or one that was killed while it wrote
        self._kept = b""

    def opened(self, name: str) -> DriverLink:
        """A driver's books, going on where the core before was killed."""
        boot, expected = self._known.get(name, (0, 0))
        return DriverLink(boot=boot, next=expected, restarts=0 if boot else -1)

    def keep(self, links: Mapping[str, DriverLink], held: Mapping[str, int]) -> None:
        """Write how far it is now, where that is further. held: readings of each driver that went nowhere yet."""
        told = msgpack.packb({name: (link.boot, link.next - held.get(name, 0)) for name, link in links.items()})
        if told != self._kept:
            self._kept = told
            os.pwrite(self._file, told, 0)

    def close(self) -> None:
        """Done."""
        os.close(self._file)


class CoreReceiver:
    """The core's end: drains what is there and keeps the books."""

    def __init__(self, endpoint: str, ledger: Path | None = None) -> None:
        """ledger: the file where it is kept how far each driver was heard, for the receiver after a killed one."""
        self._ledger = None if ledger is None else Ledger(ledger)
        self._socket: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.PULL)
        self._socket.setsockopt(zmq.RCVHWM, QUEUE)
        self._socket.setsockopt(zmq.LINGER, 0)
        self._socket.bind(endpoint)
        self._timeout = -1  # ms, of the socket
        self.links: dict[str, DriverLink] = {}
        self._named: dict[bytes, DriverLink] = {}  # the same, by the name as it comes
        self.malformed = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()
        if self._ledger is not None:
            self._ledger.close()

    def drain(self, timeout: float, until: int = 0) -> NDArray[np.void]:
        """Wait up to timeout seconds for a message, take every other that is already there: one batch.

        until: ns, before which no reading is worth a batch of its own: it waits on for one that is not, no longer
        than timeout behind that instant.
        """
        wait, flags, newest, latest = int(timeout * 1000), 0, 0, until + int(timeout * 1e9)
        if wait != self._timeout:
            self._timeout = wait
            self._socket.setsockopt(zmq.RCVTIMEO, wait)
        bodies: list[bytes] = []
        try:
            for _ in range(QUEUE):  # bounded: a flood must not keep the core from its other work
                body = self._account(self._socket.recv(flags))
                if body:
                    bodies.append(body)
                    (newest,) = TIME.unpack_from(body, len(body) - READING.itemsize)
                if newest >= until or time.monotonic_ns() > latest:
                    flags = zmq.NOBLOCK
        except zmq.Again:
            pass
        return np.frombuffer(b"".join(bodies), READING)

    def keep(self, held: Mapping[str, int]) -> None:
        """What was drained is done with, except what is held: how many readings of each driver."""
        if self._ledger is not None:
            self._ledger.keep(self.links, held)

    def _account(self, message: bytes) -> bytes | None:
        """The readings of a message, as they are; what is missing before them is counted."""
        if len(message) < HEADER.size:
            self.malformed += 1
            return None
        magic, kind, named, boot, made = HEADER.unpack_from(message)
        end = len(message) - named
        if magic != MAGIC or end < HEADER.size:
            self.malformed += 1
            return None
        link = self._named.get(message[end:]) or self._new_link(message[end:])
        link.seen = time.monotonic()
        if boot != link.boot:
            link.boot, link.next = boot, 0
            link.restarts += 1
        if made > link.next:
            link.lost += made - link.next
        link.next = made
        count, odd = divmod(end - HEADER.size, READING.itemsize)
        if kind == COUNTERS:
            self._take_report(link, message[HEADER.size : end])
            return None
        if kind != READINGS or odd:
            self.malformed += 1
            return None
        link.up = True
        link.next += count
        link.readings += count
        return message[HEADER.size : end]

    def _new_link(self, name: bytes) -> DriverLink:
        """The books of a driver that was not heard before."""
        said = name.decode(errors="replace")
        if said not in self.links:
            self.links[said] = self._ledger.opened(said) if self._ledger is not None else DriverLink()
        self._named[name] = self.links[said]
        return self.links[said]

    def _take_report(self, link: DriverLink, body: bytes) -> None:
        """A driver's own totals."""
        try:
            report = msgpack.unpackb(body)
            link.up, link.cause, link.counters = report["up"], report["cause"], report["counters"]
        except (ValueError, TypeError, KeyError, msgpack.UnpackException):
            self.malformed += 1
