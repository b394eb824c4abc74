"""What a frame is, and the layout that says which signals are in it; packets on a serial line use the same."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from drivers.base import LayoutError, Wanted, nearest

# as in linux/can.h: one integer tells standard from extended ids, and data from remote and error frames
EXTENDED: Final = 0x8000_0000
REMOTE: Final = 0x4000_0000
ERROR: Final = 0x2000_0000


class Frames(NamedTuple):
    """A batch of frames (or packets), in order of arrival."""

    ids: NDArray[np.uint32]  # (n,) with the flags above
    payload: NDArray[np.uint8]  # (n, width), bytes beyond a frame's length are of no meaning
    lengths: NDArray[np.int64]  # (n,) bytes
    times: NDArray[np.int64]  # (n,) ns, CLOCK_MONOTONIC


@dataclass(frozen=True, slots=True)
class Selector:
    """The multiplexer that says when a signal is there: its raw value is one of these."""

    signal: "Signal"
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Signal:
    """Where a value sits in a frame, and what it means: SI = scale × raw + offset."""

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

    def place(self) -> tuple[int, int, int]:
        """Byte of the least significant bit, step to the next more significant byte, bits to shift right."""
        if not self.motorola:
            return self.start // 8, 1, self.start % 8
        last = 8 * (self.start // 8) + 7 - self.start % 8 + self.bits - 1  # counted from the first bit on the wire
        return last // 8, -1, 7 - last % 8


@dataclass(frozen=True, slots=True)
class Layout:
    """Every frame known on a bus and every signal in them."""

    lengths: Mapping[int, int]  # id → bytes a frame must have at least
    signals: Mapping[str, Signal]  # "MESSAGE.signal"
    unusable: Mapping[str, str] = field(default_factory=dict)  # "MESSAGE.signal" → why it cannot be delivered

    def units(self) -> dict[str, str]:
        """Every signal that can be delivered and its SI unit."""
        return {name: signal.unit for name, signal in self.signals.items()}

    def check(self, wanted: Sequence[Wanted]) -> None:
        """Raise LayoutError naming every wanted signal that cannot be delivered, and why."""
        problems = list(self._problems(wanted))
        if problems:
            raise LayoutError("; ".join(problems))

    def _problems(self, wanted: Sequence[Wanted]) -> Iterator[str]:
        for name in dict.fromkeys(one.signal for one in wanted):
            if name in self.unusable:
                yield f'signal "{name}" cannot be used: {self.unusable[name]}'
            elif name not in self.signals:
                yield f'unknown signal "{name}", {nearest(name, self.signals)}'
