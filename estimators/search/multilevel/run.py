"""One run of multilevel coordinate search: its arrays, its objective, and the kernel that works on them."""

import ctypes
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

import numpy as np

from estimators.numerics.jit import INTERPRETED
from estimators.quantities import Floats
from estimators.search.base import Compiled, SearchOver, SearchProblem, SearchStatus
from estimators.search.multilevel.basket import Basket
from estimators.search.multilevel.boxes import Boxes, Lists
from estimators.search.multilevel.evaluation import ABANDONED, REACHED, RUNNING, Objective, SearchRules, interpreted
from estimators.search.multilevel.line.line import MOST, Line
from estimators.search.multilevel.line.search import line_search
from estimators.search.multilevel.lists import FirstValues
from estimators.search.multilevel.local import LocalSearch, local_search
from estimators.search.multilevel.model import LocalModel
from estimators.search.multilevel.samples import Region
from estimators.search.multilevel.sweeps import COMPLETE, FULL, STALLED, Sweeps, sweep

CALLBACK: Final = ctypes.CFUNCTYPE(ctypes.c_double)
NOTHING: Final = np.zeros(0)

# States of runs that have ended, by all that their arrays' lengths and rules depend on: to make one costs several times
# what a short search takes. A run takes one out, so that a search within an objective has its own.
_IDLE: Final[dict[tuple[Any, ...], list[Sweeps]]] = {}


class SearchRun:
    """One run, in the arrays that the kernel goes on with."""

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
        """Begin a run with the settings of Mcs; tolerance 0: the published algorithm."""
        n, longest = lists.x.shape
        self.problem, self.lists, self.levels = problem, lists, levels
        self.rules = {
            "published": tolerance == 0.0,
            "legacy": legacy,
            "local_steps": local_steps,
            "stall": stall,
            "room": (levels + n) * max(4, 2 * longest),
            "gamma": gamma,
            "tolerance": tolerance,
            "far": 100.0 if legacy else 1000.0,
        }
        self.seed = seed
        self.x = problem.corner.copy()
        self.raised: BaseException | None = None
        self.objective: Objective

    def run(self) -> SearchStatus:
        """To the end. Raises what the objective raised."""
        key = (*self.lists.x.shape, self.levels, *self.rules.values())
        idle = _IDLE.setdefault(key, [])
        self.state = idle.pop() if idle else self._new_state()
        self.objective = self.state.objective
        try:
            return self._run()
        finally:
            self.objective.data = NOTHING
            idle.append(self.state)

    def _run(self) -> SearchStatus:
        f = self.problem.f
        if isinstance(f, Compiled) and self.problem.callback is None and not INTERPRETED:
            outcome = self._sweep(f.function, f.data)
            found = self.objective
            self.problem.account(found.evaluations, found.nonfinite, found.best, found.value)
        else:
            outcome = self._sweep_python()
        if outcome == STALLED:
            return SearchStatus.STALLED
        if outcome == COMPLETE:
            return SearchStatus.COMPLETE
        return SearchStatus.TARGET if self.objective.stop == REACHED else SearchStatus.BUDGET

    def _sweep_python(self) -> int:
        """The objective is Python: the kernel calls back, and the Problem counts and stops."""
        target = self.problem.target
        if self.rules["legacy"]:
            self.problem.target = -np.inf  # the kernel looks at it between stages
        if INTERPRETED:
            with np.errstate(all="ignore"):
                outcome = self._sweep(lambda _x, _data: self._value(), np.zeros(1), target)
        else:
            callback = CALLBACK(self._value)
            address = np.array([ctypes.cast(callback, ctypes.c_void_p).value], np.int64)
            outcome = self._sweep(interpreted, address.view(np.float64), target)
        if self.raised is not None:
            raise self.raised
        return outcome

    def _value(self) -> float:
        """f at the point that lies in x; what it raises waits until the kernel has returned."""
        try:
            return self.problem.evaluate_whole(self.x.copy())
        except BaseException as error:
            value = self.problem.value if isinstance(error, SearchOver) else np.inf
            self.raised, self.objective.stop = error, ABANDONED
            return value

    def _sweep(self, f: Callable[[Floats, Floats], float], data: Floats, target: float | None = None) -> int:
        """Run the kernel, with more room as often as it asks; target: the problem's, unless it is given."""
        problem, state, objective = self.problem, self.state, self.objective
        objective.f, objective.data, objective.x, objective.value, objective.stop = f, data, self.x, np.inf, RUNNING
        objective.lower[:], objective.upper[:] = problem.lower, problem.upper
        objective.best[:], objective.free[:] = problem.lower, np.flatnonzero(problem.free)
        objective.budget, objective.target = problem.budget, problem.target if target is None else target
        objective.evaluations = objective.nonfinite = 0
        lists, boxes, basket = state.lists, state.boxes, state.basket
        lists.x[:], lists.length[:], lists.start[:] = self.lists
        boxes.count = boxes.candidates = boxes.sweeps = boxes.progress = basket.count = basket.seen = 0
        low, high = problem.region()
        state.region.low[:], state.region.width[:], state.region.samples = low, high - low, 0
        state.region.turn[:], state.region.shift[:] = _recurrence(len(low), self.seed)
        while (outcome := sweep(state)) == FULL:
            state.boxes = _doubled(state.boxes, ("line", "value", "splits", "level", "gainless"))
            state.basket = _doubled(state.basket, ("point", "value", "considered"))
        return outcome

    def _new_state(self) -> Sweeps:
        """The arrays of a run, which say nothing yet."""
        n, longest = self.lists.x.shape
        room = int(self.rules["room"])
        rules = SearchRules(**self.rules)
        objective = Objective.zeros(f=None, data=NOTHING, x=NOTHING, dimensions=n, legacy=rules.legacy)
        local = LocalSearch.zeros(
            objective=objective,
            rules=rules,
            line_search=line_search,
            along=Line.zeros(dimensions=n, most=MOST),
            model=LocalModel.zeros(dimensions=n),
            dimensions=n,
        )
        return Sweeps(
            objective=objective,
            rules=rules,
            boxes=Boxes.zeros(capacity=4 * room, dimensions=n, levels=self.levels, room=room + 1),
            lists=Lists.zeros(dimensions=n, longest=longest),
            basket=Basket.zeros(capacity=4 * room, dimensions=n),
            region=Region.zeros(dimensions=n),
            local=local,
            local_search=local_search,
        )


def _doubled(layout: Any, arrays: tuple[str, ...]) -> Any:
    """A layout with twice the room in these arrays."""
    found = layout.as_dict()
    return type(layout)(**found | {one: np.concatenate([found[one], np.zeros_like(found[one])]) for one in arrays})


@lru_cache(maxsize=256)
def _recurrence(n: int, seed: int) -> tuple[Floats, Floats]:
    """The additive recurrence of the n-dimensional golden ratio that draws samples: its turn and shift."""
    ratio = 2.0
    for _ in range(60):
        ratio = (1.0 + ratio) ** (1.0 / (n + 1.0))  # ratio^(n+1) = ratio + 1
    return ratio ** -np.arange(1.0, n + 1.0), np.random.default_rng(seed).uniform(size=n)
