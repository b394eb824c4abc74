"""The basket of local minimisers: is a candidate, or a minimum just found, in the valley of one that is known?

Huyer & Neumaier 1999, §5.4: two values at a third and two thirds of the way tell.
"""

from typing import Annotated

import numpy as np

from estimators.numerics.jit import inline
from estimators.quantities import Floats
from estimators.search.multilevel.evaluation import Ints, Objective, ascending, copy, evaluate
from jointwatch_numba.layout import Layout, Matrix, Vector


class Basket(Layout):
    """Local minimisers, and the points from which a local search has been considered."""

    point: Annotated[Matrix, "capacity", "dimensions"]
    value: Annotated[Vector, "capacity"]
    considered: Annotated[Matrix, "capacity", "dimensions"]
    count: int = 0  # minimisers
    seen: int = 0  # points considered


@inline
def consider(basket: Basket, x: Floats) -> bool:
    """Remember x; False if it was there already."""
    for k in range(basket.seen):
        if _distance(basket.considered[k], x) == 0.0:
            return False
    copy(x, basket.considered[basket.seen])
    basket.seen += 1
    return True


@inline
def is_new_valley(objective: Objective, basket: Basket, x: Floats, f: float) -> tuple[bool, float]:
    """Whether a local search from x would end at a new minimum, and f at x, which may have moved to a better point."""
    y, z = np.empty(x.size), np.empty(x.size)
    for i in _by_distance(basket, x):
        if basket.value[i] > f:
            continue
        w = basket.point[i]
        _between(x, w, 1.0 / 3.0, y)
        f1 = evaluate(objective, y)
        if f1 > f:
            continue
        _between(x, w, 2.0 / 3.0, z)
        f2 = evaluate(objective, z)
        if f2 > max(f1, basket.value[i]):
            if f1 < f:
                copy(y, x)
                f = f1
        elif f1 < min(f2, basket.value[i]):
            copy(y, x)
            f = f1
        elif f2 < min(f1, basket.value[i]):
            copy(z, x)
            f = f2
        else:
            return False, f
    return True, f


@inline
def keep(objective: Objective, basket: Basket, x: Floats, f: float) -> None:
    """Put the end x of a local search into the basket, or in place of the known minimum of the same valley."""
    y, z = np.empty(x.size), np.empty(x.size)
    for i in _by_distance(basket, x):
        w, fw = basket.point[i], basket.value[i]
        _between(x, w, 1.0 / 3.0, y)
        f1 = evaluate(objective, y)
        if f1 > max(fw, f):
            continue
        _between(x, w, 2.0 / 3.0, z)
        f2 = evaluate(objective, z)
        if f2 > max(f1, fw):
            continue
        if f < min(f1, f2, fw):
            copy(x, w)
            basket.value[i] = f
        elif f1 < min(f2, fw):
            copy(y, w)
            basket.value[i] = f1
        elif f2 < fw:
            copy(z, w)
            basket.value[i] = f2
        return
    k = basket.count
    copy(x, basket.point[k])
    basket.value[k] = f
    basket.count = k + 1


@inline
def _between(x: Floats, w: Floats, part: float, y: Floats) -> None:
    for i in range(x.size):
        y[i] = x[i] + part * (w[i] - x[i])


@inline
def _distance(x: Floats, w: Floats) -> float:
    total = 0.0
    for i in range(x.size):
        total += (w[i] - x[i]) ** 2
    return total


@inline
def _by_distance(basket: Basket, x: Floats) -> Ints:
    count = basket.count
    distance = np.empty(count)
    for k in range(count):
        distance[k] = _distance(basket.point[k], x)
    return ascending(distance, count)
