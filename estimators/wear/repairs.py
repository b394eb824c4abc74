"""Where a life of wear begins: after the last repair, a fall of a drifting quantity that stays."""

from typing import Final

import numpy as np

from estimators.quantities import Floats
from estimators.wear.time_to_limit import MEDIAN_MAGNITUDE

#: values, argued: Values on each side of a fall whose medians are compared: a fall that lasts less is weather or noise.
SIDE: Final = 5
#: deviations, argued: Fall from which it is a repair: of 1,000 series of 1,000 values without one, none has it.
FALL: Final = 5.0
#: 1, argued: Share of the wear so far that a repair takes away at least: less is a change of weather.
SHARE: Final = 0.5


def last_repair(drift: Floats) -> int:
    """The index of the first value after the last repair; 0 where there was none.

    drift: (values,) against the baseline, towards the limit, one a day. The noise is that of the differences of
    neighbours, by their median.
    """
    count = len(drift)
    if count < 2 * SIDE:
        return 0
    noise = float(np.median(np.abs(np.diff(drift)))) / MEDIAN_MAGNITUDE / np.sqrt(2.0)
    windows = np.median(np.lib.stride_tricks.sliding_window_view(drift, SIDE), axis=1)
    before, after = windows[: count - 2 * SIDE + 1], windows[SIDE:]
    fall = before - after
    repaired = (fall > FALL * noise) & (fall > SHARE * np.maximum(before, 0.0)) & (before > 0.0)
    if not repaired.any():
        return 0
    end = int(np.flatnonzero(repaired)[-1])
    begin = end
    while begin > 0 and repaired[begin - 1]:
        begin -= 1
    return int(begin + np.argmax(fall[begin : end + 1])) + SIDE
