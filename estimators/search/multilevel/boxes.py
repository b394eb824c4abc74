"""Boxes of multilevel coordinate search: their store, the two kinds of split, and which split a box gets.

Huyer & Neumaier 1999, §3 (splits) and §4 (by rank, by expected gain). A box is its base point x (f known) and the
opposite point y; along a coordinate never split it is the whole [u, v]. Under the separable model of §4, a move of the
base along one coordinate leaves the differences along the others as they are, so children inherit them.
"""

from typing import Annotated, Final

import numpy as np

from estimators.numerics.jit import inline
from estimators.quantities import Floats
from estimators.search.multilevel.evaluation import Ints, Objective, copy, evaluate
from jointwatch_numba.layout import Cube, IntegerMatrix, Integers, Layout, Matrix, Vector

GOLDEN: Final = 0.5 * (5.0**0.5 - 1.0)

X: Final = 0  # rows of Boxes.line: base and opposite point,
Y: Final = 1
P1: Final = 2  # two neighbours and f there less f at the base,
D1: Final = 3
P2: Final = 4
D2: Final = 5
H: Final = 6  # and the neighbour that becomes the second one at the next split
DH: Final = 7
ROWS: Final = 8


class Boxes(Layout):
    """All boxes, in the order of their making."""

    line: Annotated[Cube, "capacity", "8", "dimensions"]  # rows X … DH
    value: Annotated[Vector, "capacity"]  # f at the base point
    splits: Annotated[IntegerMatrix, "capacity", "dimensions"]  # how often each coordinate was split
    level: Annotated[Integers, "capacity"]  # 0: already split; from 1 up to, not including, the last level: open
    gainless: Annotated[Integers, "capacity"]  # 1: no expected gain
    record: Annotated[Integers, "levels"]  # per level the open box with the smallest value, −1: none; its size is s_max
    candidate: Annotated[Matrix, "room", "dimensions"]  # base points that reached the last level in this sweep
    candidate_value: Annotated[Vector, "room"]
    count: int = 0  # boxes
    candidates: int = 0
    sweeps: int = 0
    progress: int = 0  # the last sweep that found a better point


class Lists(Layout):
    """The initialisation list, Huyer & Neumaier 1999, §3."""

    x: Annotated[Matrix, "dimensions", "longest"]  # ascending
    f: Annotated[Matrix, "dimensions", "longest"]  # values found at initialisation
    length: Annotated[Integers, "dimensions"]
    start: Annotated[Integers, "dimensions"]  # index of the start value
    rank: Annotated[Integers, "dimensions"]  # 0: the most variable coordinate


@inline
def subinterval(x: float, y: float, factor: float) -> float:
    """y, or something nearer to x when y is very far away (infinite, say)."""
    if factor * abs(x) < 1.0:
        if abs(y) > factor:
            return float(np.sign(y))
    elif abs(y) > factor * abs(x):
        return float(10.0 * np.sign(y) * abs(x))
    return y


@inline
def add_box(boxes: Boxes, parent: int, level: int, i: int, value: float, row: Floats) -> None:
    """A child of parent, split along i; row: its line along i. At the last level it is a candidate instead."""
    last = boxes.record.size
    n = boxes.splits.shape[1]
    if level >= last:
        k = boxes.candidates
        boxes.candidates = k + 1
        for j in range(n):
            boxes.candidate[k, j] = boxes.line[parent, X, j]
        boxes.candidate[k, i] = row[X]
        boxes.candidate_value[k] = value
        return
    k = boxes.count
    boxes.count = k + 1
    for j in range(n):
        boxes.splits[k, j] = boxes.splits[parent, j]
        for r in range(ROWS):
            boxes.line[k, r, j] = boxes.line[parent, r, j]
    for r in range(ROWS):
        boxes.line[k, r, i] = row[r]
    boxes.value[k] = value
    boxes.splits[k, i] += 1
    boxes.level[k] = level
    boxes.gainless[k] = 0
    note(boxes, k)


@inline
def note(boxes: Boxes, k: int) -> None:
    """Box k into the record list, if it is the best of its level."""
    s = boxes.level[k]
    if boxes.record[s] < 0 or boxes.value[k] < boxes.value[boxes.record[s]]:
        boxes.record[s] = k


@inline
def promote(boxes: Boxes, k: int) -> None:
    """Box k is not split in this sweep: one level up, or a candidate."""
    level = boxes.level[k] + 1
    if level < boxes.record.size:
        boxes.level[k] = level
        note(boxes, k)
        return
    boxes.level[k] = 0
    c = boxes.candidates
    boxes.candidates = c + 1
    copy(boxes.line[k, X], boxes.candidate[c])
    boxes.candidate_value[c] = boxes.value[k]


@inline
def split_by_list(objective: Objective, boxes: Boxes, k: int, i: int, x: Floats, f: Floats, length: int) -> None:
    """Box k along i at the first `length` list values x (ascending) with function values f."""
    s, last = boxes.level[k], length - 1
    row = np.empty(ROWS)
    boxes.level[k] = 0
    if x[0] > objective.lower[i]:
        _list_row(row, x, f, 0, 1, length)
        row[Y] = objective.lower[i]
        add_box(boxes, k, s + 1, i, f[0], row)
    for j in range(last):
        larger_left = f[j] <= f[j + 1]
        z = x[j] + (GOLDEN if larger_left else 1.0 - GOLDEN) * (x[j + 1] - x[j])
        _list_row(row, x, f, j, j + 1, length)
        row[Y] = z
        add_box(boxes, k, s + (1 if larger_left else 2), i, f[j], row)
        _list_row(row, x, f, j + 1, j, length)
        row[Y] = z
        add_box(boxes, k, s + (2 if larger_left else 1), i, f[j + 1], row)
    if x[last] < objective.upper[i]:
        _list_row(row, x, f, last, last - 1, length)
        row[Y] = objective.upper[i]
        add_box(boxes, k, s + 1, i, f[last], row)


