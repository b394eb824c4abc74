"""Readings as they lie in a recording: they come back to the bit, small, and what is no block says so."""

import struct

import numpy as np
import pytest
import zstandard

from drivers.files.reading_block import pack, unpack
from drivers.reading import READING


def some(count: int, seed: int = 1) -> np.ndarray:
    random = np.random.default_rng(seed)
    rows = np.zeros(count, READING)
    rows["time"] = random.integers(-(1 << 62), 1 << 62, count)
    rows["value"] = random.integers(0, 1 << 64, count, np.uint64).view(np.float64)  # NaNs with bits of their own, too
    rows["channel"] = random.integers(0, 1 << 16, count)
    rows["flags"] = random.integers(0, 1 << 32, count)
    return rows


@pytest.mark.parametrize("count", [0, 1, 2, 1000])
@pytest.mark.parametrize("head", [b"", b"what was said"])
def test_what_was_packed_comes_back_to_the_bit(count: int, head: bytes) -> None:
    told, rows = unpack(pack(head, some(count)))
    assert told == head
    assert rows.dtype == READING
    assert rows.tobytes() == some(count).tobytes()


def test_the_bytes_are_those_that_older_recordings_have() -> None:
    """Written by hand after the description at the top of the file."""
    rows = np.zeros(3, READING)
    rows["channel"], rows["time"], rows["value"], rows["flags"] = [5, 2, 5], [10, 13, 11], [1.0, 2.0, 4.0], [7, 8, 9]
    one, two, four = struct.unpack("<3q", struct.pack("<3d", 1.0, 2.0, 4.0))
    body = struct.pack("<3H", 5, 2, 5) + struct.pack("<3q", 10, 3, -2)
    body += struct.pack("<3q", two, one - two, four - one) + struct.pack("<3I", 7, 8, 9)
    raw = b"JWB1" + struct.pack("<II", 2, 3) + b"hi" + body
    assert zstandard.decompress(pack(b"hi", rows)) == raw
    head, again = unpack(zstandard.compress(raw))
    assert (head, again.tobytes()) == (b"hi", rows.tobytes())


def test_signals_that_repeat_themselves_take_little() -> None:
    rows = np.zeros(4000, READING)
    rows["channel"] = np.arange(4000) % 4
    rows["time"] = 10**12 + np.arange(4000) // 4 * 10**6
    rows["value"] = np.round(np.sin(np.arange(4000) / 900), 2)
    assert len(pack(b"", rows)) < rows.nbytes / 10


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"JWB1",
        b"JWB2" + struct.pack("<II", 0, 0),
        b"JWB1" + struct.pack("<II", 0, 1) + bytes(21),
        b"JWB1" + struct.pack("<II", 0, 1) + bytes(23),
        b"JWB1" + struct.pack("<II", 1, 1) + bytes(22),
    ],
)
def test_what_is_no_block_is_refused(raw: bytes) -> None:
    with pytest.raises(ValueError, match="not a block of readings"):
        unpack(zstandard.compress(raw))
    with pytest.raises(ValueError, match="not a block of readings"):
        unpack(raw)
