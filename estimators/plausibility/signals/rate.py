"""The rate at which frames arrive, against the configured one.

The least-squares line through arrivals over the number of the sample has the device's period as its slope. Delays that
stay within a range R over a time T make that slope wrong by at most 1.5 R/T, whatever they are. So a rate is wrong
where the slope is off by more than that and by more than a clock can drift, in both halves of a window and in the same
direction. Where gaps add up to a walk the sender is a program that asks for samples when it has time: it has no rate,
and only a coarse error is named. Frames that are lost make the slope longer, never shorter: where it is too short,
frames are just counted. Where it is too long, the counter says how many samples there were; without one, gaps that are
whole multiples of the usual gap are losses. Where gaps show no such multiples losses and rate cannot be distinguished
by arrivals, except where too many frames would have to be missing.
"""

from typing import Final, NamedTuple

import numpy as np

from estimators.alignment.clock_rate import FASTEST_DRIFT, MOST_DRIFTED, MOST_PACE, PROPORTIONAL, WINDOW
from estimators.alignment.clock_state import LONGEST_LOSS
from estimators.plausibility.signals.base import Frames, StreamFacts, distinct, steps
from estimators.quantities import Floats, Nanoseconds
from estimators.reasons import Reason

#: 1, derived: What the clock of a stream can follow: its drift, and its offset moved window by window.
FOLLOWED: Final = FASTEST_DRIFT + PROPORTIONAL * MOST_DRIFTED / WINDOW
#: 1, derived: A slope is wrong by at most this many ranges of the delays over the time.
SPREAD: Final = 1.5
#: blocks, argued: Windows over which a rate is measured: the short one names a coarse error soon, the long one a fine
#: error within two seconds of the change.
WINDOWS: Final = (4, 8)
#: frames, argued: Half a window with fewer frames says nothing.
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


class _RateLine(NamedTuple):
    """Arrivals over numbers of samples."""

    off: float  # slope against the configured period, less one
    limit: float  # what delays can make of it, and what the clock follows
    walks: bool  # whether gaps between arrivals add up to a walk


class RateValidator:
    """Tells a stream that arrives at another rate than the configured one."""

    def __init__(self, stream: StreamFacts) -> None:
        self._stream = stream
        self._blocks: list[Frames] = []
        self._owed = 0.0  # ns of samples that a silence may have kept back

    def look(self, frames: Frames) -> Reason | None:
        """Look at another block."""
        frames = distinct(frames, self._stream)
        if self._owes(np.diff(frames.arrivals)):
            self._blocks = []
            return None
        self._blocks = [*self._blocks[1 - max(WINDOWS) :], frames]
        for window in WINDOWS:
            if len(self._blocks) >= window:
                rate = self._wrong(self._blocks[-window:])
                if rate is not None:
                    return Reason(
                        "wrong_rate",
                        None,
                        {"arrives": rate, "configured": self._stream.rate},
                        {"signal": self._stream.signal},
                    )
        return None

    def _owes(self, gaps: Nanoseconds) -> bool:
        """Whether a silence is in these gaps, or frames still come faster since they waited in one before."""
        period = self._stream.period
        silent = int(gaps[gaps > LONGEST_LOSS * period].sum())
        surplus = len(gaps) * period - (float(gaps.sum()) - silent)
        self._owed = self._owed - surplus if surplus > FOLLOWED * period * len(gaps) else 0.0
        self._owed = max(0.0, self._owed) + silent
        return self._owed > 0.0

    def _wrong(self, blocks: list[Frames]) -> float | None:
        """The rate that these blocks show (Hz), where the configured one is wrong."""
        half = len(blocks) // 2
        first = self._line(blocks[:half])
        if first is None or abs(first.off) <= first.limit:
            return None
        second, whole = self._line(blocks[half:]), self._line(blocks)
        if second is None or whole is None or abs(second.off) <= second.limit or first.off * second.off < 0.0:
            return None
        return None if whole.walks and abs(whole.off) < COARSE else self._stream.rate / (1.0 + whole.off)

    def _line(self, blocks: list[Frames]) -> _RateLine | None:
        """The line through the arrivals of these blocks; None where nothing can be said."""
        arrivals = np.concatenate([blocks[0].arrivals[:1], *(one.arrivals[1:] for one in blocks)]) * 1.0
        arrivals -= arrivals[0]
        if len(arrivals) < FEWEST or arrivals[-1] <= 0.0:
            return None
        period = self._stream.period
        counted = _fitted(arrivals, np.arange(len(arrivals), dtype=np.float64) * period)
        if counted.off < 0.0 and not self._stream.stamped:
            return counted
        grown = np.concatenate([steps(one, self._stream) for one in blocks])
        if np.isfinite(grown).all() and self._stream.modulo:
            line = self._by_counter(arrivals, grown)
            return line if line.off > 0.0 or self._stream.stamped else None
        gaps = np.diff(arrivals)
        usual = float(np.median(gaps))
        if usual > 0.0:
            numbers = np.maximum(1.0, np.rint(gaps / usual))
            if (np.abs(gaps / usual - numbers) < WHOLE).mean() >= NEARLY_ALL:
                return _fitted(arrivals, np.append(0.0, np.cumsum(numbers)) * np.float64(period))
        return counted._replace(limit=max(counted.limit, COARSE))

    def _by_counter(self, arrivals: Floats, grown: Floats) -> _RateLine:
        """The line by the device's counter or time; of a time its usual step counts, where that is another rate's."""
        if self._stream.stamped:
            usual = float(np.median(grown))
            if abs(usual - 1.0) > MOST_PACE:
                return _RateLine(usual - 1.0, MOST_PACE, False)
        return _fitted(arrivals, np.append(0.0, np.cumsum(grown)) * self._stream.period)


def _fitted(arrivals: Floats, instants: Floats) -> _RateLine:
    """The line through arrivals (ns) over instants by the configured period (ns)."""
    own = instants - instants.mean()
    square = float(own @ own)
    slope = float(own @ arrivals) / square if square > 0.0 else 1.0
    if slope <= 0.0:
        return _RateLine(0.0, np.inf, False)
    left = arrivals - slope * instants
    # as a share of the time that passes: where many samples come in little time it is the larger one
    spread = SPREAD * float(left.max() - left.min()) / min(float(np.ptp(instants)), float(np.ptp(arrivals)))
    gap = np.square(np.diff(left)).mean()
    walked = np.square(left[APART:] - left[:-APART]).mean() / APART if len(left) > APART else 0.0
    period = float(np.ptp(instants)) / (len(left) - 1)
    walks = bool(gap > (EVEN_GAPS * period) ** 2 and walked > WALKING * gap)
    return _RateLine(slope - 1.0, FOLLOWED + spread, walks)
