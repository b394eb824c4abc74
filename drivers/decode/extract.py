"""The decoding kernel: finds the slot of every frame, and for each of its signals the bits, the number, the SI value.

A payload is read as 64-bit words. For Intel signals, bits count from the least significant bit of a word. For Motorola
signals the bytes of each word are swapped first, so that both kinds need only a shift. If a signal extends into a
second word, the bits of that word are added on top.
"""

from typing import Annotated, Final

import numpy as np

from drivers.jit import inline, kernel
from drivers.layout.checksum import CompiledChecksum, absorb
from drivers.layout.frame import ERROR, REMOTE
from jointwatch_numba.layout import Integers, Layout

# kinds of numbers
UNSIGNED: Final = 0
SIGNED: Final = 1
WIDE: Final = 2  # 64 bits, unsigned
HALF: Final = 3  # IEEE 754 binary16 …
SINGLE: Final = 4  # … binary32 …
DOUBLE: Final = 5  # … binary64


class CompiledSignal(Layout):
    """The place of a signal's bits, and their meaning: value = scale × number + offset."""

    word: int  # index of the payload's word with the least significant bit
    spill: int  # index of the second word if the signal extends into it; −1: it does not
    shift: int  # bits to shift right
    motorola: bool
    kind: int  # kind of number
    left: int  # bits to shift left, so that the signal is at the left end of the word
    channel: int
    scale: float  # SI
    offset: float  # SI
    low: float  # limits of the number: lowest and highest
    high: float
    marked: bool  # whether the pattern `invalid` marks a missing value
    invalid: int  # bit pattern at the left end of the word
    selector: int = -1  # row of the signal that selects whether this one is present; −1: it always is
    first_value: int = 0  # index in `allowed` of the first value of the selector for which it is present
    values: int = 0  # … and how many


class CompiledFrame(Layout):
    """The signals and checks of a frame."""

    length: int  # least number of bytes
    first: int  # row of its first requested signal
    count: int  # … and how many
    checksum: CompiledChecksum
    check_start: int = 0  # index of the checksum's byte; it covers the other bytes …
    check_extent: int = 0  # … before this one
    check_big: bool = False  # whether its first byte is the most significant
    suffix: int = 0  # index in `allowed` of the first byte that both ends add to the covered bytes
    suffixes: int = 0  # … and how many
    counter: int = -1  # row of the signal that counts the messages; −1: there is none
    modulo: int = 1  # of the counter
    last: int = -1  # last value of the counter; −1: no frame yet
    seen: int = 0  # monotonic ns of the last frame; 0: no frame yet


class DecodingTotals(Layout):
    """Counts of frames and values since the beginning, see Decoder."""

    frames: int
    unmatched: int
    truncated: int
    remote_frames: int
    error_frames: int
    bad_checksum: int
    lost: int
    restarted: int
    invalid: int
    out_of_range: int
    non_finite: int


class CompiledLayout(Layout):
    """The requested signals of a bus in the form that the kernel reads."""

    keys: Annotated[Integers, "places"]  # ids, by open addressing …
    slots: Annotated[Integers, "places"]  # … and their frames; −1: nothing is here
    frames: tuple[CompiledFrame, ...]
    signals: tuple[CompiledSignal, ...]
    allowed: Integers  # values of selectors, sorted for each signal, and bytes added to checksums
    totals: DecodingTotals


_FLAGGED: Final = ERROR | REMOTE
_STEP: Final = np.uint64(8)
_BYTE: Final = np.uint64(0xFF)
_WORD_BITS: Final = np.uint64(64)


@inline
def swapped(word):  # type: ignore[no-untyped-def]
    """Return a word with its bytes in reverse order."""
    word = ((word & np.uint64(0x00FF00FF00FF00FF)) << np.uint64(8)) | (
        (word >> np.uint64(8)) & np.uint64(0x00FF00FF00FF00FF)
    )
    word = ((word & np.uint64(0x0000FFFF0000FFFF)) << np.uint64(16)) | (
        (word >> np.uint64(16)) & np.uint64(0x0000FFFF0000FFFF)
    )
    return (word << np.uint64(32)) | (word >> np.uint64(32))


@inline
def bits_of(words, row, signal):  # type: ignore[no-untyped-def]
    """Return the bits of a signal as an unsigned integer shifted to the left end of its word."""
    shift = np.uint64(signal.shift)
    word = words[row, signal.word]
    if signal.motorola:
        word = swapped(word)
    raw = word >> shift
    if signal.spill >= 0:
        other = words[row, signal.spill]
        if signal.motorola:
            other = swapped(other)
        raw |= other << (_WORD_BITS - shift)
    return raw << np.uint64(signal.left)


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
    """Convert the bits of a signal (at the left end of the word) to a number."""
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
def is_there(words, row, signal, signals, allowed):  # type: ignore[no-untyped-def]
    """Whether every selector of a signal has one of the values for which the signal is present."""
    below = signal
    while below.selector >= 0:
        above = signals[below.selector]
        raw = np.int64(bits_of(words, row, above) >> np.uint64(above.left))
        low = below.first_value
        high = low + below.values
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
    return True


