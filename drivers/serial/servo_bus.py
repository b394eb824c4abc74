"""Taps a servo bus: receives requests of its master and answers of the servos on the same line, without sending.

With `poll = true` the driver is the bus's only master, and sends read requests itself (drivers/serial/servo_poll.py).

An answer does not state which registers it contains, but the request before it does. So the tap must receive both
directions of the half-duplex line (with its own transmit pin not connected). All answers to a request get the arrival
time of that request, since servos sample when they are asked.
"""

import os.path
import time
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal, Self

import numpy as np
import serial
from numpy.typing import NDArray
from pydantic import Field, model_validator

from drivers.base import DriverSettings, LayoutError, Loss, Probe, StrictSettings, Wanted
from drivers.drain import drain, link_error
from drivers.reading import READING, empty
from drivers.serial.serial_line import SerialLine
from drivers.serial.servo_packets import PacketSplitter, Protocol, Range, ServoPacket, asked, is_shared, separated
from drivers.serial.servo_poll import Poll, cycle_of, wire_time
from drivers.serial.servo_registers import MODELS, ServoRegister


class ServoSettings(StrictSettings):
    """One servo on the bus."""

    name: str = Field(pattern=r"^[^.]+$")
    id: int = Field(ge=0, le=253)
    model: Literal["xl330", "xm430", "xl430", "mx", "sts"]


