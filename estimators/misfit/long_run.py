"""Long-run variance of correlated residuals: the weight of a row whose neighbours contain nearly the same information.

    γ_k = Σ f r_t r_{t−k} / Σ f        S = γ_0 (1 + 2 Σ γ_k/γ_0), up to the first share below INDEPENDENT

f fades block by block. At first block n counts n(n + 1)/2 times, since θ was worse before. r_t is taken before its
block has taught, r_t−k after its own. So the noise that θ has absorbed and the error of θ cancel: the product has the
mean R, where the square of the first has R + z. Unlike variance and correlation, S does not depend on the low-pass that
a residual has passed: it is the spectrum at frequency zero. The correlation that was known before is used until there
are ENOUGH blocks, and PER_PARAMETER independent rows for each parameter that was unknown then, because residuals of
fitted rows are too small: after k rows a parameter their variance is (1 − 1/k)/(1 + 1/k) of that on other rows. So
deviations are 1/k too small; of a standard normal's 0.27 % beyond 3 σ become 0.67 at k = 10, 0.43 at 20, 0.37 at 30.
The reasons are in docs/decisions/018-whole-robots-learning.md, point 2.
"""

from typing import Final

import numpy as np

from estimators.quantities import Floats

#: 1, argued: Share of the variance below which an autocovariance counts as zero, and the sum ends.
INDEPENDENT: Final = 0.05
#: blocks, argued: Blocks before a long-run variance is used; its relative deviation is then below a half.
ENOUGH: Final = 10.0
#: rows, derived: Independent rows a parameter: after k the deviation is 1/k too small, 3 % at 30 (decision 018, point
#: 34).
PER_PARAMETER: Final = 30.0


class LongRun:
    """Long-run variances of n residuals, updated block by block."""

    def __init__(self, correlation: Floats, unknown: float, longest: int, fade: float) -> None:
        """correlation: (n,) rows that count as one, as known before; unknown: parameters then; longest: rows, after
        which residuals are independent; fade: f of one block."""
        self._correlation, self._longest, self._fade = correlation, longest, fade
        self._products = np.zeros((longest + 1, len(correlation)))
        self._rows = np.zeros(len(correlation))
        self._before = np.zeros((longest, len(correlation)))
        self._blocks, self._independent, self._wanted = 0, 0.0, PER_PARAMETER * unknown
        self._number = 0  # of the last block

    def of(self, variance: Floats) -> Floats:
        """Long-run variance S (n,); variance: (n,) present variance of the residuals."""
        power = self._products[0]
        if self._blocks < ENOUGH or self._independent < self._wanted:
            return variance * self._correlation
        shares = self._products / np.where(power > 0.0, power, 1.0)
        counted = np.logical_and.accumulate(shares >= INDEPENDENT, axis=0)
        factor = 2.0 * np.where(counted, shares, 0.0).sum(axis=0) - 1.0
        return np.where(power > 0.0, power / np.maximum(self._rows, 1.0) * factor, variance * self._correlation)

    def absorb(self, number: int, before: Floats, after: Floats, most: Floats) -> None:
        """Add a block.

        number: 1, 2, … where blocks follow each other; before, after: (rows, n) residuals before and after the block
        has taught, 0 where a row says nothing; most: (n,) largest size that counts.
        """
        before, after = np.clip(before, -most, most), np.clip(after, -most, most)
        known = self._before if number == self._number + 1 else np.zeros_like(self._before)
        series, self._number = np.concatenate([known, after]), number
        lagged = np.lib.stride_tricks.sliding_window_view(series, len(after), axis=0)  # (longest + 1, n, rows)
        self._blocks += 1
        fade = min(self._fade, 1.0 - 2.0 / (1.0 + self._blocks))
        self._products = fade * self._products + np.einsum("knt,tn->kn", lagged, before)[::-1]
        rows = np.count_nonzero(before, axis=0)
        self._rows = fade * self._rows + rows
        self._before = series[-self._longest :]
        self._independent += float((rows / self._correlation).sum())
