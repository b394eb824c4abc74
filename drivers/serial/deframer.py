"""Bytes of a serial line to checked packets, however the stream is cut: one kernel call for all that is there."""

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from drivers.jit import inline, kernel
from drivers.layout.checksum import CHECKSUMS, absorb
from drivers.layout.frame import Frames
from drivers.serial.packets import COBS, DELIMITERS, LIMIT, Framing

# totals, in the order of their names
_UNSTUFFED, _CHECK, _SHORT, _LONG, _LOST, _RESTARTED, _GARBAGE, _SKIPPING = range(8)
CAUSES: Final = ("bad_cobs", "bad_crc", "truncated", "oversized", "lost", "restarted", "garbage_bytes")
# how packets are framed
_KIND, _DELIMITER, _IDS, _SEQUENCE, _BIG, _TAIL, _STEP, _FIRST, _LAST, _FIXED_ID = range(10)
_COBS, _SLIP, _HDLC, _FIXED = range(4)
_PIECE: Final = 2 * LIMIT  # bytes between two delimiters at most


class Deframer:
    """Finds packets in a stream of bytes; garbage is counted, the next delimiter (or first byte) resynchronises.

    `counts` totals by cause: bad_cobs (stuffing that cannot be, whatever its kind), bad_crc, truncated and oversized
    (too short for any packet, too long for any or for its kind), lost (gaps in the sequence), restarted (a sequence
    that went back, as after a reset of the device), garbage_bytes (outside fixed packets).
    """

    def __init__(self, lengths: Mapping[int, int], framing: Framing = COBS) -> None:
        """lengths: id → bytes of id, sequence and fields."""
        self._rest = b""
        self._totals = np.zeros(len(CAUSES) + 1, np.int64)
        self._lengths = np.full(256, -1, np.int64)
        self._lengths[list(lengths)] = list(lengths.values())
        self._last = np.full(256, -1, np.int64)  # sequence of the last packet, by id
        self._width = (max(lengths.values()) + 7) // 8 * 8
        self._least = max(2, framing.head + framing.tail)
        self._ends = np.array([*framing.start, *framing.end], np.int64), len(framing.start)
        self._settings, self._table = _compiled(framing, next(iter(lengths)))
        self._scratch = np.zeros(_PIECE + 1, np.uint8)

    @property
    def counts(self) -> dict[str, int]:
        """Totals since the beginning."""
        return dict(zip(CAUSES, self._totals[:_SKIPPING].tolist(), strict=True))

    def feed(self, data: bytes, time: int) -> Frames:
        """The packets that end in these bytes, id and sequence included, checksum removed; time: ns, of arrival."""
        text = bytearray(self._rest + data)
        most = len(text) // self._least + 1
        ids, payload = np.empty(most, np.uint32), np.empty((most, self._width), np.uint8)
        lengths, times = np.empty(most, np.int64), np.empty(most, np.int64)
        used, found = _deframe(
            np.frombuffer(text, np.uint8),
            self._settings,
            *self._ends,
            self._lengths,
            self._last,
            self._table,
            self._scratch,
            ids,
            payload,
            lengths,
            times,
            time,
            self._totals,
        )
        self._rest = bytes(text[used:])
        return Frames(ids[:found], payload[:found], lengths[:found], times[:found])


