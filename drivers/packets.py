"""Bytes of a serial line to checked packets: COBS framing, CRC-16, a sequence counter that makes every loss visible.

On the wire, so that the other end can be written from this::

    COBS( id: u8 | sequence: u16 little-endian | fields … | crc: u16 little-endian )  0x00

COBS: consistent overhead byte stuffing (Cheshire and Baker 1999), so that 0x00 occurs only as delimiter; any number of
delimiters may stand between packets. CRC: CRC-16/CCITT-FALSE (polynomial 0x1021, initial value 0xFFFF, not reflected,
no final xor; the CRC of "123456789" is 0x29B1) over id, sequence and fields. The sequence counts the packets of one id,
modulo 65536; it is delivered as the signal "PACKET.sequence". Fields stand in the table's order without padding.
"""

import binascii
import struct
from collections.abc import Iterable, Mapping
from typing import Final, Literal, Self

import numpy as np
from pydantic import Field, FiniteFloat, field_validator, model_validator

from drivers.base import LayoutError, Settings
from drivers.frame import Frames, Layout, Signal
from drivers.units import Quantity, Scale

LIMIT: Final = 253  # bytes of a packet: COBS then costs exactly one byte
CAUSES: Final = ("bad_cobs", "bad_crc", "truncated", "oversized", "lost", "restarted")
_HEAD: Final = 3  # id and sequence
_TYPES: Final = {"u8": "B", "i8": "b", "u16": "H", "i16": "h", "u32": "I", "i32": "i", "u64": "Q", "i64": "q"} | {
    "f16": "e",
    "f32": "f",
    "f64": "d",
}


class FieldSettings(Quantity):
    """One field of a packet."""

    name: str = Field(pattern=r"^[^.]+$")
    type: Literal["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f16", "f32", "f64"]
    scale: Scale = 1.0
    offset: FiniteFloat = 0.0

    @property
    def bits(self) -> int:
        """Size."""
        return int(self.type[1:])

    @property
    def kind(self) -> str:
        """As a signal of a frame has it."""
        return {"u": "unsigned", "i": "signed", "f": "float"}[self.type[0]]

    @model_validator(mode="after")
    def _usable(self) -> Self:
        if self.name == "sequence":
            raise ValueError('found a field named "sequence": every packet has one already')
        if self.unit is None:
            self.conversion("")
        self.check_bits(self.bits, self.kind)
        return self


class PacketSettings(Settings):
    """One kind of packet: its id and its fields, in order and without padding."""

    name: str = Field(pattern=r"^[^.]+$")
    id: int = Field(ge=0, le=255)
    order: Literal["little", "big"] = Field(default="little", description="byte order of the fields")
    fields: tuple[FieldSettings, ...] = Field(min_length=1)

    @field_validator("fields")
    @classmethod
    def _distinct_and_small(cls, fields: tuple[FieldSettings, ...]) -> tuple[FieldSettings, ...]:
        names = [field.name for field in fields]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise ValueError(f"expected every field once, found {', '.join(sorted(twice))} more than once")
        size = sum(field.bits for field in fields) // 8
        if size > LIMIT - _HEAD - 2:
            raise ValueError(f"expected at most {LIMIT - _HEAD - 2} bytes of fields, found {size}")
        return fields

    @property
    def format(self) -> str:
        """Format of the fields for `struct`."""
        return ("<" if self.order == "little" else ">") + "".join(_TYPES[field.type] for field in self.fields)

    @property
    def size(self) -> int:
        """Bytes of id, sequence and fields."""
        return _HEAD + struct.calcsize(self.format)


def layout(packets: Iterable[PacketSettings]) -> Layout:
    """The same layout as of frames, over id, sequence and fields. Raises LayoutError."""
    lengths: dict[int, int] = {}
    signals: dict[str, Signal] = {}
    for packet in packets:
        if packet.id in lengths or f"{packet.name}.sequence" in signals:
            raise LayoutError(f"expected every packet id and name once, found {packet.id} ({packet.name}) twice")
        lengths[packet.id] = packet.size
        signals[f"{packet.name}.sequence"] = Signal(packet.id, 8, 16)
        start = 8 * _HEAD
        for field in packet.fields:
            signals[f"{packet.name}.{field.name}"] = _signal(packet, field, start)
            start += field.bits
    return Layout(lengths, signals)


