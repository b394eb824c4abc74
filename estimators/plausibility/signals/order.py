"""The order of frames that have no counter: a position that zigzags through evenly spaced places.

Frames in order show a position that moves on. Frames whose order was changed show the same places, so the sorted ones
are as evenly spaced as those of a smooth motion are, yet the way from one to the next is longer than from the first to
the last. Noise has no even spacings: that four of five of 31 spacings of a sorted noise lie within a quarter of their
median has a chance below 1e-11. Where many frames in a row are turned round, nearly all of them go one way, and the
few between them lead farther the other way.
"""

from collections import deque
from typing import Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from estimators.numerics.jit import kernel
from estimators.plausibility.signals.base import StreamFacts, StreamFrames, distinct, moved, unwrapped
from estimators.quantities import Floats
from estimators.reasons import Reason

#: frames, argued: Frames in which a motion goes one way and hardly changes its speed.
WINDOW: Final = 32
#: frames, argued: Frames in which turned ones show a way back.
LONG: Final = 128
#: 1, argued: The way through all places in order of arrival against the way between the outermost ones.
DETOUR: Final = 1.5
#: 1, derived: Sums in another order differ by less than this leaves.
ROUNDING: Final = 1.0 - 1e-9
#: 1, argued: Spacings within this share of their median are even.
EVEN: Final = 0.25
#: 1, argued: Share of even spacings from which a motion is smooth.
SMOOTH: Final = 0.8
#: 1, argued: Spacings of fewer steps of the encoder are even by rounding.
STEPS: Final = 3.0
#: 1, argued: Shares of the frames of a short and of a long window that go the other way than all of them together: many
#: frames that are turned round in the one, few in the other.
BACK: Final = (0.6, 0.9)
#: 1, argued: Way of all against what those frames went back: the few between them go at least so far.
ONWARD: Final = 0.5
#: frames, argued: Ways onward in a window: one alone is a hole in time, behind which the joint is somewhere else.
ONCE_MORE: Final = 2
#: windows, argued: Windows of the last blocks that show it: one may be a shock.
WINDOWS: Final = 3
#: blocks, argued: Blocks in which they are counted, a second.
BLOCKS: Final = 5


class OrderValidator:
    """Tells frames that come out of order."""

    def __init__(self, stream: StreamFacts) -> None:
        self._stream = stream
        self._smallest = np.full(len(stream.positions), np.inf)  # rad (m), steps of each encoder
        self._last: Floats | None = None  # values of frames before, where a block has few of them
        self._found: deque[int] = deque(maxlen=BLOCKS)  # windows out of order, by block

    def look(self, frames: StreamFrames) -> Reason | None:
        """Look at another block."""
        frames, found = distinct(frames, self._stream), 0
        before = frames.values[:1] if self._last is None else self._last
        values = np.concatenate((before, frames.values[1:]))
        self._last = values[max(0, len(values) - LONG + WINDOW) :].copy() if len(frames.values) < LONG else None
        for number, place in enumerate(self._stream.positions):
            self._smallest[number], turns = _detours(values, place, self._stream.wraps[number], self._smallest[number])
            if not turns:
                continue
            increments = unwrapped(np.diff(values[:, place]), self._stream.wraps[number])
            way = values[0, place] + np.append(0.0, np.cumsum(increments))
            found += 2 * self._sawtooth(increments, self._smallest[number])
            windows = len(way) // WINDOW
            places = way[: windows * WINDOW].reshape(windows, WINDOW)
            found += self._disordered(places[np.isfinite(places).all(axis=1)], self._smallest[number])
        self._found.append(found)
        if not found or sum(self._found) < WINDOWS:  # a block without any is clean, whatever was before
            return None
        return Reason("frames_zigzag", None, {}, {"signal": self._stream.signal})

    @staticmethod
    def _sawtooth(increments: Floats, step: float) -> int:
        """How many windows of a position (its increments) go back mostly and get on all the same, by single frames.

        step: of the encoder.
        """
        found = 0
        for window, share in zip((WINDOW - 1, LONG - 1), BACK, strict=True):
            if len(increments) < window:
                continue
            parts = sliding_window_view(increments, window)[:: window // 2]
            usual = np.median(parts, axis=1)
            onward = parts * usual[:, None] <= 0.0
            alone = ~(onward[:, 1:] & onward[:, :-1]).any(axis=1)
            mostly = (np.abs(usual) >= STEPS * step) & (onward.mean(axis=1) <= 1.0 - share)
            for one in np.flatnonzero(mostly & alone & (onward.sum(axis=1) >= ONCE_MORE)):
                back = abs(float(parts[one][~onward[one]].sum()))
                found += -np.sign(usual[one]) * float(parts[one].sum()) >= ONWARD * back
        return found

    @staticmethod
    def _disordered(places: Floats, step: float) -> int:
        """How many windows of positions (windows, WINDOW) zigzag through even places. step: of the encoder."""
        way = np.abs(np.diff(places, axis=1)).sum(axis=1)
        places = places[way >= DETOUR * np.ptp(places, axis=1)]
        if len(places) == 0:
            return 0
        spacings = np.diff(np.sort(places, axis=1), axis=1)
        usual = np.median(spacings, axis=1)
        even = (np.abs(spacings - usual[:, None]) <= EVEN * usual[:, None]).mean(axis=1) >= SMOOTH
        return int((even & (usual >= STEPS * step)).sum())


@kernel("Tuple((f8, b1))(f8[:, ::1], i8, f8, f8)")
def _detours(values: Floats, place: int, wrap: float, smallest: float) -> tuple[float, bool]:
    """The smallest step of an encoder so far, and whether there is a window that may make a detour."""
    increments, found = moved(values, place, wrap), False
    for i in range(len(increments)):
        if 0.0 < abs(increments[i]) < smallest:
            smallest = abs(increments[i])
    for window in (WINDOW, LONG):
        for first in range(0, len(values) - window + 1, WINDOW):
            way = at = low = high = 0.0
            for i in range(first, first + window - 1):
                at += increments[i]
                way += abs(increments[i])
                low, high = min(low, at), max(high, at)
            found = found or way >= ROUNDING * DETOUR * (high - low)
    return smallest, found
