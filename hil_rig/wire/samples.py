"""Wires that carry a whole sample in one message with its time; they first collect the frames of a sample."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol, runtime_checkable

import numpy as np

from hil_rig.messages import COUNTER, Message, MessageField, MessageFrame
from hil_rig.plants.base import RigError


@runtime_checkable
class Described(Protocol):
    """A wire that provides the configuration for listening to it."""

    def table(self) -> list[str]:
        """Lines of [drivers.NAME]."""

    def signal(self, message: Message, field: str) -> str:
        """MESSAGE.signal of a field."""

    def clock(self, message: Message) -> Mapping[str, Any]:
        """The joint's clock: {"device_time": {"signal": MESSAGE.signal}}."""


class SampleWire:
    """Collects the frames of a sample; a sample with a missing frame is not sent, as with a controller that is too
    slow."""

    settle = 0.0
    burst = 1_000_000

    def __init__(self, link: Path | None, messages: Sequence[Message], rate: float) -> None:
        """messages: all that this wire carries; rate: Hz. Raises RigError."""
        if link is not None:
            raise RigError("--link is for terminals only: this wire has none")
        self.sent = self.refused = self.unheard = 0
        self.rate = rate
        self.messages = list(messages)
        self._index = {(one.node, one.rank): index for index, one in enumerate(messages)}
        self._sample: dict[int, tuple[float, ...]] = {}  # message's index → values of its fields, SI
        self._last = self._number = 0  # counter of the sample in the making, and its number since the first

    def form(self, frame: MessageFrame) -> bytes:
        """Counter, message and fields, for `send` of this class."""
        index = self._index[frame.message.node, frame.message.rank]
        return frame.counter.to_bytes(2, "little") + bytes([index]) + frame.fields

    def send(self, units: Sequence[bytes]) -> None:
        """Collect samples, and publish each when it is complete."""
        for unit in units:
            counter, index = int.from_bytes(unit[:2], "little"), unit[2]
            if counter != self._last:
                self.refused += len(self._sample)
                self._sample.clear()
                self._number += (counter - self._last) % COUNTER
                self._last = counter
            self._sample[index] = _values(self.messages[index], unit[3:])
            if len(self._sample) == len(self.messages):
                values = [self._sample[one] for one in range(len(self.messages))]
                self._sample.clear()
                self.publish(self._number, values)
                self.sent += len(values)

    def publish(self, number: int, values: Sequence[tuple[float, ...]]) -> None:
        """Send one sample. number: of the sample, from 0; values: SI, of each message's fields."""
        raise NotImplementedError

    def full(self) -> bool:
        """Return False, since a wire of this kind never makes the rig wait."""
        return False

    def cut(self, frame: MessageFrame, rng: np.random.Generator) -> bytes:
        """Not possible here. Raises RigError."""
        raise RigError(f"expected no fault truncate here: {frame.message.name} arrives whole or is lost ({rng})")

    def miscounted(self, frame: MessageFrame) -> bytes:
        """Not possible here. Raises RigError."""
        raise RigError(f"expected the fault crc on serial lines only: {frame.message.name} has no checksum of its own")


def _values(message: Message, fields: bytes) -> tuple[float, ...]:
    """Return the SI values of a frame's fields; NaN for a field with the marker for "no value"."""
    values, at = [], 0
    for field in message.fields:
        size = field.bits // 8
        raw = int.from_bytes(fields[at : at + size], "little", signed=True)
        at += size
        values.append(math.nan if raw == field.invalid else raw * field.lsb)
    return tuple(values)


SI: Final[Mapping[str, str]] = {"counts": "rad"}  # unit of a field on integer wires → the unit of its SI value


def unit_of(field: MessageField) -> str:
    """SI unit of a field."""
    return SI.get(field.unit, field.unit)
