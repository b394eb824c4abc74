"""A torque that acts on an encoder that does not move: the joint moves, and the encoder froze while it rested.

At rest a torque may be anything that friction holds. One that swings to and fro nearly as far as in motion, while the
position is the same to the last bit, moves a joint; unless it did so in an earlier rest, too, from which the encoder
went on as from any other.
"""

from collections import deque
from typing import Final

import numpy as np

from estimators.numerics.jit import kernel
from estimators.plausibility.signals.base import Frames, StreamFacts, distinct
from estimators.quantities import Floats
from estimators.reasons import Reason
from jointwatch_layout import Integers, Layout

#: 1, argued: Share of the torque's range in motion that it crosses, from one side to the other.
CROSSED: Final = 0.4
#: 1, argued: Times that it does so while the encoder stays: one may be a joint that is about to move.
CROSSINGS: Final = 3
#: 1, argued: Its range against the largest one in any rest before.
BEYOND: Final = 2.0
#: frames, argued: Frames for which the position stays, from which the joint rests.
FEWEST: Final = 16
#: blocks, argued: Blocks of motion in which the torque's range is measured, 10 s.
REMEMBERED: Final = 50
#: blocks, argued: Fewer of them say nothing of it.
KNOWN: Final = 10


class RestState(Layout):
    """State of one torque beside encoders that stay."""

    run: int = 0  # frames for which they have, up to the last one
    low: float = 0.0  # N·m (N), range of the torque in them
    high: float = 0.0
    side: int = 0  # on which it last was: 1 above, -1 below the middle of its range in motion
    crossings: int = 0
    rested: float = 0.0  # N·m (N), largest range in a rest that is over
    acts: bool = False


class ActingTorqueValidator:
    """Tells an encoder that stays while the torque acts as in motion."""

    def __init__(self, stream: StreamFacts) -> None:
        self._stream = stream
        self._own = np.array(stream.positions, np.int64)
        self._states = [RestState() for _ in stream.efforts]
        self._ranges = [deque[tuple[float, float]](maxlen=REMEMBERED) for _ in stream.efforts]  # in motion, by block

    def look(self, frames: Frames) -> Reason | None:
        """Look at another block."""
        frames = distinct(frames, self._stream)
        if not len(self._own):
            return None
        acts = False
        for state, ranges, place in zip(self._states, self._ranges, self._stream.efforts, strict=True):
            low = min((one for one, _ in ranges), default=0.0)
            high = max((one for _, one in ranges), default=0.0)
            found = _acts(state, frames.values, self._own, place, low, high, len(ranges) >= KNOWN)
            if found[0] < found[1]:
                ranges.append(found)
            acts = acts or state.acts
        return Reason("encoder_frozen", None, {}, {"signal": self._stream.signal}) if acts else None


@kernel((RestState, "f8[:, ::1]", "i8[::1]", "i8", "f8", "f8", "b1"))
def _acts(
    state: RestState, values: Floats, own: Integers, place: int, low: float, high: float, known: bool
) -> tuple[float, float]:
    """Go through a block; returns the range of the torque in it where the joint moved, else (inf, −inf).

    values: (frames, channels); own: channels of encoders; low, high: range of the torque in motion before.
    """
    state.acts = False
    middle, reach = 0.5 * (low + high), 0.5 * CROSSED * (high - low)
    least, most = np.inf, -np.inf
    for i in range(1, len(values)):
        torque, same = values[i, place], np.isfinite(values[i, place])
        for k in range(len(own)):
            same = same and values[i, own[k]] == values[i - 1, own[k]]
        if not same:
            if state.run >= FEWEST and state.crossings < CROSSINGS:
                state.rested = max(state.rested, state.high - state.low)
            state.run = state.crossings = state.side = 0
            if np.isfinite(torque):
                least, most = min(least, torque), max(most, torque)
            continue
        if state.run == 0:
            state.low = state.high = torque
        state.run += 1
        state.low, state.high = min(state.low, torque), max(state.high, torque)
        side = int(torque > middle + reach) - int(torque < middle - reach)
        if side != 0:
            state.crossings += side == -state.side
            state.side = side
        beyond = state.high - state.low > BEYOND * state.rested
        state.acts = state.acts or (known and reach > 0.0 and state.crossings >= CROSSINGS and beyond)
    return least, most
