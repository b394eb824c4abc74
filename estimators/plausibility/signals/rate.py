"""The rate at which frames arrive, against the configured one.

The least-squares line through arrivals over the number of the sample has the device's period as its slope. Delays that
stay within a range R over a time T make that slope wrong by at most 1.5 R/T, whatever they are. So a rate is wrong
where the slope is off by more than that and by more than a clock can drift, in both halves of a window and in the same
direction. Where gaps add up to a walk the sender is a program that asks for samples when it has time: it has no rate,
and only a coarse error is named, on which the usual gap and the slope agree. Frames that are lost make the slope
longer, never shorter: where it is too short, frames are just counted. Where it is too long, the counter says how many
samples there were; without one, gaps that are whole multiples of the usual gap are losses. Where gaps show no such
multiples losses and rate cannot be distinguished by arrivals, except where too many frames would have to be missing.
"""

from typing import Final, NamedTuple

import numpy as np

from estimators.alignment.clock_rate import FASTEST_DRIFT, MOST_DRIFTED, MOST_PACE, PROPORTIONAL, WINDOW
from estimators.alignment.clock_state import LONGEST_LOSS
from estimators.numerics.jit import inline, kernel
from estimators.plausibility.signals.base import (
    Facts,
    FramesState,
    StreamFacts,
    StreamFrames,
    largest,
    median,
    smallest,
    steps_of,
)
from estimators.quantities import Floats, Nanoseconds
from estimators.reasons import Reason
from jointwatch_numba.layout import Integers, Layout, Vector

#: 1, derived: What the clock of a stream can follow: its drift, and its offset moved window by window.
FOLLOWED: Final = FASTEST_DRIFT + PROPORTIONAL * MOST_DRIFTED / WINDOW
#: 1, derived: A slope is wrong by at most this many ranges of the delays over the time.
SPREAD: Final = 1.5
#: blocks, argued: Windows over which a rate is measured: the short one names a coarse error soon, the long one a fine
#: error within two seconds of the change.
WINDOWS: Final = (4, 8)
#: frames, argued: Half a window with fewer frames is not judged.
FEWEST: Final = 16
#: 1, argued: Gaps within this share of a whole number of usual gaps are that number of samples.
WHOLE: Final = 0.25
#: 1, argued: Share of gaps that are so from which all of them are.
NEARLY_ALL: Final = 0.99
#: frames, argued: Lateness of a device with a clock differs as much over so many frames as from one to the next.
APART: Final = 16
#: 1, argued: Where gaps add up to a walk its variance grows with the frames: beyond this share of that the sender has
#: no clock.
WALKING: Final = 0.25
#: periods, argued: Gaps that deviate by less come from a clock.
EVEN_GAPS: Final = 0.002
#: 1, argued: Slope beyond which no loss that rows survive explains it.
COARSE: Final = 0.2
#: 1, argued: Slope and usual gap beyond which a program that polls has another rate: for some seconds it may well ask
#: a quarter less often than usual.
SLOWED: Final = 0.35


class _RateLine(NamedTuple):
    """Arrivals over numbers of samples."""

    off: float  # slope against the configured period, less one
    limit: float  # what delays can make of it, and what the clock follows
    walks: bool  # whether gaps between arrivals add up to a walk


class RateState(Layout):
    """The frames of the last blocks."""

    arrivals: Integers  # (room,) ns
    grown: Vector  # (room,) samples from each to the next
    ends: Integers  # frames where a block begins and ends: each ends with the next one's first
    blocks: int = 0
    owed: float = 0.0  # ns of samples that a silence may have kept back


