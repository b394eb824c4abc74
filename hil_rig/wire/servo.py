"""A bus of Dynamixel servos (protocol 2.0) on a pseudo-terminal, as a tap receives it: requests and answers.

Servos with protocol 1.0 and Feetech servos are included for drivers that poll.
"""

import math
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from hil_rig.messages import Message
from hil_rig.plants.base import RigError
from hil_rig.wire.pty import Pty
from hil_rig.wire.samples import SampleWire, unit_of

MASTER: Final = 0xFE  # broadcast id
READ, SYNC_READ, FAST_SYNC_READ, STATUS = 0x02, 0x82, 0x8A, 0x55
CURRENT, LENGTH = 126, 10  # registers of an XL330 that are read: current (2 bytes), velocity (4), position (4)
STEP: Final = math.tau / 4096  # rad
CARRIERS: Final = {"rad": "position", "A": "current"}


def packet(ident: int, instruction: int, parameters: bytes) -> bytes:
    """A packet of protocol 2.0, stuffed and with its CRC."""
    inside = (bytes([instruction]) + parameters).replace(b"\xff\xff\xfd", b"\xff\xff\xfd\xfd")
    return with_crc(b"\xff\xff\xfd\x00" + struct.pack("<BH", ident, len(inside) + 2) + inside)


def with_crc(whole: bytes) -> bytes:
    """These bytes and their CRC."""
    crc = 0
    for byte in whole:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x8005) & 0xFFFF if crc & 0x8000 else crc << 1
    return whole + struct.pack("<H", crc)


def status(ident: int, data: bytes, error: int = 0) -> bytes:
    """A servo's answer."""
    return packet(ident, STATUS, bytes([error]) + data)


def fast_status(answers: Sequence[tuple[int, bytes]], error: int = 0) -> bytes:
    """Return the common answer of several servos (id and data of each) to a fast read: each adds its part and a CRC of
    all bytes so far. It has no byte stuffing."""
    size = 1 + sum(4 + len(data) for _, data in answers)
    whole = b"\xff\xff\xfd\x00" + struct.pack("<BHB", MASTER, size, STATUS)
    for ident, data in answers:
        whole = with_crc(whole + bytes([error, ident]) + data)
    return whole


def sync_read(address: int, length: int, idents: Sequence[int], fast: bool = False) -> bytes:
    """A request to several servos."""
    body = struct.pack("<HH", address, length) + bytes(idents)
    return packet(MASTER, FAST_SYNC_READ if fast else SYNC_READ, body)


def old_packet(ident: int, code: int, body: bytes) -> bytes:
    """A packet of protocol 1.0 or Feetech's: instruction or error, parameters, and the complement of their sum."""
    inside = bytes([ident, len(body) + 2, code]) + body
    return b"\xff\xff" + inside + bytes([~sum(inside) & 0xFF])


class ServoBank:
    """Servos that answer a master: registers by id. `refused`: instructions other than reads.

    `fast`: whether their firmware knows the fast sync read; an older one does not answer it.
    """

    def __init__(self, idents: Sequence[int], old: bool = False) -> None:
        """old: whether they use protocol 1.0 (or Feetech's, which has the same form and a sync read)."""
        self.registers = {one: bytearray(256) for one in idents}
        self.refused: list[int] = []
        self.fast = not old
        self._old = old
        self._heard = b""

    def hear(self, data: bytes) -> list[tuple[bytes, list[bytes]]]:
        """Yield each complete request with the answers to it."""
        self._heard += data
        found = []
        while (size := self._size()) and len(self._heard) >= size:
            request, self._heard = self._heard[:size], self._heard[size:]
            found.append((request, self._answers(request)))
        return found

    def _size(self) -> int:
        """Return the length in bytes of the first received request; 0: not yet known."""
        if self._old:
            return 4 + self._heard[3] if len(self._heard) >= 4 else 0
        return 7 + int.from_bytes(self._heard[5:7], "little") if len(self._heard) >= 7 else 0

    def _answers(self, request: bytes) -> list[bytes]:
        ident, instruction = (request[2], request[4]) if self._old else (request[4], request[7])
        if instruction == FAST_SYNC_READ and not self._old:
            first, length = struct.unpack_from("<HH", request, 8)
            return self._fast_answer(first, length, request[12:-2]) if self.fast else []
        if instruction not in (READ, SYNC_READ):
            self.refused.append(instruction)
            return []
        if self._old:
            (first, length), rest = request[5:7], request[7:-1]
        else:
            (first, length), rest = struct.unpack_from("<HH", request, 8), request[12:-2]
        idents = list(rest) if instruction == SYNC_READ else [ident]
        answer = (lambda one, data: old_packet(one, 0, data)) if self._old else status
        return [
            answer(one, bytes(self.registers[one][first : first + length])) for one in idents if one in self.registers
        ]

    def _fast_answer(self, first: int, length: int, idents: bytes) -> list[bytes]:
        """Return the common answer to a fast read; it breaks off before a missing servo, for which the later ones
        wait."""
        parts = [(one, bytes(self.registers.get(one, bytes(256))[first : first + length])) for one in idents]
        there = next((at for at, one in enumerate(idents) if one not in self.registers), len(idents))
        return [fast_status(parts)[: 8 + there * (4 + length)]] if there else []


