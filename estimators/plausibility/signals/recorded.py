"""Whether values of a recording are held: its rows come more often than the device had new ones, and at which rate."""

from typing import Final

import numpy as np

from estimators.numerics.jit import kernel
from estimators.plausibility.signals.base import Facts, FramesState, StreamFacts, frames_of
from estimators.plausibility.signals.repeats import RepeatsState, RepeatsValidator, come_again
from estimators.quantities import Floats
from estimators.reasons import Reason

#: rows, argued: Rows that are examined together: enough to show changes, and few enough that a turning point is short.
BLOCK: Final = 200
#: 1, argued: Share of the blocks that say something from which it is no accident of one motion.
MOST: Final = 0.5


def held_in(time: Floats, values: Floats, signal: str) -> Reason | None:
    """What is held in rows (rows, channels), the first of which is a position; None where nothing is.

    time: (rows,) s, rising; signal: what the values are called in words.
    """
    steps = np.diff(time)
    if len(time) <= BLOCK or not (steps > 0.0).any():
        return None
    period = 1e9 * float(np.median(steps[steps > 0.0]))
    stream = StreamFacts(signal, period, positions=(0,), wraps=(0.0,), channels=values.shape[1], room=BLOCK + 1)
    validator = RepeatsValidator(stream)
    facts, frames, ticks = Facts.of(stream), frames_of(stream), np.round(1e9 * (time - time[0])).astype(np.int64)
    reasons, looks = list[Reason](), 0
    for first in range(0, len(time) - 1, BLOCK):
        rows = slice(first, first + BLOCK + 1)
        frames.count = len(ticks[rows])
        frames.arrivals[: frames.count], frames.values[: frames.count] = ticks[rows], values[rows]
        looks += bool(np.ptp(values[rows, 0]) > 0.0)
        if _look(frames, facts, validator.state) and not validator.state.repeated:
            reasons.append(validator.reason(frames.as_frames()))
    return reasons[-1] if reasons and len(reasons) >= MOST * looks else None


@kernel((FramesState, Facts, RepeatsState))
def _look(frames: FramesState, facts: Facts, state: RepeatsState) -> bool:
    return come_again(frames, facts, state)
