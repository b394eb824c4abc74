"""An encoder that leaps: in one frame it is somewhere else, and goes on from there as before.

A joint that moved so far in one frame would have moved many times faster than it ever did, for that frame alone. After
a hole in the arrivals the way counts for all the frames that the hole has room for. A
single wild value comes back in the next frames and is left out elsewhere (conditioning/spikes.py); an encoder that
starts again, is set to zero or loses a turn stays where it leapt to, and what was learnt of the weight is wrong there.
"""

import math
from typing import Final

import numpy as np

from estimators.numerics.jit import inline
from estimators.plausibility.signals.base import (
    BlockHistory,
    Facts,
    FramesState,
    StreamFacts,
    StreamFrames,
    copy_rows,
    history,
    largest,
    moved,
    note,
)
from estimators.quantities import Floats, Nanoseconds
from estimators.reasons import Reason
from jointwatch_numba.layout import Integers, Layout, Matrix

#: 1, argued: A leap is this many times the largest way that the encoder ever went in one frame: frames that were lost
#: without a counter, or held for a while, make smaller ones.
FARTHER: Final = 40.0
#: frames, argued: Frames before and after a leap in which the encoder moves as ever.
QUIET: Final = 8
#: blocks, argued: Blocks over which the largest way counts, a minute: joints rest in between.
REMEMBERED: Final = 300
#: frames, argued: Ways from frame to frame without which nothing is known of them.
KNOWN: Final = 200
#: 1, argued: A leap is of a whole turn to this share of it: what the joint itself moves in a frame is far less.
WHOLE: Final = 0.02
#: s, argued: Time in which leaps of whole turns are left to the look at mistakes of a configuration, which is made near
#: the end of a start and says that the position wraps; twelve seconds of motion and rests between them.
LOOKED: Final = 60.0


class WaysState(Layout):
    """State of one encoder."""

    farthest: BlockHistory  # rad (m), in one frame, by block
    smallest: float = np.inf  # step, rad (m)
    known: int = 0  # ways that were not zero


class LeapState(Layout):
    """State of one stream."""

    values: Matrix  # (room, channels) of frames, after those in which a leap could not be judged yet, …
    came: Integers  # (room,) … and when these arrived, ns
    encoders: tuple[WaysState, ...]
    count: int = 0  # frames
    kept: int = 0  # of them, the last ones, in which a leap cannot be judged yet
    seen: int = 0  # frames so far
    turned: bool = False  # whether an encoder has leapt by a whole turn


class LeapValidator:
    """Tells an encoder that leaps and stays there."""

    def __init__(self, stream: StreamFacts) -> None:
        self._words, room = {"signal": stream.signal}, stream.room + 2 * QUIET
        self.state = LeapState(
            values=np.zeros((room, stream.channels)),
            came=np.zeros(room, np.int64),
            encoders=tuple(WaysState(farthest=history(REMEMBERED)) for _ in stream.positions),
        )

    def reason(self, _: StreamFrames) -> Reason:
        """See Validator."""
        if self.state.turned:
            return Reason("position_wraps", None, {"jumps": 1.0})
        return Reason("encoder_leaps", None, {}, self._words)


@inline
def leaps(frames: FramesState, facts: Facts, state: LeapState) -> bool:
    """Whether an encoder leaps and stays there."""
    values, came, first = state.values, state.came, state.count - state.kept
    copy_rows(values, first, state.count, values, 0)
    for i in range(state.kept):
        came[i] = came[first + i]
    copied = min(1, state.kept)  # the first frame may be there
    copy_rows(frames.values, copied, frames.count, values, state.kept)
    state.count = state.kept + frames.count - copied
    for i in range(state.kept, state.count):
        came[i] = frames.arrivals[copied + i - state.kept]
    state.kept = min(frames.count, 2 * QUIET)
    state.seen += frames.count - 1
    leapt = state.turned = False
    for number in range(len(state.encoders)):
        encoder = state.encoders[number]
        found, farthest, encoder.smallest, count = _leap(
            values[: state.count], came[: state.count], facts.period, facts.positions[number], facts.wraps[number],
            largest(encoder.farthest.values), encoder.smallest, encoder.known >= KNOWN,
        )  # fmt: skip
        note(farthest, encoder.farthest)
        encoder.known += count
        turned = abs(found - 2.0 * math.pi) < WHOLE * 2.0 * math.pi
        if turned and state.seen > LOOKED * (1e9 / facts.period):
            state.turned = True
            return True
        leapt = leapt or (found > 0.0 and not turned)
    return leapt


@inline
def _leap(
    values: Floats,
    came: Nanoseconds,
    period: float,
    place: int,
    wrap: float,
    farthest: float,
    smallest: float,
    known: bool,
) -> tuple[float, float, float, int]:
    """How far an encoder leaps once in these frames, 0: it does not; its largest other way, its smallest, their number.

    values: (frames, channels); came: (frames,) ns; period: ns;
    farthest: rad (m), in frames before; known: whether there were enough of them.
    """
    ways = moved(values, place, wrap)
    n, count, largest, second, at = len(ways), 0, 0.0, 0.0, -1
    for i in range(n):
        ways[i] = abs(ways[i]) / max(1.0, (came[i + 1] - came[i]) / period)
        if not np.isfinite(ways[i]):
            return 0.0, 0.0, smallest, 0
        if ways[i] > 0.0:
            count += 1
            smallest = min(smallest, ways[i])
        if ways[i] > largest:
            largest, second, at = ways[i], largest, i
        else:
            second = max(second, ways[i])
    if not known or at < 0 or largest <= FARTHER * max(max(farthest, second), smallest):
        return 0.0, largest, smallest, count
    return largest if QUIET <= at < n - QUIET else 0.0, second, smallest, count
