"""Parses the text that candump writes to a log (-L, -l) or to the screen, a whole buffer at a time.

``(1631416514.717133) can0 0D2#0000FFFF10000000`` · ``…#R8`` remote, asking for 8 bytes · ``…##1AABB`` FD with its flags
(1: bit rate switched, 2: sender error passive) · a direction may follow, T: sent by the host that wrote the log · ``(…)
can0  0D2   [8]  00 00 FF FF 10 00 00 00``, with or without time. Empty lines and lines that begin with # are ignored;
any other line without a frame is counted as malformed.
"""

from typing import Final

import numpy as np

from drivers.jit import inline, kernel
from drivers.layout.frame import EXTENDED, REMOTE, Frames
from drivers.reading import BIT_RATE_SWITCH, ERROR_STATE, FD, OWN

WIDTH: Final = 64
_NUMBER: Final = np.full(256, -1, np.int64)  # ASCII → value of a hexadecimal digit
for _hexadecimal in (b"0123456789ABCDEF", b"0123456789abcdef"):
    _NUMBER[list(_hexadecimal)] = range(16)
_SHORTEST: Final = 6  # bytes of the shortest line with a frame: "c 1#R" and the end of the line
_CAPITAL_T: Final = 84


class CandumpParser:
    """Finds frames in a log that may be cut anywhere. `counts`: malformed lines, and frames of other channels."""

    def __init__(self, channel: str = "") -> None:
        """channel: the one that is wanted, all where empty."""
        self._channel = np.frombuffer(bytearray(channel.encode()), np.uint8)
        self._rest = b""
        self.counts = {"malformed": 0, "other_channels": 0}

    def feed(self, data: bytes, last: bool = False) -> Frames:
        """Return the frames whose lines end in these bytes, or at the end of the file if `last`; times: ns, as
        written."""
        text = bytearray(self._rest + data + (b"\n" if last else b""))
        most = len(text) // _SHORTEST + 1
        ids, payload = np.empty(most, np.uint32), np.empty((most, WIDTH), np.uint8)
        lengths, times = np.empty(most, np.int64), np.empty(most, np.int64)
        flags = np.empty(most, np.uint32)
        found, used, malformed, others = _parse(
            np.frombuffer(text, np.uint8), self._channel, ids, payload, lengths, times, flags
        )
        self.counts["malformed"] += malformed
        self.counts["other_channels"] += others
        self._rest = bytes(text[used:])
        return Frames(ids[:found], payload[:found], lengths[:found], times[:found], flags[:found])


@inline
def _spaces(text, place, end):  # type: ignore[no-untyped-def]
    """Return the index of the next character that is not a blank."""
    while place < end and text[place] in (32, 9):
        place += 1
    return place


@inline
def _stamp(text, place, end):  # type: ignore[no-untyped-def]
    """Parse a time: returns ns (−1: invalid) and the index after it; text[place] is the opening bracket."""
    place += 1
    time = np.int64(0)
    digits = 0
    while place < end and 48 <= text[place] <= 57 and digits < 12:
        time = 10 * time + text[place] - 48
        digits += 1
        place += 1
    if digits == 0:
        return time, -1
    unit = np.int64(1_000_000_000)
    if time > 9_000_000_000:
        return time, -1
    time *= unit
    if place < end and text[place] == 46:
        place += 1
        fraction = np.int64(0)
        while place < end and 48 <= text[place] <= 57:
            if unit > 1:
                fraction = 10 * fraction + text[place] - 48
                unit //= 10
            place += 1
        time += fraction * unit
    if place >= end or text[place] != 41:
        return time, -1
    return time, place + 1


@inline
def _bytes(text, place, end, payload, blanks):  # type: ignore[no-untyped-def]
    """Parse hexadecimal bytes with or without blanks: returns their number (−1: half a byte) and the index after
    them."""
    count = 0
    while True:
        if blanks:
            place = _spaces(text, place, end)
        high = _NUMBER[text[place]] if place < end else -1
        if high < 0:
            return count, place
        low = _NUMBER[text[place + 1]] if place + 1 < end else -1
        if low < 0 or count == WIDTH:
            return -1, place
        payload[count] = high << 4 | low
        count += 1
        place += 2


