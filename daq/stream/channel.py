"""From driver processes to the core: batches of Readings over one PUSH/PULL, every loss counted by sequence.

A message is two frames: a header (``HEADER``, then the driver's name) and a body. Readings go as the raw bytes of
their NumPy array; a driver's own counters go, now and then, as a msgpack map on the same socket, so both stay in order.
"""

import os
import struct
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

import msgpack
import numpy as np
import zmq
from numpy.typing import NDArray

from drivers.reading import READING, joined

# magic, kind, boot (drawn at every start of the driver), readings made before this batch
HEADER: Final = struct.Struct("<4sIQQ")
MAGIC: Final = b"JWR1"
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
        """Hand over one batch."""
        self._put(READINGS, readings.tobytes())
        self._made += len(readings)

    def report(self, up: bool, counters: Mapping[str, int], cause: str = "") -> None:
        """Hand over the driver's own totals."""
        self._put(COUNTERS, msgpack.packb({"up": up, "cause": cause, "counters": dict(counters)}))

    def close(self) -> None:
        """Give what is queued 100 ms to leave."""
        self._socket.close()

    def _put(self, kind: int, body: bytes) -> None:
        try:
            self._socket.send_multipart(
                (HEADER.pack(MAGIC, kind, self._boot, self._made) + self._name, body), zmq.NOBLOCK
            )
        except zmq.Again:
            return  # the gap in the sequence tells


@dataclass(slots=True)
class Link:
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

    def opened(self, name: str) -> Link:
        """A driver's books, going on where the core before was killed."""
        boot, expected = self._known.get(name, (0, 0))
        return Link(boot=boot, next=expected, restarts=0 if boot else -1)

    def keep(self, links: Mapping[str, Link], held: Mapping[str, int]) -> None:
        """Write how far it is now, where that is further. held: readings of each driver that went nowhere yet."""
        told = msgpack.packb({name: (link.boot, link.next - held.get(name, 0)) for name, link in links.items()})
        if told != self._kept:
            self._kept = told
            os.pwrite(self._file, told, 0)

    def close(self) -> None:
        """Done."""
        os.close(self._file)


class Receiver:
    """The core's end: drains what is there and keeps the books."""

    def __init__(self, endpoint: str, ledger: Path | None = None) -> None:
        """ledger: the file where it is kept how far each driver was heard, for the receiver after a killed one."""
        self._ledger = None if ledger is None else Ledger(ledger)
        self._socket: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.PULL)
        self._socket.setsockopt(zmq.RCVHWM, QUEUE)
        self._socket.setsockopt(zmq.LINGER, 0)
        self._socket.bind(endpoint)
        self.links: dict[str, Link] = {}
        self.malformed = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()
        if self._ledger is not None:
            self._ledger.close()

    def drain(self, timeout: float) -> NDArray[np.void]:
        """Wait up to timeout seconds for the first message, take every other that is already there: one batch."""
        if not self._socket.poll(int(timeout * 1000)):
            return np.zeros(0, READING)
        batches = list(self._messages())
        return joined(batches)

    def keep(self, held: Mapping[str, int]) -> None:
        """What was drained is done with, except what is held: how many readings of each driver."""
        if self._ledger is not None:
            self._ledger.keep(self.links, held)

    def _messages(self) -> Iterator[NDArray[np.void]]:
        for _ in range(QUEUE):  # bounded: a flood must not keep the core from its other work
            try:
                frames = self._socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return
            batch = self._book(frames)
            if batch is not None:
                yield batch

    def _book(self, frames: list[bytes]) -> NDArray[np.void] | None:
        if len(frames) != 2 or len(frames[0]) < HEADER.size or frames[0][:4] != MAGIC:
            self.malformed += 1
            return None
        _, kind, boot, made = HEADER.unpack_from(frames[0])
        name = frames[0][HEADER.size :].decode(errors="replace")
        link = self.links.get(name)
        if link is None:
            link = self.links[name] = self._ledger.opened(name) if self._ledger is not None else Link()
        link.seen = time.monotonic()
        if boot != link.boot:
            link.boot, link.next = boot, 0
            link.restarts += 1
        link.lost += max(0, made - link.next)
        link.next = made
        if kind == COUNTERS:
            try:
                report = msgpack.unpackb(frames[1])
                link.up, link.cause, link.counters = report["up"], report["cause"], report["counters"]
            except (ValueError, TypeError, KeyError, msgpack.UnpackException):
                self.malformed += 1
            return None
        if kind != READINGS or len(frames[1]) % READING.itemsize:
            self.malformed += 1
            return None
        batch = np.frombuffer(frames[1], READING)
        link.up = True
        link.next += len(batch)
        link.readings += len(batch)
        return batch
