"""Packets on a serial line: their fields and framing, by default COBS, CRC-16 and a sequence counter.

Form on the wire, from which the other end can be written::

    COBS( id: u8 | sequence: u16 little-endian | fields … | crc: u16 little-endian )  0x00

COBS: consistent overhead byte stuffing (Cheshire and Baker 1999), so that 0x00 occurs only as delimiter; there may be
any number of delimiters between packets. CRC: CRC-16/CCITT-FALSE (polynomial 0x1021, initial value 0xFFFF, not
reflected, no final xor; the CRC of "123456789" is 0x29B1) over id, sequence and fields. The sequence counts the packets
of one id, modulo 65536; it is delivered as the signal "PACKET.sequence". Fields are in the table's order without
padding.

Devices with other protocols are described by `Framing`: SLIP (RFC 1055) or HDLC-like (RFC 1662) escapes between
delimiters, or packets of fixed length between known first and last bytes; with or without id, sequence and checksum.
"""

import struct
from collections.abc import Sequence
from typing import Annotated, Final, Literal, Self

from pydantic import Field, FiniteFloat, field_validator, model_validator

from drivers.base import LayoutError, StrictSettings
from drivers.layout.checksum import CHECKSUMS, Name, compute
from drivers.layout.frame import FrameLayout, Signal
from drivers.units import QuantitySettings, Scale

LIMIT: Final = 253  # bytes of a packet: COBS then costs exactly one byte
DELIMITERS: Final = {"cobs": 0x00, "slip": 0xC0, "hdlc": 0x7E}
_SEQUENCES: Final = {"none": 0, "u8": 1, "u16": 2}
_MOST_FIELDS: Final = LIMIT - 5  # without id, sequence and CRC
_TYPES: Final = {"u8": "B", "i8": "b", "u16": "H", "i16": "h", "u32": "I", "i32": "i", "u64": "Q", "i64": "q"} | {
    "f16": "e",
    "f32": "f",
    "f64": "d",
}


Byte = Annotated[int, Field(ge=0, le=255)]


class Framing(StrictSettings):
    """Framing of packets in the stream: [start] [id] [sequence] fields [checksum] [end], or stuffed and delimited."""

    kind: Literal["cobs", "slip", "hdlc", "fixed"] = "cobs"
    start: tuple[Byte, ...] = Field(default=(), max_length=8, description="fixed: bytes that every packet begins with")
    end: tuple[Byte, ...] = Field(default=(), max_length=8, description="fixed: bytes that every packet ends with")
    id: bool = Field(default=True, description="whether a packet begins with its id; without, there is one kind only")
    sequence: Literal["none", "u8", "u16"] = Field(default="u16", description="counts the packets of one id")
    checksum: Name | Literal["none"] = Field(default="crc16-ccitt", description="over id, sequence and fields")
    order: Literal["little", "big"] = Field(default="little", description="of sequence and checksum")

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.kind != "fixed" and (self.start or self.end):
            raise ValueError(f"start and end go with fixed packets, found them with {self.kind}")
        if self.kind == "fixed" and not self.start:
            raise ValueError("fixed packets are found by the bytes they begin with: expected start, found none")
        return self

    @property
    def head(self) -> int:
        """Bytes of id and sequence."""
        return self.id + _SEQUENCES[self.sequence]

    @property
    def tail(self) -> int:
        """Bytes of the checksum."""
        return 0 if self.checksum == "none" else CHECKSUMS[self.checksum].bits // 8


COBS: Final = Framing()


class FieldSettings(QuantitySettings):
    """One field of a packet."""

    name: str = Field(pattern=r"^[^.]+$")
    type: Literal["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f16", "f32", "f64"]
    scale: Scale = 1.0
    offset: FiniteFloat = 0.0

    @property
    def bits(self) -> int:
        """Its size."""
        return int(self.type[1:])

    @property
    def kind(self) -> str:
        """Kind of number, in the terms of the signals of frames."""
        return {"u": "unsigned", "i": "signed", "f": "float"}[self.type[0]]

    @model_validator(mode="after")
    def _usable(self) -> Self:
        if self.name == "sequence":
            raise ValueError('found a field named "sequence": every packet has one already')
        if self.unit is None:
            self.conversion("")
        self.check_bits(self.bits, self.kind)
        return self


class PacketSettings(StrictSettings):
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
        if size > _MOST_FIELDS:
            raise ValueError(f"expected at most {_MOST_FIELDS} bytes of fields, found {size}")
        return fields

    @property
    def format(self) -> str:
        """Format of the fields for `struct`."""
        return ("<" if self.order == "little" else ">") + "".join(_TYPES[field.type] for field in self.fields)


def layout(packets: Sequence[PacketSettings], framing: Framing = COBS) -> FrameLayout:
    """Return the layout of packets in the form of frames with id, sequence and fields. Raises LayoutError."""
    if not framing.id and len(packets) > 1:
        raise LayoutError(f"expected one kind of packet where they carry no id, found {len(packets)}")
    lengths: dict[int, int] = {}
    signals: dict[str, Signal] = {}
    names: set[str] = set()
    for packet in packets:
        if packet.id in lengths or packet.name in names:
            raise LayoutError(f"expected every packet id and name once, found {packet.id} ({packet.name}) twice")
        names.add(packet.name)
        lengths[packet.id] = framing.head + struct.calcsize(packet.format)
        if framing.sequence != "none":
            signals[f"{packet.name}.sequence"] = _sequence(packet.id, framing)
        start = 8 * framing.head
        for field in packet.fields:
            signals[f"{packet.name}.{field.name}"] = _signal(packet, field, start)
            start += field.bits
    return FrameLayout(lengths, signals)


def encode(identifier: int, sequence: int, fields: bytes, framing: Framing = COBS) -> bytes:
    """Encode one packet for the wire with its delimiter, for rigs and as reference for firmware."""
    size = _SEQUENCES[framing.sequence]
    checked = bytes([identifier]) * framing.id + (sequence % (1 << 8 * size)).to_bytes(size, framing.order) + fields
    check = compute(framing.checksum, checked).to_bytes(framing.tail, framing.order) if framing.tail else b""
    packet = checked + check
    if len(packet) > LIMIT:
        raise ValueError(f"expected at most {LIMIT} bytes, found {len(packet)}")
    if framing.kind == "cobs":
        return b"".join(bytes([len(part) + 1]) + part for part in packet.split(b"\0")) + b"\0"
    if framing.kind == "slip":
        return packet.replace(b"\xdb", b"\xdb\xdd").replace(b"\xc0", b"\xdb\xdc") + b"\xc0"
    if framing.kind == "hdlc":
        return packet.replace(b"\x7d", b"\x7d\x5d").replace(b"\x7e", b"\x7d\x5e") + b"\x7e"
    return bytes(framing.start) + packet + bytes(framing.end)


def _sequence(packet: int, framing: Framing) -> Signal:
    big = framing.order == "big"
    bits = 8 * _SEQUENCES[framing.sequence]
    return Signal(packet, 8 * framing.id + (7 if big else 0), bits, big)


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
