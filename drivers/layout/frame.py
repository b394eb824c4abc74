"""Frames, and the layout of the signals in them; packets on a serial line use the same classes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from drivers.base import LayoutError, Wanted, nearest

# as in linux/can.h: one integer contains the id and flags for extended, remote and error frames
EXTENDED: Final = 0x8000_0000
REMOTE: Final = 0x4000_0000
ERROR: Final = 0x2000_0000
NO_FLAGS: Final = np.zeros(0, np.uint32)


class Frames(NamedTuple):
    """A batch of frames (or packets), in order of arrival."""

    ids: NDArray[np.uint32]  # (n,) with the flags above
    payload: NDArray[np.uint8]  # (n, width); bytes beyond the length of a frame have no meaning
    lengths: NDArray[np.int64]  # (n,) bytes
    times: NDArray[np.int64]  # (n,) ns, CLOCK_MONOTONIC
    flags: NDArray[np.uint32] = NO_FLAGS  # (n,) for the readings, or none

    def copy(self) -> "Frames":
        """Copy the frames, since an adapter may overwrite its memory with the next batch."""
        return Frames(self.ids.copy(), self.payload.copy(), self.lengths.copy(), self.times.copy(), self.flags.copy())

    def part(self, which: slice | NDArray[np.bool_] | NDArray[np.int64]) -> "Frames":
        """Return some of the frames, or all in another order."""
        flags = self.flags[which] if len(self.flags) else self.flags
        return Frames(self.ids[which], self.payload[which], self.lengths[which], self.times[which], flags)


@dataclass(frozen=True, slots=True)
class Selector:
    """The multiplexer of a signal, which is present if the multiplexer's raw value is one of these."""

    signal: "Signal"
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Signal:
    """The place of a value in a frame, and its meaning: SI = scale × raw + offset."""

    frame: int  # id, with EXTENDED
    start: int  # as a DBC counts: bit 0 is the least significant of byte 0; of the LSB (Intel) or the MSB (Motorola)
    bits: int
    motorola: bool = False
    kind: str = "unsigned"  # unsigned, signed, float
    scale: float = 1.0
    offset: float = 0.0
    unit: str = "1"
    invalid: int | None = None  # bit pattern
    low: float = -np.inf  # raw limits
    high: float = np.inf
    selector: Selector | None = None

    def span(self) -> tuple[int, int]:
        """Return the first and last bit: counted upwards in Intel order, and in the order on the wire in Motorola
        order.

        In both counts bit b is in byte b // 8.
        """
        first = 8 * (self.start // 8) + 7 - self.start % 8 if self.motorola else self.start
        return first, first + self.bits - 1


@dataclass(frozen=True, slots=True)
class FrameGuard:
    """Integrity of a frame: a counter that shows losses, a checksum, its rate."""

    name: str  # of the frame
    counter: Signal | None = None  # counts the frames of this id
    modulo: int = 0  # of the counter
    checksum: str = ""  # one of checksum.CHECKSUMS, over all other bytes of the frame, then `suffix`
    start: int = 0  # index of the checksum's first byte
    big: bool = False  # byte order of a checksum of 16 bits
    suffix: tuple[int, ...] = ()  # bytes that both ends add
    timeout: int = 0  # ns without a frame after which it counts as silent; 0: never


@dataclass(frozen=True, slots=True)
class FrameLayout:
    """Every frame known on a bus and every signal in them."""

    lengths: Mapping[int, int]  # id → bytes a frame must have at least
    signals: Mapping[str, Signal]  # "MESSAGE.signal"
    unusable: Mapping[str, str] = field(default_factory=dict)  # "MESSAGE.signal" → why it cannot be delivered
    guards: Mapping[int, FrameGuard] = field(default_factory=dict)  # by id
    unsound: Mapping[str, str] = field(default_factory=dict)  # message that the description has wrong → why
    unknown_units: Mapping[str, str] = field(default_factory=dict)  # unusable signals with an unknown unit → the reason

    def units(self) -> dict[str, str]:
        """Return every signal that can be delivered, with its SI unit."""
        return {name: signal.unit for name, signal in self.signals.items()}

    def check(self, wanted: Sequence[Wanted]) -> None:
        """Raise LayoutError with every requested signal that cannot be delivered, and the reason."""
        problems = list(self._problems(wanted))
        if problems:
            raise LayoutError("; ".join(problems))

    def _problems(self, wanted: Sequence[Wanted]) -> Iterator[str]:
        for name in dict.fromkeys(one.signal for one in wanted):
            if name in self.unusable:
                yield f'signal "{name}" cannot be used: {self.unusable[name]}'
            elif name not in self.signals:
                yield f'unknown signal "{name}", {nearest(name, self.signals)}'
