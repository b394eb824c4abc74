"""A trace: the newest rows of some columns, decimated and bounded, as they are sent to a page."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

SPAN: Final = 120.0  # s
SLACK: Final = 0.9  # a row that comes this much of its interval after the last is taken: updates jitter


class Trace:
    """The newest rows of some columns (the first is time, s), oldest first."""

    def __init__(self, columns: int, rate: float) -> None:
        self._interval = SLACK / rate
        self._capacity = int(SPAN * rate)
        self._rows = np.empty((2 * self._capacity, columns))
        self._start = self._end = self._sent = 0
        self._last = 0.0  # time of the newest row

    def wants(self, time: float) -> bool:
        """Whether a row of this time (s) would be kept, because the last one is old enough."""
        return self._end == self._start or not -1.0 < time - self._last < self._interval

    def append(self, row: Sequence[float]) -> None:
        """Keep the row unless it comes too soon after the last; a clock set back starts a new trace."""
        if not self.wants(row[0]):
            return
        if self._end > self._start and row[0] - self._last <= -1.0:
            self._start = self._sent = self._end
        if self._end == len(self._rows):
            kept = self._end - self._start
            self._rows[:kept] = self._rows[self._start :].copy()
            self._sent -= self._start
            self._start, self._end = 0, kept
        self._rows[self._end] = row
        self._last = float(row[0])
        self._end += 1
        self._start = max(self._start, self._end - self._capacity)
        self._sent = max(self._sent, self._start)

    def all(self, base: float) -> bytes:
        """Every row, for a snapshot."""
        return _packed(self._rows[self._start : self._end], base)

    def fresh(self, base: float) -> bytes:
        """The rows since the last call, for a tick."""
        rows = self._rows[self._sent : self._end]
        self._sent = self._end
        return _packed(rows, base)

    def skip(self) -> None:
        """Leave out the rows since the last call: no tick will have them."""
        self._sent = self._end

    def largest(self) -> NDArray[np.float64] | None:
        """The largest magnitude in every column, NaN where there is none; None when there is no row."""
        if self._end == self._start:
            return None
        rows = np.abs(self._rows[self._start : self._end])
        return np.where(np.isnan(rows).all(axis=0), np.nan, np.fmax.reduce(rows, axis=0))

    def last(self) -> list[float]:
        """The newest row; empty when there is none."""
        return self._rows[self._end - 1].tolist() if self._end > self._start else []


def _packed(rows: NDArray[np.float64], base: float) -> bytes:
    relative = rows.astype("<f4")
    relative[:, 0] = rows[:, 0] - base
    return relative.tobytes()
