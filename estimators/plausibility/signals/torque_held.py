"""A torque that is held: positions are sampled in each frame, and the torque is new in every n-th only.

A torque of many steps hardly ever says the same twice in a row. One that does so again and again, and changes as evenly
as a clock ticks, is repeated by the device: it is late by half of the time between two changes, and unevenly so.
"""

from collections import deque
from collections.abc import Sequence
from typing import Final

import numpy as np

from estimators.plausibility.signals.base import StreamFacts, StreamFrames, distinct
from estimators.quantities import Floats
from estimators.reasons import Reason

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


class TorqueHeldValidator:
    """Tells a torque that is new in some frames only."""

    def __init__(self, stream: StreamFacts) -> None:
        self._stream = stream
        self._torques = [deque[Floats](maxlen=BLOCKS) for _ in stream.efforts]  # block by block

    def look(self, frames: StreamFrames) -> Reason | None:
        """Look at another block."""
        frames = distinct(frames, self._stream)
        for place, blocks in zip(self._stream.efforts, self._torques, strict=True):
            blocks.append(frames.values[1:, place].copy())
            every = _every(blocks)
            if every is not None:
                numbers = {"samples": every, "arrives": self._stream.rate / every}
                return Reason("torque_held", None, numbers, {"signal": self._stream.signal})
        return None


def _every(blocks: Sequence[Floats]) -> float | None:
    """Frames from one change of a held torque to the next; None where it is not held. blocks: (frames,) each."""
    newest = blocks[-1]
    if not 2 <= np.count_nonzero(newest[1:] != newest[:-1]) <= len(newest) / (1.0 + REPEATED):
        return None  # as nearly always
    torques = np.concatenate(blocks)
    sizes = np.abs(np.diff(torques))
    changes = np.flatnonzero(sizes)
    if len(changes) < FEWEST or not np.isfinite(sizes).all():
        return None
    if np.mean(sizes[changes] >= FINE * sizes[changes].min()) < NEARLY_ALL:
        return None
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
