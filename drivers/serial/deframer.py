"""Finds and checks packets in the bytes of a serial line, cut anywhere, with one kernel call for all available
bytes."""

from collections.abc import Mapping
from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from drivers.jit import inline, kernel
from drivers.layout.checksum import CHECKSUMS, NO_CHECKSUM, CompiledChecksum, absorb
from drivers.layout.frame import Frames
from drivers.serial.packets import COBS, DELIMITERS, LIMIT, Framing
from jointwatch_numba.layout import Array, Integers, Layout, Scratch

# how packets are separated
_COBS: Final = 0
_SLIP: Final = 1
_HDLC: Final = 2
_FIXED: Final = 3
_KINDS: Final = {"cobs": _COBS, "slip": _SLIP, "hdlc": _HDLC, "fixed": _FIXED}
_PIECE: Final = 2 * LIMIT  # bytes between two delimiters at most
Bytes = Annotated[NDArray[np.uint8], Array("u1", 1)]


class DeframingTotals(Layout):
    """Counts of invalid packets since the beginning, see Deframer."""

    bad_cobs: int
    bad_crc: int
    truncated: int
    oversized: int
    lost: int
    restarted: int
    garbage_bytes: int


CAUSES: Final = tuple(one.name for one in DeframingTotals.fields())


class CompiledFraming(Layout):
    """The framing of packets in the stream, and the state of the search for them."""

    kind: int  # how packets are separated
    delimiter: int  # the byte after a packet
    has_id: bool  # whether a packet begins with its id, one byte
    sequence: int  # bytes of it
    big: bool  # sequence and checksum have their most significant byte first
    checksum: CompiledChecksum
    only_id: int  # the id of packets that carry none
    ends: Integers  # bytes that a fixed packet begins with, then those that it ends with
    heads: int  # how many of these it begins with
    expected: Annotated[Integers, "256"]  # bytes of id, sequence and fields, by id; −1: unknown
    last: Annotated[Integers, "256"]  # sequence of the last packet, by id; −1: none yet
    packet: Scratch[Bytes]  # without its stuffing
    totals: DeframingTotals
    skipping: bool = False  # whether bytes are ignored up to the next delimiter


class Deframer:
    """Finds packets in a stream of bytes; invalid bytes are counted, and the next delimiter (or first byte)
    resynchronises.

    `counts` totals by cause: bad_cobs (stuffing that cannot be, whatever its kind), bad_crc, truncated and oversized
    (too short for any packet, too long for any or for its kind), lost (gaps in the sequence), restarted (a sequence
    that went back, as after a reset of the device), garbage_bytes (outside fixed packets).
    """

    def __init__(self, lengths: Mapping[int, int], framing: Framing = COBS) -> None:
        """lengths: id → bytes of id, sequence and fields."""
        self._rest = b""
        self._width = (max(lengths.values()) + 7) // 8 * 8
        self._least = max(2, framing.head + framing.tail)
        self._framing = _compiled(framing, lengths)

    @property
    def counts(self) -> dict[str, int]:
        """Totals since the beginning."""
        return {cause: getattr(self._framing.totals, cause) for cause in CAUSES}

    def feed(self, data: bytes, time: int) -> Frames:
        """Return the packets that end in these bytes, with id and sequence, without checksum; time: arrival, ns."""
        text = bytearray(self._rest + data)
        most = len(text) // self._least + 1
        ids, payload = np.empty(most, np.uint32), np.empty((most, self._width), np.uint8)
        lengths, times = np.empty(most, np.int64), np.empty(most, np.int64)
        used, found = _deframe(np.frombuffer(text, np.uint8), self._framing, ids, payload, lengths, times, time)
        self._rest = bytes(text[used:])
        return Frames(ids[:found], payload[:found], lengths[:found], times[:found])


def _compiled(framing: Framing, lengths: Mapping[int, int]) -> CompiledFraming:
    """Return the framing in the form that the kernel reads."""
    expected = np.full(256, -1, np.int64)
    expected[list(lengths)] = list(lengths.values())
    return CompiledFraming(
        kind=_KINDS[framing.kind],
        delimiter=DELIMITERS.get(framing.kind, 0),
        has_id=framing.id,
        sequence={"none": 0, "u8": 1, "u16": 2}[framing.sequence],
        big=framing.order == "big",
        checksum=NO_CHECKSUM if framing.checksum == "none" else CHECKSUMS[framing.checksum].compiled(),
        only_id=next(iter(lengths)),
        ends=np.array([*framing.start, *framing.end], np.int64),
        heads=len(framing.start),
        expected=expected,
        last=np.full(256, -1, np.int64),
        packet=np.zeros(_PIECE + 1, np.uint8),
        totals=DeframingTotals.zeros(),
    )


@inline
def _unstuff(text, start, end, kind, packet):  # type: ignore[no-untyped-def]
    """Remove the stuffing from a piece; returns the number of bytes of the packet, or −1 if the stuffing is invalid."""
    size = 0
    place = start
    if kind == _COBS:
        while place < end:
            after = place + np.int64(text[place])
            if after > end:
                return -1
            for one in range(place + 1, after):
                packet[size] = text[one]
                size += 1
            place = after
            if place < end:
                packet[size] = 0
                size += 1
        return size  # a code 0xFF cannot be in 254 bytes
    escape = 0xDB if kind == _SLIP else 0x7D
    while place < end:
        byte = np.int64(text[place])
        place += 1
        if byte == escape:
            if place == end:
                return -1
            byte = np.int64(text[place])
            place += 1
            if kind == _HDLC:
                byte ^= np.int64(0x20)
            elif byte == 0xDC or byte == 0xDD:
                byte = np.int64(0xC0 if byte == 0xDC else 0xDB)
            else:
                return -1
        packet[size] = byte
        size += 1
    return size


