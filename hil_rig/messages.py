"""The messages of a rig: fields of integers, and their conversion from rows of SI values."""

import math
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

COUNTER: Final = 65536  # modulo of the sample counter that every message carries
NODES: Final = 112  # largest number of joints with their own ids on a CAN bus
SERIAL_NODES: Final = 15  # the same on a serial line


@dataclass(frozen=True, slots=True)
class MessageField:
    """One signed integer: value in `unit` = scale × raw; the most negative integer means "no value"."""

    name: str
    bits: int  # 16 or 32
    unit: str  # as named in the configuration
    scale: float = 1.0
    counts_per_rev: int | None = None  # for the unit "counts"
    wrap: int | None = None  # bits after which an encoder wraps around

    @property
    def lsb(self) -> float:
        """SI value of one count."""
        return self.scale if self.counts_per_rev is None else math.tau / self.counts_per_rev

    @property
    def invalid(self) -> int:
        """The marker for "no value"."""
        return -(1 << (self.bits - 1))

    @property
    def turn(self) -> float | None:
        """SI value after which the encoder wraps around."""
        return None if self.wrap is None else self.lsb * (1 << self.wrap)

    def raw(self, values: Floats) -> Integers:
        """Convert to counts: round, saturate as a controller does, wrap around, and mark values that are not finite."""
        limit = -self.invalid - 1
        finite = np.isfinite(values)
        counts = np.clip(np.rint(np.where(finite, values, 0.0) / self.lsb), -limit, limit).astype(np.int64)
        if self.wrap is not None:
            counts &= (1 << self.wrap) - 1
        return np.where(finite, counts, self.invalid)


@dataclass(frozen=True, slots=True)
class Message:
    """Fields of up to six bytes that are sampled and sent together."""

    name: str
    fields: tuple[MessageField, ...]
    rank: int = 0  # place among the messages of its joint
    node: int = 1  # number of the joint
    bus: int = 0  # number of the wire

    @property
    def can_id(self) -> int:
        """CAN identifier in the numbering of CANopen process data: 0x181 and 0x281 are the first two messages of node
        1."""
        return 0x180 + 0x100 * self.rank + self.node

    @property
    def packet_id(self) -> int:
        """Identifier of the packet on a serial line."""
        return 16 * self.rank + self.node

    def of_node(self, node: int, robot: int) -> "Message":
        """Return the same message of another joint; robot: number of joints."""
        return replace(self, node=node, name=self.name if robot == 1 else f"{self.name}{node}")


class MessageFrame(NamedTuple):
    """One message of one sample, before it is encoded for a wire."""

    message: Message
    counter: int  # counter of the sample, modulo COUNTER
    fields: bytes  # little-endian, without the counter

    def without(self, index: int) -> "MessageFrame":
        """Return the frame with the marker for "no value" in one field."""
        start = sum(field.bits // 8 for field in self.message.fields[:index])
        field = self.message.fields[index]
        marker = field.invalid.to_bytes(field.bits // 8, "little", signed=True)
        return self._replace(fields=self.fields[:start] + marker + self.fields[start + len(marker) :])


def records(message: Message, values: Floats) -> NDArray[np.uint8]:
    """Encode the fields of one message as little-endian bytes, (rows, bytes). values: (rows, fields) SI."""
    record = np.dtype([(field.name, f"<i{field.bits // 8}") for field in message.fields])
    raw = np.zeros(len(values), record)
    for column, field in enumerate(message.fields):
        raw[field.name] = field.raw(values[:, column])
    return raw.view(np.uint8).reshape(len(values), record.itemsize)


def frames(message: Message, values: Floats, first: int) -> list[MessageFrame]:
    """Make the frames of one message. values: (rows, fields) SI; first: number of the first sample."""
    raw = records(message, values)
    data, size = raw.tobytes(), raw.shape[1]
    return [
        MessageFrame(message, (first + row) % COUNTER, data[size * row : size * (row + 1)])
        for row in range(len(values))
    ]
