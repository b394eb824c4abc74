"""A Reading: one value of one channel at one instant, in SI units; a batch of them is one NumPy array."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

# time: int64 ns of the host's CLOCK_MONOTONIC at which the frame arrived; channel: index into the configuration's
# table of channels; value: SI (rad, rad/s, m, N·m, N, A, °C), NaN where the device marked it invalid.
# flags: OWN where this host itself sent the frame (a command that came back, not feedback); of a log also what kind of
# frame it was: CAN FD, with its bit rate switched, from a node that was error passive.
READING: Final = np.dtype([("time", "<i8"), ("value", "<f8"), ("channel", "<i4"), ("flags", "<u4")])
OWN: Final = 1
WORDS: Final = READING.itemsize // 8
Words = NDArray[np.int64]  # (readings, WORDS): time; value; channel, and flags above it
_PLAIN: Final = np.dtype((np.void, READING.itemsize))
FD, BIT_RATE_SWITCH, ERROR_STATE = 2, 4, 8


def empty() -> NDArray[np.void]:
    """A batch of no readings."""
    return np.zeros(0, READING)


def joined(batches: Sequence[NDArray[np.void]]) -> NDArray[np.void]:
    """Batches one after the other; as plain bytes, since NumPy looks at every field of every batch otherwise."""
    if len(batches) == 1:
        return batches[0]
    whole: NDArray[np.void] = np.concatenate([np.zeros(0, _PLAIN), *(one.view(_PLAIN) for one in batches)])
    return whole.view(READING)


def words(readings: NDArray[np.void]) -> Words:
    """Readings as the words that kernels see, (readings, WORDS); in the same memory where it has no gaps."""
    return np.ascontiguousarray(readings).view(np.int64).reshape(-1, WORDS)


def readings(words: Words) -> NDArray[np.void]:
    """Words as readings, in the same memory."""
    return words.view(READING).reshape(-1)
