"""Checksums of frames and packets: their names, and one kernel step for all of them.

A CRC is described by Rocksoft's parameters (Williams 1993: width, polynomial, initial value, reflection, final xor);
the catalogue of reveng.sourceforge.io has the same names and check values. `sum8` and `xor8` are the plain ones.
"""

from typing import Annotated, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from drivers.jit import inline, kernel
from jointwatch_numba.layout import Integers, Layout

Name = Literal["sum8", "xor8", "crc8-j1850", "crc8-h2f", "crc8-maxim", "crc16-ccitt", "crc16-modbus", "crc16-xmodem"]


# how a byte is taken in
_SUM: Final = 0
_XOR: Final = 1
_LEFT: Final = 2  # a CRC that shifts to the left
_RIGHT: Final = 3


class CompiledChecksum(Layout):
    """A checksum as kernels compute it, byte by byte."""

    step: int  # how a byte is taken in
    first: int  # value before the first byte
    last: int  # xor with the result
    size: int  # bytes; 0: there is no checksum
    remainders: Annotated[Integers, "256"]  # of a CRC, by byte


class Checksum(NamedTuple):
    """Parameters of one checksum; polynomial 0 means the sum, 1 the exclusive or."""

    bits: int
    polynomial: int
    first: int = 0
    reflected: bool = False
    last: int = 0  # xor at the end

    def compiled(self) -> CompiledChecksum:
        """The checksum in the form that kernels use."""
        step = _SUM if self.polynomial == 0 else _XOR if self.polynomial == 1 else _RIGHT if self._right else _LEFT
        first = _mirrored(self.first, self.bits) if self._right else self.first
        return CompiledChecksum(
            step=step, first=first, last=self.last, size=self.bits // 8, remainders=self._remainders()
        )

    def _remainders(self) -> NDArray[np.int64]:
        """(256,) remainders by byte."""
        mask, top = (1 << self.bits) - 1, 1 << (self.bits - 1)
        table = np.zeros(256, np.int64)
        for byte in range(256) if self.polynomial > 1 else ():
            if self._right:
                value, polynomial = byte, _mirrored(self.polynomial, self.bits)
                for _ in range(8):
                    value = (value >> 1) ^ (polynomial if value & 1 else 0)
            else:
                value = byte << (self.bits - 8)
                for _ in range(8):
                    value = ((value << 1) ^ (self.polynomial if value & top else 0)) & mask
            table[byte] = value
        return table

    @property
    def _right(self) -> bool:
        return self.reflected


NO_CHECKSUM: Final = CompiledChecksum.zeros()

CHECKSUMS: Final[dict[str, Checksum]] = {
    "sum8": Checksum(8, 0),
    "xor8": Checksum(8, 1),
    "crc8-j1850": Checksum(8, 0x1D, 0xFF, False, 0xFF),
    "crc8-h2f": Checksum(8, 0x2F, 0xFF, False, 0xFF),  # AUTOSAR, end-to-end profile 2
    "crc8-maxim": Checksum(8, 0x31, 0, True),
    "crc16-ccitt": Checksum(16, 0x1021, 0xFFFF),  # CCITT-FALSE, IBM-3740; AUTOSAR, end-to-end profile 5
    "crc16-modbus": Checksum(16, 0x8005, 0xFFFF, True),
    "crc16-xmodem": Checksum(16, 0x1021),
}


def compute(name: str, data: bytes) -> int:
    """Compute the checksum of these bytes, for rigs and tests."""
    return _compute(np.frombuffer(data, np.uint8), CHECKSUMS[name].compiled())


@inline
def absorb(value, byte, checksum):  # type: ignore[no-untyped-def]
    """Return the checksum after one more byte."""
    if checksum.step == _LEFT:
        if checksum.size == 1:
            return checksum.remainders[value ^ byte]
        return ((value << 8) & 0xFFFF) ^ checksum.remainders[(value >> 8) ^ byte]
    if checksum.step == _RIGHT:
        return (value >> 8) ^ checksum.remainders[(value ^ byte) & 0xFF]
    if checksum.step == _SUM:
        return (value + byte) & 0xFF
    return value ^ byte


@kernel(("Array(u1, 1, 'C', readonly=True)", CompiledChecksum))
def _compute(data: NDArray[np.uint8], checksum: CompiledChecksum) -> int:
    value = checksum.first
    for place in range(len(data)):
        value = absorb(value, np.int64(data[place]), checksum)
    return int(value ^ checksum.last)


def _mirrored(value: int, bits: int) -> int:
    return int(f"{value:0{bits}b}"[::-1], 2)
