"""The device's counter: it grows by one from sample to sample, or it counts nothing."""

from typing import Final

import numpy as np

from estimators.plausibility.signals.base import Frames, StreamFacts, is_regular, steps
from estimators.reasons import Reason

#: steps, argued: A block with fewer steps of a counter says nothing of it.
FEWEST: Final = 16
#: 1, argued: Share of steps that do not grow although values change, from which the counter is stuck: more than a
#: device that says everything twice would show.
STUCK: Final = 0.6
#: 1, argued: Share of leaps from which a counter is no counter: three of four steps of a random one are leaps.
LEAPING: Final = 0.5
#: 1, argued: Share of a turn that the counter may grow by across lost samples; more is a leap. The aligner's is the
#: same.
LEAP: Final = 0.125
#: 1, argued: Share of leaps of one size from which they are the device's habit.
COMMON: Final = 0.25
#: 1, argued: Share of steps backwards from which frames do not come in order; fewer are dropped by the aligner, and
#: bridged.
BACKWARDS: Final = 0.1


class CounterValidator:
    """Tells a counter that is stuck, counts down, jumps about or shows frames out of order."""

    def __init__(self, stream: StreamFacts) -> None:
        self._stream = stream

    def look(self, frames: Frames) -> Reason | None:
        """Look at another block."""
        if self._stream.modulo == 0 or is_regular(frames, self._stream):
            return None
        grown = steps(frames, self._stream)
        known = np.isfinite(grown)
        count = int(known.sum())
        if count < FEWEST:
            return None
        words = {"signal": self._stream.signal}
        changed, _ = frames.repeated
        if (known & (grown == 0.0) & changed).sum() > STUCK * count:
            return Reason("counter_stuck", None, {}, words)
        grown = grown[known]
        turn = self._stream.modulo / self._stream.unit
        leaps = grown[np.abs(grown) > LEAP * turn]
        if len(leaps) > LEAPING * count:
            common = np.unique(leaps, return_counts=True)[1].max()
            return Reason("counter_jumps", None, {}, words) if common < COMMON * count else None
        behind = grown[(grown < 0.0) & (np.abs(grown) <= LEAP * turn)]
        if len(behind) <= BACKWARDS * count:
            return None
        if grown[np.abs(grown) <= LEAP * turn].sum() < 0.0:
            return Reason("counter_backwards", None, {}, words)
        return Reason("frames_disordered", None, {"percent": 100.0 * len(behind) / count}, words)
