"""The kernel that runs a whole multilevel coordinate search: sweeps through the levels, local searches at their end.

Huyer & Neumaier 1999, §3: a sweep goes from the lowest level up and deals with one box of each level, the best one.
What it does beyond the paper is in samples.py and local.py, and is off when the option PUBLISHED is set.
"""

from collections.abc import Callable
from typing import Any, Final

import numba
import numpy as np

from estimators.numerics.jit import inline, kernel
from estimators.quantities import Floats
from estimators.search.multilevel.basket import Basket, consider, is_new_valley, keep
from estimators.search.multilevel.boxes import (
    BOXES,
    CANDIDATES,
    CONSIDERED,
    PROGRESS,
    SWEEPS,
    Boxes,
    Lists,
    X,
    note,
    process,
)
from estimators.search.multilevel.evaluation import (
    BEST,
    FLOATS,
    FUNCTION,
    INTS,
    RUNNING,
    STOP,
    Ints,
    Objective,
    ascending,
    copy,
)
from estimators.search.multilevel.line.line import SEARCH, Search
from estimators.search.multilevel.local import LOCAL
from estimators.search.multilevel.opening import opening
from estimators.search.multilevel.samples import critical, explained, sample

STOPPED: Final = 0  # what sweep() returns: the objective's own count says why
STALLED: Final = 1
COMPLETE: Final = 2
FULL: Final = 3  # the arrays need more room; call again

PUBLISHED: Final = 0  # indices into options
LEGACY_RANK: Final = 1
LOCAL_STEPS: Final = 2
STALL: Final = 3
ROOM: Final = 4  # boxes, and candidates, that one sweep may make

GAMMA: Final = 0  # indices into tolerances
TOLERANCE: Final = 1
FAR: Final = 2  # factor of subinterval in rule R
START: Final = 3  # best value after initialisation, written by the kernel

Local = Callable[[Objective, Search, Floats, float, float, int, float, float], float]


@inline
def _divide(
    objective: Objective, boxes: Boxes, lists: Lists, basket: Basket, region: Floats, far: float, exploring: bool
) -> bool:
    """One box of each level; False if there was none. Exploring: none that a known minimum explains."""
    x = np.empty(lists.rank.size)
    for s in range(boxes.record.size):
        boxes.record[s] = -1
    distance = critical(objective)
    for k in range(boxes.size[BOXES]):
        if boxes.level[k] == 0:
            continue
        if not (exploring and explained(basket, region, boxes.line[k, X], boxes.value[k], distance)):
            note(boxes, k)
    found = False
    for s in range(1, boxes.record.size):
        if boxes.record[s] >= 0 and objective.counts[STOP] == RUNNING:
            found = True
            process(objective, boxes, boxes.record[s], lists, far, x)
    return found


@inline
def _descend(
    objective: Objective,
    local: Local,
    search: Search,
    boxes: Boxes,
    basket: Basket,
    options: Ints,
    tolerances: Floats,
    sampled: int,
) -> None:
    """Local searches from this sweep's candidates, best first; candidate `sampled` needs no test of its valley."""
    gamma, tolerance, f0 = tolerances[GAMMA], tolerances[TOLERANCE], tolerances[START]
    for k in ascending(boxes.candidate_value, boxes.size[CANDIDATES]):
        x, f = boxes.candidate[k], boxes.candidate_value[k]
        if objective.counts[STOP] != RUNNING or not np.isfinite(f) or not consider(basket, x):
            continue
        new = k == sampled
        if not new:
            new, f = is_new_valley(objective, basket, x, f)
        if new:
            f = local(objective, search, x, f, f0, options[LOCAL_STEPS], gamma, tolerance)
            keep(objective, basket, x, f)


@inline
def _best_point(objective: Objective, boxes: Boxes) -> bool:
    """The best point so far as the only candidate."""
    copy(objective.best, boxes.candidate[0])
    boxes.candidate_value[0] = objective.value[BEST]
    boxes.size[CANDIDATES] = 1
    return True


