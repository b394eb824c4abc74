"""Carries batches of readings from driver processes to the core over one PUSH/PULL pair, and counts every loss.

A message is one frame: a header (``HEADER``), a body, and the driver's name. Readings are sent as the raw bytes of
their NumPy array; readings that the core needs together are sent together. From time to time a driver sends its own
counters as a msgpack map on the same socket, so both stay in order.
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
TIME: Final = struct.Struct("<q")  # the time of a reading
MAGIC: Final = b"JWR2"
ROW: Final = READING.itemsize
READINGS, COUNTERS = 0, 1
QUEUE: Final = 20_000  # messages that may wait for a busy core: over 1 s at 8 kframe/s, one frame a message
#: ns, argued: Longest time for which a driver keeps readings: as long as the core lets readings of a joint wait.
LONGEST: Final = 20_000_000
#: s, argued: Least duration of a read while readings are kept: on most wires the next frames have arrived by then.
SHORTEST: Final = 0.001

log = logging.getLogger("jointwatch")


class Sender:
    """The driver's end of the channel. It never waits: readings that the core cannot take are lost and counted."""

    def __init__(self, endpoint: str, driver: str, awaited: Awaited | None = None) -> None:
        """awaited: the time until which readings may be kept; None: readings are sent at once."""
        self._socket: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.PUSH)
        self._socket.setsockopt(zmq.SNDHWM, QUEUE)
        self._socket.setsockopt(zmq.LINGER, 100)
        self._socket.connect(endpoint)
        self._name = driver.encode()
        self._boot = int.from_bytes(os.urandom(7), "little")
        self._made = 0
        self._awaited = awaited
        self._kept = bytearray()
        self._until = 0  # monotonic ns until which these readings are kept

    def send(self, readings: NDArray[np.void]) -> None:
        """Send one contiguous batch; if the core does not need it yet, it is sent together with a later one.

        An empty batch means that no frame arrived during the last read.
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
        """Send the readings that are kept."""
        if self._kept:
            self._put(READINGS, self._kept)
            self._made += len(self._kept) // ROW
            self._kept = bytearray()

    def patience(self, longest: float) -> float:
        """Return the longest duration of the next read (s), up to `longest`, so that kept readings are in time."""
        if not self._kept:
            return longest
        return min(longest, max(SHORTEST, (self._until - time.monotonic_ns()) / 1e9))

    def report(self, up: bool, counters: Mapping[str, int], cause: str = "") -> None:
        """Send the driver's own totals after the readings that came before them."""
        self.flush()
        self._put(COUNTERS, msgpack.packb({"up": up, "cause": cause, "counters": dict(counters)}))

    def close(self) -> None:
        """Close the socket; queued messages have 100 ms to be sent."""
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
    """The core's record of one driver."""

    boot: int = 0
    next: int = 0  # expected sequence number
    number: int = 0  # number of this boot among the boots of all drivers from which the core has heard
    since: int = 0  # number of the drain in which it was first heard
    before: dict[int, tuple[int, int]] = field(default_factory=dict)  # earlier boot → expected sequence, number
    readings: int = 0
    lost: int = 0
    restarts: int = -1  # the first boot is a start, not a restart
    up: bool = False
    cause: str = ""
    seen: float = 0.0  # monotonic s of the last message
    unknown: bool = False  # whether the count of its readings before its first message is unknown
    counters: dict[str, int] = field(default_factory=dict)


class Ledger:
    """Stores the number of processed readings of each driver in a file, so that a new core counts losses."""

    def __init__(self, path: Path) -> None:
        self._file = SealedFile(path)
        self._known: dict[str, list[int]] = {}
        self._damaged = False
        try:
            found = self._file.read()
            self._known = msgpack.unpackb(found) if found else {}  # empty for the first core
        except (ValueError, msgpack.UnpackException) as error:
            self._damaged = True
            log.warning(
                "%s: %s: what was lost before this core's start is unknown, and losses are counted from now on",
                path, error,
            )  # fmt: skip
        self._kept = b""

    def opened(self, name: str) -> DriverLink:
        """Return the counters of a driver, continued from the core before this one."""
        boot, expected = self._known.get(name, (0, 0))
        return DriverLink(boot=boot, next=expected, restarts=0 if boot else -1, unknown=self._damaged)

    def keep(self, links: Mapping[str, DriverLink], held: Mapping[str, int]) -> None:
        """Write the counters that have changed. held: readings of each driver that are not processed yet."""
        packed = msgpack.packb({name: (link.boot, link.next - held.get(name, 0)) for name, link in links.items()})
        if packed != self._kept:
            self._kept = packed
            self._file.write(packed)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class CoreReceiver:
    """The core's end of the channel: receives readings and counts missing ones."""

    def __init__(self, endpoint: str, ledger: Path | None = None) -> None:
        """ledger: file with the counters from which the next core continues, see Ledger."""
        self._ledger = None if ledger is None else Ledger(ledger)
        self._socket: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.PULL)
        self._socket.setsockopt(zmq.RCVHWM, QUEUE)
        self._socket.setsockopt(zmq.LINGER, 0)
        self._socket.bind(endpoint)
        self._timeout = -1  # ms, present timeout of the socket
        self._boots = self._drains = 0
        self._overtaken = False  # whether a new process of a driver was heard before the last message of the old one
        self.links: dict[str, DriverLink] = {}
        self._named: dict[bytes, DriverLink] = {}  # the same, by the name as received
        self.malformed = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()
        if self._ledger is not None:
            self._ledger.close()

    def drain(self, timeout: float, until: int = 0) -> NDArray[np.void]:
        """Wait up to `timeout` s for a message, then take all messages that are already there as one batch. In the
        batch, readings of a killed driver come before readings of the process that replaced it.

        until: ns; while all readings are older than this, keep waiting, at most until `timeout` after this instant.
        """
        wait, flags, newest, latest = int(timeout * 1000), 0, 0, until + int(timeout * 1e9)
        if wait != self._timeout:
            self._timeout = wait
            self._socket.setsockopt(zmq.RCVTIMEO, wait)
        bodies: list[tuple[int, bytes]] = []
        self._drains += 1
        self._overtaken = False
        try:
            for _ in range(QUEUE):  # bounded, so that a flood does not keep the core from its other work
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
        """Note that all drained readings are processed, except `held` readings of each driver."""
        if self._ledger is not None:
            self._ledger.keep(self.links, held)

    def _account(self, message: bytes) -> tuple[int, bytes] | None:
        """Return the number of the driver's boot and the readings of a message as bytes; counts missing readings.

        Returns None if the message has no readings, or if it comes from a killed driver after readings of the next
        process were already used.
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
        """Count missing readings before a message; returns the number of its boot, and whether it comes too late to be
        used.

        A killed driver and the process that replaced it use two connections, and the messages of both alternate until
        those of the old one are used up.
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
        """Make the counters of a driver that sends for the first time."""
        text = name.decode(errors="replace")
        if text not in self.links:
            self.links[text] = self._ledger.opened(text) if self._ledger is not None else DriverLink()
        self._named[name] = self.links[text]
        return self.links[text]

    def _take_report(self, link: DriverLink, body: bytes) -> None:
        """Store the driver's own totals."""
        try:
            report = msgpack.unpackb(body)
            link.up, link.cause, link.counters = report["up"], report["cause"], report["counters"]
        except (ValueError, TypeError, KeyError, msgpack.UnpackException):
            self.malformed += 1