class RateValidator:
    """Tells a stream that arrives at another rate than the configured one."""

    def __init__(self, stream: StreamFacts) -> None:
        self._stream, blocks = stream, max(WINDOWS)
        self.state = RateState(
            arrivals=np.zeros(blocks * stream.room, np.int64),
            grown=np.zeros(blocks * stream.room),
            ends=np.zeros(blocks + 1, np.int64),
        )

    def reason(self, _: StreamFrames) -> Reason | None:
        """See Validator."""
        last = self.state.blocks
        for window in WINDOWS:
            rate = self._wrong(last - window, last) if last >= window else None
            if rate is not None:
                numbers = {"arrives": rate, "configured": self._stream.rate}
                return Reason("wrong_rate", None, numbers, {"signal": self._stream.signal})
        return None

    def _wrong(self, first: int, last: int) -> float | None:
        """The rate that these blocks (of `_ends`) show (Hz), where the configured one is wrong."""
        half = (first + last) // 2
        early = self._line(first, half, only_wrong=True)
        if early is None or abs(early.off) <= early.limit:
            return None
        late, whole = self._line(half, last), self._line(first, last)
        if late is None or whole is None or abs(late.off) <= late.limit or early.off * late.off < 0.0:
            return None
        if whole.walks:
            gaps = np.diff(self.state.arrivals[self.state.ends[first] : self.state.ends[last] + 1])
            usual = float(np.median(gaps)) / self._stream.period - 1.0
            agree = abs((1.0 + whole.off) / (1.0 + usual) - 1.0) < COARSE if usual > -1.0 else False
            if min(abs(whole.off), abs(usual)) < SLOWED or not agree:
                return None
        changed = abs(early.off - late.off) > late.limit  # the rate became another one in the window
        return self._stream.rate / (1.0 + (late if changed else whole).off)

    def _line(self, first: int, last: int, only_wrong: bool = False) -> _RateLine | None:
        """The line through the arrivals of these blocks; None where nothing can be said.

        only_wrong: for a slope that a clock may have, only `off` is computed.
        """
        known, off, limit, walks = _line_of_blocks(
            self.state, first, last, self._stream.period, self._stream.modulo > 0, self._stream.stamped, only_wrong
        )
        return _RateLine(off, limit, walks) if known else None


@inline
def _owes(frames: FramesState, facts: Facts, state: RateState) -> bool:
    """Whether a silence is between these frames, or they still come faster since they waited in one before."""
    period, count, silent = facts.period, frames.count - 1, 0
    for i in range(count):
        gap = frames.arrivals[i + 1] - frames.arrivals[i]
        if gap > LONGEST_LOSS * period:
            silent += gap
    surplus = count * period - (float(frames.arrivals[count] - frames.arrivals[0]) - silent)
    state.owed = state.owed - surplus if surplus > FOLLOWED * period * count else 0.0
    state.owed = max(0.0, state.owed) + silent
    return state.owed > 0.0


@inline
def _add(frames: FramesState, state: RateState) -> None:
    """Take another block, and leave out what no window reaches any more."""
    ends = state.ends
    if state.blocks == 0:
        state.arrivals[0], ends[0] = frames.arrivals[0], 0
    if state.blocks == len(ends) - 1:
        cut, end = ends[1], ends[state.blocks]
        for i in range(end + 1 - cut):
            state.arrivals[i], state.grown[i] = state.arrivals[cut + i], state.grown[cut + i]
        for i in range(state.blocks):
            ends[i] = ends[i + 1] - cut
        state.blocks -= 1
    begin = ends[state.blocks]
    end = begin + frames.count - 1
    for i in range(end - begin):
        state.arrivals[begin + i + 1], state.grown[begin + i] = frames.arrivals[i + 1], frames.grown[i]
    state.blocks += 1
    ends[state.blocks] = end


@inline
def _along(numbers: Floats, period: float) -> Floats:
    """Instants (frames,) of samples that follow each other by these numbers (frames − 1,)."""
    instants, at = np.zeros(len(numbers) + 1), 0.0
    for i in range(len(numbers)):
        at += numbers[i]
        instants[i + 1] = at * period
    return instants


