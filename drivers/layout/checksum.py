"""Checksums of frames and packets: what they are called, and one kernel step that serves them all.

A CRC is given by Rocksoft's parameters (Williams 1993: width, polynomial, initial value, reflection, final xor); the
catalogue of reveng.sourceforge.io has the same names and check values. `sum8` and `xor8` are the plain ones.
"""

from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from drivers.jit import inline

Name = Literal["sum8", "xor8", "crc8-j1850", "crc8-h2f", "crc8-maxim", "crc16-ccitt", "crc16-modbus", "crc16-xmodem"]


class Checksum(NamedTuple):
    """Parameters of one checksum; polynomial 0 is the sum, 1 the exclusive or."""

    bits: int
    polynomial: int
    first: int = 0
    reflected: bool = False
    last: int = 0  # xor at the end

    def settings(self) -> NDArray[np.int64]:
        """As `absorb` wants it: how to step, initial value, final xor, bytes."""
        step = _SUM if self.polynomial == 0 else _XOR if self.polynomial == 1 else _RIGHT if self._right else _LEFT
        first = _mirrored(self.first, self.bits) if self._right else self.first
        return np.array([step, first, self.last, self.bits // 8], np.int64)

    def table(self) -> NDArray[np.int64]:
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


_SUM, _XOR, _LEFT, _RIGHT = range(4)

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
    """The checksum of these bytes: for rigs and tests."""
    one = CHECKSUMS[name]
    settings, table = one.settings(), one.table()
    value = int(settings[1])
    for byte in data:
        value = int(absorb(value, byte, int(settings[0]), int(settings[3]), table))
    return value ^ int(settings[2])


@inline
def absorb(value, byte, step, size, table):  # type: ignore[no-untyped-def]
    """The checksum after one more byte."""
    if step == 2:  # a CRC that shifts to the left
        if size == 1:
            return table[value ^ byte]
        return ((value << 8) & 0xFFFF) ^ table[(value >> 8) ^ byte]
    if step == 3:
        return (value >> 8) ^ table[(value ^ byte) & 0xFF]
    if step == 0:
        return (value + byte) & 0xFF
    return value ^ byte


def _mirrored(value: int, bits: int) -> int:
    return int(f"{value:0{bits}b}"[::-1], 2)
