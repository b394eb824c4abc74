"""A servo bus, tapped: requests of its master and answers of the servos, heard on the same line; nothing is sent.

An answer does not say which registers it holds: that stands in the request before it. So the tap must hear both
directions of the half-duplex line (its own transmit pin not connected). All answers to one request carry the time at
which that request arrived, since servos sample when they are asked.
"""

import os.path
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import ClassVar, Final, Literal, NamedTuple, Self

import numpy as np
import serial
from numpy.typing import NDArray
from pydantic import Field, model_validator

from drivers.base import DriverSettings, LinkError, Loss, Probe, StrictSettings, Wanted
from drivers.drain import drain, link_error
from drivers.reading import READING, empty
from drivers.serial.servo_packets import PacketSplitter, Protocol, Range, ServoPacket, asked

_TURN: Final = 2 * np.pi / 4096
_RPM: Final = 2 * np.pi / 60


class ServoRegister(NamedTuple):
    """One register of a servo: where it is, and what it means: SI = scale × number + offset."""

    address: int
    size: int  # bytes, little-endian
    scale: float
    unit: str
    sign: int = 0  # bit that is the sign, as in Feetech's; 0: two's complement; −1: unsigned
    offset: float = 0.0


def _x_series(current: dict[str, ServoRegister]) -> dict[str, ServoRegister]:
    return {
        "position": ServoRegister(132, 4, _TURN, "rad", offset=-np.pi),
        "velocity": ServoRegister(128, 4, 0.229 * _RPM, "rad/s"),
        "temperature": ServoRegister(146, 1, 1.0, "°C", sign=-1),
        "voltage": ServoRegister(144, 2, 0.1, "V", sign=-1),
    } | current


