"""What a search is: it looks for the global minimum of a function over a box, within a budget of evaluations.

A search is a settings type with one method, ``search(problem, seed)``: it asks the Problem for values and returns why
it stopped. The Problem owns everything that no search may get wrong: the box, the budget, the count, the best point,
the target, the callback; when one of them says stop it raises SearchOver, which ends the search wherever it stands.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from math import inf, isfinite
from typing import Any, Final, NamedTuple, Protocol, TypeVar, cast

import numpy as np

from estimators.quantities import Floats

Callback = Callable[[int, Floats, float], bool | None]  # evaluations so far, best x, best value; True cancels
Function = TypeVar("Function", bound=Callable[..., Any])

OBJECTIVE: Final = "f8(f8[::1], f8[::1])"  # the signature of a compiled objective: x (dimensions,), data (any length)
REACH: Final = 10.0  # where an infinite end of the box is first looked at, as in Huyer & Neumaier 1999, §7


class SearchStatus(StrEnum):
    """Why a search ended."""

    TARGET = "target"  # a value ≤ target was found
    BUDGET = "budget"  # the evaluations are used up
    STALLED = "stalled"  # no progress for as long as the settings allow
    COMPLETE = "complete"  # nothing is left to search
    CANCELLED = "cancelled"  # the callback said so


class Minimum(NamedTuple):
    """What a search found."""

    x: Floats  # (dimensions,) the best point that was evaluated
    value: float  # f there; +∞ when f was nowhere finite
    evaluations: int
    status: SearchStatus
    nonfinite: int = 0  # evaluations whose value was not finite, taken as +∞


class SearchOver(Exception):  # noqa: N818 (not an error: the search is over)
    """The search is over; raised by Problem, caught by minimise()."""

    def __init__(self, status: SearchStatus) -> None:
        super().__init__(status)
        self.status = status


def batch(function: Function) -> Function:
    """Mark f as taking (points, dimensions) and returning (points,)."""
    cast(Any, function).batch = True
    return function


@dataclass(frozen=True, slots=True)
class Compiled:
    """A compiled objective: ``function`` is a kernel of signature OBJECTIVE that neither raises nor writes to data."""

    function: Callable[[Floats, Floats], float]
    data: Floats  # (any,) contiguous float64, what f knows besides x

    def __call__(self, x: Floats) -> float:
        """One value, as any other objective gives it."""
        return self.function(x, self.data)


class Search(Protocol):
    """A registered search's settings: frozen, selected by `kind`, listed in estimators/search/__init__.py."""

    def search(self, problem: "SearchProblem", seed: int) -> SearchStatus:
        """Look for the minimum of problem; return why it ended (or let SearchOver through)."""


class SearchProblem:
    """One function over one box: the only way for a search to get a value.

    Only dimensions of nonzero width are shown to the search: ``lower``, ``upper``, ``start`` and the points it passes
    have shape (dimensions,) of those.
    """

    def __init__(
        self,
        f: Callable[[Floats], Any],
        lower: Floats,
        upper: Floats,
        *,
        budget: int,
        target: float = -np.inf,
        start: Floats | None = None,
        callback: Callback | None = None,
    ) -> None:
        """Begin a search with the arguments of minimise(), already checked."""
        self.free = upper > lower
        self.lower, self.upper = lower[self.free], upper[self.free]
        self.start = None if start is None else start[self.free]
        self.f, self.callback = f, callback
        self.is_batch = bool(getattr(f, "batch", False))
        self.budget, self.target = budget, target
        self.evaluations = self.nonfinite = 0
        self.best, self.value = lower.copy(), np.inf  # all dimensions
        self.corner = lower  # all dimensions: where the fixed ones are
        self.finite = bool(np.isfinite(self.lower).all() and np.isfinite(self.upper).all())

    def region(self) -> tuple[Floats, Floats]:
        """A finite box to draw first points from: the bounds, infinite ends replaced by REACH beyond the other or 0."""
        if self.finite:
            return self.lower, self.upper
        lower = np.where(np.isfinite(self.lower), self.lower, np.minimum(-REACH, self.upper - REACH))
        upper = np.where(np.isfinite(self.upper), self.upper, np.maximum(REACH, lower + REACH))
        return lower, upper

    def values(self, points: Floats) -> Floats:
        """f at points (points, dimensions), clipped to the box; non-finite values are +∞.

        Raises SearchOver, and what f raises. If a batch exceeds the budget, its first points are still evaluated.
        """
        room = self.budget - self.evaluations
        if room <= 0:
            raise SearchOver(SearchStatus.BUDGET)
        whole = self.whole(points[:room])
        values = np.array([float(self.f(x)) for x in whole.copy()]) if not self.is_batch else self._batch(whole)
        for x, value in zip(whole, values, strict=True):
            self._remember(x, value)
        values[~np.isfinite(values)] = np.inf
        self._check()
        if len(points) > room:
            raise SearchOver(SearchStatus.BUDGET)
        return values

    def evaluate(self, x: Floats) -> float:
        """f at one point (dimensions,), as values()."""
        return self.evaluate_whole(self.whole(x[np.newaxis])[0])

    def whole(self, points: Floats) -> Floats:
        """Points (points, dimensions) clipped to the box, with the fixed dimensions, (points, all dimensions)."""
        whole = np.empty((len(points), len(self.corner)))
        whole[:] = self.corner
        whole[:, self.free] = np.clip(points, self.lower, self.upper)
        return whole

    def evaluate_whole(self, x: Floats) -> float:
        """f at one point (all dimensions,) of the box, as values()."""
        if self.evaluations >= self.budget:
            raise SearchOver(SearchStatus.BUDGET)
        value = float(self._batch(x[np.newaxis])[0] if self.is_batch else self.f(x.copy()))
        value = self._remember(x, value)
        self._check()
        return value

    def account(self, evaluations: int, nonfinite: int, x: Floats, value: float) -> None:
        """What a search has evaluated by itself: x (dimensions,), in the box, is the best. For compiled searches."""
        self.evaluations, self.nonfinite = evaluations, nonfinite
        self.best, self.value = self.corner.copy(), value
        self.best[self.free] = x

    def minimum(self, status: SearchStatus) -> Minimum:
        """What was found so far."""
        return Minimum(self.best.copy(), self.value, self.evaluations, status, self.nonfinite)

    def _batch(self, points: Floats) -> Floats:
        values = np.array(self.f(points.copy()), dtype=float)
        if values.shape != (len(points),):
            raise ValueError(f"a batch objective must return shape ({len(points)},), got {values.shape}")
        return values

    def _remember(self, x: Floats, value: float) -> float:
        if not isfinite(value):
            self.nonfinite += 1
            value = inf
        if value < self.value or self.evaluations == 0:
            self.best, self.value = x.copy(), float(value)
        self.evaluations += 1
        return value

    def _check(self) -> None:
        if self.callback is not None and self.callback(self.evaluations, self.best.copy(), self.value):
            raise SearchOver(SearchStatus.CANCELLED)
        if self.value <= self.target:
            raise SearchOver(SearchStatus.TARGET)
