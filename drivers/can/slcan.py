"""Parses the text of slcan adapters (LAWICEL protocol, FD as in CANable 2.0), a whole buffer at a time.

One line per frame, ended by a carriage return: ``tIIILDD…`` standard, ``TIIIIIIIILDD…`` extended (``x…`` from a
CANdapter), ``r``/``R`` remote requests, ``d``/``D`` FD, ``b``/``B`` FD with bit rate switch (L is then the DLC, a
hexadecimal digit), all followed by four more digits where the adapter's time stamps are on. An adapter's answers to
commands (nothing, or z, Z, V, N, F …) end by a carriage return or, for an error, a bell.
"""

from typing import Final

import numpy as np

from drivers.jit import inline, kernel
from drivers.layout.frame import EXTENDED, REMOTE, Frames

WIDTH: Final = 64
CAUSES: Final = ("malformed",)
_LONGEST_ANSWER: Final = 6
_LONGEST: Final = 10 + 2 * WIDTH + 4
_SHORTEST: Final = 6  # characters of the shortest frame, including its end
_SIZES: Final = np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 48, 64], np.int64)  # bytes by DLC
# by letter: digits of the id (0: not a frame), highest DLC, flags of the id
_KINDS: Final = {
    "t": (3, 8, 0),
    "T": (8, 8, EXTENDED),
    "x": (8, 8, EXTENDED),
    "r": (3, 8, REMOTE),
    "R": (8, 8, EXTENDED | REMOTE),
} | {letter: (8 if letter.isupper() else 3, 15, EXTENDED * letter.isupper()) for letter in "dDbB"}
_LETTERS: Final = np.zeros((256, 4), np.int64)  # also whether an answer may begin with the letter
for _letter, _kind in _KINDS.items():
    _LETTERS[ord(_letter), :3] = _kind
_LETTERS[list(b"zZVvNF"), 3] = 1
_NO_DIGIT: Final = 1 << 36  # with any weight it is greater than every id
NUMBER: Final = np.full(256, _NO_DIGIT, np.int64)  # ASCII → value of a hexadecimal digit
for _hexadecimal in (b"0123456789ABCDEF", b"0123456789abcdef"):
    NUMBER[list(_hexadecimal)] = range(16)


class SlcanParser:
    """Finds frames in a stream of bytes that may be cut anywhere; invalid lines are counted as malformed."""

    def __init__(self) -> None:
        self._rest = b""
        self._skipping = False  # whether bytes are ignored up to the next end of a line
        self.counts = dict.fromkeys(CAUSES, 0)

    def feed(self, data: bytes, time: int) -> Frames:
        """Return the frames whose lines end in these bytes; time: their arrival, ns."""
        text = bytearray(self._rest + data)
        most = len(text) // _SHORTEST + 1
        ids, payload = np.empty(most, np.uint32), np.empty((most, WIDTH), np.uint8)
        lengths, times = np.empty(most, np.int64), np.empty(most, np.int64)
        found, used, malformed, self._skipping = _parse(
            np.frombuffer(text, np.uint8), self._skipping, time, ids, payload, lengths, times
        )
        if malformed:
            self.counts["malformed"] += malformed
        self._rest = bytes(text[used:])
        return Frames(ids[:found], payload[:found], lengths[:found], times[:found])


@inline
def _line(text, start, end, payload):  # type: ignore[no-untyped-def]
    """Parse one line, its data into payload. Returns 1 (a frame), 0 (an answer) or −1 (neither), id and length."""
    ident = length = np.int64(0)
    kind = _LETTERS[text[start]]
    size = end - start
    digits = kind[0]
    if digits == 0:
        return (0 if kind[3] and size <= _LONGEST_ANSWER else -1), ident, length
    if size < digits + 2:
        return -1, ident, length
    for place in range(start + 1, start + 1 + digits):
        ident = (ident << 4) + NUMBER[text[place]]
        if ident >= _NO_DIGIT:
            return -1, ident, length
    code = NUMBER[text[start + 1 + digits]]
    if ident > (0x1FFFFFFF if digits == 8 else 0x7FF) or code > kind[1]:
        return -1, ident, length
    if not kind[2] & REMOTE:
        length = _SIZES[code]
    at = start + digits + 2
    stamp = end - at - 2 * length
    if stamp != 0 and stamp != 4:
        return -1, ident, length
    wrong = np.int64(0)
    for place in range(length):
        value = (NUMBER[text[at]] << 4) | NUMBER[text[at + 1]]
        wrong |= value
        payload[place] = value & 0xFF
        at += 2
    for place in range(at, end):
        wrong |= NUMBER[text[place]]
    return (-1 if wrong >= _NO_DIGIT else 1), ident | kind[2], length


@kernel(("u1[::1]", "b1", "i8", "u4[::1]", "u1[:,::1]", "i8[::1]", "i8[::1]"))
def _parse(text, skipping, time, ids, payload, lengths, times):  # type: ignore[no-untyped-def]
    """Parse all complete lines of the text.

    Returns the number of frames, of used bytes, of lines that are neither frame nor answer, and whether to skip on. The
    state is passed as numbers, since a layout as an argument costs 1 µs a call, a third of the time of a small batch.
    """
    start = found = malformed = 0
    for place in range(len(text)):
        if text[place] != 13 and text[place] != 7:
            continue
        if skipping:
            skipping = False
        elif place > start:  # an empty line is the answer "done" or "refused" of an adapter
            what, ident, length = _line(text, start, place, payload[found])
            if what > 0:
                ids[found], lengths[found], times[found] = ident, length, time
                found += 1
            elif what < 0:
                malformed += 1
        start = place + 1
    if skipping:
        start = len(text)
    elif len(text) - start > _LONGEST:
        skipping = True
        malformed += 1
        start = len(text)
    return found, start, malformed, skipping