# model → registers: of the makers' control tables; positions from the middle of the turn
MODELS: Final[Mapping[str, Mapping[str, ServoRegister]]] = {
    "xl330": _x_series({"current": ServoRegister(126, 2, 1e-3, "A")}),
    "xm430": _x_series({"current": ServoRegister(126, 2, 2.69e-3, "A")}),
    "xl430": _x_series({"load": ServoRegister(126, 2, 1e-3, "1")}),
    "mx": {
        "position": ServoRegister(36, 2, _TURN, "rad", sign=-1, offset=-np.pi),
        "current": ServoRegister(68, 2, 4.5e-3, "A", sign=-1, offset=-2048 * 4.5e-3),
        "temperature": ServoRegister(43, 1, 1.0, "°C", sign=-1),
    },
    "sts": {
        "position": ServoRegister(56, 2, _TURN, "rad", sign=15, offset=-np.pi),
        "velocity": ServoRegister(58, 2, _TURN, "rad/s", sign=15),
        "load": ServoRegister(60, 2, 1e-3, "1", sign=10),
        "voltage": ServoRegister(62, 1, 0.1, "V", sign=-1),
        "temperature": ServoRegister(63, 1, 1.0, "°C", sign=-1),
        "current": ServoRegister(69, 2, 6.5e-3, "A", sign=15),
    },
}


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
        "unanswered": Loss("requests that a servo did not answer", "is it on? do two servos have its id?"),
        "unmatched": Loss("answers that nobody was heard to ask for", "the tap must hear the master, too"),
        "device_errors": Loss("answers in which the servo reports an error", "its hardware error status says which"),
    }
    example: ClassVar[str] = """\
# A bus of Dynamixel or Feetech servos, tapped beside its master (transmit pin not connected): nothing is sent.
[drivers.servos]
kind = "servo_bus"
port = "/dev/serial/by-id/usb-FTDI_…"
baudrate = 1_000_000
protocol = "dynamixel2"              # "dynamixel1", "feetech"
servos = [{ name = "elbow", id = 3, model = "xl330" }]

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

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        for what in ("id", "name"):
            values = [getattr(one, what) for one in self.servos]
            twice = sorted({str(one) for one in values if values.count(one) > 1})
            if twice:
                raise ValueError(f"expected every servo's {what} once, found {', '.join(twice)} more than once")
        return self

    def signals(self) -> Mapping[str, str]:
        """SERVO.REGISTER of every servo."""
        return {f"{one.name}.{name}": at.unit for one in self.servos for name, at in MODELS[one.model].items()}

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
        """Hear which servos are asked for which registers. place: the port."""
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


class ServoBus:
    """One bus, open for reading. `heard`: what each servo was asked for, by id, since opening (the last thousands)."""

    def __init__(self, settings: ServoBusSettings, wanted: Sequence[Wanted]) -> None:
        self._settings = settings
        servos = {one.name: one for one in settings.servos}
        self._wanted: dict[int, list[tuple[ServoRegister, Wanted]]] = {one.id: [] for one in settings.servos}
        for one in wanted:
            name, _, register = one.signal.partition(".")
            self._wanted[servos[name].id].append((MODELS[servos[name].model][register], one))
        self._serial: serial.Serial | None = None
        self._start()

    def _start(self) -> None:
        self._splitter = PacketSplitter(self._settings.protocol)
        self._counts = dict.fromkeys(("frames", "unanswered", "unmatched", "device_errors"), 0)
        self._waiting: dict[int, Range] = {}  # answers that are still to come, by id
        self._asked = 0  # monotonic ns at which the request arrived
        self.heard: dict[int, list[Range]] = {}

    def __enter__(self) -> Self:
        self._start()
        try:
            self._serial = serial.Serial(self._settings.port, self._settings.baudrate, timeout=0, exclusive=True)
        except (OSError, ValueError) as error:  # pyserial's own errors are OSErrors
            raise link_error(self._settings.port, error) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._serial is not None:
            self._serial.close()
            self._serial = None

    def read(self, timeout: float) -> NDArray[np.void]:
        """Readings of the answers that have come whole. Raises LinkError."""
        if self._serial is None:
            raise LinkError(f"{self._settings.port}: not open")
        data = drain(self._serial.fileno(), self._settings.port, timeout)
        now = time.monotonic_ns()
        found: list[tuple[int, float, int, int]] = []
        for packet in self._splitter.feed(data):
            self._take(packet, now, found)
        return np.array(found, READING) if found else empty()

    def _take(self, packet: ServoPacket, now: int, found: list[tuple[int, float, int, int]]) -> None:
        expected = self._waiting.get(packet.id)
        error, data = self._answer(packet)
        request = asked(packet, self._settings.protocol)
        answers = request is None if self._settings.protocol == "dynamixel2" else request != [expected]
        if expected is not None and answers and len(data) == expected.length:
            del self._waiting[packet.id]
            self._counts["frames"] += 1
            self._counts["device_errors"] += error != 0
            self._decode(expected, data, found)
            return
        if request is None:
            self._counts["unmatched"] += packet.id in self._wanted
            return
        self._counts["unanswered"] += len(self._waiting.keys() & self._wanted.keys())
        self._asked = now
        self._waiting = {one.id: one for one in request}
        for one in request:
            known = self.heard.setdefault(one.id, [])
            if len(known) < 10_000:
                known.append(one)

    def _answer(self, packet: ServoPacket) -> tuple[int, bytes]:
        """Error and data of an answer."""
        if self._settings.protocol == "dynamixel2":
            return (packet.body[0] if packet.body else 0), packet.body[1:]
        return packet.code, packet.body

    def _decode(self, expected: Range, data: bytes, found: list[tuple[int, float, int, int]]) -> None:
        for register, one in self._wanted.get(expected.id, ()):
            start = register.address - expected.address
            if start < 0 or start + register.size > len(data):
                continue  # the master did not ask for it this time
            value = register.scale * _number(register, data[start : start + register.size]) + register.offset
            found.append((self._asked, one.scale * value + one.offset, one.channel, 0))

    def counters(self) -> Mapping[str, int]:
        """Answers and every loss by cause (see ServoBusSettings.losses); totals since opening."""
        return {**self._counts, **self._splitter.counts}


def _number(register: ServoRegister, data: bytes) -> int:
    raw = int.from_bytes(data, "little", signed=register.sign == 0)
    if register.sign <= 0:
        return raw
    size = raw & ((1 << register.sign) - 1)
    return -size if raw >> register.sign & 1 else size
