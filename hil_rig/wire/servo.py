"""A bus of Dynamixel servos (protocol 2.0) on a pseudo-terminal, as a tap hears it: requests and answers."""

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

MASTER: Final = 0xFE  # id of everyone
READ, SYNC_READ, STATUS = 0x02, 0x82, 0x55
CURRENT, LENGTH = 126, 10  # registers of an XL330 that are read: current (2 bytes), velocity (4), position (4)
STEP: Final = math.tau / 4096  # rad
CARRIERS: Final = {"rad": "position", "A": "current"}


def packet(ident: int, instruction: int, parameters: bytes) -> bytes:
    """A packet of protocol 2.0, stuffed and with its CRC."""
    inside = (bytes([instruction]) + parameters).replace(b"\xff\xff\xfd", b"\xff\xff\xfd\xfd")
    whole = b"\xff\xff\xfd\x00" + struct.pack("<BH", ident, len(inside) + 2) + inside
    crc = 0
    for byte in whole:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x8005) & 0xFFFF if crc & 0x8000 else crc << 1
    return whole + struct.pack("<H", crc)


def status(ident: int, data: bytes, error: int = 0) -> bytes:
    """A servo's answer."""
    return packet(ident, STATUS, bytes([error]) + data)


def sync_read(address: int, length: int, idents: Sequence[int]) -> bytes:
    """A request to several servos."""
    return packet(MASTER, SYNC_READ, struct.pack("<HH", address, length) + bytes(idents))


class ServoBank:
    """Servos that answer a master: registers by id."""

    def __init__(self, idents: Sequence[int]) -> None:
        self.registers = {one: bytearray(256) for one in idents}
        self._heard = b""

    def hear(self, data: bytes) -> list[tuple[bytes, list[bytes]]]:
        """Each request that has come whole, and the answers to it."""
        self._heard += data
        found = []
        while len(self._heard) >= 7:
            size = 7 + int.from_bytes(self._heard[5:7], "little")
            if len(self._heard) < size:
                break
            request, self._heard = self._heard[:size], self._heard[size:]
            words = struct.unpack_from("<HH", request, 8)
            idents = list(request[12:-2]) if request[7] == SYNC_READ else [request[4]]
            there = [one for one in idents if one in self.registers] if request[7] in (READ, SYNC_READ) else []
            answers = [status(one, bytes(self.registers[one][words[0] : sum(words)])) for one in there]
            found.append((request, answers))
        return found


class ServoWire(SampleWire):
    """A bus that plays the rig: each of its messages is a servo, asked once a sample by a master."""

    def __init__(self, link: Path | None, messages: Sequence[Message], rate: float) -> None:
        super().__init__(None, messages, rate)
        for one in messages:
            units = [unit_of(field) for field in one.fields]
            if [unit for unit in units if unit not in CARRIERS] or len(set(units)) < len(units):
                raise RigError(f"expected fields of {one.name} in rad and A on servo, found {units}")
        self._idents = list(range(1, len(messages) + 1))
        self._request = sync_read(CURRENT, LENGTH, self._idents)
        self._pty = Pty(link)
        self.settle = self._pty.settle
        self.device = self._pty.device

    def listening(self) -> bool:
        """Whether a tap has the port open."""
        return self._pty.listening()

    def full(self) -> bool:
        """Whether the kernel has not yet taken all."""
        return self._pty.full()

    def publish(self, _number: int, values: Sequence[tuple[float, ...]]) -> None:
        """The request of one sample, and every servo's answer."""
        units = [self._request]
        for ident, one, mine in zip(self._idents, self.messages, values, strict=True):
            si = {CARRIERS[unit_of(field)]: value for field, value in zip(one.fields, mine, strict=True)}
            current = round(1e3 * si.get("current", 0.0))
            counts = round((si.get("position", 0.0) + math.pi) / STEP)
            units.append(status(ident, struct.pack("<hii", current, 0, counts)))
        self._pty.send([b"".join(units)])

    def stranger(self, _rng: np.random.Generator) -> bytes:
        """Not possible here. Raises RigError."""
        raise RigError("expected no fault unknown on servo: a tap knows requests and answers by their ids")

    def rubbish(self, _rng: np.random.Generator) -> bytes:
        """Not possible here. Raises RigError."""
        raise RigError("expected no fault garbage on servo")

    def close(self) -> None:
        """Close the terminal."""
        self.refused += self._pty.refused * len(self.messages)
        self._pty.close()

    def table(self) -> list[str]:
        """Lines of [drivers.NAME]."""
        servos = ", ".join(
            f'{{ name = "{one.name}", id = {ident}, model = "xl330" }}'
            for ident, one in zip(self._idents, self.messages, strict=True)
        )
        lines = ['kind = "servo_bus"', f'port = "{self.device}"', "baudrate = 4_000_000"]
        return [*lines, 'protocol = "dynamixel2"', f"servos = [{servos}]"]

    def signal(self, message: Message, field: str) -> str:
        """SERVO.REGISTER."""
        found = next(one for one in message.fields if one.name == field)
        return f"{message.name}.{CARRIERS[unit_of(found)]}"

    def clock(self, _message: Message) -> dict[str, Any]:
        """A bus has none: the request's arrival counts."""
        return {}