class ServoBusSettings(DriverSettings):
    """A servo bus and the servos on it."""

    losses: ClassVar[Mapping[str, Loss]] = {
        "garbage_bytes": Loss("bytes outside packets", "the baud rate, or another protocol than configured"),
        "bad_crc": Loss("packets refused by their checksum", "a disturbed line, or two that spoke at once"),
        "unanswered": Loss("requests that a servo did not answer", "is it on? two with its id? can it read fast?"),
        "unmatched": Loss("answers to requests that were not heard", "the tap must hear the master, too"),
        "skipped": Loss("polls left out as earlier answers took too long", "a lower poll_rate, or no return delay"),
        "other_master": Loss("requests of another master: polling has stopped", "poll = false: both would collide"),
        "device_errors": Loss("answers in which the servo reports an error", "its hardware error status says which"),
    }
    example: ClassVar[str] = """\
# A bus of Dynamixel or Feetech servos, tapped while its master runs it (transmit pin not connected): nothing is sent.
[drivers.servos]
kind = "servo_bus"
port = "/dev/serial/by-id/usb-FTDI_…"
baudrate = 1_000_000
protocol = "dynamixel2"              # "dynamixel1", "feetech"
servos = [{ name = "elbow", id = 3, model = "xl330" }]
# poll = true                        # only on a bus without a master: sends reads, poll_rate (Hz) times a second
# poll_fast = true                   # fast sync reads: X430/540 from firmware 45, X330 from 46, P series from 12

[joints.elbow]
rate = 200.0                         # Hz at which the master asks
model = { kind = "rigid" }
[joints.elbow.channels]
position = { signal = "servos.elbow.position" }
torque = { signal = "servos.elbow.current", scale = 0.3 }   # N·m per A at the joint
"""

    kind: Literal["servo_bus"]
    port: str = Field(min_length=1, description="device, best by its lasting name under /dev/serial/by-id")
    baudrate: int = Field(default=1_000_000, gt=0, description="bit/s")
    protocol: Protocol = "dynamixel2"
    servos: tuple[ServoSettings, ...] = Field(min_length=1)
    poll: bool = Field(default=False, description="send reads on the bus: only where it has no other master")
    poll_rate: float = Field(default=100.0, gt=0, description="Hz at which every servo is read, with poll = true")
    poll_fast: bool = Field(default=False, description="by fast sync reads: every servo's firmware has to know them")

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        if self.poll_fast and self.protocol != "dynamixel2":
            raise ValueError(f'poll_fast = true needs protocol = "dynamixel2", found {self.protocol}')
        for what in ("id", "name"):
            values = [getattr(one, what) for one in self.servos]
            twice = sorted({str(one) for one in values if values.count(one) > 1})
            if twice:
                raise ValueError(f"expected every servo's {what} once, found {', '.join(twice)} more than once")
        return self

    def signals(self) -> Mapping[str, str]:
        """Return SERVO.REGISTER of every servo."""
        return {f"{one.name}.{name}": at.unit for one in self.servos for name, at in MODELS[one.model].items()}

    def ranges(self, wanted: Sequence[Wanted]) -> list[Range]:
        """Return the registers to read for these signals, one range for each servo."""
        found = []
        for servo in self.servos:
            registers = [
                MODELS[servo.model][one.signal.partition(".")[2]]
                for one in wanted
                if one.signal.partition(".")[0] == servo.name
            ]
            if registers:
                first = min(one.address for one in registers)
                found.append(Range(servo.id, first, max(one.address + one.size for one in registers) - first))
        return found

    def check(self, wanted: Sequence[Wanted]) -> None:
        """Raise LayoutError for an unknown signal, and for a poll rate that is too fast for the bus."""
        super().check(wanted)
        if not self.poll:
            return
        cycle = cycle_of(self.protocol, self.ranges(wanted), self.poll_fast)
        took = sum(wire_time(self.protocol, one, self.baudrate) for one in cycle)
        if took * self.poll_rate > 1:
            raise LayoutError(
                f"poll_rate = {self.poll_rate:g} Hz is too fast: requests and answers take {took * 1e3:.2f} ms at "
                f"{self.baudrate} bit/s: expected at most {int(1 / took)} Hz, or fewer signals"
            )

    def sends(self) -> str:
        """Return in words what is sent on the bus; empty without polling."""
        return f"reads of registers, {self.poll_rate:g} times a second (poll = true)" if self.poll else ""

    def open(self, wanted: Sequence[Wanted]) -> "ServoBus":
        """A driver for exactly these signals. Raises LayoutError."""
        self.check(wanted)
        return ServoBus(self, wanted)

    def modules(self) -> tuple[str, ...]:
        """The driver; it has no kernels."""
        return ("drivers.serial.servo_bus",)

    def wire(self) -> tuple[str, ...]:
        """The port, under whatever name."""
        return "port", os.path.realpath(self.port)

    @classmethod
    def probe(cls, place: str, seconds: float, options: Mapping[str, str]) -> Probe:
        """Listen to find which registers of which servos are read. place: the port."""
        given = {"kind": "servo_bus", "port": place, "servos": [{"name": "any", "id": 0, "model": "xl330"}]}
        asked_for = cls.model_validate(given | dict(options))
        with ServoBus(asked_for, ()) as bus:
            end = time.monotonic() + seconds
            while (left := end - time.monotonic()) > 0:
                bus.read(min(left, 0.1))
            heard = dict(sorted(bus.heard.items()))
        if not heard:
            return Probe((f"no request for registers within {seconds:g} s: is the baud rate right, the master on?",))
        said = tuple(
            f"servo {ident}: registers {ranges[0].address} to {ranges[0].address + ranges[0].length - 1}, "
            f"{len(ranges) / seconds:.0f} times a second"
            for ident, ranges in heard.items()
        )
        model = {"dynamixel2": "xl330", "dynamixel1": "mx", "feetech": "sts"}[asked_for.protocol]
        servos = ", ".join(f'{{ name = "servo{one}", id = {one}, model = "{model}" }}' for one in heard)
        lines = [
            "# Proposed by `jointwatch doctor` from what was heard; the models are guesses.",
            f'[drivers.servos]\nkind = "servo_bus"\nport = "{place}"\nbaudrate = {asked_for.baudrate}',
            f'protocol = "{asked_for.protocol}"\nservos = [{servos}]',
        ]
        for ident, ranges in heard.items():
            lines += [
                f'\n[joints.servo{ident}]\nrate = {len(ranges) / seconds:.0f}\nmodel = {{ kind = "rigid" }}',
                f'[joints.servo{ident}.channels]\nposition = {{ signal = "servos.servo{ident}.position" }}',
                f'torque = {{ signal = "servos.servo{ident}.current", scale = 1.0 }}  # N·m per A at the joint?',
            ]
        return Probe(said, "\n".join(lines) + "\n")


