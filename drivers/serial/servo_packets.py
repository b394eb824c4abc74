"""Packets of servo buses: Dynamixel 2.0 and 1.0 (Robotis), and Feetech STS, which has the form of 1.0.

Dynamixel 2.0: FF FF FD 00, id, length (u16), instruction, parameters, CRC-16 (polynomial 0x8005, not reflected);
within, FF FF FD is followed by another FD. 1.0 and Feetech: FF FF, id, length (u8), instruction or error, parameters,
and the complement of their sum. On the half-duplex line requests and answers follow each other.

Fast reads of 2.0 have one answer of all servos together, with the id of everyone and nothing stuffed: each servo adds
its error, its id, its data and a CRC of all that stands before (e-Manual of Robotis, "Fast Sync Read").
"""

import struct
from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple

Protocol = Literal["dynamixel2", "dynamixel1", "feetech"]
READ, SYNC_READ, BULK_READ, STATUS = 0x02, 0x82, 0x92, 0x55
FAST_SYNC_READ, FAST_BULK_READ = 0x8A, 0x9A  # of 2.0
_HEAD2: Final = b"\xff\xff\xfd\x00"
_HEAD1: Final = b"\xff\xff"
LONGEST: Final = 1024  # bytes of a packet; a longer one is none
BROADCAST: Final = 0xFE


class ServoPacket(NamedTuple):
    """One packet, request or answer."""

    id: int
    code: int  # instruction; of an answer of protocol 1 its error
    body: bytes  # parameters; of an answer of protocol 2 its error first


class Range(NamedTuple):
    """Registers that one servo was asked for."""

    id: int
    address: int
    length: int


def crc16(data: bytes) -> int:
    """CRC-16/UMTS (also called BUYPASS): polynomial 0x8005, not reflected, first 0."""
    value = 0
    for byte in data:
        value = ((value << 8) & 0xFFFF) ^ _REMAINDERS[(value >> 8) ^ byte]
    return value


def _remainder(byte: int) -> int:
    value = byte << 8
    for _ in range(8):
        value = ((value << 1) ^ (0x8005 if value & 0x8000 else 0)) & 0xFFFF
    return value


_REMAINDERS: Final = tuple(map(_remainder, range(256)))


class PacketSplitter:
    """Finds packets in a stream. `counts`: garbage_bytes, bad_crc (checksums too)."""

    def __init__(self, protocol: Protocol) -> None:
        self._second = protocol == "dynamixel2"
        self._rest = b""
        self.counts = {"garbage_bytes": 0, "bad_crc": 0}

    def feed(self, data: bytes) -> Iterator[ServoPacket]:
        """Every packet that ends in what has come."""
        text, at = self._rest + data, 0
        head = _HEAD2 if self._second else _HEAD1
        while True:
            found = text.find(head, at)
            if found < 0:
                keep = next((size for size in range(len(head) - 1, 0, -1) if text.endswith(head[:size])), 0)
                self.counts["garbage_bytes"] += max(0, len(text) - at - keep)
                at = max(at, len(text) - keep)
                break
            self.counts["garbage_bytes"] += found - at
            at = found
            size = self._size(text, at)
            if size is None or (size and len(text) - at < size):
                break
            if not size:  # no packet begins here
                self.counts["garbage_bytes"] += 1
                at += 1
                continue
            packet = self._packet(text[at : at + size])
            if packet is None:
                self.counts["bad_crc"] += 1
                at += len(head)
            else:
                yield packet
                at += size
        self._rest = text[at:]

    def _size(self, text: bytes, at: int) -> int | None:
        """Bytes of the packet that begins here; None: not yet known; 0: none begins."""
        if self._second:
            if len(text) - at < 7:
                return None
            size = 7 + int.from_bytes(text[at + 5 : at + 7], "little")
            return size if 10 <= size <= LONGEST else 0
        if len(text) - at < 4:
            return None
        if text[at + 2] == 0xFF or text[at + 3] < 2:
            return 0
        return 4 + text[at + 3]

    def _packet(self, packet: bytes) -> ServoPacket | None:
        if self._second:
            if crc16(packet[:-2]) != int.from_bytes(packet[-2:], "little"):
                return None
            inside = packet[7:-2]
            if packet[4] != BROADCAST or inside[0] != STATUS:  # only the answer to a fast read is not stuffed
                inside = inside.replace(b"\xff\xff\xfd\xfd", b"\xff\xff\xfd")
            return ServoPacket(packet[4], inside[0], inside[1:])
        if (sum(packet[2:]) & 0xFF) != 0xFF:  # the sum and its complement
            return None
        return ServoPacket(packet[2], packet[4], packet[5:-1])


