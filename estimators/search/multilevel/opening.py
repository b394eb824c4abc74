"""How a multilevel coordinate search begins (Huyer & Neumaier 1999, §3): the list, the root box, the first splits."""

from typing import Any, Final

import numpy as np

from estimators.numerics.jit import inline
from estimators.search.multilevel.boxes import Boxes, Lists, X, Y, parabola_minimum, split_by_list
from estimators.search.multilevel.evaluation import Objective, ascending, evaluate, stage
from estimators.search.multilevel.line.line import Line, aim, clear, is_minimum, search_line

LINE_STEPS: Final = 25
LINE_MINIMA: Final = 5


@inline
def opening(objective: Objective, search: Any, along: Line, boxes: Boxes, lists: Lists, legacy_rank: bool) -> None:
    """Evaluate the list coordinate by coordinate, always at the best point so far; split the root box along each.

    An empty list is made by line searches; search: line_search, along: scratch.
    """
    n = lists.rank.size
    x = np.empty(n)
    clear(along)
    by_lines = lists.length[0] == 0
    for i in range(n):
        x[i] = lists.x[i, lists.start[i]]
        if by_lines:
            x[i] = min(max(0.0, objective.lower[i]), objective.upper[i])
    value = evaluate(objective, x)
    for i in range(n):
        if by_lines:
            aim(along, x, value, i, LINE_STEPS)
            along.locals = LINE_MINIMA
            search_line(search, objective, along)
            _list_of_extrema(objective, lists, along, x[i], i)
        else:
            for j in range(lists.length[i]):
                x[i] = lists.x[i, j]
                lists.f[i, j] = value if j == lists.start[i] else evaluate(objective, x)
        j = _least(lists, i)
        x[i], value = lists.x[i, j], lists.f[i, j]
    stage(objective)
    _first_splits(objective, boxes, lists)
    _rank(objective, lists, legacy_rank)


@inline
def _least(lists: Lists, i: int) -> int:
    """Index of coordinate i's best list value; the start on ties."""
    best = int(lists.start[i])
    for j in range(lists.length[i]):
        if lists.f[i, j] < lists.f[i, best]:
            best = j
    return best


@inline
def _list_of_extrema(objective: Objective, lists: Lists, along: Line, x: float, i: int) -> None:
    """Step 0, the local minima, the interior local maxima; ends and the middle to make three. Offsets are from x."""
    s, a, f = along.points, along.a, along.f
    kept, count = np.zeros(s, np.int64), 0
    for k in range(s):
        top = 0 < k < s - 1 and f[k] >= f[k - 1] and f[k] >= f[k + 1]
        kept[k] = 1 if a[k] == 0.0 or is_minimum(along, k) or top else 0
        count += kept[k]
    for k in (0, s - 1, s // 2):
        if count < 3 and kept[k] == 0:
            kept[k] = 1
            count += 1
    length = 0
    for k in range(s):
        if kept[k] == 0:
            continue
        lists.x[i, length] = min(max(x + a[k], objective.lower[i]), objective.upper[i])
        lists.f[i, length] = f[k]
        if a[k] == 0.0:
            lists.start[i] = length
        length += 1
    lists.length[i] = length


@inline
def _first_splits(objective: Objective, boxes: Boxes, lists: Lists) -> None:
    n = lists.rank.size
    for i in range(n):
        x = lists.x[i, lists.start[i]]
        far = objective.upper[i] if objective.upper[i] - x >= x - objective.lower[i] else objective.lower[i]
        boxes.line[0, X, i], boxes.line[0, Y, i] = x, far
    boxes.value[0], boxes.level[0] = lists.f[0, lists.start[0]], 1
    boxes.count = 1
    k = boxes.count - 1
    for i in range(n):
        first = boxes.count
        split_by_list(objective, boxes, k, i, lists.x[i], lists.f[i], lists.length[i])
        last = lists.length[i] - 3
        vertex, _ = _over_triple(lists, i, last, lists.x[i, last], lists.x[i, last + 2], 1.0)
        k = _next_box(boxes, first, i, lists.x[i, _least(lists, i)], vertex)


@inline
def _next_box(boxes: Boxes, first: int, i: int, x: float, vertex: float) -> int:
    """The box from `first` on with base x along i; of two, the one on the side of vertex."""
    chosen = -1
    for k in range(first, boxes.count):
        if boxes.line[k, X, i] == x and (chosen < 0 or (boxes.line[k, Y, i] > x) == (vertex > x)):
            chosen = k
    return chosen


@inline
def _over_triple(lists: Lists, i: int, a: int, left: float, right: float, sign: float) -> tuple[float, float]:
    """Where on [left, right] sign × the parabola through list values a, a + 1, a + 2 is smallest, and its value."""
    x, f = lists.x, lists.f
    d0, d1, d2 = sign * f[i, a], sign * f[i, a + 1], sign * f[i, a + 2]
    return parabola_minimum(x[i, a], x[i, a + 1], x[i, a + 2], d0, d1, d2, left, right)


@inline
def _rank(objective: Objective, lists: Lists, legacy: bool) -> None:
    """Rank the coordinates by variability: how far the parabolas through consecutive triples reach over [u, v]."""
    n = lists.rank.size
    variability = np.empty(n)
    for i in range(n):
        low, high = np.inf, -np.inf
        last = lists.length[i] - 3
        for a in range(last + 1):
            left = objective.lower[i] if a == 0 and np.isfinite(objective.lower[i]) else lists.x[i, a]
            right = objective.upper[i] if a == last and np.isfinite(objective.upper[i]) else lists.x[i, a + 2]
            low = min(low, _over_triple(lists, i, a, left, right, 1.0)[1])
            high = max(high, -_over_triple(lists, i, a, left, right, -1.0)[1])
        variability[i] = low - high
    order = ascending(variability, n)
    for i in range(n):
        if legacy:
            lists.rank[i] = order[i]
        else:
            lists.rank[order[i]] = i