@inline
def byte_at(words, row, index):  # type: ignore[no-untyped-def]
    """Return one byte of a payload."""
    return np.int64((words[row, index // 8] >> (_STEP * np.uint64(index % 8))) & _BYTE)


@inline
def is_intact(words, row, frame, suffixes):  # type: ignore[no-untyped-def]
    """Whether a frame's checksum matches its other bytes and the bytes that both ends add."""
    checksum = frame.checksum
    start, size = frame.check_start, checksum.size
    value = checksum.first
    for index in range(frame.check_extent):
        if index < start or index >= start + size:
            value = absorb(value, byte_at(words, row, index), checksum)
    for index in range(frame.suffix, frame.suffix + frame.suffixes):
        value = absorb(value, suffixes[index], checksum)
    value ^= checksum.last
    stated = byte_at(words, row, start)
    if size == 2:
        other = byte_at(words, row, start + 1)
        stated = (stated << 8) | other if frame.check_big else stated | (other << 8)
    return value == stated


@inline
def follow(frame, value, totals):  # type: ignore[no-untyped-def]
    """Count the frames that are missing since the last frame of this id, by its message counter."""
    last = frame.last
    frame.last = value
    if last < 0:
        return
    modulo = frame.modulo
    gap = (value - last - 1) % modulo
    # a wide counter with a gap of half its range went back; for a narrow counter only a standstill shows a restart
    if gap == modulo - 1 or (modulo >= 256 and gap >= modulo // 2):
        totals.restarted += 1
    else:
        totals.lost += gap


@inline
def hashed(ident):  # type: ignore[no-untyped-def]
    """Return the hash of an id (before the mask)."""
    return (ident * 40503) >> 4


@inline
def slot_of(ident, keys, slots):  # type: ignore[no-untyped-def]
    """Return the row of a frame in the table of frames, −1 if its id is not in the layout; keys: open addressing."""
    mask = len(keys) - 1
    place = hashed(ident) & mask
    while slots[place] >= 0:
        if keys[place] == ident:
            return slots[place]
        place = (place + 1) & mask
    return -1


@kernel(("u4[::1]", "u8[:,::1]", "i8[::1]", "i8[::1]", "u4[::1]", CompiledLayout, "i8[::1]"))
def extract(ids, words, lengths, times, flags, layout, readings):  # type: ignore[no-untyped-def]
    """Decode a batch; returns the number of readings, or −1 without decoding if times are out of order.

    ids, words, lengths, times: (n,) and (n, width / 8), as in Frames; flags: (n,) for the readings, or empty.
    readings: room for three words each: time, value, channel and flags.
    """
    for row in range(1, len(times)):
        if times[row] < times[row - 1]:
            return -1
    made = 0
    totals = layout.totals
    flag = np.int64(0)
    for row in range(len(ids)):
        ident = np.int64(ids[row])
        slot = slot_of(ident, layout.keys, layout.slots)
        if slot < 0:
            if not ident & _FLAGGED:
                totals.unmatched += 1
            elif ident & ERROR:
                totals.error_frames += 1
            else:
                totals.remote_frames += 1
            continue
        frame = layout.frames[slot]
        if lengths[row] < frame.length:
            totals.truncated += 1
            continue
        if frame.checksum.size > 0 and not is_intact(words, row, frame, layout.allowed):
            totals.bad_checksum += 1
            continue
        frame.seen = times[row]
        if frame.counter >= 0:
            counter = layout.signals[frame.counter]
            follow(frame, np.int64(bits_of(words, row, counter) >> np.uint64(counter.left)), totals)
        if len(flags):
            flag = np.int64(flags[row]) << 32
        for one in range(frame.first, frame.first + frame.count):
            signal = layout.signals[one]
            if signal.selector >= 0 and not is_there(words, row, signal, layout.signals, layout.allowed):
                continue
            bits = bits_of(words, row, signal)
            number = number_of(bits, signal.left, signal.kind)
            value = signal.scale * number + signal.offset
            # one cause for each value: first the mark of the device, then NaN, then the limits
            if signal.marked and np.uint64(bits).view(np.int64) == signal.invalid:
                totals.invalid += 1
                value = np.nan
            elif not np.isfinite(value):
                totals.non_finite += 1
                value = np.nan
            elif number < signal.low or number > signal.high:
                totals.out_of_range += 1
                value = np.nan
            readings[made] = times[row]
            readings[made + 1] = np.float64(value).view(np.int64)
            readings[made + 2] = signal.channel | flag
            made += 3
    totals.frames += len(ids)
    return made // 3
