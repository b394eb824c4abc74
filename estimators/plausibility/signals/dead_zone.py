"""A torque with a dead zone: small ones are said as zero.

Where a measured torque changes its sign, noise takes it through zero in a frame or two. One that is zero to the last
bit for some frames, and comes from small values of one sign and goes on to small ones of the other, is not measured
there; nor is one that goes to zero and leaves it at the same value each time. A drive that is switched off leaves and
comes to any values, and a coarse sensor changes by single steps elsewhere too.
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

#: frames, argued: Noise does not keep a fine torque at zero for so long.
LONGEST: Final = 3
#: 1, argued: The values around a dead zone are within this many usual changes from frame to frame, of zero or of those
#: around it the time before.
NEAR: Final = 8.0
#: steps, argued: Changes of a fine torque have this many of its smallest steps.
FINE: Final = 3.0
#: 1, argued: Share of its changes that are so large.
NEARLY_ALL: Final = 0.9
#: runs, argued: Zeros of that kind in the last blocks from which it is a dead zone.
RUNS: Final = 3
#: blocks, argued: Blocks in which they are counted, 10 s.
REMEMBERED: Final = 50


class DeadZoneState(Layout):
    """State of one stream."""

    smallest: Vector  # (torques,) N·m (N), steps of each
    edges: Vector  # (torques,) N·m (N), size at which each last came to zero
    runs: BlockHistory  # dead zones that were passed, by block


class DeadZoneValidator:
    """Tells a torque that is zero where it is small."""

    def __init__(self, stream: StreamFacts) -> None:
        self._words, torques = {"signal": stream.signal}, len(stream.efforts)
        self.state = DeadZoneState(
            smallest=np.full(torques, np.inf), edges=np.full(torques, np.nan), runs=history(REMEMBERED)
        )

    def reason(self, _: StreamFrames) -> Reason:
        """See Validator."""
        return Reason("torque_dead_zone", None, {}, self._words)


@inline
def skips_small(frames: FramesState, facts: Facts, state: DeadZoneState) -> bool:
    """Whether a torque is zero where it is small."""
    runs = 0
    for number in range(len(state.smallest)):
        state.smallest[number], state.edges[number], passed = _passed(
            frames.values[: frames.count], facts.efforts[number], state.smallest[number], state.edges[number]
        )
        runs += passed
    note(runs, state.runs)
    return bool(total(state.runs) >= RUNS)


@inline
def _passed(values: Floats, place: int, smallest: float, edge: float) -> tuple[float, float, int]:
    """Smallest step of a sensor so far, the size at which it last came to zero, and how often it passes a dead zone.

    values: (frames, channels).
    """
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
    if count < FEWEST_CHANGES or fine / count < NEARLY_ALL:
        return smallest, edge, 0
    found, last, usual = 0, -1, -1.0
    for i in range(len(values)):
        if values[i, place] == 0.0:
            continue
        if last >= 0 and i - last > LONGEST and values[last, place] * values[i, place] < 0.0:
            if usual < 0.0:
                usual = median(sizes[:count])
            near = NEAR * usual
            came, left = abs(values[last, place]), abs(values[i, place])
            found += max(came, left) <= near or (abs(came - left) <= near and abs(came - edge) <= near)
            edge = came
        last = i
    return smallest, edge, found