@inline
def _negligible(tolerances: Floats, best: float) -> float:
    """A gain that is no progress: polishing a known minimum by rounding errors must not keep the search alive."""
    if tolerances[TOLERANCE] > 0.0 and np.isfinite(tolerances[START]):
        return float(tolerances[TOLERANCE] * (tolerances[START] - best))
    return 0.0


MATRIX: Final[Any] = numba.types.Array(numba.float64, 2, "C")
TABLE: Final[Any] = numba.types.Array(numba.int64, 2, "C")
SIGNATURE: Final[Any] = numba.int64(
    *(FUNCTION, LOCAL, SEARCH),
    *(FLOATS, FLOATS, FLOATS, INTS, FLOATS, FLOATS, FLOATS, INTS),  # Objective
    *(numba.types.Array(numba.float64, 3, "C"), FLOATS, TABLE, INTS, INTS, INTS, MATRIX, FLOATS, INTS),  # Boxes
    *(MATRIX, MATRIX, INTS, INTS, INTS),  # Lists
    *(MATRIX, FLOATS, MATRIX),  # Basket
    *(MATRIX, INTS, FLOATS),
)


@kernel(SIGNATURE)
def sweep(
    f: Callable[[Floats, Floats], float],
    local: Local,
    search: Search,
    data: Floats,
    lower: Floats,
    upper: Floats,
    free: Ints,
    x: Floats,
    best: Floats,
    value: Floats,
    count: Ints,
    line: Floats,
    box_value: Floats,
    splits: Ints,
    level: Ints,
    gainless: Ints,
    record: Ints,
    candidate: Floats,
    candidate_value: Floats,
    size: Ints,
    list_x: Floats,
    list_f: Floats,
    length: Ints,
    start: Ints,
    rank: Ints,
    point: Floats,
    point_value: Floats,
    considered: Floats,
    region: Floats,
    options: Ints,
    tolerances: Floats,
) -> int:
    """Search until something says stop.

    local, search: local_search and line_search. Then the fields of Objective, Boxes, Lists and Basket in their order,
    and region, options and tolerances as indexed here and in samples.py. Goes on where it was when called again.
    """
    objective = Objective(f, data, lower, upper, free, x, best, value, count)
    boxes = Boxes(line, box_value, splits, level, gainless, record, candidate, candidate_value, size)
    lists = Lists(list_x, list_f, length, start, rank)
    basket = Basket(point, point_value, considered, size)
    plain = options[PUBLISHED] == 1
    if size[BOXES] == 0:
        opening(objective, search, boxes, lists, options[LEGACY_RANK])
        tolerances[START] = value[BEST]
    while count[STOP] == RUNNING:
        if size[BOXES] + options[ROOM] > level.size or size[CONSIDERED] + options[ROOM] > len(considered):
            return FULL
        before, sampled = value[BEST], -1
        size[CANDIDATES] = 0
        exploring = not plain and size[SWEEPS] % 2 == 1
        if size[SWEEPS] == 0 and lower.size > 2 and not plain:
            # a first sweep costs two evaluations a level and, in more than two dimensions, seldom finds a better start
            _best_point(objective, boxes)
        elif not _divide(objective, boxes, lists, basket, region, tolerances[FAR], exploring) and not exploring:
            return COMPLETE
        if exploring:
            sampled = sample(objective, boxes, basket, region)
        if options[LOCAL_STEPS] > 0:
            _descend(objective, local, search, boxes, basket, options, tolerances, sampled)
        size[SWEEPS] += 1
        if value[BEST] < before - _negligible(tolerances, value[BEST]):
            size[PROGRESS] = size[SWEEPS]
        if size[SWEEPS] - size[PROGRESS] >= options[STALL] and count[STOP] == RUNNING:
            return STALLED
    return STOPPED
