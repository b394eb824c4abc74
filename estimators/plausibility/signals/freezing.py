"""An encoder that freezes: it stops from one frame to the next, and says the same to the last bit from then on.

A joint has mass. From frame to frame its speed changes by no more than it ever does, which the largest second
difference of its position shows. An encoder that stops from an increment that is twice as large, and stays the same for
a while, or one that leaps that far after it has been the same and moves on, was frozen. One that leaps from rest to
rest has slipped: it was the same before and after, as it is where a joint rests. At a low rate, or where steps of the
encoder are as large as increments, the bound is wide and nothing is said.
"""

from typing import Final

import numpy as np

from estimators.numerics.jit import inline
from estimators.plausibility.signals.base import (
    BlockHistory,
    Facts,
    FramesState,
    StreamFacts,
    StreamFrames,
    history,
    largest,
    moved,
    note,
    steps_of,
)
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

    bounds: BlockHistory  # largest change of speed, block by block
    known: int = 0  # changes of speed
    smallest: float = np.inf  # step
    run: int = 0  # frames for which it has been the same, up to the last one
    speed: float = 0.0  # a frame, before them
    frozen: bool = False  # whether that stop was none of the joint's
    rested: bool = False  # whether it rested before it moved last, and has not been the same for long since
    slipped: bool = False  # whether it has leapt from rest to rest in the last frames


class FreezingState(Layout):
    """State of one stream."""

    fewest: int  # frames for which a frozen encoder says the same
    encoders: tuple[FrozenState, ...]
    froze: bool = False  # whether any was frozen in the last frames


class FreezingValidator:
    """Tells an encoder that freezes."""

    def __init__(self, stream: StreamFacts) -> None:
        self._words = {"signal": stream.signal}
        self.state = FreezingState(
            fewest=max(FEWEST, round(STILL * stream.rate)),
            encoders=tuple(FrozenState(bounds=history(REMEMBERED)) for _ in stream.positions),
        )

    def reason(self, _: StreamFrames) -> Reason:
        """See Validator."""
        return Reason("encoder_frozen" if self.state.froze else "encoder_leaps", None, {}, self._words)


@inline
def freezes(frames: FramesState, facts: Facts, state: FreezingState) -> bool:
    """Whether an encoder was frozen in these frames, or leapt from rest to rest."""
    apart, slipped = _apart(frames.arrivals[: frames.count], frames.grown, facts.period), False
    state.froze = False
    for number in range(len(state.encoders)):
        encoder = state.encoders[number]
        frozen, bound = _frozen(
            encoder, frames.values[: frames.count], facts.positions[number], facts.wraps[number], apart, state.fewest,
            largest(encoder.bounds.values),
        )  # fmt: skip
        if bound >= 0.0:
            note(bound, encoder.bounds)
        state.froze, slipped = state.froze or frozen, slipped or encoder.slipped
    return state.froze or slipped


@inline
def _apart(arrivals: Nanoseconds, gaps: Floats, period: float) -> Floats:
    """Samples from frame to frame (frames − 1,), by the counter if it is known, else by arrivals; 1 at least."""
    found = np.empty(len(arrivals) - 1)
    for i in range(len(found)):
        late = np.rint((arrivals[i + 1] - arrivals[i]) / period)
        found[i] = max(1.0, gaps[i] if np.isfinite(gaps[i]) else late)
    return found


@inline
def _frozen(
    state: FrozenState, values: Floats, place: int, wrap: float, apart: Floats, fewest: int, before: float
) -> tuple[bool, float]:
    """Look at a block: whether the encoder was frozen in it, and the largest change of speed if it was not, else -1.

    before: the largest change of speed in earlier blocks.
    """
    speeds = moved(values, place, wrap)
    for i in range(len(speeds)):
        speeds[i] = abs(speeds[i]) / apart[i]
    count, finite, rests, state.rested, state.slipped = len(speeds), True, state.rested, False, False
    for i in range(count):
        finite = finite and np.isfinite(speeds[i])
    if count < FEWEST or not finite:
        state.run, state.frozen = 0, False
        return False, -1.0
    begins, ends, stops = np.empty(count + 1, np.int64), np.empty(count + 1, np.int64), 1
    begins[0] = -1
    for i in range(count):
        if speeds[i] > 0.0:
            begins[stops] = ends[stops - 1] = i
            state.smallest, stops = min(state.smallest, speeds[i]), stops + 1
    ends[stops - 1] = count
    changes, inside = steps_of(speeds), np.empty(count - 1)
    for i in range(count - 1):
        changes[i] = inside[i] = abs(changes[i])
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
            state.rested, rests = rests and ends[one] == count, False
            continue
        speed = state.speed if one == 0 else speeds[begins[one]]
        judged = one == 0 and run >= fewest  # in a block before
        slips = rests and speed > limit
        frozen = was_frozen if judged else speed > limit and not slips
        moves_on = ends[one] + 1 >= count or speeds[min(ends[one] + 1, count - 1)] > 0.0
        leapt = ends[one] < count and speeds[min(ends[one], count - 1)] > limit and moves_on
        was_frozen, rests = frozen and ends[one] == count, not frozen
        found, state.slipped = found or frozen or leapt, state.slipped or slips
    still = count - begins[stops - 1] - 1 + (run if stops == 1 else 0)
    state.frozen, state.run = was_frozen, still
    if stops > 1:
        state.speed = speeds[begins[stops - 1]]
    if found or state.slipped:
        return found, -1.0
    last = max(0, begins[stops - 1] - 1) if stops > 1 and still < fewest else len(changes)
    largest = 0.0
    for i in range(last):
        largest = max(largest, changes[i])
        state.known += changes[i] != 0.0
    return False, largest
