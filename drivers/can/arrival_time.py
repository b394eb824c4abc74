"""When a frame arrived: stamps of the host's wall clock on CLOCK_MONOTONIC, whatever is done to the wall clock."""

import time
from typing import Final

import numpy as np
from numpy.typing import NDArray

_SLACK: Final = 10_000_000  # ns between a frame's stamp and its being there to be read


def on_monotonic(stamps: NDArray[np.int64], arrived: NDArray[np.int64], empty: int) -> NDArray[np.int64]:
    """Times of reception; the arrival where a stamp cannot be true, as after a step of the wall clock.

    stamps: ns, CLOCK_REALTIME; arrived: ns, CLOCK_MONOTONIC, when the frame was in our hands; empty: ns, when none was
    waiting.
    """
    times = stamps - (time.time_ns() - time.monotonic_ns())
    believable = (times >= empty - _SLACK) & (times <= arrived + _SLACK)
    return np.where(believable, np.minimum(times, arrived), arrived)
