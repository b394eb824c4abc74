"""Values that are said more than once: by a sender that repeats frames, or by a slow bus, which holds values.

A frame with the same values as the one before has no new information. Where the joint moves and noise is in the values
that happens by chance alone. Where it happens to every second frame (or more of them), frames are repeated if more
arrive than the rate says, else values are held. Where it happens now and then, the motion tells: a joint that has gone
by several steps of its encoder in each of two frames, and goes on so in the next two, has not stood still in the frame
between, with all other channels the same to the last bit. Where the torque is measured each time and only the position
is held, its steps tell: a position that stays for g − 1 frames and then moves by g + 1 of its smallest steps cannot
have been sampled with each of them, since it would have moved before; and one that moves by several steps in the frame
before and in the frame after does not stay in the frame between.
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
    moved,
    note,
    total,
)
from estimators.quantities import Floats
from estimators.reasons import Reason
from jointwatch_numba.layout import Integers, Layout, Vector

#: 1, argued: Share of frames that repeat all values of the one before, from which it is no chance.
REPEATED: Final = 0.4
#: 1, argued: Share of frames with other values without which the joint may just rest.
LIVELY: Final = 0.05
#: steps, argued: A channel that changes by this many of its smallest changes would show a new sample.
FINE: Final = 3.0
#: steps, argued: A position that moves by this many of its smallest steps before and after a frame moves in it, too.
#: With noise, a smaller movement would be more frequent than none at all.
FEW: Final = 3.5
#: 1, argued: Share of frames that halt from which values are held, twenty times what two clocks of one rate make.
HALTING: Final = 0.05
#: blocks, argued: Blocks with so many halts from which they are no accident of a tenth of a second.
HALTED: Final = 3
#: blocks, argued: Blocks in which those are counted, a second: at a turning point nothing moves fast enough.
BLOCKS: Final = 5
#: 1, derived: Share of frames that repeat the one before in the middle of a motion from which they are repeated. Such a
#: frame is late by a sample T; where a twelfth are, their variance is that of stamps that jitter by half a sample,
#: T²/12, which alignment takes. Fewer are in recordings of sound robots, and cost what such jitter costs.
RARE: Final = 1.0 / 12.0
#: blocks, argued: Blocks over which those count: in ten seconds of slow motion there are enough of them.
REMEMBERED: Final = 50
#: frames, derived: So many more than those that noise slows down. Rounded noise makes a step of 0 at most once while it
#: makes one of the six others that are less than FEW; an excess of eight then has a chance of (1/6)⁸, 6e-7.
CLEAR: Final = 8
#: 1, argued: Frames arrive this many times faster than the rate says where they are repeated.
SURPLUS: Final = 1.25
#: frames, argued: Frames, and changes of a position, from which they are judged.
FEWEST: Final = 16
#: 1, argued: Share of frames that turn from new to repeated, or back, against those that are repeated: they alternate.
MOST: Final = 0.5
#: 1, argued: Share of changes that a sampled position could not make, from which it was not sampled; noise of some
#: steps of the encoder makes half of them, and the other half changes from one frame to the next.
NEARLY_ALL: Final = 0.9


class HeldState(Layout):
    """State of one encoder."""

    halted: BlockHistory  # whether it halted in a block
    late: BlockHistory  # changes that it cannot have made if it was sampled each time, …
    waited: BlockHistory  # … the frames that these took, …
    changes: BlockHistory  # … and all changes
    smallest: float = np.inf  # step, rad (m)


class RepeatsState(Layout):
    """State of one stream."""

    least: Vector  # (channels,) smallest change of each
    twice: BlockHistory  # frames that repeat the one before in the middle of a motion, …
    slowed: BlockHistory  # … those that noise may have slowed down there, …
    seen: BlockHistory  # … and all frames in the middle of one
    encoders: tuple[HeldState, ...]
    repeated: bool = False  # whether it is whole frames that come again, as more arrive than the rate says, or rarely
    percent: float = 0.0  # of frames that say nothing new
    fresh: float = 1.0  # share of the frames that have new values where they are held


class RepeatsValidator:
    """Tells frames that come more than once, and positions that are held."""

    def __init__(self, stream: StreamFacts) -> None:
        self._words, self._rate = {"signal": stream.signal}, stream.rate
        self.state = RepeatsState(
            least=np.full(stream.channels, np.inf),
            twice=history(REMEMBERED),
            slowed=history(REMEMBERED),
            seen=history(REMEMBERED),
            encoders=tuple(
                HeldState(halted=history(BLOCKS), late=history(BLOCKS), waited=history(BLOCKS), changes=history(BLOCKS))
                for _ in stream.positions
            ),
        )

    def reason(self, _: StreamFrames) -> Reason:
        """See Validator."""
        percent = {"percent": self.state.percent}
        if self.state.repeated:
            return Reason("frames_repeated", None, percent, self._words)
        return Reason("values_held", None, percent | self._rates(), self._words)

    def _rates(self) -> dict[str, float]:
        """How often values are new, and how often they come, Hz."""
        return {"fresh": self.state.fresh * self._rate, "configured": self._rate}


@inline
def come_again(frames: FramesState, facts: Facts, state: RepeatsState) -> bool:
    """Whether frames or positions say more than once what they say."""
    count, values = frames.count - 1, frames.values[: frames.count]
    if count < FEWEST:
        return False
    same, turns, fresh, lively = _repeated(values, facts.positions, state.least)
    if same >= REPEATED * count and turns >= MOST * same and lively:
        span = float(frames.arrivals[count] - frames.arrivals[0])
        state.repeated, state.percent = count * facts.period > SURPLUS * span, 100.0 * same / count
        state.fresh = fresh
        return True
    state.repeated = False
    for number in range(len(state.encoders)):
        encoder = state.encoders[number]
        late, waited, changes, halting, encoder.smallest = _held(
            values, facts.positions[number], facts.wraps[number], encoder.smallest
        )
        note(1.0 if halting >= HALTING else 0.0, encoder.halted)
        note(late, encoder.late)
        note(waited, encoder.waited)
        note(changes, encoder.changes)
        some, all_of_them = float(late), float(changes)
        if changes < FEWEST:  # the last blocks together have more
            some, all_of_them = total(encoder.late), total(encoder.changes)
        share = some / all_of_them if all_of_them >= FEWEST else 0.0
        if share >= NEARLY_ALL or total(encoder.halted) >= HALTED:
            state.percent = 100.0 * max(share, halting)
            took = total(encoder.waited)
            state.fresh = total(encoder.late) / took if share >= NEARLY_ALL and took > 0.0 else 1.0 - halting
            return True
    return _come_twice_at_times(values, facts, state)


@inline
def _come_twice_at_times(values: Floats, facts: Facts, state: RepeatsState) -> bool:
    """Whether frames of the last blocks repeat the one before now and then, in the middle of a motion."""
    count = len(values) - 1
    within = np.zeros(count, np.bool_)
    slow = np.zeros(count, np.bool_)
    for number in range(len(state.encoders)):
        increments = moved(values, facts.positions[number], facts.wraps[number])
        few = FEW * state.encoders[number].smallest
        for i in range(2, count - 2):
            way = 1.0 if increments[i - 1] > 0.0 else -1.0
            before, behind = (way * increments[i - 2], way * increments[i - 1]), (increments[i + 1], increments[i + 2])
            if min(before[0], before[1], way * behind[0], way * behind[1]) >= few:
                within[i] = True
                slow[i] = slow[i] or 0.0 < abs(increments[i]) < few
    twice = slowed = seen = 0
    for i in range(2, count - 2):
        alike = within[i]
        for k in range(values.shape[1]):
            a, b = values[i, k], values[i + 1, k]
            alike = alike and (a == b or (np.isnan(a) and np.isnan(b)))
        twice += alike
        slowed += slow[i]
        seen += within[i]
    note(float(twice), state.twice)
    note(float(slowed), state.slowed)
    note(float(seen), state.seen)
    found, others, every = total(state.twice), total(state.slowed), total(state.seen)
    if found < CLEAR + others or found < RARE * every:
        return False
    state.repeated, state.percent = True, 100.0 * found / every
    return True


@inline
def _repeated(values: Floats, own: Integers, least: Floats) -> tuple[int, int, float, bool]:
    """How many frames say the same as the one before, how often that changes, the share of new frames from the first
    to the last of them, and whether a channel is too fine for it.

    Frames that repeat others again and again turn often; those of a joint that stops are repeated in one piece.
    own: channels of which one has to be fine, all if there are none; least: (channels,) smallest change of each so far,
    which is made smaller here.
    """
    count, channels = len(values) - 1, values.shape[1]
    changed = np.zeros(count, np.bool_)
    same = turns = changes = 0
    first, last, before = -1, 0, False
    for i in range(count):
        alike = True
        for k in range(channels):
            a, b = values[i, k], values[i + 1, k]
            alike = alike and a == b
            changed[i] = changed[i] or (np.isfinite(a) and np.isfinite(b) and a != b)
            if 0.0 < abs(b - a) < least[k]:
                least[k] = abs(b - a)
        same += alike
        if not alike:
            first, last = i if first < 0 else first, i
        changes += changed[i]
        turns += i > 0 and alike != before
        before = alike
    if changes < LIVELY * count or changes == 0:
        return same, turns, 1.0, False
    finest = 0
    for k in range(channels):
        counts = len(own) == 0
        for j in range(len(own)):
            counts = counts or own[j] == k
        fine = 0
        for i in range(count if counts else 0):
            fine += changed[i] and abs(values[i + 1, k] - values[i, k]) >= FINE * least[k]
        finest = max(finest, fine)
    fresh = (count - same - 1) / (last - first) if last > first else 1.0
    return same, turns, fresh, finest / changes >= NEARLY_ALL


@inline
def _held(values: Floats, place: int, wrap: float, smallest: float) -> tuple[int, int, int, float, float]:
    """The evidence for a position that is held, and the smallest step of its encoder so far.

    Changes that it cannot have made if it was sampled each time, the frames that these took together, and all changes
    after the first; and the share of frames in which it halts for just one of them, 0 where noise may make it.
    """
    increments = moved(values, place, wrap)
    n, changes = len(increments), 0
    for i in range(n):
        if increments[i] != 0.0 and not np.isnan(increments[i]):
            changes += 1
            smallest = min(smallest, abs(increments[i]))
    late, took, last = 0, 0, -1
    for i in range(n):
        if increments[i] != 0.0 and not np.isnan(increments[i]):
            waited = i - last
            if last >= 0 and waited > 1 and abs(increments[i]) >= (waited + 0.5) * smallest:
                late, took = late + 1, took + waited
            last = i
    few, halts, slows = FEW * smallest, 0, 0
    for i in range(1, n - 1):
        before, within, behind = increments[i - 1], abs(increments[i]), increments[i + 1]
        if min(abs(before), abs(behind)) >= few and before * behind > 0.0:
            halts += within == 0.0
            slows += 0.0 < within < few
    return late, took, max(0, changes - 1), halts / n if halts > slows else 0.0, smallest
