"""Which of many robots' values is odd: a robust z against its siblings, and the threshold above which it is.

Centre and spread are those of all siblings, so that up to half of them may be odd: the median and Qₙ (Rousseeuw, Croux
1993, with their factors for few values). A value that is less certain than the others may lie further off: its z takes

    spread² = max(Qₙ, median σ)² + max(0, σ² − (median σ)²)

The threshold is Student's quantile for a chance of ERROR that any of all comparisons on a page is accused though
nothing is odd (Bonferroni), with 0.82 (n − 1) degrees of freedom, 0.82 being the efficiency of Qₙ for normal values.
"""

from typing import Final

import numpy as np
from scipy.special import stdtrit

from estimators.numerics.jit import kernel
from estimators.quantities import Floats

ERROR: Final = 0.05  # chance that a page marks any robot although none is odd
FEWEST: Final = 5  # siblings that can be compared at all
_QN: Final = 2.2219  # 1 / (√2 Φ⁻¹(5/8))
_FEW: Final = (0.399, 0.994, 0.512, 0.844, 0.611, 0.857, 0.669, 0.872)  # factors for 2 … 9 values
_EFFICIENCY: Final = 0.82


def against_siblings(values: Floats, deviations: Floats) -> Floats:
    """(robots,) z; NaN where a value is missing or too few are known. values, deviations: (robots,), NaN where none."""
    known = np.isfinite(values)
    z = np.full(len(values), np.nan)
    if known.sum() < FEWEST:
        return z
    mine = values[known]
    stated = np.where(np.isfinite(deviations[known]), deviations[known], 0.0)
    usual = float(np.median(stated))
    spread = np.hypot(max(qn(mine), usual), np.sqrt(np.maximum(stated**2 - usual**2, 0.0)))
    least = np.abs(np.median(mine)) * np.finfo(np.float64).eps  # values that are equal but for rounding are equal
    z[known] = np.where(spread > least, (mine - np.median(mine)) / np.maximum(spread, least or 1.0), 0.0)
    return z


def threshold(robots: int, comparisons: int) -> float:
    """|z| above which one of so many robots is odd, when so many z are looked at."""
    return float(-stdtrit(_EFFICIENCY * max(robots - 1, 1), ERROR / (2 * max(comparisons, 1))))


def qn(values: Floats) -> float:
    """The first quartile of the distances between any two, as a standard deviation; values: (n ≥ 2,), finite."""
    n = len(values)
    half = n // 2 + 1
    quartile = _smallest_distance(np.sort(values), half * (half - 1) // 2)
    factor = _FEW[n - 2] if n <= 9 else n / (n + 1.4) if n % 2 else n / (n + 3.8)
    return float(_QN * factor * quartile)


@kernel(("f8[::1]", "i8"))
def _smallest_distance(ascending: Floats, rank: int) -> float:
    """The distance of this rank (1: the smallest) among the n(n − 1)/2 of ascending values, in O(n) for each pass.

    Croux and Rousseeuw (1992) count the distances up to a trial in one pass over sorted values. They take the next
    trial from a weighted median; here it halves the floats between the bounds (their bits are ordered as they are),
    and each pass moves a bound to a distance that occurs, so that at most 64 passes find it to the last bit.
    """
    n = len(ascending)
    ends = np.array([0.0, ascending[n - 1] - ascending[0]])
    trial = np.zeros(1)
    bits, middle = ends.view(np.int64), trial.view(np.int64)
    while bits[0] < bits[1]:
        middle[0] = bits[0] + (bits[1] - bits[0]) // 2
        count, first, below, above = 0, 0, 0.0, ends[1]
        for i in range(n):
            while ascending[i] - ascending[first] > trial[0]:
                above = min(above, ascending[i] - ascending[first])
                first += 1
            count += i - first
            if first < i:
                below = max(below, ascending[i] - ascending[first])
        if count >= rank:
            ends[1] = below
        else:
            ends[0] = above
    return float(ends[1])
