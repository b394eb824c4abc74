"""Rows of several joints on one clock, cut where that clock jumps; what a whole robot and a mechanism share."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from estimators.quantities import Floats, Nanoseconds
from estimators.thresholds import GAP

#: s, argued: Rows that are worth a look at least.
SETTLED: Final = 0.01
#: s, argued: Time that a jump of the clock counts as missing rows, at most: more than the low-passes need to restart.
BREAK: Final = 0.1


def equidistant(ticks: Nanoseconds, rows: Floats, last: int, period: float) -> Sequence[tuple[Nanoseconds, Floats]]:
    """Cut rows into batches without jumps of the clock; at each jump, rows of NaN stand for the missing ones."""
    if not len(ticks):
        return []
    steps = ticks - np.concatenate(((last or ticks[0] - round(period * 1e9),), ticks[:-1]))
    off = np.abs(steps - period * 1e9)
    if off.max() <= GAP * 1e9 * period:
        return [(ticks, rows)]
    jumps = np.flatnonzero(off > GAP * 1e9 * period)
    found: list[tuple[Nanoseconds, Floats]] = []
    missing = np.full((round(BREAK / period), *rows.shape[1:]), np.nan)
    for part in np.split(np.arange(len(ticks)), jumps):
        if len(part):
            if part[0] in jumps:
                found.append((np.full(len(missing), ticks[part[0]]), missing))
            found.append((ticks[part], rows[part]))
    return found
