"""A torque that drops to zero for single frames: a device says zero where it has no value.

A measured torque that is far from zero before and behind, and nearly the same there, is not zero to the last bit in
between. Such zeros make inertia, friction and gravity smaller by their share, and look like noise.
"""

from collections import deque
from typing import Final

import numpy as np

from estimators.numerics.jit import kernel
from estimators.plausibility.signals.base import FEWEST_CHANGES, StreamFacts, StreamFrames, distinct
from estimators.quantities import Floats
from estimators.reasons import Reason

#: frames, argued: A drop is over in as many; longer ones are of a drive that is switched off.
LONGEST: Final = 3
#: 1, argued: Beside a drop the torque is this many usual changes from frame to frame away from zero, at least, and
#: differs by no more than these.
NEAR: Final = 8.0
#: drops, argued: Fewer in the last blocks are accidents.
DROPS: Final = 5
#: 1, argued: Share of frames in drops from which parameters come out too small by more than their usual deviations.
SHARE: Final = 0.005
#: blocks, argued: Blocks in which they are counted, 5 s: as many drops as DROPS come in it at that share and 200 Hz.
REMEMBERED: Final = 25


class DropoutValidator:
    """Tells a torque that is zero in single frames."""

    def __init__(self, stream: StreamFacts) -> None:
        self._stream = stream
        self._tails = [np.zeros(0) for _ in stream.efforts]  # the last values of the block before
        self._drops = [deque[tuple[int, int, int]](maxlen=REMEMBERED) for _ in stream.efforts]  # drops, zeros, frames

    def look(self, frames: StreamFrames) -> Reason | None:
        """Look at another block."""
        frames = distinct(frames, self._stream)
        for number, place in enumerate(self._stream.efforts):
            torques = np.concatenate((self._tails[number], frames.values[1:, place]))
            self._tails[number] = torques[-LONGEST - 1 :]
            drops, zeros = _dropped(torques, len(torques) - LONGEST)
            self._drops[number].append((drops, zeros, len(frames.values) - 1))
            drops, zeros, count = map(sum, zip(*self._drops[number], strict=True))
            if drops >= DROPS and zeros >= SHARE * count:
                return Reason("torque_drops", None, {"percent": 100.0 * zeros / count}, {"signal": self._stream.signal})
        return None


@kernel("Tuple((i8, i8))(f8[::1], i8)")
def _dropped(torques: Floats, end: int) -> tuple[int, int]:
    """How often a torque (frames,) drops to zero ahead of frame `end`, and the frames in which it is there."""
    sizes, count = np.empty(len(torques)), 0
    for i in range(len(torques) - 1):
        size = abs(torques[i + 1] - torques[i])
        if size > 0.0:
            sizes[count] = size
            count += 1
    if count < FEWEST_CHANGES:
        return 0, 0
    drops, zeros, last, near = 0, 0, -1, -1.0
    for i in range(len(torques)):
        if torques[i] == 0.0:
            continue
        lasted = i - last - 1
        if last >= 0 and 0 < lasted <= LONGEST and last + 1 < end:
            if near < 0.0:
                near = NEAR * float(np.median(sizes[:count]))
            came, left = torques[last], torques[i]
            if min(abs(came), abs(left)) > near and abs(came - left) <= near:
                drops += 1
                zeros += lasted
        last = i
    return drops, zeros
