"""Frames of one stream as they come, before anything is made of them, for validators to look at block by block.

A block is full after a span of time with enough frames in it, or when it has no room. The frames decide where it ends,
not the batches in which readings come. Nothing is aligned while a block is full: somebody has to look at it first.
"""

from typing import Annotated, Final

import numpy as np

from estimators.numerics.jit import kernel
from jointwatch_numba.layout import Integers, Layout, Matrix

#: s, argued: Time between two looks: a refused stream says so at each, and at least four times a second.
SPAN: Final = 0.2
#: frames, argued: A block has at least so many, so that shares of it mean something.
FEWEST: Final = 32
#: 1, argued: Room for a device that sends so many times faster than its rate says.
FASTEST: Final = 2.0


class FrameBlock(Layout):
    """Frames that wait to be looked at."""

    arrivals: Annotated[Integers, "frames"]  # ns
    counters: Annotated[Integers, "frames"]  # -1: none
    values: Annotated[Matrix, "frames", "own"]  # SI, of the stream's channels; NaN: none
    span: int = 0  # ns after which it is full
    count: int = 0  # frames that wait


def frame_block(period: float, channels: int, watched: bool) -> FrameBlock:
    """A block for frames that come every `period` ns (0: at any time, and no validator looks); watched: with room."""
    frames = max(2 * FEWEST, round(FASTEST * SPAN * 1e9 / period)) if watched and period > 0.0 else 0
    return FrameBlock(
        arrivals=np.zeros(frames, np.int64),
        counters=np.zeros(frames, np.int64),
        values=np.zeros((frames, channels)),
        span=round(SPAN * 1e9),
    )


@kernel((FrameBlock,))
def is_full(block: FrameBlock) -> bool:
    """Whether somebody has to look before another frame is taken."""
    count, room = block.count, len(block.arrivals)
    if room == 0 or count < FEWEST:
        return False
    return bool(count == room or block.arrivals[count - 1] - block.arrivals[0] >= block.span)
