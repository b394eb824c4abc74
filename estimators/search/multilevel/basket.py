"""The basket of local minimisers: is a candidate, or a minimum just found, in the valley of one that is known?

Huyer & Neumaier 1999, §5.4: two values at a third and two thirds of the way tell.
"""

from typing import NamedTuple

import numpy as np

from estimators.base import Floats
from estimators.jit import inline
from estimators.search.multilevel.boxes import BASKET, CONSIDERED
from estimators.search.multilevel.evaluation import Ints, Objective, evaluate


class Basket(NamedTuple):
    """Local minimisers, and the points from which a local search has been considered."""

    point: Floats  # (capacity, dimensions)
    value: Floats  # (capacity,)
    considered: Floats  # (capacity, dimensions)
    size: Ints  # shared with Boxes


@inline
def consider(basket: Basket, x: Floats) -> bool:
    """Remember x; False if it was there already."""
    for k in range(basket.size[CONSIDERED]):
        if np.all(basket.considered[k] == x):
            return False
    basket.considered[basket.size[CONSIDERED]] = x
    basket.size[CONSIDERED] += 1
    return True


@inline
def is_new_valley(objective: Objective, basket: Basket, x: Floats, f: float) -> tuple[bool, float]:
    """Before a local search from x: False if it would end at a known minimum. x may move to a better point; its value."""
    y = np.empty(x.size)
    for i in _by_distance(basket, x):
        if basket.value[i] > f:
            continue
        w = basket.point[i]
        y[:] = x + (w - x) / 3.0
        f1 = evaluate(objective, y)
        if f1 > f:
            continue
        z = x + 2.0 / 3.0 * (w - x)
        f2 = evaluate(objective, z)
        if f2 > max(f1, basket.value[i]):
            if f1 < f:
                x[:], f = y, f1
        elif f1 < min(f2, basket.value[i]):
            x[:], f = y, f1
        elif f2 < min(f1, basket.value[i]):
            x[:], f = z, f2
        else:
            return False, f
    return True, f


@inline
def keep(objective: Objective, basket: Basket, x: Floats, f: float) -> None:
    """After a local search that ended at x: into the basket, or in place of the known minimum of the same valley."""
    for i in _by_distance(basket, x):
        w, fw = basket.point[i], basket.value[i]
        y = x + (w - x) / 3.0
        f1 = evaluate(objective, y)
        if f1 > max(fw, f):
            continue
        z = x + 2.0 / 3.0 * (w - x)
        f2 = evaluate(objective, z)
        if f2 > max(f1, fw):
            continue
        if f < min(f1, f2, fw):
            w[:], basket.value[i] = x, f
        elif f1 < min(f2, fw):
            w[:], basket.value[i] = y, f1
        elif f2 < fw:
            w[:], basket.value[i] = z, f2
        return
    k = basket.size[BASKET]
    basket.point[k], basket.value[k] = x, f
    basket.size[BASKET] = k + 1


@inline
def _by_distance(basket: Basket, x: Floats) -> Ints:
    count = basket.size[BASKET]
    distance = np.empty(count)
    for k in range(count):
        distance[k] = np.sum((basket.point[k] - x) ** 2)
    return np.argsort(distance, kind="mergesort")