@inline
def _is_intact(packet, size, framing):  # type: ignore[no-untyped-def]
    """Whether the checksum at the end of a packet matches the bytes before it."""
    checksum = framing.checksum
    tail = checksum.size
    if tail == 0:
        return True
    value = checksum.first
    for place in range(size - tail):
        value = absorb(value, np.int64(packet[place]), checksum)
    return value ^ checksum.last == _number(packet, size - tail, tail, framing.big)


@inline
def _number(packet, place, size, big):  # type: ignore[no-untyped-def]
    """An unsigned integer of one or two bytes."""
    value = np.int64(packet[place])
    if size == 2:
        other = np.int64(packet[place + 1])
        value = (value << 8) | other if big else value | (other << 8)
    return value


@inline
def _follow(ident, packet, framing):  # type: ignore[no-untyped-def]
    """Count the packets that are missing between the last packet of this id and this one."""
    size, last = framing.sequence, framing.last
    if size == 0:
        return
    sequence = _number(packet, 1 if framing.has_id else 0, size, framing.big)
    modulo = 1 << (8 * size)
    gap = 0 if last[ident] < 0 else (sequence - last[ident] - 1) % modulo
    last[ident] = sequence
    if gap < modulo // 2:
        framing.totals.lost += gap
    else:
        framing.totals.restarted += 1


@inline
def _accept(packet, size, framing):  # type: ignore[no-untyped-def]
    """Return the id of a checked packet, or −1; the decoder reports unknown and too short packets."""
    tail = framing.checksum.size
    if size < (1 if framing.has_id else 0) + framing.sequence + tail:
        framing.totals.truncated += 1
        return -1
    if not _is_intact(packet, size, framing):
        framing.totals.bad_crc += 1
        return -1
    ident = np.int64(packet[0]) if framing.has_id else framing.only_id
    known = framing.expected[ident]
    if known >= 0 and size - tail > known:
        framing.totals.oversized += 1
        return -1
    if size - tail == known:
        _follow(ident, packet, framing)
    return ident


@inline
def _matches(text, place, ends, first, count):  # type: ignore[no-untyped-def]
    """Whether these known bytes are at this place."""
    for one in range(count):  # noqa: SIM110 - a generator is no loop for a kernel
        if text[place + one] != ends[first + one]:
            return False
    return True


@inline
def _between_known_bytes(text, place, framing):  # type: ignore[no-untyped-def]
    """Try the packet that begins here. Returns its id (−1: none), its bytes, and the place after it, or after what
    must come first before one can tell."""
    count, ends, heads, packet = len(text), framing.ends, framing.heads, framing.packet
    if place + heads + 1 > count:
        return np.int64(-1), np.int64(0), place + heads + 1
    ident = np.int64(text[place + heads]) if framing.has_id else framing.only_id
    if not _matches(text, place, ends, 0, heads) or framing.expected[ident] < 0:
        return np.int64(-1), np.int64(0), place + 1
    size = framing.expected[ident] + framing.checksum.size
    after = place + size + len(ends)
    if after > count:
        return np.int64(-1), size, after
    for one in range(size):
        packet[one] = text[place + heads + one]
    wrong = not _matches(text, place + heads + size, ends, heads, len(ends) - heads)
    framing.totals.truncated += wrong
    return np.int64(-1) if wrong else _accept(packet, size, framing), size, after


@kernel(("u1[::1]", CompiledFraming, "u4[::1]", "u1[:,::1]", "i8[::1]", "i8[::1]", "i8"))
def _deframe(text, framing, ids, payload, lengths, times, time):  # type: ignore[no-untyped-def]
    """Find all packets that end in the text. Returns the bytes used and the packets found."""
    found = 0
    start = 0
    place = 0
    count = len(text)
    totals, packet, tail = framing.totals, framing.packet, framing.checksum.size
    fixed = framing.kind == _FIXED
    longest = LIMIT + 1 if framing.kind == _COBS else _PIECE
    while place < count:
        if fixed:
            taken, size, after = _between_known_bytes(text, place, framing)
            if after > count:
                break
            if taken < 0:  # these bytes do not begin a packet
                totals.garbage_bytes += 1
                place += 1
                continue
            place = after
        else:
            place += 1
            if text[place - 1] != framing.delimiter:
                continue
            first = start
            start = place
            if framing.skipping:
                framing.skipping = False
                continue
            if place - 1 == first:
                continue
            if place - 1 - first > longest:
                totals.oversized += 1
                continue
            size = _unstuff(text, first, place - 1, framing.kind, packet)
            if size < 0:
                totals.bad_cobs += 1
                continue
            taken = _accept(packet, size, framing)
            if taken < 0:
                continue
        size -= tail
        for one in range(min(size, payload.shape[1])):
            payload[found, one] = packet[one]
        ids[found], lengths[found], times[found] = taken, size, time
        found += 1
    if fixed:
        return place, found
    if framing.skipping:
        return count, found
    if count - start > longest:
        totals.oversized += 1
        framing.skipping = True
        return count, found
    return start, found
