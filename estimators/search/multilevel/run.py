"""One run of multilevel coordinate search: its arrays, the objective behind them, and the kernel that works on them."""

import ctypes
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, cast

import numpy as np

from estimators.numerics.jit import INTERPRETED
from estimators.quantities import Floats
from estimators.search.base import Compiled, SearchOver, SearchProblem, SearchStatus
from estimators.search.multilevel.boxes import ROWS, SIZES
from estimators.search.multilevel.evaluation import (
    ABANDONED,
    BUDGET,
    COUNTS,
    EVALUATIONS,
    LEGACY,
    NONFINITE,
    REACHED,
    STOP,
    Ints,
    interpreted,
)
from estimators.search.multilevel.line.search import line_search
from estimators.search.multilevel.lists import FirstValues
from estimators.search.multilevel.local import local_search
from estimators.search.multilevel.samples import LOW, REGION, SHIFT, TURN, WIDTH
from estimators.search.multilevel.sweeps import COMPLETE, FULL, STALLED, sweep
from jointwatch_layout import pointer

CALLBACK: Final = ctypes.CFUNCTYPE(ctypes.c_double)
PARTS: Final = pointer(local_search), pointer(line_search)


class SearchRun:
    """The state of one run, in the arrays that the kernel goes on with."""

    def __init__(
        self,
        problem: SearchProblem,
        lists: FirstValues,
        *,
        levels: int,
        stall: int,
        local_steps: int,
        gamma: float,
        tolerance: float,
        legacy: bool,
        seed: int,
    ) -> None:
        """As Mcs; tolerance 0: the published algorithm."""
        n, longest = lists.x.shape
        self.problem, self.lists, self.levels = problem, lists, levels
        self.room = (levels + n) * max(4, 2 * longest)
        self.options = np.array([tolerance == 0.0, legacy, local_steps, stall, self.room], np.int64)
        self.tolerances = np.array([gamma, tolerance, 100.0 if legacy else 1000.0, 0.0])
        self.region = _region(problem, n, seed)
        self.count = np.zeros(COUNTS, np.int64)
        self.count[BUDGET], self.count[LEGACY] = problem.budget, legacy
        self.value = np.array([np.inf, problem.target])
        self.best = problem.lower.copy()
        self.x = problem.whole(problem.region()[0][np.newaxis])[0]
        self.raised: BaseException | None = None

    def run(self) -> SearchStatus:
        """To the end. Raises what the objective raised."""
        f = self.problem.f
        if isinstance(f, Compiled) and self.problem.callback is None and not INTERPRETED:
            outcome = self._sweep(pointer(f.function), f.data)
            self.problem.account(
                int(self.count[EVALUATIONS]), int(self.count[NONFINITE]), self.best, float(self.value[0])
            )
        else:
            outcome = self._sweep_python()
        if outcome == STALLED:
            return SearchStatus.STALLED
        if outcome == COMPLETE:
            return SearchStatus.COMPLETE
        return SearchStatus.TARGET if self.count[STOP] == REACHED else SearchStatus.BUDGET

    def _sweep_python(self) -> int:
        """The objective is Python: the kernel calls back, and the Problem counts and stops."""
        if self.count[LEGACY]:
            self.problem.target = -np.inf  # the kernel looks at it between stages
        if INTERPRETED:
            with np.errstate(all="ignore"):
                outcome = self._sweep(lambda _x, _data: self._value(), np.zeros(1))
        else:
            callback = CALLBACK(self._value)
            address = np.array([ctypes.cast(callback, ctypes.c_void_p).value], np.int64)
            outcome = self._sweep(pointer(interpreted), address.view(np.float64))
        if self.raised is not None:
            raise self.raised
        return outcome

    def _value(self) -> float:
        """f at the point that lies in x; what it raises waits until the kernel has returned."""
        try:
            return self.problem.evaluate_whole(self.x.copy())
        except BaseException as error:
            value = self.problem.value if isinstance(error, SearchOver) else np.inf
            self.raised, self.count[STOP] = error, ABANDONED
            return value

    def _sweep(self, f: Callable[[Floats, Floats], float] | Any, data: Floats) -> int:
        """Run the kernel, with more room as often as it asks."""
        n, problem, lists = self.best.size, self.problem, self.lists
        capacity = 4 * self.room
        boxes: list[Any] = [
            np.zeros((capacity, ROWS, n)),
            np.zeros(capacity),
            np.zeros((capacity, n), np.int64),
            np.zeros(capacity, np.int64),
            np.zeros(capacity, np.int64),
        ]
        sweep_arrays = np.zeros(self.levels, np.int64), np.zeros((self.room + 1, n)), np.zeros(self.room + 1)
        size, rank = np.zeros(SIZES, np.int64), np.zeros(n, np.int64)
        list_arrays = lists.x, np.zeros_like(lists.x), lists.length, lists.start, rank
        basket: list[Any] = [np.zeros((capacity, n)), np.zeros(capacity), np.zeros((capacity, n))]
        free: Ints = np.flatnonzero(problem.free)
        head = f, *PARTS, data, problem.lower, problem.upper, free, self.x, self.best, self.value, self.count
        while True:
            outcome = cast(Any, sweep)(
                *head, *boxes, *sweep_arrays, size, *list_arrays, *basket, self.region, self.options, self.tolerances
            )
            if outcome != FULL:
                return int(outcome)
            boxes = [np.concatenate([array, np.zeros_like(array)]) for array in boxes]
            basket = [np.concatenate([array, np.zeros_like(array)]) for array in basket]


def _region(problem: SearchProblem, n: int, seed: int) -> Floats:
    """Where samples are drawn, and the additive recurrence of the n-dimensional golden ratio that draws them."""
    region = np.empty((REGION, n))
    region[LOW], upper = problem.region()
    region[WIDTH] = upper - region[LOW]
    region[TURN], region[SHIFT] = _recurrence(n, seed)
    return region


@lru_cache(maxsize=256)
def _recurrence(n: int, seed: int) -> tuple[Floats, Floats]:
    ratio = 2.0
    for _ in range(60):
        ratio = (1.0 + ratio) ** (1.0 / (n + 1.0))  # ratio^(n+1) = ratio + 1
    return ratio ** -np.arange(1.0, n + 1.0), np.random.default_rng(seed).uniform(size=n)
