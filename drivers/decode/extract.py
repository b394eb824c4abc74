"""The kernel that decodes: for every frame its slot, for every wanted signal of it the bits, the number, the SI value.

A payload is read as 64-bit words. Bits count from the least significant of a word for Intel signals; for Motorola ones
the words are taken with their bytes swapped, so that both are a shift, and where a signal spills over a word's end
the other word's bits are put on top.
"""

from typing import Final

import numpy as np

from drivers.jit import inline, kernel
from drivers.layout.checksum import absorb
from drivers.layout.frame import ERROR, REMOTE

# columns of the table of signals
WORD, SPILL, SHIFT, BIG, KIND, LEFT, CHANNEL, SELECTOR, FIRST_VALUE, VALUES, MARKED, INVALID = range(12)
SIGNAL_COLUMNS: Final = 12
UNSIGNED, SIGNED, WIDE, HALF, SINGLE, DOUBLE = range(6)  # WIDE: 64 bits, unsigned
# columns of the table of scales
SCALE, OFFSET, LOW, HIGH = range(4)
# columns of the table of frames; a checksum stands at CHECK_START, and covers the other bytes before CHECK_EXTENT
(
    IDENT,
    LENGTH,
    FIRST,
    COUNT,
    COUNTER,
    MODULO,
    CHECK,
    CHECK_START,
    CHECK_EXTENT,
    CHECK_BIG,
    SUFFIX,
    SUFFIXES,
    LAST,
    SEEN,
) = range(14)
FRAME_COLUMNS: Final = 14
# totals, in the order in which the decoder names them
FRAMES, UNMATCHED, TRUNCATED, REMOTES, ERRORS, BAD, LOST, RESTARTED, NO_VALUE, OUTSIDE, NOT_FINITE = range(11)
TOTALS: Final = 11

_FLAGGED: Final = ERROR | REMOTE
_STEP: Final = np.uint64(8)
_BYTE: Final = np.uint64(0xFF)
_WORD_BITS: Final = np.uint64(64)


@inline
def swapped(word):  # type: ignore[no-untyped-def]
    """The bytes of a word in the other order."""
    word = ((word & np.uint64(0x00FF00FF00FF00FF)) << np.uint64(8)) | (
        (word >> np.uint64(8)) & np.uint64(0x00FF00FF00FF00FF)
    )
    word = ((word & np.uint64(0x0000FFFF0000FFFF)) << np.uint64(16)) | (
        (word >> np.uint64(16)) & np.uint64(0x0000FFFF0000FFFF)
    )
    return (word << np.uint64(32)) | (word >> np.uint64(32))


@inline
def bits_of(words, row, signals, one):  # type: ignore[no-untyped-def]
    """The bits of a signal, as an unsigned integer shifted to the left end of its word."""
    shift = np.uint64(signals[one, SHIFT])
    word = words[row, signals[one, WORD]]
    if signals[one, BIG]:
        word = swapped(word)
    raw = word >> shift
    if signals[one, SPILL] >= 0:
        other = words[row, signals[one, SPILL]]
        if signals[one, BIG]:
            other = swapped(other)
        raw |= other << (_WORD_BITS - shift)
    return raw << np.uint64(signals[one, LEFT])


@inline
def half(raw):  # type: ignore[no-untyped-def]
    """IEEE 754 binary16."""
    exponent, fraction = np.int64((raw >> 10) & 31), np.float64(raw & 1023)
    if exponent == 31:
        value = np.inf if fraction == 0 else np.nan
    elif exponent == 0:
        value = fraction * 2.0**-24
    else:
        value = (1024.0 + fraction) * 2.0 ** (exponent - 25.0)
    return -value if raw & 0x8000 else value


@inline
def number_of(bits, left, kind):  # type: ignore[no-untyped-def]
    """The bits of a signal (at the left end of the word) as a number."""
    if kind == SIGNED:
        return np.float64(np.uint64(bits).view(np.int64) >> np.int64(left))
    raw = bits >> np.uint64(left)
    if kind == UNSIGNED:
        return np.float64(np.uint64(raw).view(np.int64))
    if kind == SINGLE:
        return np.float64(np.uint32(raw).view(np.float32))
    if kind == DOUBLE:
        return np.uint64(raw).view(np.float64)
    if kind == WIDE:
        return np.float64(raw)
    return half(np.int64(raw))


@inline
def is_there(words, row, signals, one, allowed):  # type: ignore[no-untyped-def]
    """Whether every selector above a signal has one of the values under which the signal is there."""
    below = one
    above = signals[one, SELECTOR]
    while above >= 0:
        raw = np.int64(bits_of(words, row, signals, above) >> np.uint64(signals[above, LEFT]))
        low = signals[below, FIRST_VALUE]
        high = low + signals[below, VALUES]
        end = high
        while low < high:
            middle = (low + high) // 2
            if allowed[middle] < raw:
                low = middle + 1
            else:
                high = middle
        if low == end or allowed[low] != raw:
            return False
        below = above
        above = signals[below, SELECTOR]
    return True


