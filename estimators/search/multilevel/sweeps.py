"""The kernel that runs a whole multilevel coordinate search: sweeps through the levels, local searches at their end.

Huyer & Neumaier 1999, §3: a sweep goes from the lowest level up and deals with one box of each level, the best one.
What it does beyond the paper is in samples.py and local.py, and is off in the published algorithm.
"""

from typing import Final

import numpy as np

from estimators.numerics.jit import inline, kernel
from estimators.search.multilevel.basket import Basket, consider, is_new_valley, keep
from estimators.search.multilevel.boxes import Boxes, Lists, X, note, process
from estimators.search.multilevel.evaluation import RUNNING, Objective, SearchRules, ascending, copy
from estimators.search.multilevel.local import LocalSearch
from estimators.search.multilevel.opening import opening
from estimators.search.multilevel.samples import Region, critical, explained, sample
from jointwatch_numba.layout import Function, Layout, by_address

STOPPED: Final = 0  # what sweep() returns: the objective's own count says why
STALLED: Final = 1
COMPLETE: Final = 2
FULL: Final = 3  # the arrays need more room; call again


class Sweeps(Layout):
    """All that a search knows."""

    objective: Objective
    rules: SearchRules
    boxes: Boxes
    lists: Lists
    basket: Basket
    region: Region
    local: LocalSearch
    local_search: Function


search_locally: Final = by_address("f8", LocalSearch, "f8[::1]", "f8")


@inline
def _divide(state: Sweeps, exploring: bool) -> bool:
    """One box of each level; False if there was none. Exploring: none that a known minimum explains."""
    objective, boxes, basket, region = state.objective, state.boxes, state.basket, state.region
    x = np.empty(state.lists.rank.size)
    for s in range(boxes.record.size):
        boxes.record[s] = -1
    distance = critical(objective)
    for k in range(boxes.count):
        if boxes.level[k] == 0:
            continue
        if not (exploring and explained(basket, region, boxes.line[k, X], boxes.value[k], distance)):
            note(boxes, k)
    found = False
    for s in range(1, boxes.record.size):
        if boxes.record[s] >= 0 and objective.stop == RUNNING:
            found = True
            process(objective, boxes, boxes.record[s], state.lists, state.rules.far, x)
    return found


@inline
def _descend(state: Sweeps, sampled: int) -> None:
    """Local searches from this sweep's candidates, best first; candidate `sampled` needs no test of its valley."""
    objective, boxes, basket = state.objective, state.boxes, state.basket
    for k in ascending(boxes.candidate_value, boxes.candidates):
        x, f = boxes.candidate[k], boxes.candidate_value[k]
        if objective.stop != RUNNING or not np.isfinite(f) or not consider(basket, x):
            continue
        new = k == sampled
        if not new:
            new, f = is_new_valley(objective, basket, x, f)
        if new:
            f = search_locally(state.local_search, state.local, x, f)
            keep(objective, basket, x, f)


@inline
def _best_point(objective: Objective, boxes: Boxes) -> None:
    """The best point so far as the only candidate."""
    copy(objective.best, boxes.candidate[0])
    boxes.candidate_value[0] = objective.value
    boxes.candidates = 1


@inline
def _negligible(rules: SearchRules, best: float) -> float:
    """A gain that is no progress: polishing a known minimum by rounding errors must not keep the search alive."""
    if rules.tolerance > 0.0 and np.isfinite(rules.start):
        return float(rules.tolerance * (rules.start - best))
    return 0.0


@kernel((Sweeps,))
def sweep(state: Sweeps) -> int:
    """Search until something says stop; goes on where it was when called again."""
    objective, rules, boxes, basket = state.objective, state.rules, state.boxes, state.basket
    if boxes.count == 0:
        opening(objective, state.local.line_search, state.local.along, boxes, state.lists, rules.legacy)
        rules.start = objective.value
    while objective.stop == RUNNING:
        if boxes.count + rules.room > boxes.level.size or basket.seen + rules.room > len(basket.considered):
            return FULL
        before, sampled = objective.value, -1
        boxes.candidates = 0
        exploring = not rules.published and boxes.sweeps % 2 == 1
        if boxes.sweeps == 0 and objective.lower.size > 2 and not rules.published:
            # a first sweep costs two evaluations a level and, in more than two dimensions, seldom finds a better start
            _best_point(objective, boxes)
        elif not _divide(state, exploring) and not exploring:
            return COMPLETE
        if exploring:
            sampled = sample(objective, boxes, basket, state.region)
        if rules.local_steps > 0:
            _descend(state, sampled)
        boxes.sweeps += 1
        if objective.value < before - _negligible(rules, objective.value):
            boxes.progress = boxes.sweeps
        if boxes.sweeps - boxes.progress >= rules.stall and objective.stop == RUNNING:
            return STALLED
    return STOPPED
