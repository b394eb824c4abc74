"""A torque that drops to zero for single frames: a device says zero where it has no value.

A measured torque that is far from zero before and after, and nearly the same there, is not zero to the last bit in
between. Such zeros make inertia, friction and gravity smaller by their share, and look like noise.
"""

from typing import Final

import numpy as np

from estimators.numerics.jit import inline
from estimators.plausibility.signals.base import (
    FEWEST_CHANGES,
    BlockHistory,
    Facts,
    FramesState,
    StreamFacts,
    StreamFrames,
    history,
    median,
    note,
    total,
)
from estimators.quantities import Floats
from estimators.reasons import Reason
from jointwatch_numba.layout import Layout, Vector

#: frames, argued: A drop is over in as many; longer ones are of a drive that is switched off.
LONGEST: Final = 3
#: 1, argued: Before and after a drop the torque is at least this many usual changes from frame to frame away from zero,
#: and differs by no more than these.
NEAR: Final = 8.0
#: drops, argued: Fewer in the last blocks are accidents.
DROPS: Final = 5
#: 1, argued: Share of frames in drops from which parameters come out too small by more than their usual deviations.
SHARE: Final = 0.005
#: blocks, argued: Blocks in which they are counted, 5 s: as many drops as DROPS come in it at that share and 200 Hz.
REMEMBERED: Final = 25


class DropsState(Layout):
    """State of one torque."""

    values: Vector  # (room,) N·m (N), after the last ones of the block before
    drops: BlockHistory  # by block, as the next two: drops, …
    silent: BlockHistory  # … frames in them, …
    frames: BlockHistory  # … and all frames
    count: int = 0  # values


class DropoutState(Layout):
    """State of one stream."""

    torques: tuple[DropsState, ...]
    percent: float = 0.0  # of frames that are zero


class DropoutValidator:
    """Tells a torque that is zero in single frames."""

    def __init__(self, stream: StreamFacts) -> None:
        self._words = {"signal": stream.signal}
        self.state = DropoutState(
            torques=tuple(
                DropsState(
                    values=np.zeros(stream.room + LONGEST + 1),
                    drops=history(REMEMBERED),
                    silent=history(REMEMBERED),
                    frames=history(REMEMBERED),
                )
                for _ in stream.efforts
            )
        )

    def reason(self, _: StreamFrames) -> Reason:
        """See Validator."""
        return Reason("torque_drops", None, {"percent": self.state.percent}, self._words)


@inline
def drops_out(frames: FramesState, facts: Facts, state: DropoutState) -> bool:
    """Whether a torque is zero in too many single frames."""
    for number in range(len(state.torques)):
        torque, place = state.torques[number], facts.efforts[number]
        kept = min(torque.count, LONGEST + 1)
        for i in range(kept):
            torque.values[i] = torque.values[torque.count - kept + i]
        for i in range(1, frames.count):
            torque.values[kept + i - 1] = frames.values[i, place]
        torque.count = kept + frames.count - 1
        drops, zeros = _dropped(torque.values[: torque.count], torque.count - LONGEST)
        note(drops, torque.drops)
        note(zeros, torque.silent)
        note(frames.count - 1, torque.frames)
        found, count = total(torque.silent), total(torque.frames)
        if total(torque.drops) >= DROPS and found >= SHARE * count:
            state.percent = 100.0 * found / count
            return True
    return False


@inline
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
                near = NEAR * median(sizes[:count])
            came, left = torques[last], torques[i]
            if min(abs(came), abs(left)) > near and abs(came - left) <= near:
                drops += 1
                zeros += lasted
        last = i
    return drops, zeros