@inline
def byte_at(words, row, index):  # type: ignore[no-untyped-def]
    """One byte of a payload."""
    return np.int64((words[row, index // 8] >> (_STEP * np.uint64(index % 8))) & _BYTE)


@inline
def is_intact(words, row, frame, checks, tables, suffixes):  # type: ignore[no-untyped-def]
    """Whether a frame's checksum is the one of its other bytes, and of those that both ends add to them."""
    which = frame[CHECK]
    step, size = checks[which, 0], checks[which, 3]
    start = frame[CHECK_START]
    value = checks[which, 1]
    table = tables[which]
    for index in range(frame[CHECK_EXTENT]):
        if index < start or index >= start + size:
            value = absorb(value, byte_at(words, row, index), step, size, table)
    for index in range(frame[SUFFIX], frame[SUFFIX] + frame[SUFFIXES]):
        value = absorb(value, suffixes[index], step, size, table)
    value ^= checks[which, 2]
    stated = byte_at(words, row, start)
    if size == 2:
        other = byte_at(words, row, start + 1)
        stated = (stated << 8) | other if frame[CHECK_BIG] else stated | (other << 8)
    return value == stated


@inline
def follow(frame, value, totals):  # type: ignore[no-untyped-def]
    """Count what a message counter says is missing since the last frame of its id; −1: no frame yet."""
    last = frame[LAST]
    frame[LAST] = value
    if last < 0:
        return
    modulo = frame[MODULO]
    gap = (value - last - 1) % modulo
    # a wide counter that seems to have lost half its range went back; of a narrow one only a standstill tells
    if gap == modulo - 1 or (modulo >= 256 and gap >= modulo // 2):
        totals[RESTARTED] += 1
    else:
        totals[LOST] += gap


@inline
def hashed(ident):  # type: ignore[no-untyped-def]
    """Where in the table of ids to look first (before the mask)."""
    return (ident * 40503) >> 4


@inline
def slot_of(ident, keys, slots):  # type: ignore[no-untyped-def]
    """A frame's row in the table of frames, −1 where the layout does not know it; keys: open addressing."""
    mask = len(keys) - 1
    place = hashed(ident) & mask
    while slots[place] >= 0:
        if keys[place] == ident:
            return slots[place]
        place = (place + 1) & mask
    return -1


@kernel(
    "i8(u4[::1], u8[:,::1], i8[::1], i8[::1], u4[::1], i8[:,::1], i8[:,::1], i8[:,::1], f8[:,::1], i8[::1], "
    "i8[:,::1], i8[:,::1], i8[::1], i8[::1])"
)
def extract(  # type: ignore[no-untyped-def]
    ids, words, lengths, times, flags, index, frames, signals, scales, allowed, checks, tables, readings, totals
):
    """Decode a batch; returns how many readings were written, or −1 (nothing done) where times are out of order.

    ids, words, lengths, times: (n,) and (n, width / 8), as in Frames; flags: (n,) for the readings, or empty.
    index: (2, 2^k) ids and slots; frames, signals, scales: see their columns; allowed: values of selectors, sorted
    for each signal, and after them the bytes added to checksums; checks, tables: see Checksum.
    readings: room for three words each: time, value, channel and flags; totals: see above.
    """
    for row in range(1, len(times)):
        if times[row] < times[row - 1]:
            return -1
    made = 0
    keys, slots = index[0], index[1]
    flag = np.int64(0)
    for row in range(len(ids)):
        ident = np.int64(ids[row])
        slot = slot_of(ident, keys, slots)
        if slot < 0:
            if not ident & _FLAGGED:
                totals[UNMATCHED] += 1
            elif ident & ERROR:
                totals[ERRORS] += 1
            else:
                totals[REMOTES] += 1
            continue
        frame = frames[slot]
        if lengths[row] < frame[LENGTH]:
            totals[TRUNCATED] += 1
            continue
        if frame[CHECK] >= 0 and not is_intact(words, row, frame, checks, tables, allowed):
            totals[BAD] += 1
            continue
        frame[SEEN] = times[row]
        if frame[COUNTER] >= 0:
            one = frame[COUNTER]
            follow(frame, np.int64(bits_of(words, row, signals, one) >> np.uint64(signals[one, LEFT])), totals)
        if len(flags):
            flag = np.int64(flags[row]) << 32
        for one in range(frame[FIRST], frame[FIRST] + frame[COUNT]):
            if signals[one, SELECTOR] >= 0 and not is_there(words, row, signals, one, allowed):
                continue
            bits = bits_of(words, row, signals, one)
            number = number_of(bits, signals[one, LEFT], signals[one, KIND])
            value = scales[one, SCALE] * number + scales[one, OFFSET]
            # one cause each: the device's own mark before a NaN before a limit
            if signals[one, MARKED] and np.uint64(bits).view(np.int64) == signals[one, INVALID]:
                totals[NO_VALUE] += 1
                value = np.nan
            elif not np.isfinite(value):
                totals[NOT_FINITE] += 1
                value = np.nan
            elif number < scales[one, LOW] or number > scales[one, HIGH]:
                totals[OUTSIDE] += 1
                value = np.nan
            readings[made] = times[row]
            readings[made + 1] = np.float64(value).view(np.int64)
            readings[made + 2] = signals[one, CHANNEL] | flag
            made += 3
    totals[FRAMES] += len(ids)
    return made // 3
