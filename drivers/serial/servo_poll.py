"""Schedules the requests that poll a servo bus. This is the only place where jointwatch writes on a robot's bus.

Polling takes place only where the configuration says `poll = true`, and only with packets of servo_packets.read_packet,
which can only make read instructions. The driver listens for a while before its first request, and as soon as it hears
another master, it stops polling and continues as a tap.
"""

from collections import deque
from collections.abc import Sequence
from itertools import groupby
from typing import Final, NamedTuple

from drivers.serial.servo_packets import PacketSplitter, Protocol, Range, ServoPacket, read_packet

LISTEN_FIRST: Final = 0.3  # s of listening before the first request: another master would send a request meanwhile
RETURN_DELAY: Final = 5e-4  # s between request and answer in the factory setting, the longest possible setting
PATIENCE: Final = 0.02  # further s for an answer: the latency timer of a USB adapter is 16 ms
LATE_ECHOES: Final = 8  # requests whose echo may still come, since a busy adapter or machine delivers it late
WITHOUT_ECHO: Final = 3  # answered requests without any echo, after which the line counts as one without echoes
BITS: Final = 10  # on the line for each byte, start and stop bit included
_OVERHEAD: Final = {"dynamixel2": 11, "dynamixel1": 6, "feetech": 6}  # bytes of an answer in addition to its data
_FAST_HEAD, _FAST_OVERHEAD = 8, 4  # bytes before the answers to a fast read, and in each in addition to its data


class ReadRequest(NamedTuple):
    """One request, and the expected answers."""

    packet: bytes
    ranges: tuple[Range, ...]
    fast: bool = False  # whether all answers come in one packet


def cycle_of(protocol: Protocol, ranges: Sequence[Range], fast: bool = False) -> list[ReadRequest]:
    """Return requests that read all these ranges once: one for each group of equal registers, with 1.0 one for each
    servo.

    fast: groups are read by fast sync reads (2.0 alone).
    """
    if protocol == "dynamixel1":  # it has no sync read
        groups = [[one] for one in ranges]
    else:
        ordered = sorted(ranges, key=lambda one: (one.address, one.length))
        groups = [list(group) for _, group in groupby(ordered, key=lambda one: (one.address, one.length))]
    return [ReadRequest(read_packet(protocol, group, fast), tuple(group), fast and len(group) > 1) for group in groups]


def wire_time(protocol: Protocol, request: ReadRequest, baudrate: int) -> float:
    """Return the time of a request and its answers on the line, s, without return delays."""
    each = _FAST_OVERHEAD if request.fast else _OVERHEAD[protocol]
    answers = sum(each + one.length for one in request.ranges) + _FAST_HEAD * request.fast
    return (len(request.packet) + answers) * BITS / baudrate


class Poll:
    """Schedule of a cycle of requests. `skipped`: cycles left out because earlier ones took too long."""

    def __init__(self, protocol: Protocol, cycle: Sequence[ReadRequest], rate: float, baudrate: int) -> None:
        """rate: cycles a second, Hz; baudrate: bit/s."""
        self._cycle = cycle
        self._period = 1 / rate
        self._patience = [
            PATIENCE + RETURN_DELAY * len(one.ranges) + wire_time(protocol, one, baudrate) for one in cycle
        ]
        self._own = [next(PacketSplitter(protocol).feed(one.packet)) for one in cycle]
        self._place = 0  # index of the next request in the cycle
        self._unechoed = deque[int](maxlen=LATE_ECHOES)  # places of the newest requests whose echo has not come
        self._without_echo = 0  # answered requests before the first echo
        self._echoes = False  # whether any echo has come
        self._start = 0.0  # s at which this cycle is due; 0: not yet known
        self._latest = 0.0  # s until which answers may come
        self.skipped = 0

    def due(self, now: float) -> ReadRequest | None:
        """Return the request to send now, if one is due."""
        if not self._start:
            self._start = now + LISTEN_FIRST
        if self._place == 0:
            if now < self._start:
                return None
            behind = int((now - self._start) / self._period)
            self.skipped += behind
            self._start += behind * self._period
        request = self._cycle[self._place]
        self._unechoed.append(self._place)
        self._latest = now + self._patience[self._place]
        self._place = (self._place + 1) % len(self._cycle)
        if self._place == 0:
            self._start += self._period
        return request

    def too_late(self, now: float) -> bool:
        """Whether the time for answers to the newest request is over."""
        return now >= self._latest

    def next(self, waiting: bool) -> float:
        """Return the time (s) of the next action. waiting: whether answers are still expected."""
        if waiting:
            return self._latest
        return self._start if self._place == 0 else 0.0

    def is_echo(self, packet: ServoPacket) -> bool:
        """Whether a packet is the echo of a request on the shared line; each request has one echo, in order."""
        if self._without_echo >= WITHOUT_ECHO:
            return False
        places = [self._own[place] for place in self._unechoed]
        if packet not in places:
            return False
        for _ in range(places.index(packet) + 1):
            self._unechoed.popleft()
        self._echoes, self._without_echo = True, 0
        return True

    def answered(self) -> None:
        """Note that all answers to a request have come, and with them its echo, if the line has echoes."""
        self._without_echo += not self._echoes