@inline
def _list_row(row: Floats, x: Floats, f: Floats, j: int, other: int, length: int) -> None:
    """The line, but for its Y, of the child with base x[j]; `other` is the list value across its opposite end."""
    a = min(max(j, 1), length - 2)  # the triple a − 1, a, a + 1 holds j and its two neighbours
    first = a if j == a - 1 else a - 1
    second = a if j == a + 1 else a + 1
    row[X] = x[j]
    row[P1], row[D1] = x[first], f[first] - f[j]
    row[P2], row[D2] = x[second], f[second] - f[j]
    row[H], row[DH] = x[other], f[other] - f[j]


@inline
def split_at(boxes: Boxes, k: int, i: int, z: float, fz: float) -> None:
    """Box k along i at z, where f is fz."""
    row = np.empty(ROWS)
    s = boxes.level[k]
    x, y, f = boxes.line[k, X, i], boxes.line[k, Y, i], boxes.value[k]
    h, dh = boxes.line[k, H, i], boxes.line[k, DH, i]
    near = f <= fz  # the part of the better point is the larger one
    g = x + (GOLDEN if near else 1.0 - GOLDEN) * (z - x)
    boxes.level[k] = 0
    row[X], row[Y], row[P1], row[D1], row[P2], row[D2], row[H], row[DH] = x, g, z, fz - f, h, dh, z, fz - f
    add_box(boxes, k, s + (1 if near else 2), i, f, row)
    row[X], row[P1], row[D1], row[D2], row[H], row[DH] = z, x, f - fz, dh - (fz - f), x, f - fz
    add_box(boxes, k, s + (2 if near else 1), i, fz, row)
    if z != y:
        row[Y] = y
        add_box(boxes, k, s + (1 if abs(y - z) > (1.0 - GOLDEN) * abs(z - x) else 2), i, fz, row)


@inline
def least_split(boxes: Boxes, k: int, rank: Ints) -> int:
    """Rule R: the coordinate split least often, the most variable one of those."""
    best = 0
    for i in range(1, rank.size):
        a, b = boxes.splits[k, i], boxes.splits[k, best]
        if a < b or (a == b and rank[i] < rank[best]):
            best = i
    return best


@inline
def parabola_minimum(
    x0: float, x1: float, x2: float, d0: float, d1: float, d2: float, a: float, b: float
) -> tuple[float, float]:
    """Where on [a, b] the parabola through (x0, d0), (x1, d1), (x2, d2) is smallest, and its value there."""
    slope = (d1 - d0) / (x1 - x0)
    curve = ((d2 - d1) / (x2 - x1) - slope) / (x2 - x0)
    if curve > 0.0:
        z = 0.5 * (x0 + x1 - slope / curve)
        if a <= z <= b:
            return z, d0 + (z - x0) * (slope + curve * (z - x1))
    at_a = d0 + (a - x0) * (slope + curve * (a - x1))
    at_b = d0 + (b - x0) * (slope + curve * (b - x1))
    if at_a < at_b:
        return a, at_a
    return b, at_b


@inline
def expected_gain(boxes: Boxes, k: int, lists: Lists) -> tuple[int, float, float]:
    """Rule G: the coordinate, the value at which to split it, and the (negative) gain by the separable model."""
    chosen, where, least = -1, 0.0, np.inf
    for i in range(lists.rank.size):
        if boxes.splits[k, i] == 0:
            z, gain = 0.0, np.inf
            for j in range(lists.length[i]):
                gain = min(gain, lists.f[i, j] - lists.f[i, lists.start[i]])
        else:
            x, p1, p2 = boxes.line[k, X, i], boxes.line[k, P1, i], boxes.line[k, P2, i]
            far = subinterval(x, boxes.line[k, Y, i], 1000.0)
            near = x + (far - x) / 10.0
            d1, d2 = boxes.line[k, D1, i], boxes.line[k, D2, i]
            z, gain = parabola_minimum(x, p1, p2, 0.0, d1, d2, min(near, far), max(near, far))
        if gain < least:
            chosen, where, least = i, z, gain
    return chosen, where, least


@inline
def process(objective: Objective, boxes: Boxes, k: int, lists: Lists, far: float, x: Floats) -> None:
    """Split box k, or promote it; far: factor of subinterval in rule R; x (dimensions,): scratch."""
    n = x.size
    fewest = boxes.splits[k, 0]
    for i in range(1, n):
        fewest = min(fewest, boxes.splits[k, i])
    if boxes.level[k] > 2 * n * (fewest + 1):
        i = least_split(boxes, k, lists.rank)
        base = boxes.line[k, X, i]
        z = base + 2.0 / 3.0 * (subinterval(base, boxes.line[k, Y, i], far) - base)
    else:
        i, z = -1, 0.0
        if boxes.gainless[k] == 0:
            i, z, gain = expected_gain(boxes, k, lists)
            if not boxes.value[k] + gain < objective.value:
                i = -1
                boxes.gainless[k] = 1
        if i < 0:
            promote(boxes, k)
            return
    copy(boxes.line[k, X], x)
    if boxes.splits[k, i] > 0:
        x[i] = z
        split_at(boxes, k, i, z, evaluate(objective, x))
        return
    length = lists.length[i]
    values = np.empty(length)
    for j in range(length):
        x[i] = lists.x[i, j]
        values[j] = boxes.value[k] if j == lists.start[i] else evaluate(objective, x)
    split_by_list(objective, boxes, k, i, lists.x[i], values, length)
