"""Parses a frame of python-can's datagrams, a msgpack map of its attributes, without Python objects.

The keys may have any order, and other keys are ignored (https://github.com/msgpack/msgpack/blob/master/spec.md).
"""

from typing import Final

import numpy as np

from drivers.jit import inline
from drivers.layout.frame import ERROR, EXTENDED, REMOTE
from jointwatch_numba.layout import Layout

_WIDTH: Final = 64


def _words(text: str) -> "np.ndarray[tuple[int], np.dtype[np.uint8]]":
    return np.frombuffer(text.encode(), np.uint8).copy()


_ID, _DATA = _words("arbitration_id"), _words("data")
_EXTENDED, _REMOTE, _ERROR = _words("is_extended_id"), _words("is_remote_frame"), _words("is_error_frame")
# kinds of objects
_BAD: Final = 0
_NUMBER: Final = 1
_TEXT: Final = 2
_BYTES: Final = 3
_OTHER: Final = 4
_SIZES: Final = np.zeros(256, np.int64)  # by head byte: bytes of the length or number after it
_SIZES[0xC4:0xC7] = _SIZES[0xC7:0xCA] = _SIZES[0xD9:0xDC] = 1, 2, 4  # bytes, extensions, texts
_SIZES[0xCC:0xD0] = 1, 2, 4, 8  # unsigned numbers
_SIZES[0xDC:0xE0] = 2, 4, 2, 4  # arrays, maps
_LONGEST: Final = 1 << 20  # largest length in objects or bytes; a larger one is invalid and would overflow


class PackedRead(Layout):
    """The object of a datagram that was parsed last, and the frame that was found."""

    kind: int = 0  # kind of the object
    number: int = 0  # value of the object, or index of its first byte
    size: int = 0  # bytes of a text or of bytes
    inside: int = 0  # objects within it
    ident: int = 0  # id of the frame, with its flags
    length: int = 0  # bytes of the frame


@inline
def _big(data, at, size):  # type: ignore[no-untyped-def]
    """Return a big-endian unsigned number of `size` bytes."""
    value = np.int64(0)
    for place in range(at, at + size):
        value = (value << 8) | data[place]
    return value


@inline
def _object(data, at, end, found):  # type: ignore[no-untyped-def]
    """Parse the head of an object into `found`.

    Returns the index at which the next object begins; beyond the end if the datagram is cut off.
    """
    found.kind, found.number, found.size, found.inside = _OTHER, 0, 0, 0
    head = np.int64(data[at])
    at += 1
    if head <= 0x7F:
        found.kind, found.number = _NUMBER, head
        return at
    if head <= 0x8F:
        found.inside = 2 * (head & 0x0F)
        return at
    if head <= 0x9F:
        found.inside = head & 0x0F
        return at
    if head <= 0xBF:
        found.kind, found.number, found.size = _TEXT, at, head & 0x1F
        return at + found.size
    if head == 0xC1:
        found.kind = _BAD
        return at
    if head == 0xC2 or head == 0xC3:
        found.kind, found.number = _NUMBER, head - 0xC2
        return at
    if head == 0xC0 or head >= 0xE0:  # nil, negative numbers
        return at
    if head == 0xCA or head == 0xCB:  # floating-point numbers
        return at + (4 if head == 0xCA else 8)
    if 0xD0 <= head <= 0xD3:  # signed numbers: an id is unsigned
        return at + (1 << (head - 0xD0))
    if 0xD4 <= head <= 0xD8:
        return at + 1 + (1 << (head - 0xD4))
    size = _SIZES[head]  # bytes of the length or number that follows
    if at + size > end:
        return end + 1
    value = _big(data, at, size)
    at += size
    if 0xCC <= head <= 0xCF:
        found.kind, found.number = _NUMBER, value
        return at
    if value > _LONGEST:
        return end + 1
    if head >= 0xDC:
        found.inside = value if head <= 0xDD else 2 * value
        return at
    if 0xC7 <= head <= 0xC9:
        return at + 1 + value
    found.kind, found.number, found.size = _BYTES if head <= 0xC6 else _TEXT, at, value
    return at + value


@inline
def _is(data, start, size, word):  # type: ignore[no-untyped-def]
    same = size == len(word)
    for place in range(size if same else 0):
        same &= data[start + place] == word[place]
    return same


@inline
def read(data, end, payload, found):  # type: ignore[no-untyped-def]
    """Parse the frame in a datagram's bytes [0, end): data into `payload`, id with flags and length into `found`.

    Returns whether the datagram is a valid frame with all attributes in range.
    """
    if end == 0:
        return False
    at = _object(data, 0, end, found)
    head = np.int64(data[0])
    if at > end or not (0x80 <= head <= 0x8F or head == 0xDE or head == 0xDF):
        return False
    ident = start = extended = remote = error = np.int64(-1)
    length = np.int64(0)
    for _ in range(found.inside // 2):
        if at >= end:
            return False
        at = _object(data, at, end, found)
        if at >= end or found.kind == _BAD:
            return False
        word, size = found.number, found.size
        named = found.kind == _TEXT
        left = found.inside + 1  # objects of the key and of the value that are still to come
        kind = number = bytes_ = np.int64(0)
        while left > 0:
            if at >= end:
                return False
            at = _object(data, at, end, found)
            if at > end or found.kind == _BAD:
                return False
            left += found.inside - 1
            kind, number, bytes_ = found.kind, found.number, found.size
        if not named:
            continue
        if _is(data, word, size, _ID):
            ident = number if kind == _NUMBER else np.int64(-1)
        elif _is(data, word, size, _DATA):
            start, length = (number, bytes_) if kind == _BYTES else (np.int64(-1), np.int64(0))
        elif _is(data, word, size, _EXTENDED):
            extended = number if kind == _NUMBER else np.int64(-1)
        elif _is(data, word, size, _REMOTE):
            remote = number if kind == _NUMBER else np.int64(-1)
        elif _is(data, word, size, _ERROR):
            error = number if kind == _NUMBER else np.int64(-1)
    highest = 1 << 29 if extended == 1 else 1 << 11
    if at != end or start < 0 or length > _WIDTH or not 0 <= ident < highest:
        return False
    if not (0 <= extended <= 1 and 0 <= remote <= 1 and 0 <= error <= 1):
        return False
    for place in range(_WIDTH):
        payload[place] = 0
    if remote == 1:  # its length is what it asks for
        length = np.int64(0)
    for place in range(length):
        payload[place] = data[start + place]
    found.ident = ident | EXTENDED * extended | REMOTE * remote | ERROR * error
    found.length = length
    return True
