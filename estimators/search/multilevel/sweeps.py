"""The one compiled kernel of multilevel coordinate search: sweeps through the levels, and local searches at their end.

Huyer & Neumaier 1999, §3: a sweep goes from the lowest level up and deals with one box of each level, the best one.
"""

from collections.abc import Callable
from typing import Final

import numba
import numpy as np

from estimators.base import Floats
from estimators.jit import inline, kernel
from estimators.search.multilevel.basket import Basket, consider, is_new_valley, keep
from estimators.search.multilevel.boxes import (
    BOXES,
    CANDIDATES,
    CONSIDERED,
    PROGRESS,
    SWEEPS,
    Boxes,
    Lists,
    note,
    process,
)
from estimators.search.multilevel.evaluation import BEST, FLOATS, FUNCTION, INTS, RUNNING, STOP, Ints, Objective, ascending
from estimators.search.multilevel.local import LOCAL as LOCAL_TYPE
from estimators.search.multilevel.local import Search
from estimators.search.multilevel.line_search import SEARCH
from estimators.search.multilevel.opening import opening

STOPPED: Final = 0  # what sweep() returns: the objective's own count says why
STALLED: Final = 1
COMPLETE: Final = 2
FULL: Final = 3  # the arrays need more room; call again

Local = Callable[[Objective, Search, Floats, float, float, int, float], float]

LEGACY_RANK: Final = 0  # indices into the kernel's options
LOCAL: Final = 1
STALL: Final = 2
ROOM: Final = 3  # boxes that one sweep may make
GAMMA: Final = 0  # and into its tolerances
FAR: Final = 1
START: Final = 2  # best value after initialisation, written by the kernel

@inline
def _divide(objective: Objective, boxes: Boxes, lists: Lists, far: float) -> bool:
    """One box of each level; False if there was none."""
    x = np.empty(lists.rank.size)
    for s in range(boxes.record.size):
        boxes.record[s] = -1
    for k in range(boxes.size[BOXES]):
        if boxes.level[k] > 0:
            note(boxes, k)
    found = False
    for s in range(1, boxes.record.size):
        if boxes.record[s] >= 0 and objective.count[STOP] == RUNNING:
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
    f0: float,
    most: int,
    gamma: float,
) -> None:
    """Local searches from this sweep's candidates, best first."""
    for k in ascending(boxes.candidate_value, boxes.size[CANDIDATES]):
        x, f = boxes.candidate[k], boxes.candidate_value[k]
        if objective.count[STOP] != RUNNING or not np.isfinite(f) or not consider(basket, x):
            continue
        new, f = is_new_valley(objective, basket, x, f)
        if new:
            f = local(objective, search, x, f, f0, most, gamma)
            keep(objective, basket, x, f)


MATRIX: Final = numba.types.Array(numba.float64, 2, "C")
COUNTS: Final = numba.types.Array(numba.int64, 2, "C")
SIGNATURE: Final = numba.int64(
    *(FUNCTION, LOCAL_TYPE, SEARCH),
    *(FLOATS, FLOATS, FLOATS, INTS, FLOATS, FLOATS, FLOATS, INTS),  # Objective
    *(numba.types.Array(numba.float64, 3, "C"), FLOATS, COUNTS, INTS, INTS, INTS, MATRIX, FLOATS, INTS),  # Boxes
    *(MATRIX, MATRIX, INTS, INTS, INTS),  # Lists
    *(MATRIX, FLOATS, MATRIX),  # Basket
    *(INTS, FLOATS),
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
    options: Ints,
    tolerances: Floats,
) -> int:
    """Search until something says stop. The fields of Objective, Boxes, Lists and Basket, in order; see there."""
    objective = Objective(f, data, lower, upper, free, x, best, value, count)
    boxes = Boxes(line, box_value, splits, level, gainless, record, candidate, candidate_value, size)
    lists = Lists(list_x, list_f, length, start, rank)
    basket = Basket(point, point_value, considered, size)
    if size[BOXES] == 0:
        opening(objective, boxes, lists, options[LEGACY_RANK])
        tolerances[START] = value[BEST]
    while count[STOP] == RUNNING:
        if size[BOXES] + options[ROOM] > level.size or size[CONSIDERED] + options[ROOM] > len(considered):
            return FULL
        before = value[BEST]
        size[CANDIDATES] = 0
        if not _divide(objective, boxes, lists, tolerances[FAR]):
            return COMPLETE
        if options[LOCAL] > 0:
            _descend(objective, local, search, boxes, basket, tolerances[START], options[LOCAL], tolerances[GAMMA])
        size[SWEEPS] += 1
        if value[BEST] < before:
            size[PROGRESS] = size[SWEEPS]
        if size[SWEEPS] - size[PROGRESS] >= options[STALL]:
            return STALLED
    return STOPPED
