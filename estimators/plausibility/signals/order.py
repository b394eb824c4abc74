"""The order of frames that have no counter: a position that zigzags through evenly spaced places.

Frames in order show a position that moves on. Frames whose order was changed show the same places, so the sorted ones
are as evenly spaced as those of a smooth motion are, yet the way from one to the next is longer than from the first to
the last. Noise has no even spacings: that four of five of 31 spacings of a sorted noise lie within a quarter of their
median has a chance below 1e-11. Where many frames in a row are turned round, nearly all of them go one way, and the
few between them lead farther the other way.
"""

from typing import Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from estimators.numerics.jit import inline
from estimators.plausibility.signals.base import (
    BlockHistory,
    Facts,
    FramesState,
    StreamFacts,
    StreamFrames,
    copy_rows,
    history,
    moved,
    note,
    unwrapped,
)
from estimators.quantities import Floats
from estimators.reasons import Reason
from jointwatch_numba.layout import Flags, Layout, Matrix, Vector

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
#: frames, argued: Ways onward in a window: one alone is a hole in time, after which the joint is somewhere else.
ONCE_MORE: Final = 2
#: windows, argued: Windows of the last blocks that show it: one may be a shock.
WINDOWS: Final = 3
#: blocks, argued: Blocks in which they are counted, a second.
BLOCKS: Final = 5


class OrderState(Layout):
    """State of one stream."""

    values: Matrix  # (room, channels) of frames, after those of frames before where a block has few of them
    smallest: Vector  # (encoders,) rad (m), steps of each
    turns: Flags  # (encoders,) whether each has a window that may make a detour
    found: BlockHistory  # windows out of order, by block
    count: int = 0  # frames
    kept: int = 0  # of them, the last ones, that are looked at again


class OrderValidator:
    """Tells frames that come out of order."""

    def __init__(self, stream: StreamFacts) -> None:
        self._stream, encoders = stream, len(stream.positions)
        self.state = OrderState(
            values=np.zeros((stream.room + LONG, stream.channels)),
            smallest=np.full(encoders, np.inf),
            turns=np.zeros(encoders, np.bool_),
            found=history(BLOCKS),
        )

    def reason(self, _: StreamFrames) -> Reason | None:
        """See Validator."""
        state, found = self.state, 0
        values = state.values[: state.count]
        for number, place in enumerate(self._stream.positions):
            if not state.turns[number]:
                continue
            increments = unwrapped(np.diff(values[:, place]), self._stream.wraps[number])
            way = values[0, place] + np.append(0.0, np.cumsum(increments))
            found += 2 * self._sawtooth(increments, state.smallest[number])
            windows = len(way) // WINDOW
            places = way[: windows * WINDOW].reshape(windows, WINDOW)
            found += self._disordered(places[np.isfinite(places).all(axis=1)], state.smallest[number])
        state.found.values[state.found.next - 1] = found
        if not found or state.found.values.sum() < WINDOWS:  # a block without any is clean, whatever was before
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


@inline
def turns_back(frames: FramesState, facts: Facts, state: OrderState) -> bool:
    """Whether any encoder has a window that may make a detour."""
    values, first = state.values, state.count - state.kept
    copy_rows(values, first, state.count, values, 0)
    copied = min(1, state.kept)  # the first frame may be there
    copy_rows(frames.values, copied, frames.count, values, state.kept)
    state.count = state.kept + frames.count - copied
    state.kept = min(state.count, LONG - WINDOW) if frames.count < LONG else 0
    found = False
    for number in range(len(state.smallest)):
        state.smallest[number], state.turns[number] = _detours(
            values[: state.count], facts.positions[number], facts.wraps[number], state.smallest[number]
        )
        found = found or state.turns[number]
    note(0.0, state.found)
    return found


@inline
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
