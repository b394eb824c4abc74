"""The rows that taught, as far back as a monitor may want to look."""

from collections.abc import Callable
from typing import Final

import numpy as np

from estimators.rows import Rows

SLACK: Final = 1.25  # of the capacity: rows are moved to the front only when so many are there


class History:
    """The last `capacity` rows, in order; a row keeps its number for good."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.room = int(SLACK * capacity) + 1
        self.total = 0  # rows ever added: the number of the next one
        self._filled = 0
        self._rows: Rows | None = None
        self._stale = 0  # rows before this number are refilled before anyone sees them
        self._refill: Callable[[Rows], None] = _as_they_are

    @property
    def oldest(self) -> int:
        """Number of the first row that is still there."""
        return self.total - self._filled

    def clear(self) -> None:
        """Forget all rows; numbers go on."""
        self._filled = 0

    def add(self, rows: Rows) -> None:
        """Append rows, each with a finite output."""
        count = len(rows.time)
        if self._rows is None:
            self._rows = Rows(*(np.zeros((self.room, *column.shape[1:]), column.dtype) for column in rows))
        if count > self.capacity:
            self.total += count - self.capacity
            rows, count = rows.part(slice(count - self.capacity, None)), self.capacity
        if self._filled + count > len(self._rows.time):
            kept = self.capacity - count
            for column in self._rows:
                column[:kept] = column[self._filled - kept : self._filled].copy()
            self._filled = kept
        place = slice(self._filled, self._filled + count)
        new = self._rows.part(place)
        new.time[:] = rows.time
        for column, values in zip(new[1:], rows[1:], strict=True):
            column[:] = values
        self._filled += count
        self.total += count

    def largest(self, output: int, column: int) -> float:
        """Largest absolute value of one entry of phi, 0 when there is none."""
        if self._rows is None or not self._filled:
            return 0.0
        values = np.abs(self._rows.phi[: self._filled, output, column])
        return float(np.max(values, where=np.isfinite(values), initial=0.0))

    def since(self, number: int, last: int | None = None) -> Rows:
        """Views of the rows from this number on, as far as they are still there; last: the number to stop before."""
        if self._rows is None:
            raise ValueError("expected rows, found none yet")
        begin = self.oldest
        first = max(0, number - begin)
        end = self._filled if last is None else min(max(last - begin, first), self._filled)
        if begin + first < self._stale:
            self._refill(self._rows.part(slice(first, self._stale - begin)))
            self._stale = begin + first
        return self._rows.part(slice(min(first, self._filled), end))

    def outdate(self, number: int, refill: Callable[[Rows], None]) -> None:
        """Rows before this number are to be refilled, but no sooner than someone looks back so far."""
        self._stale, self._refill = number, refill


def _as_they_are(_rows: Rows) -> None:
    """Nothing is to be refilled."""