def encode(identifier: int, sequence: int, fields: bytes) -> bytes:
    """One packet as it stands on the wire, with its delimiter: for rigs, and as reference for firmware."""
    checked = struct.pack("<BH", identifier, sequence % 65536) + fields
    packet = checked + struct.pack("<H", binascii.crc_hqx(checked, 0xFFFF))
    if len(packet) > LIMIT:
        raise ValueError(f"expected at most {LIMIT} bytes, found {len(packet)}")
    return b"".join(bytes([len(part) + 1]) + part for part in packet.split(b"\0")) + b"\0"


class Deframer:
    """Finds packets in a stream of bytes, however it is cut; garbage is counted, the next delimiter resynchronises.

    `counts` totals by cause: bad_cobs, bad_crc, truncated and oversized (too short for any packet, too long for any or
    for its kind), lost (gaps in the sequence), restarted (a sequence that went back, as after a reset of the device).
    """

    def __init__(self, lengths: Mapping[int, int]) -> None:
        self.counts: dict[str, int] = dict.fromkeys(CAUSES, 0)
        self._lengths = lengths
        self._width = max(lengths.values())
        self._rest = b""
        self._skipping = False  # inside something too long, until the next delimiter
        self._last: dict[int, int] = {}  # id → sequence of its last packet

    def feed(self, data: bytes, time: int) -> Frames:
        """The packets that end in these bytes, id and sequence included, CRC removed; time: ns, of their arrival."""
        *pieces, self._rest = (self._rest + data).split(b"\0")
        if pieces and self._skipping:
            self._skipping = False
            del pieces[0]
        if len(self._rest) > LIMIT + 1:
            self.counts["oversized"] += not self._skipping
            self._skipping = True
        if self._skipping:
            self._rest = b""
        packets = [packet for piece in pieces if piece and (packet := self._checked(piece))]
        width = self._width
        rows = b"".join([packet[:width].ljust(width, b"\0") for packet in packets])
        payload = np.frombuffer(rows, np.uint8).reshape(-1, width)
        lengths = np.array([len(packet) for packet in packets], np.int64)
        return Frames(payload[:, 0].astype(np.uint32), payload, lengths, np.full(len(packets), time, np.int64))

    def _checked(self, piece: bytes) -> bytes:
        """A packet without its CRC; empty where it is none, or too long for its kind."""
        if len(piece) > LIMIT + 1:
            return self._refuse("oversized")
        packet = _unstuffed(piece)
        if packet is None:
            return self._refuse("bad_cobs")
        if len(packet) < _HEAD + 2:
            return self._refuse("truncated")
        if binascii.crc_hqx(packet[:-2], 0xFFFF) != packet[-2] | packet[-1] << 8:
            return self._refuse("bad_crc")
        size = self._lengths.get(packet[0])
        if size is None or len(packet) - 2 < size:
            return packet[:-2]  # the decoder counts it as unmatched or truncated
        if len(packet) - 2 > size:
            return self._refuse("oversized")
        self._follow(packet[0], packet[1] | packet[2] << 8)
        return packet[:-2]

    def _refuse(self, cause: str) -> bytes:
        self.counts[cause] += 1
        return b""

    def _follow(self, identifier: int, sequence: int) -> None:
        """Count what is missing between the last packet of this id and this one."""
        gap = (sequence - self._last.get(identifier, sequence - 1) - 1) % 65536
        self._last[identifier] = sequence
        if gap < 32768:
            self.counts["lost"] += gap
        else:
            self.counts["restarted"] += 1


def _unstuffed(piece: bytes) -> bytes | None:
    """COBS decoded, or None where a code points beyond the end."""
    parts, start, end = [], 0, len(piece)
    while start < end:
        code = piece[start]
        if start + code > end:
            return None
        parts.append(piece[start + 1 : start + code])
        start += code
    return b"\0".join(parts)  # a code 0xFF cannot stand in 254 bytes


def _signal(packet: PacketSettings, field: FieldSettings, start: int) -> Signal:
    si = field.conversion("")
    big = packet.order == "big"
    return Signal(
        packet.id,
        start + 7 if big else start,
        field.bits,
        big,
        field.kind,
        si.factor * field.scale,
        si.factor * field.offset + si.offset,
        si.unit,
        None if field.invalid is None else field.invalid & ((1 << field.bits) - 1),
    )
