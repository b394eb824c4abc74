"""Carries batches of readings from driver processes to the core over one PUSH/PULL pair, and counts every loss.

A message is one frame: a header (``HEADER``), a body, and the driver's name. Readings are sent as the raw bytes of
their NumPy array, those together that the core needs together. A driver's own counters follow now and then as a msgpack
map on the same socket, so both stay in order.
"""

import logging
import os
import struct
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Final, Self

import msgpack
import numpy as np
import zmq
from numpy.typing import NDArray

from daq.stream.awaited import Awaited
from daq.stream.checksum import SealedFile
from drivers.reading import READING

# magic, kind, length of the name, boot (drawn at every start of the driver), readings made before this batch
HEADER: Final = struct.Struct("<4sHHQQ")
TIME: Final = struct.Struct("<q")  # of a reading
MAGIC: Final = b"JWR2"
ROW: Final = READING.itemsize
READINGS, COUNTERS = 0, 1
QUEUE: Final = 20_000  # messages that may wait for a busy core: > 1 s at 8 kframe/s even when each comes alone
#: ns, argued: Time that a driver keeps readings at most: as long as the core lets those of a joint wait.
LONGEST: Final = 20_000_000
#: s, argued: Time of a read, at least, while readings are kept: a usual wire has its next frames by then.
SHORTEST: Final = 0.001

log = logging.getLogger("jointwatch")


class Sender:
    """A driver's end. It never waits: what the core cannot take is lost, and the sequence shows how much."""

    def __init__(self, endpoint: str, driver: str, awaited: Awaited | None = None) -> None:
        """awaited: until when readings may be kept; left out: they are not kept."""
        self._socket: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.PUSH)
        self._socket.setsockopt(zmq.SNDHWM, QUEUE)
        self._socket.setsockopt(zmq.LINGER, 100)
        self._socket.connect(endpoint)
        self._name = driver.encode()
        self._boot = int.from_bytes(os.urandom(7), "little")
        self._made = 0
        self._awaited = awaited
        self._kept = bytearray()
        self._until = 0  # monotonic ns up to which these are kept

    def send(self, readings: NDArray[np.void]) -> None:
        """Hand over one batch, contiguous; where the core waits for none of it yet, it goes with a later one.

        An empty batch says that nothing more has come in the time that a read lasted.
        """
        if not len(readings):
            if self._kept and time.monotonic_ns() >= self._until:
                self.flush()
            return
        self._kept += readings.data
        instant = 0 if self._awaited is None else self._awaited.instant
        if instant:
            (oldest,), (newest,) = TIME.unpack_from(self._kept), TIME.unpack_from(self._kept, len(self._kept) - ROW)
            self._until = min(instant, oldest + LONGEST)
            if newest < self._until:
                return
        self.flush()

    def flush(self) -> None:
        """Hand over what is kept."""
        if self._kept:
            self._put(READINGS, self._kept)
            self._made += len(self._kept) // ROW
            self._kept = bytearray()

    def patience(self, longest: float) -> float:
        """Seconds that the next read may last, at most `longest`: what is kept does not wait for it."""
        if not self._kept:
            return longest
        return min(longest, max(SHORTEST, (self._until - time.monotonic_ns()) / 1e9))

    def report(self, up: bool, counters: Mapping[str, int], cause: str = "") -> None:
        """Hand over the driver's own totals, after what was read before them."""
        self.flush()
        self._put(COUNTERS, msgpack.packb({"up": up, "cause": cause, "counters": dict(counters)}))

    def close(self) -> None:
        """Give what is queued 100 ms to leave."""
        self.flush()
        self._socket.close()

    def _put(self, kind: int, body: bytes | bytearray) -> None:
        head = HEADER.pack(MAGIC, kind, len(self._name), self._boot, self._made)
        try:
            self._socket.send(b"".join((head, body, self._name)), zmq.NOBLOCK)
        except zmq.Again:
            return  # the core sees the gap in the sequence


@dataclass(slots=True)
class DriverLink:
    """What the core knows of one driver."""

    boot: int = 0
    next: int = 0  # sequence expected
    number: int = 0  # of this boot among those of all drivers that the core has heard of
    since: int = 0  # the drain that heard of it first
    before: dict[int, tuple[int, int]] = field(default_factory=dict)  # by earlier boots: sequence expected, number
    readings: int = 0
    lost: int = 0
    restarts: int = -1  # the first boot is a start, not a restart
    up: bool = False
    cause: str = ""
    seen: float = 0.0  # monotonic s of the last message
    unknown: bool = False  # whether it is unknown what it had made before its first message
    counters: dict[str, int] = field(default_factory=dict)