def _compiled(framing: Framing, ident: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Settings and table of the kernel."""
    kind = ("cobs", "slip", "hdlc", "fixed").index(framing.kind)
    sequence = {"none": 0, "u8": 1, "u16": 2}[framing.sequence]
    big, delimiter = framing.order == "big", DELIMITERS.get(framing.kind, 0)
    if framing.checksum == "none":
        step, first, last, table = 0, 0, 0, np.zeros(256, np.int64)
    else:
        one = CHECKSUMS[framing.checksum]
        step, first, last, _ = one.settings().tolist()
        table = one.table()
    row = [kind, delimiter, framing.id, sequence, big, framing.tail, step, first, last, ident]
    return np.array(row, np.int64), table


@inline
def _unstuff(text, start, end, kind, packet):  # type: ignore[no-untyped-def]
    """Take the stuffing out of a piece; returns the packet's bytes, −1 where it cannot be."""
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
        return size  # a code 0xFF cannot stand in 254 bytes
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
def _is_intact(packet, size, settings, table):  # type: ignore[no-untyped-def]
    """Whether the checksum at the end of a packet is the one of what stands before."""
    tail = settings[_TAIL]
    if tail == 0:
        return True
    value = settings[_FIRST]
    for place in range(size - tail):
        value = absorb(value, np.int64(packet[place]), settings[_STEP], tail, table)
    return value ^ settings[_LAST] == _number(packet, size - tail, tail, settings[_BIG])


@inline
def _number(packet, place, size, big):  # type: ignore[no-untyped-def]
    """An unsigned integer of one or two bytes."""
    value = np.int64(packet[place])
    if size == 2:
        other = np.int64(packet[place + 1])
        value = (value << 8) | other if big else value | (other << 8)
    return value


@inline
def _follow(ident, packet, settings, last, totals):  # type: ignore[no-untyped-def]
    """Count what is missing between the last packet of this id and this one."""
    size = settings[_SEQUENCE]
    if size == 0:
        return
    sequence = _number(packet, settings[_IDS], size, settings[_BIG])
    modulo = 1 << (8 * size)
    gap = 0 if last[ident] < 0 else (sequence - last[ident] - 1) % modulo
    last[ident] = sequence
    if gap < modulo // 2:
        totals[_LOST] += gap
    else:
        totals[_RESTARTED] += 1


@inline
def _accept(packet, size, settings, expected, last, table, totals):  # type: ignore[no-untyped-def]
    """The id of a checked packet, or −1; of an unknown or too short one the decoder speaks."""
    if size < settings[_IDS] + settings[_SEQUENCE] + settings[_TAIL]:
        totals[_SHORT] += 1
        return -1
    if not _is_intact(packet, size, settings, table):
        totals[_CHECK] += 1
        return -1
    ident = np.int64(packet[0]) if settings[_IDS] else settings[_FIXED_ID]
    known = expected[ident]
    if known >= 0 and size - settings[_TAIL] > known:
        totals[_LONG] += 1
        return -1
    if size - settings[_TAIL] == known:
        _follow(ident, packet, settings, last, totals)
    return ident


@inline
def _matches(text, place, ends, first, count):  # type: ignore[no-untyped-def]
    """Whether these known bytes stand here."""
    for one in range(count):  # noqa: SIM110 - a generator is no loop for a kernel
        if text[place + one] != ends[first + one]:
            return False
    return True


@kernel(
    "UniTuple(i8, 2)(u1[::1], i8[::1], i8[::1], i8, i8[::1], i8[::1], i8[::1], u1[::1], "
    "u4[::1], u1[:,::1], i8[::1], i8[::1], i8, i8[::1])"
)
def _deframe(  # type: ignore[no-untyped-def]
    text, settings, ends, heads, expected, last, table, packet, ids, payload, lengths, times, time, totals
):
    """Find all packets that end in the text. Returns the bytes used and the packets found."""
    found = 0
    start = 0
    place = 0
    count = len(text)
    fixed = settings[_KIND] == _FIXED
    longest = LIMIT + 1 if settings[_KIND] == _COBS else _PIECE
    while place < count:
        if fixed:
            if place + heads + 1 > count:
                break
            ident = np.int64(text[place + heads]) if settings[_IDS] else settings[_FIXED_ID]
            if not _matches(text, place, ends, 0, heads) or expected[ident] < 0:
                totals[_GARBAGE] += 1
                place += 1
                continue
            size = expected[ident] + settings[_TAIL]
            after = place + size + len(ends)
            if after > count:
                break
            for one in range(size):
                packet[one] = text[place + heads + one]
            wrong = not _matches(text, place + heads + size, ends, heads, len(ends) - heads)
            totals[_SHORT] += wrong
            taken = -1 if wrong else _accept(packet, size, settings, expected, last, table, totals)
            if taken < 0:  # the first bytes were no first bytes
                totals[_GARBAGE] += 1
                place += 1
                continue
            place = after
        else:
            place += 1
            if text[place - 1] != settings[_DELIMITER]:
                continue
            first = start
            start = place
            if totals[_SKIPPING]:
                totals[_SKIPPING] = 0
                continue
            if place - 1 == first:
                continue
            if place - 1 - first > longest:
                totals[_LONG] += 1
                continue
            size = _unstuff(text, first, place - 1, settings[_KIND], packet)
            if size < 0:
                totals[_UNSTUFFED] += 1
                continue
            taken = _accept(packet, size, settings, expected, last, table, totals)
            if taken < 0:
                continue
        size -= settings[_TAIL]
        for one in range(min(size, payload.shape[1])):
            payload[found, one] = packet[one]
        ids[found], lengths[found], times[found] = taken, size, time
        found += 1
    if fixed:
        return place, found
    if totals[_SKIPPING]:
        return count, found
    if count - start > longest:
        totals[_LONG] += 1
        totals[_SKIPPING] = 1
        return count, found
    return start, found
