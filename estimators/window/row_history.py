"""The rows that taught, as far back as a monitor may want to look, with their instants and their slopes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from estimators.models.nonlinear_block import NonlinearBlock
from estimators.numerics.jit import inline
from estimators.quantities import Floats
from estimators.rows import Rows, RowStore, copy_row
from jointwatch_numba.layout import Integers, Layout

#: 1, argued: Times the capacity: rows are moved to the front only when so many are there.
SLACK: Final = 1.25
#: 1, argued: Distance in ln η within which the slopes of one η serve for another.
NEAR: Final = 0.01


@dataclass(slots=True)
class Numbered:
    """What a RowHistory keeps: rows themselves are not, what looks back begins anew."""

    VERSION: ClassVar[int] = 1

    total: int = 0  # rows ever added: the number of the next one


class RowHistory:
    """The last `capacity` rows, in order; a row keeps its number for good."""

    def __init__(self, capacity: int, whole: bool = True) -> None:
        """whole: whether rows are there to be looked at; else only their numbers and instants."""
        self.capacity = capacity
        self.room = int(SLACK * capacity) + 1
        self.whole = whole
        self.state = Numbered()
        self.instants = Instants(capacity)
        nothing = RowStore.room(0, 0, 0, 0, 0, 0)  # its rows, once there are some
        self.store = HistoryState(rows=nothing, instants=self.instants.state, whole=whole)
        self._slopes = Slopes()
        self._rows: Rows | None = None
        self._stale = 0  # rows before this number are refilled before anyone sees them
        self._refill: Callable[[Rows], None] = _as_they_are

    @property
    def total(self) -> int:
        """Rows ever added: the number of the next one."""
        return self.state.total

    @property
    def filled(self) -> int:
        """Rows that are there."""
        return self.store.filled

    @property
    def oldest(self) -> int:
        """Number of the first row that is still there."""
        return self.state.total - self.filled

    def clear(self) -> None:
        """Forget all rows; numbers go on."""
        self.store.filled = 0

    def make_room(self, like: RowStore) -> None:
        """A pass wants to write as many rows as there are in another store after those that are there."""
        if self._rows is None:
            self._allocate(like.part(0, 0))
            return
        left = min(self.capacity, self.room - len(like.time))
        for column in self._rows:
            column[:left] = column[self.filled - left : self.filled].copy()
        self.store.filled = left

    def _allocate(self, rows: Rows) -> None:
        self._rows = Rows(*(np.zeros((self.room, *column.shape[1:]), column.dtype) for column in rows))
        time, phi, y, speed, _, motion = self._rows
        samples = self._rows.flat_samples()
        self.store.rows = RowStore(time=time, phi=phi, y=y, speed=speed, samples=samples, motion=motion)

    def largest(self, output: int, column: int) -> float:
        """Largest absolute value of one entry of phi, 0 when there is none."""
        if self._rows is None or not self.filled:
            return 0.0
        values = np.abs(self._rows.phi[: self.filled, output, column])
        return float(np.max(values, where=np.isfinite(values), initial=0.0))

    def since(self, number: int, last: int | None = None) -> Rows:
        """Views of the rows from this number on, as far as they are still there; last: the number to stop before."""
        if self._rows is None:
            raise ValueError("expected rows, found none yet")
        begin = self.oldest
        first = max(0, number - begin)
        end = self.filled if last is None else min(max(last - begin, first), self.filled)
        if begin + first < self._stale:
            self._refill(self._rows.part(slice(first, self._stale - begin)))
            self._stale = begin + first
        return self._rows.part(slice(min(first, self.filled), end))

    def slopes(self, rows: Rows, block: NonlinearBlock, eta: Floats) -> Floats:
        """Slopes of the last rows (as `since` gave them); in the ring row n has the place n % size."""
        return self._slopes.since(self.state.total, self.room, rows, block, eta)

    def take_slopes(self, slopes: Floats, first: int, block: NonlinearBlock, eta: Floats) -> None:
        """Take slopes (rows, moving, nonlinear) that were formed elsewhere, of rows from number `first` on."""
        self._slopes.take(slopes, first, self.room, block, eta)

    def span(self, number: int) -> tuple[int, int] | None:
        """First and last instant, ns, of the rows from this number on; None without any."""
        return self.instants.span(self.state.total - number)

    def outdate(self, number: int, refill: Callable[[Rows], None]) -> None:
        """Rows before this number are to be refilled, but no sooner than someone looks back so far."""
        self._stale, self._refill = number, refill


def _as_they_are(_rows: Rows) -> None:
    """Nothing is to be refilled."""


class Slopes:
    """The slopes of the rows of a history (NonlinearBlock.slopes), each formed once for an η and those very near it."""

    def __init__(self) -> None:
        self._ring = np.zeros((0, 0, 0))
        self._block: NonlinearBlock | None = None
        self._eta = np.zeros(0)
        self._first = self._last = 0  # numbers of the rows whose slopes are there

    def take(self, slopes: Floats, first: int, room: int, block: NonlinearBlock, eta: Floats) -> None:
        """Begin anew with the slopes of rows from number `first` on, for another η."""
        self._block, self._eta = block, eta.copy()
        if self._ring.shape != (room, *slopes.shape[1:]):
            self._ring = np.zeros((room, *slopes.shape[1:]))
        self._first, self._last = first, first + len(slopes)
        self._ring[np.arange(first, self._last) % room] = slopes

    def since(self, total: int, room: int, rows: Rows, block: NonlinearBlock, eta: Floats) -> Floats:
        """A ring (room, moving, nonlinear), in which the row of number n has the place n % room.

        rows: the last of `total`, which are wanted.
        """
        first = total - len(rows.time)
        if block is not self._block or not (np.abs(block.distance(self._eta, eta)) <= NEAR).all():
            self.take(np.zeros((0, len(block.moving), len(eta))), first, room, block, eta)
        if first > self._last or self._first > total:
            self._first = self._last = first
        for begin, end in ((first, self._first), (self._last, total)):
            if begin < end:
                fresh = rows.part(slice(begin - first, end - first))
                self._ring[np.arange(begin, end) % len(self._ring)] = block.slopes(fresh, self._eta)
        self._first, self._last = min(first, self._first), total
        return self._ring


class InstantsState(Layout):
    """A ring of instants."""

    ring: Integers  # ns
    count: int = 0  # ever added


class HistoryState(Layout):
    """Rows that taught, and their instants, for a compiled pass."""

    rows: RowStore
    instants: InstantsState
    whole: bool  # whether rows are kept, not their instants alone
    filled: int = 0  # rows that are there


class Instants:
    """The instants of the last `capacity` rows: an event says from when to when the rows were that it speaks of."""

    def __init__(self, capacity: int) -> None:
        self.state = InstantsState(ring=np.zeros(capacity, np.int64))

    def span(self, rows: int) -> tuple[int, int] | None:
        """First and last instant of the last rows, as far as they are still there; None without any."""
        ring, total = self.state.ring, self.state.count
        rows = min(rows, total, len(ring))
        if rows <= 0:
            return None
        return int(ring[(total - rows) % len(ring)]), int(ring[(total - 1) % len(ring)])


@inline
def append(
    time: int, phi: Floats, y: Floats, speed: Floats, samples: Floats, motion: Floats, history: HistoryState
) -> None:
    """One more row, for which there is room; arguments as of copy_row."""
    instants = history.instants
    instants.ring[instants.count % len(instants.ring)] = time
    instants.count += 1
    if history.whole:
        copy_row(time, phi, y, speed, samples, motion, history.rows, history.filled)
        history.filled += 1
