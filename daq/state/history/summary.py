"""Summary of a quantity over some hours, with a standard deviation that suits a comparison of two times.

An estimate's standard deviation does not fall with the number of estimates: they share rows, and a day's temperature.
So the deviation of the mean of a day is that of one estimate, and how its hours differ:

    deviation² = Σ n·σ² / Σ n + Σ n·(mean_h − mean)² / Σ n

A measured quantity has no σ of its own, only the spread of its hours. The level of residual and torque is their rms.
"""

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

from daq.state.history.friction import TEMPERATURE
from daq.state.history.interval import BAND
from daq.state.history.reading import ValueRow

LEVELS: Final = ("residual", "torque")  # quantities whose rms is their level
MEASURED: Final = (*LEVELS, "temperature")  # quantities without a σ, in addition to the bands of friction


class Summary(NamedTuple):
    """One quantity over some hours."""

    value: float
    deviation: float  # NaN: not known
    low: float
    high: float
    n: int  # number of values


class Difference(NamedTuple):
    """One quantity now and before."""

    change: float
    percent: float  # of the value before; NaN where that cannot be distinguished from zero
    z: float  # the change in its standard deviations; NaN: not known


def summary(name: str, rows: Sequence[ValueRow]) -> Summary:
    """The summary of a quantity of this name; rows: at least one, of hours or of days."""
    total = sum(row.n for row in rows)
    levels = [row.deviation if name in LEVELS else row.mean for row in rows]
    if name in LEVELS:
        value = math.sqrt(sum(row.n * row.deviation**2 for row in rows) / total)
    else:
        value = sum(row.n * row.mean for row in rows) / total
    spread = sum(row.n * (level - value) ** 2 for row, level in zip(rows, levels, strict=True)) / total
    measured = name in MEASURED or name.startswith(BAND)
    own = 0.0 if measured else sum(row.n * row.deviation**2 for row in rows) / total
    known = not measured or len(rows) > 1
    low, high = min(row.low for row in rows), max(row.high for row in rows)
    return Summary(value, math.sqrt(spread + own) if known else math.nan, low, high, total)


def change_of(name: str, told: Difference) -> str:
    """A change in words: of a temperature in kelvins, of anything else relative; "" where it is not known."""
    if name == TEMPERATURE:
        return "" if math.isnan(told.change) else f"{told.change:+.1f} K"
    return "" if math.isnan(told.percent) else f"{told.percent:+.1f} %"


def difference(before: Summary, after: Summary) -> Difference:
    """What has changed between two times."""
    change = after.value - before.value
    both = math.hypot(before.deviation, after.deviation)
    nonzero = abs(before.value) > (0.0 if math.isnan(before.deviation) else before.deviation)
    percent = 100.0 * change / abs(before.value) if nonzero and before.value else math.nan
    return Difference(change, percent, change / both if both > 0.0 else math.nan)