def read_packet(protocol: Protocol, ranges: Sequence[Range], fast: bool = False) -> bytes:
    """A request that reads the same registers of some servos: a read of one, a sync read of several; nothing else.

    fast: of several, a fast sync read (2.0 alone).
    """
    if fast and protocol != "dynamixel2":
        raise ValueError(f"expected a fast read in protocol dynamixel2 only, found {protocol}")
    if len({(one.address, one.length) for one in ranges}) != 1 or (protocol == "dynamixel1" and len(ranges) > 1):
        raise ValueError(f"expected the same registers of all servos that are asked together, found {ranges}")
    first = ranges[0]
    single = len(ranges) == 1
    ident, instruction = (first.id, READ) if single else (BROADCAST, FAST_SYNC_READ if fast else SYNC_READ)
    idents = b"" if single else bytes(one.id for one in ranges)
    if protocol == "dynamixel2":
        inside = bytes([instruction]) + struct.pack("<HH", first.address, first.length) + idents
        stuffed = inside.replace(b"\xff\xff\xfd", b"\xff\xff\xfd\xfd")
        packet = _HEAD2 + struct.pack("<BH", ident, len(stuffed) + 2) + stuffed
        return packet + struct.pack("<H", crc16(packet))
    inside = bytes([instruction, first.address, first.length]) + idents
    packet = bytes([ident, len(inside) + 1]) + inside
    return _HEAD1 + packet + bytes([~sum(packet) & 0xFF])


def asked(packet: ServoPacket, protocol: Protocol) -> list[Range] | None:
    """What a request reads, servo by servo; empty: it reads nothing; None: this may be an answer."""
    body = packet.body
    if protocol == "dynamixel2":
        if packet.code == STATUS:
            return None
        words = [int.from_bytes(body[at : at + 2], "little") for at in (0, 2)]
        if packet.code == READ and len(body) == 4:
            return [Range(packet.id, *words)]
        if packet.code in (SYNC_READ, FAST_SYNC_READ) and len(body) > 4:
            return [Range(one, *words) for one in body[4:]]
        if packet.code in (BULK_READ, FAST_BULK_READ) and len(body) % 5 == 0:
            parts = (body[at : at + 5] for at in range(0, len(body), 5))
            return [
                Range(one[0], int.from_bytes(one[1:3], "little"), int.from_bytes(one[3:], "little")) for one in parts
            ]
        return []
    if packet.code == READ and len(body) == 2:
        return [Range(packet.id, body[0], body[1])]
    if packet.code == SYNC_READ and packet.id == BROADCAST and len(body) > 2:  # Feetech
        return [Range(one, body[0], body[1]) for one in body[2:]]
    if packet.code == BULK_READ and packet.id == BROADCAST and len(body) % 3 == 1:  # Dynamixel 1.0
        return [Range(body[at + 1], body[at + 2], body[at]) for at in range(1, len(body), 3)]
    return [] if packet.id == BROADCAST else None


def is_shared(packet: ServoPacket, protocol: Protocol) -> bool:
    """Whether this is the one answer of several servos to a fast read."""
    return protocol == "dynamixel2" and packet.id == BROADCAST and packet.code == STATUS


def separated(packet: ServoPacket, ranges: Sequence[Range]) -> list[ServoPacket] | None:
    """The answers in the one answer to a fast read of these ranges, as if each servo had sent its own; else None."""
    found, body = [], packet.body
    for one in ranges:
        block, body = body[: 2 + one.length], body[4 + one.length :]
        if len(block) != 2 + one.length or block[1] != one.id:
            return None
        found.append(ServoPacket(one.id, STATUS, block[:1] + block[2:]))
    return found if len(packet.body) == sum(4 + one.length for one in ranges) - 2 else None
