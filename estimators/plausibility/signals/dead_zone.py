"""A torque with a dead zone: small ones are said as zero.

Where a measured torque changes its sign, noise takes it through zero in a frame or two. One that is zero to the last
bit for many frames, and comes from small values of one sign and goes on to small ones of the other, is not measured
there. A drive that is switched off leaves large values, and a coarse sensor changes by single steps elsewhere too.
"""

from collections import deque
from typing import Final

import numpy as np

from estimators.plausibility.signals.base import Frames, StreamFacts, distinct
from estimators.quantities import Floats
from estimators.reasons import Reason

#: frames, argued: Noise does not keep a torque at zero for so long.
LONGEST: Final = 8
#: 1, argued: The values around a dead zone are within this many usual changes from frame to frame.
NEAR: Final = 8.0
#: steps, argued: Changes of a fine torque have this many of its smallest steps.
FINE: Final = 3.0
#: 1, argued: Share of its changes that are so large.
NEARLY_ALL: Final = 0.9
#: runs, argued: Zeros of that kind in the last blocks from which it is a dead zone.
RUNS: Final = 3
#: blocks, argued: Blocks in which they are counted, 10 s.
REMEMBERED: Final = 50


class DeadZoneValidator:
    """Tells a torque that is zero where it is small."""

    def __init__(self, stream: StreamFacts) -> None:
        self._stream = stream
        self._smallest = np.full(len(stream.efforts), np.inf)  # N·m (N), steps of each
        self._runs: deque[int] = deque(maxlen=REMEMBERED)  # dead zones that were passed, by block

    def look(self, frames: Frames) -> Reason | None:
        """Look at another block."""
        frames, runs = distinct(frames, self._stream), 0
        for number, place in enumerate(self._stream.efforts):
            values = frames.values[:, place]
            moved = np.abs(np.diff(values))
            self._smallest[number] = np.min(moved, initial=self._smallest[number], where=moved > 0.0)
            runs += self._passed(values, moved[moved > 0.0], self._smallest[number])
        self._runs.append(runs)
        if sum(self._runs) < RUNS:
            return None
        return Reason("torque_dead_zone", None, {}, {"signal": self._stream.signal})

    @staticmethod
    def _passed(values: Floats, moved: Floats, smallest: float) -> int:
        """How often the values pass a dead zone. moved: sizes of their changes; smallest: step of the sensor."""
        if len(moved) < LONGEST or float((moved >= FINE * smallest).mean()) < NEARLY_ALL:
            return 0
        other = np.flatnonzero(values != 0.0)
        before, behind = values[other[:-1]], values[other[1:]]
        long = np.diff(other) > LONGEST
        near = np.maximum(np.abs(before), np.abs(behind)) <= NEAR * float(np.median(moved))
        return int((long & near & (before * behind < 0.0)).sum())
