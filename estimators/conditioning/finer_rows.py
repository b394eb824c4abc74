"""Puts rows of a slow recording or bus between its own, so that low-passes and steps of time are those of a quick one.

Cubic through four rows, the two around an instant and one beyond each; an outer one that is missing is put on the line
through the inner two.
All channels are treated alike, so torque and motion stay in step. A row is known one period after it was measured.
"""

import math
from typing import Final

import numpy as np

from estimators.numerics.jit import kernel
from estimators.quantities import Floats, Nanoseconds

#: rows, derived: Rows that a cubic goes through.
AROUND: Final = 4
#: 1, derived: Denominator of Lagrange's cubic at its outer two rows: 1 · 2 · 3.
OUTER: Final = 6.0
#: 1, argued: Relative rounding of a period, by which a rate is not too slow.
ROUNDING: Final = 1e-9


class FinerRows:
    """Keeps the last rows of all channels."""

    def __init__(self, channels: int, period: float, slowest: float) -> None:
        """period: s between rows; slowest: Hz, rate of what comes out at least."""
        self.factor = max(1, math.ceil(period * slowest * (1.0 - ROUNDING)))
        self.period = period / self.factor
        self._time, self._rows = np.zeros(0, np.int64), np.zeros((0, channels))

    @property
    def made(self) -> Floats:
        """The rows that one row of 1 amid zeros makes, (rows,)."""
        if self.factor == 1:
            return np.ones(1)
        alone, found = np.zeros((2 * AROUND - 1, 1)), np.empty((AROUND * self.factor, 1))
        alone[AROUND - 1] = 1.0
        _between(alone, self.factor, found)
        return np.asarray(found[:, 0])

    def absorb(self, time: Nanoseconds, rows: Floats) -> tuple[Nanoseconds, Floats]:
        """Equidistant rows (rows, channels), NaN where a value is missing → as many times `factor`, a period later."""
        if self.factor == 1 or not len(time):
            return time, rows
        first = not len(self._time)
        before = rows[:1] if first else self._rows
        step = round(1e9 * self.period * self.factor)
        times = np.concatenate([time[:1] - step if first else self._time, time])
        every = np.concatenate([before, rows])
        self._time, self._rows = times[-(AROUND - 1) :].copy(), every[-(AROUND - 1) :].copy()
        whole = len(every) - AROUND + 1
        if whole <= 0:
            return np.zeros(0, np.int64), np.zeros((0, rows.shape[1]))
        out = np.empty((whole * self.factor, rows.shape[1]))
        _between(every, self.factor, out)
        parts = np.round(np.arange(self.factor) * 1e9 * self.period).astype(np.int64)
        return (times[1 : 1 + whole, np.newaxis] + parts).ravel(), out


@kernel("void(f8[:, ::1], i8, f8[:, ::1])")
def _between(rows: Floats, factor: int, out: Floats) -> None:
    """Fill out (whole · factor, channels): from the second row of every four on, towards the third."""
    for k in range(len(out)):
        at = k // factor
        x = (k % factor) / factor
        for c in range(rows.shape[1]):
            a, b, d, e = rows[at, c], rows[at + 1, c], rows[at + 2, c], rows[at + 3, c]
            if x == 0.0:
                out[k, c] = b
                continue
            if np.isnan(a):
                a = 2.0 * b - d
            if np.isnan(e):
                e = 2.0 * d - b
            out[k, c] = (
                -x * (x - 1.0) * (x - 2.0) / OUTER * a
                + (x + 1.0) * (x - 1.0) * (x - 2.0) / 2.0 * b
                - (x + 1.0) * x * (x - 2.0) / 2.0 * d
                + (x + 1.0) * x * (x - 1.0) / OUTER * e
            )