class Ledger:
    """How many readings of each driver the core has processed, in a file: a new core counts what the old one lost."""

    def __init__(self, path: Path) -> None:
        self._file = SealedFile(path)
        self._known: dict[str, list[int]] = {}
        self._damaged = False
        try:
            found = self._file.read()
            self._known = msgpack.unpackb(found) if found else {}  # the first core finds nothing
        except (ValueError, msgpack.UnpackException) as error:
            self._damaged = True
            log.warning(
                "%s: %s: what was lost before this core's start is unknown, and losses are counted from now on",
                path, error,
            )  # fmt: skip
        self._kept = b""

    def opened(self, name: str) -> DriverLink:
        """The counters of a driver, continued from where the core before was killed."""
        boot, expected = self._known.get(name, (0, 0))
        return DriverLink(boot=boot, next=expected, restarts=0 if boot else -1, unknown=self._damaged)

    def keep(self, links: Mapping[str, DriverLink], held: Mapping[str, int]) -> None:
        """Write the new counters where they changed. held: readings of each driver that are not processed yet."""
        packed = msgpack.packb({name: (link.boot, link.next - held.get(name, 0)) for name, link in links.items()})
        if packed != self._kept:
            self._kept = packed
            self._file.write(packed)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class CoreReceiver:
    """The core's end: takes the readings that are there and counts what is missing."""

    def __init__(self, endpoint: str, ledger: Path | None = None) -> None:
        """ledger: the file of the counters that the next core continues from, see Ledger."""
        self._ledger = None if ledger is None else Ledger(ledger)
        self._socket: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.PULL)
        self._socket.setsockopt(zmq.RCVHWM, QUEUE)
        self._socket.setsockopt(zmq.LINGER, 0)
        self._socket.bind(endpoint)
        self._timeout = -1  # ms, of the socket
        self._boots = self._drains = 0
        self._overtaken = False  # whether a driver's new process was heard before the last words of the old one
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
        """Wait up to `timeout` s for a message, then take every other that is already there: one batch, in which what a
        killed driver has sent stands before what the process in its place has sent.

        until: ns; while all readings are older than this, keep waiting, until `timeout` after this instant at most.
        """
        wait, flags, newest, latest = int(timeout * 1000), 0, 0, until + int(timeout * 1e9)
        if wait != self._timeout:
            self._timeout = wait
            self._socket.setsockopt(zmq.RCVTIMEO, wait)
        bodies: list[tuple[int, bytes]] = []
        self._drains += 1
        self._overtaken = False
        try:
            for _ in range(QUEUE):  # bounded: a flood must not keep the core from its other work
                taken = self._account(self._socket.recv(flags))
                if taken:
                    bodies.append(taken)
                    (newest,) = TIME.unpack_from(taken[1], len(taken[1]) - READING.itemsize)
                if newest >= until or time.monotonic_ns() > latest:
                    flags = zmq.NOBLOCK
        except zmq.Again:
            pass
        if self._overtaken:
            bodies.sort(key=itemgetter(0))
        return np.frombuffer(b"".join(body for _, body in bodies), READING)

    def keep(self, held: Mapping[str, int]) -> None:
        """Note that everything that was drained is processed, except `held` readings of each driver."""
        if self._ledger is not None:
            self._ledger.keep(self.links, held)

    def _account(self, message: bytes) -> tuple[int, bytes] | None:
        """The readings of a message as bytes, after the number of their driver's boot; counts what is missing.

        None where it has no readings, or where its driver was killed and readings of the next process were handed on.
        """
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
        count, odd = divmod(end - HEADER.size, READING.itemsize)
        if kind == COUNTERS:
            count = 0
        elif kind != READINGS or odd:
            self.malformed += 1
            return None
        number, late = self._continue(link, boot, made, count)
        if kind == COUNTERS:
            if number == link.number:
                self._take_report(link, message[HEADER.size : end])
            return None
        if late:
            link.lost += count
            return None
        link.up = True
        link.readings += count
        return number, message[HEADER.size : end]

    def _continue(self, link: DriverLink, boot: int, made: int, count: int) -> tuple[int, bool]:
        """Count what is missing before a message; the number of its boot, and whether it comes too late to be used.

        A driver that was killed and the process that took its place send over two connections, and the messages of
        both come in turns until those of the old one are used up.
        """
        if boot in link.before:
            expected, number = link.before[boot]
            link.lost += max(0, made - expected)
            link.before[boot] = made + count, number
            self._overtaken = True
            return number, link.since != self._drains
        if boot != link.boot:
            if link.restarts >= 0:
                link.before[link.boot] = link.next, link.number
            self._boots += 1
            link.boot, link.next, link.number, link.since = boot, 0, self._boots, self._drains
            link.restarts += 1
            if link.unknown:
                link.next, link.unknown = made, False
        link.lost += max(0, made - link.next)
        link.next = made + count
        return link.number, False

    def _new_link(self, name: bytes) -> DriverLink:
        """The counters of a driver that sends for the first time."""
        text = name.decode(errors="replace")
        if text not in self.links:
            self.links[text] = self._ledger.opened(text) if self._ledger is not None else DriverLink()
        self._named[name] = self.links[text]
        return self.links[text]

    def _take_report(self, link: DriverLink, body: bytes) -> None:
        """Take over the driver's own totals."""
        try:
            report = msgpack.unpackb(body)
            link.up, link.cause, link.counters = report["up"], report["cause"], report["counters"]
        except (ValueError, TypeError, KeyError, msgpack.UnpackException):
            self.malformed += 1
