"""The device's counter: it grows by one from sample to sample, up to its modulo, or it counts something else."""

from collections import deque
from typing import Final

import numpy as np

from estimators.numerics.jit import inline
from estimators.plausibility.signals.base import Facts, FramesState, StreamFacts, StreamFrames
from estimators.quantities import Floats
from estimators.reasons import Reason
from jointwatch_numba.layout import Layout

#: steps, argued: A block with fewer steps of a counter is not judged.
FEWEST: Final = 16
#: 1, argued: Share of steps that do not grow although values change, from which the counter is stuck: more than a
#: device that says everything twice would show.
STUCK: Final = 0.6
#: 1, argued: Share of leaps from which a counter is no counter: three of four steps of a random one are leaps.
LEAPING: Final = 0.5
#: 1, argued: Share of a turn that the counter may grow by across lost samples; more is a leap. The aligner's is the
#: same.
LEAP: Final = 0.125
#: 1, argued: Share of leaps of one size from which they are the device's habit.
COMMON: Final = 0.25
#: samples, argued: Samples that a counter counts from frame to frame, from which it does not count frames.
FAST: Final = 1.5
#: 1, argued: Frames that arrive at the configured rate give or take this share are not lost ones.
COARSE: Final = 0.2
#: blocks, argued: Blocks in which both are so, 0.8 s: frames that waited in a queue come faster for less.
BLOCKS: Final = 4
#: counts, argued: A counter is not smaller than this.
SMALLEST: Final = 8
#: 1, argued: Share of steps backwards from which frames do not come in order; fewer are dropped by the aligner, and
#: bridged.
BACKWARDS: Final = 0.1


class CounterState(Layout):
    """What a kernel has to know of a counter, and has found."""

    turns: bool = False  # whether it is known to start again too early
    regular: bool = False  # whether there was a regular block since it was last irregular


class CounterValidator:
    """Tells a counter that is stuck, counts down or too fast, jumps about, is smaller, or shows frames out of order."""

    def __init__(self, stream: StreamFacts) -> None:
        self._stream, self.state = stream, CounterState()
        self._turn = 0  # counts after which it starts again, where that is less than what is configured
        self._fast = deque[tuple[float, float, float]](maxlen=BLOCKS)  # samples a frame, frames, periods, by block

    def reason(self, frames: StreamFrames) -> Reason | None:
        """See Validator; frames: all of them, those that are there already among them."""
        if self.state.regular:
            self._fast.clear()
            self.state.regular = False
        found = self._smaller(frames) or self._irregular(frames)
        self.state.turns = self._turn > 0
        return found

    def _smaller(self, frames: StreamFrames) -> Reason | None:
        """A counter that starts again before it should: it is 0 after one less than a power of two."""
        counters = frames.counters
        if self._stream.stamped or not len(counters):
            return None
        if self._turn and counters.max() >= self._turn:
            self._turn = 0
        ends = np.flatnonzero((counters[1:] == 0) & (counters[:-1] >= SMALLEST - 1))
        for end in ends if self._stream.modulo > SMALLEST else ():
            turn = int(counters[end]) + 1
            alone = end > 0 and counters[end - 1] == turn - 2 and counters[end + 2 : end + 3].sum() == 1
            if alone and turn & (turn - 1) == 0 and turn < self._stream.modulo and counters.max() < turn:
                self._turn = turn
        if not self._turn:
            return None
        return Reason("counter_smaller", None, {"modulo": float(self._turn)}, {"signal": self._stream.signal})

    def _irregular(self, frames: StreamFrames) -> Reason | None:
        """A counter that does not grow by one from frame to frame."""
        grown = frames.grown
        if (grown == 1.0).all():
            self._fast.clear()
            return None
        known = np.isfinite(grown)
        count = int(known.sum())
        if count < FEWEST:
            return None
        words = {"signal": self._stream.signal}
        before, after = frames.values[:-1], frames.values[1:]
        changed = (np.isfinite(before) & np.isfinite(after) & (before != after)).any(axis=1)
        if (known & (grown == 0.0) & changed).sum() > STUCK * count:
            return Reason("counter_stuck", None, {}, words)
        grown = grown[known]
        if (counts := self._counts(frames, grown)) is not None:
            numbers = {"arrives": counts * self._stream.rate, "configured": self._stream.rate}
            return Reason("counter_fast", None, numbers, words)
        turn = self._stream.modulo / self._stream.unit
        leaps = grown[np.abs(grown) > LEAP * turn]
        if len(leaps) > LEAPING * count:
            common = np.unique(leaps, return_counts=True)[1].max()
            return Reason("counter_jumps", None, {}, words) if common < COMMON * count else None
        behind = grown[(grown < 0.0) & (np.abs(grown) <= LEAP * turn)]
        if len(behind) <= BACKWARDS * count:
            return None
        if grown[np.abs(grown) <= LEAP * turn].sum() < 0.0:
            return Reason("counter_backwards", None, {}, words)
        return Reason("frames_disordered", None, {"percent": 100.0 * len(behind) / count}, words)

    def _counts(self, frames: StreamFrames, grown: Floats) -> float | None:
        """Samples that are counted from frame to frame, where frames arrive at the configured rate; else None."""
        if self._stream.stamped:
            return None
        span = float(frames.arrivals[-1] - frames.arrivals[0])
        self._fast.append((float(np.median(grown)), len(frames.arrivals) - 1.0, span / self._stream.period))
        usual, count, periods = np.transpose(self._fast)
        if len(usual) < BLOCKS or usual.min() < FAST or abs(periods.sum() / count.sum() - 1.0) > COARSE:
            return None
        return float(np.median(usual))


@inline
def is_irregular(frames: FramesState, facts: Facts, state: CounterState) -> bool:
    """Whether a counter does not say that each frame is the next sample, or starts again too early."""
    if facts.modulo == 0:
        return False
    for i in range(frames.count - 1):
        if frames.grown[i] != 1.0:
            return True
    if not state.turns:
        state.regular = True
    return state.turns
