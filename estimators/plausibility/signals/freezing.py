"""An encoder that freezes: it stops from one frame to the next, and says the same to the last bit from then on.

A joint has mass. From frame to frame its speed changes by no more than it ever does, which the largest second
difference of its position shows. An encoder that stops from an increment that is twice as large, and stays the same for
a while, or one that leaps that far after it has been the same, was frozen. At a low rate, or where steps of the encoder
are as large as increments, the bound is wide and nothing is said.
"""

from collections import deque
from typing import Final

import numpy as np

from estimators.numerics.jit import kernel
from estimators.plausibility.signals.base import StreamFacts, StreamFrames, distinct, moved, steps
from estimators.quantities import Floats, Nanoseconds
from estimators.reasons import Reason
from jointwatch_numba.layout import Layout

#: s, argued: Time for which a frozen encoder says the same.
STILL: Final = 0.05
#: frames, argued: The same in frames.
FEWEST: Final = 8
#: 1, argued: A stop is none of the joint's from this many times its largest change of speed on.
SUDDEN: Final = 2.0
#: steps, derived: Rounding alone changes an increment by up to this many steps of the encoder.
ROUNDED: Final = 2.0
#: blocks, argued: Blocks over which the largest change of speed counts, 10 s.
REMEMBERED: Final = 50
#: frames, argued: Changes of speed without which nothing is known of it.
KNOWN: Final = 100


class FrozenState(Layout):
    """State of one encoder."""

    known: int = 0  # changes of speed
    smallest: float = 0.0  # step
    run: int = 0  # frames for which it has been the same, up to the last one
    speed: float = 0.0  # a frame, before them
    frozen: bool = False  # whether that stop was none of the joint's


class FreezingValidator:
    """Tells an encoder that freezes."""

    def __init__(self, stream: StreamFacts) -> None:
        self._stream = stream
        self._encoders = [
            _EncoderHistory(stream, place, wrap) for place, wrap in zip(stream.positions, stream.wraps, strict=True)
        ]

    def look(self, frames: StreamFrames) -> Reason | None:
        """Look at another block."""
        frames = distinct(frames, self._stream)
        apart = _apart(frames.arrivals, steps(frames, self._stream), self._stream.period)
        frozen = [one.frozen(frames, apart) for one in self._encoders]
        return Reason("encoder_frozen", None, {}, {"signal": self._stream.signal}) if any(frozen) else None


class _EncoderHistory:
    """What one encoder has shown so far."""

    def __init__(self, stream: StreamFacts, place: int, wrap: float) -> None:
        self._place, self._wrap, self._fewest = place, wrap, max(FEWEST, round(STILL * stream.rate))
        self._bounds: deque[float] = deque([0.0], maxlen=REMEMBERED)  # largest change of speed, block by block
        self._state = FrozenState(smallest=np.inf)

    def frozen(self, frames: StreamFrames, apart: Floats) -> bool:
        """Look at another block; returns whether it was frozen in it. apart: samples from frame to frame."""
        found, bound = _frozen(
            self._state, frames.values, self._place, self._wrap, apart, self._fewest, max(self._bounds)
        )
        if bound >= 0.0:
            self._bounds.append(bound)
        return found


@kernel("f8[::1](i8[::1], f8[::1], f8)")
def _apart(arrivals: Nanoseconds, gaps: Floats, period: float) -> Floats:
    """Samples from frame to frame (frames − 1,), by the counter if it is known, else by arrivals; 1 at least."""
    found = np.empty(len(gaps))
    for i in range(len(gaps)):
        late = np.rint((arrivals[i + 1] - arrivals[i]) / period)
        found[i] = max(1.0, gaps[i] if np.isfinite(gaps[i]) else late)
    return found


@kernel((FrozenState, "f8[:, ::1]", "i8", "f8", "f8[::1]", "i8", "f8"))
def _frozen(
    state: FrozenState, values: Floats, place: int, wrap: float, apart: Floats, fewest: int, before: float
) -> tuple[bool, float]:
    """Look at a block: whether the encoder was frozen in it, and the largest change of speed if it was not, else -1.

    before: the largest change of speed in earlier blocks.
    """
    speeds = np.abs(moved(values, place, wrap)) / apart
    count, finite = len(speeds), True
    for i in range(count):
        finite = finite and np.isfinite(speeds[i])
    if count < FEWEST or not finite:
        state.run, state.frozen = 0, False
        return False, -1.0
    moving = np.flatnonzero(speeds)
    stops = len(moving) + 1
    begins, ends = np.empty(stops, np.int64), np.empty(stops, np.int64)
    begins[0], ends[stops - 1] = -1, count
    for one in range(len(moving)):
        begins[one + 1] = ends[one] = moving[one]
        state.smallest = min(state.smallest, speeds[moving[one]])
    inside = np.abs(np.diff(speeds))
    changes = inside.copy()
    for one in range(stops):
        still = ends[one] - begins[one] - 1 + (state.run if one == 0 else 0)
        if still >= fewest or ends[one] == count:  # what is to be judged is no measure of itself
            for i in range(max(0, begins[one] - 1), min(begins[one] + 1, len(inside))):
                inside[i] = 0.0
            for i in range(max(0, ends[one] - 1), min(ends[one] + 1, len(inside))):
                inside[i] = 0.0
    bound = max(before, ROUNDED * state.smallest)
    for i in range(len(inside)):
        bound = max(bound, inside[i])
    limit = SUDDEN * bound if state.known >= KNOWN else np.inf
    found, run, was_frozen = False, state.run, state.frozen
    for one in range(stops):
        still = ends[one] - begins[one] - 1 + (run if one == 0 else 0)
        if still < fewest:  # it may go on
            continue
        speed = state.speed if one == 0 else speeds[begins[one]]
        judged = one == 0 and run >= fewest  # in a block before
        frozen = was_frozen if judged else speed > limit
        leapt = ends[one] < count and speeds[min(ends[one], count - 1)] > limit
        was_frozen = frozen and ends[one] == count
        found = found or frozen or leapt
    still = count - begins[stops - 1] - 1 + (run if stops == 1 else 0)
    state.frozen, state.run = was_frozen, still
    if stops > 1:
        state.speed = speeds[begins[stops - 1]]
    if found:
        return True, -1.0
    last = max(0, moving[len(moving) - 1] - 1) if len(moving) > 0 and still < fewest else len(changes)
    largest = 0.0
    for i in range(last):
        largest = max(largest, changes[i])
        state.known += changes[i] != 0.0
    return False, largest
