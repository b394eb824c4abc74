"""A torque that is held: positions are sampled in each frame, and the torque is new in every n-th only.

A torque of many steps hardly ever says the same twice in a row. One that does so again and again, and changes as evenly
as a clock ticks, is repeated by the device: it is late by half of the time between two changes, and unevenly so.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from estimators.numerics.jit import inline
from estimators.plausibility.signals.base import Facts, FramesState, StreamFacts, StreamFrames
from estimators.quantities import Floats
from estimators.reasons import Reason
from jointwatch_numba.layout import Flags, Integers, Layout, Matrix

#: 1, argued: Share of frames that repeat the torque before, from which it is held: fine torques repeat by chance in a
#: fortieth of them.
REPEATED: Final = 0.05
#: steps, argued: A torque that changes by this many of its smallest steps would show a new sample.
FINE: Final = 3.0
#: 1, argued: Share of changes that are so large.
NEARLY_ALL: Final = 0.9
#: frames, argued: A clock's ticks are within a frame of evenly spaced ones, and jitter moves them by as much; repeats
#: by chance add up to a walk.
EVEN: Final = 1.5
#: changes, argued: Fewer in the last blocks are even by chance.
FEWEST: Final = 24
#: frames, argued: Fewer that repeat the torque before are even by chance.
REPEATS: Final = 24
#: blocks, argued: Blocks that are looked at together, a second.
BLOCKS: Final = 5


class LastTorques(Layout):
    """One torque in the last blocks."""

    values: Matrix  # (BLOCKS, room)
    count: Integers  # (BLOCKS,) frames


class TorqueHeldState(Layout):
    """State of one stream."""

    torques: tuple[LastTorques, ...]
    repeats: Flags  # (torques,) whether each says the same in some frames, and its changes are large
    newest: int = -1  # place of the newest block


class TorqueHeldValidator:
    """Tells a torque that is new in some frames only."""

    def __init__(self, stream: StreamFacts) -> None:
        self._stream = stream
        self.state = TorqueHeldState(
            torques=tuple(
                LastTorques(values=np.zeros((BLOCKS, stream.room)), count=np.zeros(BLOCKS, np.int64))
                for _ in stream.efforts
            ),
            repeats=np.zeros(len(stream.efforts), np.bool_),
        )

    def reason(self, _: StreamFrames) -> Reason | None:
        """See Validator."""
        newest = self.state.newest
        for torque, repeats in zip(self.state.torques, self.state.repeats, strict=True):
            blocks = [torque.values[at, : torque.count[at]] for at in range(newest + 1 - BLOCKS, newest + 1)]
            every = _every(blocks) if repeats else None
            if every is not None:
                numbers = {"samples": every, "arrives": self._stream.rate / every}
                return Reason("torque_held", None, numbers, {"signal": self._stream.signal})
        return None


@inline
def repeats_some(frames: FramesState, facts: Facts, state: TorqueHeldState) -> bool:
    """Whether a torque repeats what it said in some frames and not in nearly all."""
    state.newest = (state.newest + 1) % BLOCKS
    found, count = False, frames.count - 1
    for number in range(len(state.torques)):
        torque, place, changes = state.torques[number], facts.efforts[number], 0
        torque.count[state.newest] = count
        for i in range(count):
            torque.values[state.newest, i] = frames.values[i + 1, place]
            changes += i > 0 and frames.values[i + 1, place] != frames.values[i, place]
        repeats = changes >= 2 and changes <= count / (1.0 + REPEATED)
        state.repeats[number] = repeats and _changes_widely(torque, state.newest)
        found = found or state.repeats[number]
    return found


@inline
def _changes_widely(torque: LastTorques, newest: int) -> bool:
    """Whether a torque changes often enough, and nearly always by more than its smallest step. newest: its block."""
    changes, smallest, before = 0, np.inf, np.nan
    for again in range(2):
        wide, begun = 0, False
        for k in range(BLOCKS):
            at = (newest + 1 + k) % BLOCKS
            for i in range(torque.count[at]):
                size = abs(torque.values[at, i] - before)
                if begun and not np.isfinite(size):
                    return False
                if begun and size > 0.0 and again == 0:
                    changes, smallest = changes + 1, min(smallest, size)
                wide += begun and size >= FINE * smallest
                before, begun = torque.values[at, i], True
    return changes >= FEWEST and wide / changes >= NEARLY_ALL


def _every(blocks: Sequence[Floats]) -> float | None:
    """Frames from one change of a held torque to the next; None where it is not held. blocks: (frames,) of each, of a
    torque that changes widely."""
    newest, torques = blocks[-1], np.concatenate(blocks)
    for part in (torques, newest):  # it may be held since just now
        ticks = np.flatnonzero(np.diff(part))
        if len(ticks) < FEWEST:
            continue
        number = np.arange(len(ticks))
        every = float(np.polyfit(number, ticks, 1)[0])
        off = ticks - every * number
        repeats = len(part) - 1 - len(ticks)
        if every >= 1.0 + REPEATED and repeats >= REPEATS and np.ptp(off) <= 2.0 * EVEN:
            return every
    return None
