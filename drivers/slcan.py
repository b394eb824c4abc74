"""The text that slcan adapters send (LAWICEL protocol, FD as in CANable 2.0), parsed whole buffers at a time.

One line per frame, ended by a carriage return: ``tIIILDD…`` standard, ``TIIIIIIIILDD…`` extended, ``r``/``R`` remote
requests, ``d``/``D`` FD, ``b``/``B`` FD with bit rate switch (L is then the DLC, a hexadecimal digit), all followed by
four more digits where the adapter's time stamps are on. An adapter's answers to commands (nothing, or z, Z, V, N, F …)
end by a carriage return or, for an error, a bell.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from drivers.frame import EXTENDED, REMOTE, Frames

WIDTH: Final = 64
CAUSES: Final = ("malformed",)
_LONGEST_ANSWER: Final = 6
_LONGEST: Final = 10 + 2 * WIDTH + 4
_SIZES: Final = np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 48, 64], np.int64)  # bytes by DLC
# by letter: digits of the id (0: no frame), highest DLC, flags of the id
_KINDS: Final = {"t": (3, 8, 0), "T": (8, 8, EXTENDED), "r": (3, 8, REMOTE), "R": (8, 8, EXTENDED | REMOTE)} | {
    letter: (8 if letter.isupper() else 3, 15, EXTENDED * letter.isupper()) for letter in "dDbB"
}
_DIGITS, _CODES, _FLAGS = np.zeros((3, 256), np.int64)
for _letter, _kind in _KINDS.items():
    _DIGITS[ord(_letter)], _CODES[ord(_letter)], _FLAGS[ord(_letter)] = _kind
_ANSWERS: Final = np.isin(np.arange(256), list(b"zZVvNF"))
_NO_DIGIT: Final = 1 << 33  # any weight makes it greater than every id
_NUMBER: Final = np.full(256, _NO_DIGIT, np.int64)  # ASCII → value of a hexadecimal digit
for _hexadecimal in (b"0123456789ABCDEF", b"0123456789abcdef"):
    _NUMBER[list(_hexadecimal)] = range(16)
_NIBBLE: Final = np.minimum(_NUMBER, 255).astype(np.uint8)
# of the digits of a standard and of an extended id
_WEIGHTS: Final = np.array([[256, 16, 1, 0, 0, 0, 0, 0], [16**power for power in range(7, -1, -1)]], np.int64).T
_HIGHEST: Final = np.array([0x7FF, 0x1FFF_FFFF], np.int64)

Indices = NDArray[np.intp]


class Parser:
    """Finds the frames in a stream of bytes, however it is cut; what is no line is counted as malformed."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = dict.fromkeys(CAUSES, 0)
        self._rest = b""
        self._skipping = False  # inside something too long, until the next end of line

    def feed(self, data: bytes, time: int) -> Frames:
        """The frames whose lines end in these bytes; time: ns, of their arrival."""
        text = np.frombuffer(self._rest + data, np.uint8)
        ends = ((text == 13) | (text == 7)).nonzero()[0]
        starts = np.concatenate(([0], ends + 1))
        rest, starts = text[starts[-1] :], starts[:-1]
        if len(ends) and self._skipping:
            self._skipping = False
            starts, ends = starts[1:], ends[1:]
        if len(rest) > _LONGEST:
            self.counts["malformed"] += not self._skipping
            self._skipping = True
        self._rest = b"" if self._skipping else rest.tobytes()
        some = ends > starts  # an empty line is an adapter's "done" or "refused"
        return self._parse(text, starts[some], ends[some] - starts[some], time)

    def _parse(self, text: NDArray[np.uint8], starts: Indices, sizes: Indices, time: int) -> Frames:
        """Frames of the lines at these places; malformed ones are counted."""
        letters = text[starts]
        framed = _DIGITS[letters] > 0
        if not framed.all():
            answers = _ANSWERS[letters] & (sizes <= _LONGEST_ANSWER)
            self.counts["malformed"] += int(np.count_nonzero(~(framed | answers)))
            starts, sizes, letters = starts[framed], sizes[framed], letters[framed]
        ids, lengths, heads, good = _headers(text, starts, sizes, letters)
        payload, digits = _payloads(text, starts + heads, sizes - heads, int((lengths * good).max(initial=0)))
        good &= digits
        if not good.all():
            self.counts["malformed"] += int(np.count_nonzero(~good))
            ids, lengths, payload = ids[good], lengths[good], payload[good]
        return Frames(ids, payload, lengths, np.full(len(ids), time, np.int64))


def _headers(
    text: NDArray[np.uint8], starts: Indices, sizes: Indices, letters: NDArray[np.uint8]
) -> tuple[NDArray[np.uint32], NDArray[np.int64], Indices, NDArray[np.bool_]]:
    """Id with flags, bytes of payload, characters before the payload, and whether all that can be."""
    lines = np.arange(len(starts))
    digits, flags = _DIGITS[letters], _FLAGS[letters]
    numbers = _NUMBER[text[np.minimum(starts[:, None] + np.arange(1, 10), len(text) - 1)]]
    extended = digits >> 3
    ids = (numbers[:, :8] @ _WEIGHTS)[lines, extended]
    code = numbers[lines, digits]
    lengths = _SIZES[np.minimum(code, 15)] * (flags & REMOTE == 0)
    heads = digits + 2
    stamp = sizes - heads - 2 * lengths
    good = (ids <= _HIGHEST[extended]) & (code <= _CODES[letters]) & ((stamp == 0) | (stamp == 4))
    return (ids | flags).astype(np.uint32), lengths, heads, good


def _payloads(
    text: NDArray[np.uint8], starts: Indices, sizes: Indices, width: int
) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Payload bytes (lines, width), and whether every character of a line is a hexadecimal digit."""
    column = np.arange(2 * width + 4)
    nibbles = _NIBBLE[text[np.minimum(starts[:, None] + column, len(text) - 1)]]
    wrong = (nibbles > 15) & (column < sizes[:, None])
    high, low = nibbles[:, : 2 * width : 2], nibbles[:, 1 : 2 * width : 2]
    return (high << 4) | (low & 15), ~wrong.any(axis=1)