class ServoBus(SerialLine):
    """One bus, open for reading. `heard`: the last thousands of requested ranges since opening, by id of the servo."""

    def __init__(self, settings: ServoBusSettings, wanted: Sequence[Wanted]) -> None:
        super().__init__(settings.port, settings.baudrate)
        self._settings = settings
        servos = {one.name: one for one in settings.servos}
        self._wanted: dict[int, list[tuple[ServoRegister, Wanted]]] = {one.id: [] for one in settings.servos}
        for one in wanted:
            name, _, register = one.signal.partition(".")
            self._wanted[servos[name].id].append((MODELS[servos[name].model][register], one))
        ranges = settings.ranges(wanted)
        self._cycle = cycle_of(settings.protocol, ranges, settings.poll_fast) if settings.poll else []
        self.start()

    def start(self) -> None:
        """Reset the state of requests and answers."""
        self._splitter = PacketSplitter(self._settings.protocol)
        names = ("frames", "unanswered", "unmatched", "device_errors", "skipped", "other_master")
        self._counts = dict.fromkeys(names, 0)
        given = self._settings
        made = Poll(given.protocol, self._cycle, given.poll_rate, given.baudrate) if self._cycle else None
        self._poll: Poll | None = made
        self._waiting: dict[int, Range] = {}  # expected answers, by id
        self._asked = 0  # monotonic ns, arrival of the request
        self.heard: dict[int, list[Range]] = {}

    def read(self, timeout: float) -> NDArray[np.void]:
        """Return the readings of the complete answers. Raises LinkError."""
        line = self.opened()
        end = time.monotonic() + max(0.0, timeout)
        found: list[tuple[int, float, int, int]] = []
        while True:
            if self._poll is None:
                wait = end - time.monotonic()
            else:
                self._hear(line, 0.0, found)  # received answers are not late, even if this process was paused
                wait = self._ask(line, end)
            self._hear(line, wait, found)
            answered = found and not self._waiting
            if self._poll is None or answered or time.monotonic() >= end:
                return np.array(found, READING) if found else empty()

    def _hear(self, line: serial.Serial, wait: float, found: list[tuple[int, float, int, int]]) -> None:
        """Process bytes that arrive within `wait` seconds. Raises LinkError."""
        data = drain(line.fileno(), self._settings.port, max(0.0, wait))
        now = time.monotonic_ns()
        for packet in self._splitter.feed(data):
            self._take(packet, now, found)

    def _ask(self, line: serial.Serial, end: float) -> float:
        """Send the next request if it is due; returns the time until the next action, s. Raises LinkError."""
        if self._poll is None:  # another master has just been heard
            return end - time.monotonic()
        now = time.monotonic()
        if self._waiting and self._poll.too_late(now):
            self._forget()
        if not self._waiting and (request := self._poll.due(now)) is not None:
            self._counts["skipped"] = self._poll.skipped
            self._waiting = {one.id: one for one in request.ranges}
            self._asked = time.monotonic_ns()
            try:
                line.write(request.packet)
            except OSError as error:
                raise link_error(self._settings.port, error) from error
        return min(end, self._poll.next(bool(self._waiting))) - time.monotonic()

    def _forget(self) -> None:
        """Count the missing answers."""
        self._counts["unanswered"] += len(self._waiting.keys() & self._wanted.keys())
        self._waiting = {}

    def _take(self, packet: ServoPacket, now: int, found: list[tuple[int, float, int, int]]) -> None:
        if self._poll is not None and self._poll.is_echo(packet):
            return
        if is_shared(packet, self._settings.protocol):
            separate = separated(packet, list(self._waiting.values()))
            self._counts["unmatched"] += separate is None
            for answer in separate or ():
                self._take(answer, now, found)
            return
        expected = self._waiting.get(packet.id)
        error, data = self._answer(packet)
        request = asked(packet, self._settings.protocol)
        answers = request is None if self._settings.protocol == "dynamixel2" else request != [expected]
        if expected is not None and answers and len(data) == expected.length:
            del self._waiting[packet.id]
            self._counts["frames"] += 1
            self._counts["device_errors"] += error != 0
            self._decode(expected, data, found)
            if self._poll is not None and not self._waiting:
                self._poll.answered()
            return
        if request is None:
            self._counts["unmatched"] += packet.id in self._wanted
            return
        if self._poll is not None:  # there is another master, and both would collide
            self._poll = None
        self._counts["other_master"] += bool(self._cycle)
        self._forget()
        self._asked = now
        self._waiting = {one.id: one for one in request}
        for one in request:
            known = self.heard.setdefault(one.id, [])
            if len(known) < 10_000:
                known.append(one)

    def _answer(self, packet: ServoPacket) -> tuple[int, bytes]:
        """Return error and data of an answer."""
        if self._settings.protocol == "dynamixel2":
            return (packet.body[0] if packet.body else 0), packet.body[1:]
        return packet.code, packet.body

    def _decode(self, expected: Range, data: bytes, found: list[tuple[int, float, int, int]]) -> None:
        for register, one in self._wanted.get(expected.id, ()):
            start = register.address - expected.address
            if start < 0 or start + register.size > len(data):
                continue  # the master did not read this register now
            value = register.value(data[start : start + register.size])
            found.append((self._asked, one.scale * value + one.offset, one.channel, 0))

    def counters(self) -> Mapping[str, int]:
        """Return the number of answers and every loss by cause (see ServoBusSettings.losses); totals since opening."""
        return {**self._counts, **self._splitter.counts}