@inline
def _line_through(arrivals: Floats, instants: Floats, only_wrong: bool) -> tuple[float, float, bool]:
    """Fit arrivals (ns) over instants (ns): slope less one, its limit, and whether gaps add up to a walk.

    only_wrong: of a slope within FOLLOWED only that, its limit, is said.
    """
    n, mean = len(arrivals), 0.0
    for i in range(n):
        mean += instants[i] / n
    square = product = 0.0
    for i in range(n):
        own = instants[i] - mean
        square += own * own
        product += own * arrivals[i]
    slope = product / square if square > 0.0 else 1.0
    if slope <= 0.0:
        return 0.0, np.inf, False
    if only_wrong and abs(slope - 1.0) <= FOLLOWED:
        return slope - 1.0, FOLLOWED, False
    left = np.empty(n)
    for i in range(n):
        left[i] = arrivals[i] - slope * instants[i]
    span = largest(instants) - smallest(instants)
    # as a share of the time that passes: where many samples come in little time it is the larger one
    time = min(span, largest(arrivals) - smallest(arrivals))
    spread = SPREAD * (largest(left) - smallest(left)) / time
    gap = walked = 0.0
    for i in range(n - 1):
        gap += (left[i + 1] - left[i]) ** 2 / (n - 1)
    for i in range(n - APART):
        walked += (left[i + APART] - left[i]) ** 2 / (n - APART) / APART
    period = span / (n - 1)
    walks = gap > (EVEN_GAPS * period) ** 2 and walked > WALKING * gap
    return slope - 1.0, FOLLOWED + spread, walks


@inline
def _line_of(
    times: Nanoseconds, grown: Floats, period: float, has_counter: bool, stamped: bool, only_wrong: bool
) -> tuple[bool, float, float, bool]:
    """Whether the line counts, and what `_line_through` gives; grown (frames − 1,): samples, NaN: unknown."""
    count = len(times) - 1
    arrivals = np.empty(count + 1)
    for i in range(count + 1):
        arrivals[i] = times[i] - times[0]
    if count + 1 < FEWEST or arrivals[count] <= 0.0:
        return False, 0.0, 0.0, False
    off, limit, walks = _line_through(arrivals, _along(np.ones(count), period), only_wrong)
    if off < 0.0 and not stamped:
        return True, off, limit, walks
    known, regular = has_counter, has_counter
    for i in range(count):
        known = known and np.isfinite(grown[i])
        regular = regular and grown[i] == 1.0
    if regular:  # the line is the same
        return off > 0.0 or stamped, off, limit, walks
    if known:  # of a device's time its usual step counts, where that is another rate's
        usual = median(grown) if stamped else 1.0
        if abs(usual - 1.0) > MOST_PACE:
            return True, usual - 1.0, MOST_PACE, False
        off, limit, walks = _line_through(arrivals, _along(grown, period), only_wrong)
        return off > 0.0 or stamped, off, limit, walks
    gaps = steps_of(arrivals)
    usual = median(gaps)
    if usual > 0.0:
        numbers, whole = np.empty(count), 0
        for i in range(count):
            numbers[i] = max(1.0, np.rint(gaps[i] / usual))
            whole += abs(gaps[i] / usual - numbers[i]) < WHOLE
        if whole / count >= NEARLY_ALL:
            off, limit, walks = _line_through(arrivals, _along(numbers, period), only_wrong)
            return True, off, limit, walks
    return True, off, max(limit, COARSE), walks


@kernel((RateState, "i8", "i8", "f8", "b1", "b1", "b1"))
def _line_of_blocks(
    state: RateState, first: int, last: int, period: float, has_counter: bool, stamped: bool, only_wrong: bool
) -> tuple[bool, float, float, bool]:
    """The line through the arrivals of some blocks: whether one can be said, and what _RateLine has.

    stamped: the counter is a device's time; only_wrong: see _line_through.
    """
    begin, end = state.ends[first], state.ends[last]
    return _line_of(state.arrivals[begin : end + 1], state.grown[begin:end], period, has_counter, stamped, only_wrong)


@inline
def is_off(frames: FramesState, facts: Facts, state: RateState) -> bool:
    """Whether the first half of a window shows another rate."""
    if _owes(frames, facts, state):
        state.blocks = 0
        return False
    _add(frames, state)
    has_counter, stamped = facts.modulo > 0, facts.unit > 1.0
    for window in WINDOWS:
        first, half = state.blocks - window, state.blocks - window // 2
        if first >= 0:
            known, off, limit, _ = _line_of_blocks(state, first, half, facts.period, has_counter, stamped, True)
            if known and abs(off) > limit:
                return True
    return False
