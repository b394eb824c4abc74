"""A Reading: one value of one channel at one instant, in SI units; a batch of them is one NumPy array."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

# time: int64 ns of the host's CLOCK_MONOTONIC at the arrival of the frame; channel: index in the configuration's table
# of channels; value: SI (rad, rad/s, m, N·m, N, A, °C), NaN if the device marked it invalid. flags: OWN if this host
# sent the frame (an echoed command, not feedback); in a log also the kind of frame: CAN FD, bit rate switched, sender
# error passive.
READING: Final = np.dtype([("time", "<i8"), ("value", "<f8"), ("channel", "<i4"), ("flags", "<u4")])
OWN: Final = 1
WORDS: Final = READING.itemsize // 8
Words = NDArray[np.int64]  # (readings, WORDS): time; value; channel, and flags above it
_PLAIN: Final = np.dtype((np.void, READING.itemsize))
FD, BIT_RATE_SWITCH, ERROR_STATE = 2, 4, 8


def empty() -> NDArray[np.void]:
    """Return an empty batch."""
    return np.zeros(0, READING)


def joined(batches: Sequence[NDArray[np.void]]) -> NDArray[np.void]:
    """Concatenate batches as plain bytes, since NumPy would otherwise process every field of every batch."""
    if len(batches) == 1:
        return batches[0]
    whole: NDArray[np.void] = np.concatenate([np.zeros(0, _PLAIN), *(one.view(_PLAIN) for one in batches)])
    return whole.view(READING)


def words(readings: NDArray[np.void]) -> Words:
    """View readings as words for kernels, (readings, WORDS); memory without gaps is not copied."""
    return np.ascontiguousarray(readings).view(np.int64).reshape(-1, WORDS)


def readings(words: Words) -> NDArray[np.void]:
    """View words as readings, in the same memory."""
    return words.view(READING).reshape(-1)
