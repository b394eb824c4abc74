"""Bits as numbers, each against NumPy's own reading of the same bytes."""

from typing import Any

import numpy as np
import pytest

from drivers.decode import extract

pytestmark = pytest.mark.interpreted


def plain(inlined: Any) -> Any:
    """The function itself, compiled or not."""
    return getattr(inlined, "py_func", inlined)


def test_every_half_precision_number_is_numpys() -> None:
    half, raw = plain(extract.half), np.arange(1 << 16)
    told = np.array([half(np.int64(one)) for one in raw])
    theirs = raw.astype(np.uint16).view(np.float16).astype(float)
    np.testing.assert_array_equal(told, theirs)
    assert np.signbit(told[0x8000])


@pytest.mark.parametrize("bits", [8, 12, 32, 63, 64])
def test_integers_are_numpys(bits: int) -> None:
    number_of, left = plain(extract.number_of), 64 - bits
    rng = np.random.default_rng(bits)
    for one in [
        0,
        1,
        (1 << bits) - 1,
        1 << (bits - 1),
        *map(int, rng.integers(0, 1 << bits, 20, np.uint64, bits < 64)),
    ]:
        raw = one % (1 << bits)
        word = np.uint64(raw << left)
        assert number_of(word, left, extract.WIDE) == float(raw)
        assert number_of(word, left, extract.SIGNED) == float(raw - (raw >> (bits - 1) << bits))
        if bits < 64:
            assert number_of(word, left, extract.UNSIGNED) == float(raw)


def test_floats_are_numpys() -> None:
    number_of = plain(extract.number_of)
    for value in (0.0, -1.5, 3.14159, 1e30, -1e-30):
        single, double = np.float32(value).view(np.uint32), np.float64(value).view(np.uint64)
        assert number_of(np.uint64(int(single) << 32), 32, extract.SINGLE) == float(np.float32(value))
        assert number_of(np.uint64(double), 0, extract.DOUBLE) == value