@inline
def _identifier(text, place, end):  # type: ignore[no-untyped-def]
    """Parse an id: returns the id with its flags (−1: invalid) and the index after it."""
    digits = 0
    ident = np.int64(0)
    while place < end and _NUMBER[text[place]] >= 0 and digits < 9:
        ident = ident << 4 | _NUMBER[text[place]]
        digits += 1
        place += 1
    # an error frame's id has its flag (0x20000000) in it
    if digits not in (3, 8) or ident > (0x3FFFFFFF if digits == 8 else 0x7FF) or place >= end:
        return np.int64(-1), place
    if digits == 8 and ident <= 0x1FFFFFFF:
        ident |= EXTENDED
    return ident, place


@inline
def _stated(text, place, end):  # type: ignore[no-untyped-def]
    """Parse the length in brackets in a line of the screen: returns it (−1: none) and the index of the bytes."""
    place = _spaces(text, place, end)
    if place >= end or text[place] != 91:
        return -1, place
    stated = 0
    place += 1
    while place < end and 48 <= text[place] <= 57 and stated < 100:
        stated = 10 * stated + text[place] - 48
        place += 1
    if place >= end or text[place] != 93:
        return -1, place
    return stated, _spaces(text, place + 1, end)


@inline
def _line(text, place, end, channel, payload):  # type: ignore[no-untyped-def]
    """Parse one line, its data into payload.

    Returns 1 (a frame), 0 (one of another channel) or −1 (neither), its id, length, time (ns) and flags.
    """
    time = ident = np.int64(0)
    flags = length = 0
    if text[place] == 40:
        time, place = _stamp(text, place, end)
        if place < 0:
            return -1, ident, length, time, flags
        place = _spaces(text, place, end)
    name = place
    while place < end and text[place] not in (32, 9):
        place += 1
    wanted = len(channel) == 0 or len(channel) == place - name
    for one in range(len(channel)):
        wanted = wanted and text[name + one] == channel[one]
    ident, place = _identifier(text, _spaces(text, place, end), end)
    if ident < 0:
        return -1, ident, length, time, flags
    logged, stated = text[place] == 35, -1
    if not logged:
        stated, place = _stated(text, place, end)
        if stated < 0:
            return -1, ident, length, time, flags
    else:
        place += 1
        if place < end and text[place] == 35:  # FD: one digit of flags
            if place + 1 >= end or _NUMBER[text[place + 1]] < 0:
                return -1, ident, length, time, flags
            given = _NUMBER[text[place + 1]]
            flags = FD | BIT_RATE_SWITCH * (given & 1) | ERROR_STATE * (given >> 1 & 1)
            place += 2
        last = end - 1
        if last > place and text[last] == _CAPITAL_T and text[last - 1] in (32, 9):
            flags |= OWN
    if place < end and text[place] in (82, 114):  # "R8", "remote request"
        length = max(stated, 0)
        if logged and place + 1 < end and 0 <= _NUMBER[text[place + 1]] <= 8:
            length = _NUMBER[text[place + 1]]
        payload[:length] = 0  # a remote frame carries no data
        return (1 if wanted else 0), ident | REMOTE, length, time, flags
    length, place = _bytes(text, place, end, payload, not logged)
    if length < 0 or (stated >= 0 and length != stated) or (place < end and text[place] not in (32, 9, 39)):
        return -1, ident, length, time, flags
    return (1 if wanted else 0), ident, length, time, flags


@kernel(("u1[::1]", "u1[::1]", "u4[::1]", "u1[:,::1]", "i8[::1]", "i8[::1]", "u4[::1]"))
def _parse(text, channel, ids, payload, lengths, times, flags):  # type: ignore[no-untyped-def]
    """Parse all complete lines of the text.

    Returns the numbers of frames, of used bytes, of lines without a frame, and of frames of other channels.
    """
    start = found = malformed = others = 0
    for place in range(len(text)):
        if text[place] != 10:
            continue
        end = place - 1 if place > start and text[place - 1] == 13 else place
        first = _spaces(text, start, end)
        start = place + 1
        if first >= end or text[first] == 35:
            continue
        what, ident, length, time, given = _line(text, first, end, channel, payload[found])
        if what > 0:
            ids[found], lengths[found], times[found], flags[found] = ident, length, time, given
            found += 1
        elif what == 0:
            others += 1
        else:
            malformed += 1
    return found, start, malformed, others
