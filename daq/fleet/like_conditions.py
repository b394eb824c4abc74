"""Puts values of siblings at like conditions: as they would be at the siblings' median temperature and use.

Friction follows temperature and use far more than robots of one type differ. Where a value follows one of them over the
siblings, its line is taken off: the repeated median (Siegel 1982), which up to half of the siblings, however odd and
however hot, cannot move at will. A robot far from the others' conditions is judged with the line's own uncertainty:

    σ² += (s / (Qₙ(x) √(0.64 n)))² (x − median x)²        s = Qₙ of what is left

0.64 is the efficiency of the repeated median for normal errors. A line that could be chance is not taken off.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.offline.siblings import qn
from estimators.quantities import Floats

#: 1, argued: Siblings from which on a line is looked for: of fewer none is beyond chance.
FEWEST: Final = 8
#: 1, argued: Chance below which an order is taken for a dependence (Kendall's τ): one group of a hundred gets a line in
#: vain, which costs it a little certainty.
CHANCE: Final = 0.01
#: 1, argued: Siblings of whom the line is taken: slopes of all pairs, and a line is certain enough by then.
MOST: Final = 200
EFFICIENCY: Final = 0.64


class AtLikeConditions(NamedTuple):
    """Values at the siblings' median conditions, (robots,) each."""

    values: Floats
    deviations: Floats
    shifts: Floats  # what conditions add to each robot's value: value = values + shifts
    lines: int  # that were taken off: each takes a degree of freedom


def at_like_conditions(values: Floats, deviations: Floats, conditions: Floats | None) -> AtLikeConditions:
    """values, deviations: (robots,); conditions: (robots, conditions), NaN where not known, None: none is."""
    shifts, added, lines = np.zeros(len(values)), np.zeros(len(values)), 0
    for x in () if conditions is None else conditions.T:
        known = np.isfinite(x) & np.isfinite(values)
        line = _line(x[known], (values - shifts)[known])
        if line is None:
            continue
        lines += 1
        from_median = np.where(known, x - line.middle, 0.0)
        shifts = shifts + line.slope * from_median
        added = np.hypot(added, line.deviation * from_median)
    spread = np.hypot(np.where(np.isfinite(deviations), deviations, 0.0), added)
    uncertain = np.where(np.isfinite(deviations) | (added > 0.0), spread, np.nan)
    return AtLikeConditions(values - shifts, uncertain, shifts, lines)


class _Line(NamedTuple):
    """How a value follows a condition."""

    middle: float  # median of the condition
    slope: float
    deviation: float  # of the slope


def _line(x: Floats, y: Floats) -> _Line | None:
    """The line of y over x, both (siblings,); None where there is none beyond chance."""
    from scipy.stats import kendalltau  # see estimators/numerics/splines.py

    if len(x) < FEWEST or np.ptp(x) == 0.0 or np.ptp(y) == 0.0 or kendalltau(x, y).pvalue > CHANCE:
        return None
    some = _spaced(len(x))
    slope = _repeated_median(x[some], y[some])
    middle, width = float(np.median(x)), qn(x)
    if width == 0.0:
        return None
    left = qn(y - slope * (x - middle))
    return _Line(middle, slope, left / (width * np.sqrt(EFFICIENCY * len(some))))


def _repeated_median(x: Floats, y: Floats) -> float:
    """Median over siblings of the median slope to all others."""
    dx, dy = x[None, :] - x[:, None], y[None, :] - y[:, None]
    slopes = np.divide(dy, dx, out=np.full(dx.shape, np.nan), where=dx != 0.0)
    of_each = np.array([np.median(row[np.isfinite(row)]) for row in slopes if np.isfinite(row).any()])
    return float(np.median(of_each))


def _spaced(count: int) -> NDArray[np.int64]:
    """Which of so many are taken: all, or MOST at equal distances."""
    return np.unique(np.linspace(0, count - 1, min(count, MOST)).round().astype(np.int64))
