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
_DIGIT: Final = np.full(256, 255, np.uint8)  # ASCII → value of a hexadecimal digit, 255 where it is none
for _digits in (b"0123456789ABCDEF", b"0123456789abcdef"):
    _DIGIT[list(_digits)] = range(16)


def _letters(text: bytes) -> NDArray[np.bool_]:
    table = np.zeros(256, bool)
    table[list(text)] = True
    return table


_FRAME: Final = _letters(b"tTrRdDbB")
_LONG_ID: Final = _letters(b"TRDB")
_REQUEST: Final = _letters(b"rR")
_FLEXIBLE: Final = _letters(b"dDbB")
_ANSWER: Final = _letters(b"zZVvNF")

# of the digits of a standard and of an extended id
_WEIGHTS: Final = np.array([[256, 16, 1, 0, 0, 0, 0, 0], [16**power for power in range(7, -1, -1)]], np.int64)

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
        ends = np.flatnonzero((text == 13) | (text == 7))
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
        framed = _FRAME[letters]
        answers = _ANSWER[letters] & (sizes <= _LONGEST_ANSWER)
        total = len(starts) - int(np.count_nonzero(answers & ~framed))
        starts, sizes, letters = starts[framed], sizes[framed], letters[framed]
        ids, lengths, heads, good = _headers(text, starts, sizes, letters)
        payload, digits = _payloads(text, starts + heads, sizes - heads, int(lengths.max(initial=0, where=good)))
        good &= digits
        self.counts["malformed"] += total - int(np.count_nonzero(good))
        ids, lengths = ids[good], lengths[good]
        return Frames(ids, payload[good], lengths, np.full(len(ids), time, np.int64))


def _headers(
    text: NDArray[np.uint8], starts: Indices, sizes: Indices, letters: NDArray[np.uint8]
) -> tuple[NDArray[np.uint32], NDArray[np.int64], Indices, NDArray[np.bool_]]:
    """Id with flags, bytes of payload, characters before the payload, and whether all that can be."""
    extended, request = _LONG_ID[letters], _REQUEST[letters]
    digits = np.where(extended, 8, 3)
    nibbles = _DIGIT[text[np.minimum(starts[:, None] + np.arange(1, 10), len(text) - 1)]]
    weights = _WEIGHTS[extended.astype(np.intp)]
    ids = (nibbles[:, :8] * weights).sum(axis=1)
    good = ((nibbles[:, :8] < 16) | (weights == 0)).all(axis=1)
    good &= ids <= np.where(extended, 0x1FFF_FFFF, 0x7FF)
    code = nibbles[np.arange(len(starts)), digits]
    good &= code <= np.where(_FLEXIBLE[letters], 15, 8)
    lengths = np.where(request, 0, _SIZES[np.minimum(code, 15)])
    heads = digits + 2
    stamp = sizes - heads - 2 * lengths
    good &= (stamp == 0) | (stamp == 4)
    return (ids | extended * EXTENDED | request * REMOTE).astype(np.uint32), lengths, heads, good


def _payloads(
    text: NDArray[np.uint8], starts: Indices, sizes: Indices, width: int
) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Payload bytes (lines, width), and whether every character of a line is a hexadecimal digit."""
    column = np.arange(2 * width + 4)
    nibbles = _DIGIT[text[np.minimum(starts[:, None] + column, len(text) - 1)]]
    good: NDArray[np.bool_] = ((nibbles < 16) | (column >= sizes[:, None])).all(axis=1)
    high, low = nibbles[:, : 2 * width : 2], nibbles[:, 1 : 2 * width : 2]
    return (high << 4) | (low & 15), good
