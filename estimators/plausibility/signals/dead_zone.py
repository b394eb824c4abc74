"""A torque with a dead zone: small ones are said as zero.

Where a measured torque changes its sign, noise takes it through zero in a frame or two. One that is zero to the last
bit for many frames, and comes from small values of one sign and goes on to small ones of the other, is not measured
there. A drive that is switched off leaves large values, and a coarse sensor changes by single steps elsewhere too.
"""

from collections import deque
from typing import Final

import numpy as np

from estimators.numerics.jit import kernel
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
            self._smallest[number], passed = _passed(frames.values, place, self._smallest[number])
            runs += passed
        self._runs.append(runs)
        if sum(self._runs) < RUNS:
            return None
        return Reason("torque_dead_zone", None, {}, {"signal": self._stream.signal})


@kernel("Tuple((f8, i8))(f8[:, ::1], i8, f8)")
def _passed(values: Floats, place: int, smallest: float) -> tuple[float, int]:
    """The smallest step of a sensor so far, and how often its values pass a dead zone. values: (frames, channels)."""
    sizes, count = np.empty(len(values)), 0
    for i in range(len(values) - 1):
        size = abs(values[i + 1, place] - values[i, place])
        if size > 0.0:
            sizes[count] = size
            count += 1
            smallest = min(smallest, size)
    fine = 0
    for i in range(count):
        fine += sizes[i] >= FINE * smallest
    if count < LONGEST or fine / count < NEARLY_ALL:
        return smallest, 0
    found, last, usual = 0, -1, -1.0
    for i in range(len(values)):
        if values[i, place] == 0.0:
            continue
        if last >= 0 and i - last > LONGEST and values[last, place] * values[i, place] < 0.0:
            if usual < 0.0:
                usual = float(np.median(sizes[:count]))
            near = NEAR * usual
            found += abs(values[last, place]) <= near and abs(values[i, place]) <= near
        last = i
    return smallest, found