def registers(message: Message, values: Sequence[float]) -> bytes:
    """The registers from CURRENT on, from a message's SI values."""
    si = {CARRIERS[unit_of(field)]: value for field, value in zip(message.fields, values, strict=True)}
    current = round(1e3 * si.get("current", 0.0))
    return struct.pack("<hii", current, 0, round((si.get("position", 0.0) + math.pi) / STEP))


class ServoWire(SampleWire):
    """A bus that plays the rig: each message is a servo, which a master reads once a sample."""

    def __init__(self, link: Path | None, messages: Sequence[Message], rate: float) -> None:
        super().__init__(None, messages, rate)
        for one in messages:
            units = [unit_of(field) for field in one.fields]
            if [unit for unit in units if unit not in CARRIERS] or len(set(units)) < len(units):
                raise RigError(f"expected fields of {one.name} in rad and A on servo, found {units}")
        self.idents = list(range(1, len(messages) + 1))
        self._request = sync_read(CURRENT, LENGTH, self.idents)
        self.pty = self.line(link)
        self.settle = self.pty.settle
        self.device = self.pty.device

    def line(self, link: Path | None) -> Pty:
        """The terminal."""
        return Pty(link)

    def listening(self) -> bool:
        """Whether a tap has the port open."""
        return self.pty.listening()

    def full(self) -> bool:
        """Whether the kernel has not yet taken all."""
        return self.pty.full()

    def publish(self, _number: int, values: Sequence[tuple[float, ...]]) -> None:
        """Send the request of one sample, and the answer of every servo."""
        units = [self._request]
        for ident, one, mine in zip(self.idents, self.messages, values, strict=True):
            units.append(status(ident, registers(one, mine)))
        self.pty.send([b"".join(units)])

    def stranger(self, _rng: np.random.Generator) -> bytes:
        """Not possible here. Raises RigError."""
        raise RigError("expected no fault unknown on servo: a tap knows requests and answers by their ids")

    def rubbish(self, _rng: np.random.Generator) -> bytes:
        """Not possible here. Raises RigError."""
        raise RigError("expected no fault garbage on servo")

    def close(self) -> None:
        """Close the terminal."""
        self.refused += self.pty.refused * len(self.messages)
        self.pty.close()

    def table(self) -> list[str]:
        """Lines of [drivers.NAME]."""
        servos = ", ".join(
            f'{{ name = "{one.name}", id = {ident}, model = "xl330" }}'
            for ident, one in zip(self.idents, self.messages, strict=True)
        )
        lines = ['kind = "servo_bus"', f'port = "{self.device}"', "baudrate = 4_000_000"]
        return [*lines, 'protocol = "dynamixel2"', f"servos = [{servos}]"]

    def signal(self, message: Message, field: str) -> str:
        """SERVO.REGISTER."""
        found = next(one for one in message.fields if one.name == field)
        return f"{message.name}.{CARRIERS[unit_of(found)]}"

    def clock(self, _message: Message) -> dict[str, Any]:
        """Return nothing: a bus has no clock, and the arrival of the request is used."""
        return {}
