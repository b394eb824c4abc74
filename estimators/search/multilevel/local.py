"""Local search of multilevel coordinate search (Huyer & Neumaier 1999, §5): line searches, triple searches, box minima.

Coordinate line searches build a quadratic model (g, G) while they descend; its minimum over a trust box gives a direction
for a line search; after that, models come from points at ε^⅓-sized steps around the base (triple searches).
"""

from collections.abc import Callable
from typing import Final, NamedTuple

import numba
import numpy as np

from estimators.base import Floats
from estimators.jit import inline, kernel
from estimators.search.multilevel.evaluation import FLOATS, OBJECTIVE_TYPE, RUNNING, STOP, Objective, copy, evaluate, stage
from estimators.search.multilevel.line_search import CAP, POINTS, SEARCH, Line, best, line, put
from estimators.search.multilevel.quadratic import EPSILON, box_minimum

DIFFERENCE: Final = EPSILON ** (1.0 / 3.0)
COORDINATE_STEPS: Final = 6
DIRECTION_STEPS: Final = 15

Search = Callable[[Objective, Line], int]

VALUE: Final = 0  # index into Model.value


class Model(NamedTuple):
    """The base point and the quadratic model around it: f(x) ≈ value + g'(x − base) + ½ (x − base)'G (x − base)."""

    base: Floats  # (dimensions,)
    value: Floats  # (1,)
    g: Floats  # (dimensions,)
    G: Floats  # (dimensions, dimensions)
    left: Floats  # (dimensions,) two more abscissae per coordinate
    right: Floats
    x: Floats  # (dimensions,) scratch
    new: Floats  # (dimensions,) scratch: the best point seen around the base


@inline
def difference(x: float) -> float:
    """δ: the step of a difference at x."""
    return DIFFERENCE * abs(x) if x != 0.0 else DIFFERENCE


@inline
def _scale(x: Floats, factor: float) -> None:
    for i in range(x.size):
        x[i] *= factor


@inline
def _interior(objective: Objective, x: Floats) -> int:
    count = 0
    for i in range(x.size):
        if objective.lower[i] < x[i] < objective.upper[i]:
            count += 1
    return count


@inline
def _slope(model: Model, old: Floats) -> float:
    """b = |g|'max(|x|, |x_old|)."""
    total = 0.0
    for i in range(old.size):
        total += abs(model.g[i]) * max(abs(model.base[i]), abs(old[i]))
    return total


@inline
def _model_step(objective: Objective, search: Search, model: Model, along: Line, trust: Floats) -> tuple[float, bool]:
    """To the model's minimum within the trust box and a line search that way; actual over predicted gain, and if moved."""
    n = trust.size
    base, p, x = model.base, along.direction, model.x
    low, high = np.empty(n), np.empty(n)
    for i in range(n):
        low[i] = max(-trust[i], objective.lower[i] - base[i])
        high[i] = min(trust[i], objective.upper[i] - base[i])
    copy(box_minimum(model.g, model.G, low, high), p)
    moved = False
    for i in range(n):
        x[i] = min(max(base[i] + p[i], objective.lower[i]), objective.upper[i])
        p[i] = x[i] - base[i]
        moved = moved or p[i] != 0.0
    if not moved:
        return 0.0, False
    before = model.value[VALUE]
    predicted = before
    for i in range(n):
        predicted += p[i] * model.g[i]
        for j in range(n):
            predicted += 0.5 * p[i] * model.G[i, j] * p[j]
    value = evaluate(objective, x)
    copy(base, along.base)
    along.size[POINTS] = 0
    put(along, 0.0, before)
    put(along, 1.0, value)
    along.size[CAP] = DIRECTION_STEPS
    k = search(objective, along)
    if along.f[k] == before:
        return 0.0, True
    for i in range(n):
        base[i] = min(max(base[i] + along.a[k] * p[i], objective.lower[i]), objective.upper[i])
    model.value[VALUE] = along.f[k]
    if predicted == before:
        return 0.5, True
    return (before - along.f[k]) / (before - predicted), True


@inline
def _leave_bounds(objective: Objective, search: Search, model: Model, along: Line) -> bool:
    """From each coordinate on a bound a step inwards, and a line search where that is better; True if any was."""
    n = model.base.size
    base, x = model.base, model.x
    better = False
    for i in range(n):
        if objective.lower[i] < base[i] < objective.upper[i]:
            continue
        inward = difference(base[i]) if base[i] <= objective.lower[i] else -difference(base[i])
        copy(base, x)
        x[i] = min(max(base[i] + inward, objective.lower[i]), objective.upper[i])
        value = evaluate(objective, x)
        if value < model.value[VALUE]:
            _aim(along, model, i)
            put(along, x[i] - base[i], value)
            k = search(objective, along)
            base[i] = min(max(base[i] + along.a[k], objective.lower[i]), objective.upper[i])
            model.value[VALUE] = along.f[k]
            better = True
    return better


@inline
def _aim(along: Line, model: Model, i: int) -> None:
    """A line from the base along coordinate i, with step 0 known."""
    copy(model.base, along.base)
    for j in range(along.direction.size):
        along.direction[j] = 1.0 if j == i else 0.0
    along.size[POINTS], along.size[CAP] = 0, COORDINATE_STEPS
    put(along, 0.0, model.value[VALUE])


@inline
def _expand(model: Model, i: int, at_left: float, at_right: float) -> None:
    """g_i and G_ii of the parabola through the base, left_i and right_i, expanded at the base."""
    to_left, to_right = model.left[i] - model.base[i], model.right[i] - model.base[i]
    slope_left, slope_right = (at_left - model.value[VALUE]) / to_left, (at_right - model.value[VALUE]) / to_right
    model.G[i, i] = 2.0 * (slope_right - slope_left) / (to_right - to_left)
    model.g[i] = slope_left - 0.5 * model.G[i, i] * to_left


@inline
def _predicted(model: Model, k: int, x: float) -> float:
    d = x - model.base[k]
    return d * (model.g[k] + 0.5 * model.G[k, k] * d)


@inline
def _cross_terms(objective: Objective, model: Model, i: int, new_value: float) -> tuple[float, int]:
    """G_ik for every k < i from one value each, with i at model.x[i] and k where the model is lower.

    new_value: the best value seen, at model.new. Returns it as it is after these, and the k of the best point (−1: none).
    """
    base, x = model.base, model.x
    partner = -1
    di = x[i] - base[i]
    for k in range(i):
        if model.left[k] == base[k]:  # on a bound in a triple search: no part of the model
            continue
        at_left, at_right = _predicted(model, k, model.left[k]), _predicted(model, k, model.right[k])
        x[k] = model.left[k] if at_left <= at_right else model.right[k]
        value = evaluate(objective, x)
        rest = value - model.value[VALUE] - _predicted(model, i, x[i]) - _predicted(model, k, x[k])
        model.G[i, k] = model.G[k, i] = rest / (di * (x[k] - base[k]))
        if value < new_value:
            new_value, partner = value, k
            copy(x, model.new)
        x[k] = base[k]
    return new_value, partner


@inline
def _move(model: Model, i: int, partner: int, value: float) -> None:
    """The base to model.new, which differs in i and partner; the abscissae and the model's first i + 1 rows follow."""
    base, new = model.base, model.new
    for j in (i, partner):
        if j < 0:
            continue
        if model.left[j] == new[j]:
            model.left[j] = base[j]
        elif model.right[j] == new[j]:
            model.right[j] = base[j]
    for k in range(i + 1):
        model.g[k] += model.G[k, i] * (new[i] - base[i])
        if partner >= 0:
            model.g[k] += model.G[k, partner] * (new[partner] - base[partner])
    copy(new, base)
    model.value[VALUE] = value


@inline
def _coordinate_search(objective: Objective, search: Search, model: Model, along: Line) -> None:
    """Step 1 of the local search: a line search along every coordinate, and the model from what they saw."""
    n = model.base.size
    for i in range(n):
        if objective.count[STOP] != RUNNING:
            return
        x = model.base[i]
        copy(model.base, model.new)
        _aim(along, model, i)
        rises = False
        if not objective.lower[i] < x < objective.upper[i]:
            inward = difference(x) if x <= objective.lower[i] else -difference(x)
            copy(model.base, model.x)
            model.x[i] = x + inward
            value = evaluate(objective, model.x)
            rises = value >= model.value[VALUE]
            put(along, inward, value)
        if rises:
            at_left, at_right, value = _stay(objective, model, i, inward, value)
        else:
            search(objective, along)
            at_left, at_right, value = _three_abscissae(objective, model, along, i)
        _expand(model, i, at_left, at_right)
        copy(model.base, model.x)
        model.x[i] = model.left[i] if at_left <= at_right else model.right[i]
        value, partner = _cross_terms(objective, model, i, value)
        _move(model, i, partner, value)


@inline
def _stay(objective: Objective, model: Model, i: int, inward: float, value: float) -> tuple[float, float, float]:
    """On a bound with f rising inwards: δ (f is value) and 2δ are the abscissae. Returns f at both, and the best f."""
    x = model.base[i]
    model.left[i], model.right[i] = x + inward, x + 2.0 * inward
    model.x[i] = model.right[i]
    further = evaluate(objective, model.x)
    if further < model.value[VALUE]:
        model.new[i] = model.right[i]
        return value, further, further
    return value, further, model.value[VALUE]


@inline
def _three_abscissae(objective: Objective, model: Model, along: Line, i: int) -> tuple[float, float, float]:
    """Base, left and right of coordinate i from a line search. Returns f at left and right, and the best f."""
    _drop_close(along, difference(model.base[i]))
    a, f, s = along.a, along.f, along.size[POINTS]
    j = best(along)
    x = model.base[i]
    model.new[i] = min(max(x + a[j], objective.lower[i]), objective.upper[i])
    first, second = j, j
    if i == 0 or a[j] == 0.0:
        first = j - 1 if j > 0 else 1
        second = j + 1 if 0 < j < s - 1 else (2 if j == 0 else j - 2)
        model.base[i] = model.new[i]
        model.value[VALUE] = f[j]
    elif a[j] > 0.0 and j < s - 1:
        second = j + 1
    elif j == 0:
        second = 1 if a[1] != 0.0 else 2
    else:
        second = j - 1 if a[j - 1] != 0.0 else j - 2
    model.left[i], model.right[i] = x + a[first], x + a[second]
    return f[first], f[second], f[j]


@inline
def _drop_close(along: Line, tolerance: float) -> None:
    """Remove steps closer than the tolerance to the best one, as long as three are left."""
    a, f = along.a, along.f
    centre = a[best(along)]
    kept, s = 0, along.size[POINTS]
    for k in range(s):
        if a[k] == centre or abs(a[k] - centre) >= tolerance or kept + s - k <= 3:
            a[kept], f[kept] = a[k], f[k]
            kept += 1
    along.size[POINTS] = kept


@inline
def _triple_search(objective: Objective, model: Model, full: bool) -> None:
    """The model anew (full) or its diagonal from points at ±δ around the base, which follows the best of them.

    Coordinates on a bound have no part in it: their rows are zero.
    """
    n = model.base.size
    for i in range(n):
        x, low, high = model.base[i], objective.lower[i], objective.upper[i]
        delta = difference(x)
        model.left[i], model.right[i] = max(x - delta, low), min(x + delta, high)
        if x <= low or x >= high:
            model.left[i] = model.right[i] = x
            model.g[i] = 0.0
        for k in range(n):
            if full or model.left[i] == model.right[i]:
                model.G[i, k] = model.G[k, i] = 0.0
    for i in range(n):
        if objective.count[STOP] != RUNNING:
            return
        if model.left[i] == model.base[i] == model.right[i]:
            continue
        x = model.x
        copy(model.base, x)
        copy(model.base, model.new)
        value, partner = model.value[VALUE], -1
        x[i] = model.left[i]
        at_left = evaluate(objective, x)
        x[i] = model.right[i]
        at_right = evaluate(objective, x)
        _expand(model, i, at_left, at_right)
        x[i] = model.left[i] if at_left <= at_right else model.right[i]
        if min(at_left, at_right) < value:
            value = min(at_left, at_right)
            model.new[i] = x[i]
        if full:
            value, partner = _cross_terms(objective, model, i, value)
        if value < model.value[VALUE]:
            _move(model, i, partner, value)


@kernel(numba.float64(OBJECTIVE_TYPE, SEARCH, FLOATS, numba.float64, numba.float64, numba.int64, numba.float64))
def local_search(
    objective: Objective, search: Search, x: Floats, f: float, f0: float, most: int, gamma: float
) -> float:
    """Descend from x (value f) in at most `most` steps; x becomes the minimiser. Returns the minimum.

    search: line_search; f0: best value after initialisation.
    """
    n = x.size
    lower, upper = objective.lower, objective.upper
    along = line(n)
    model = Model(
        x.copy(), np.array([f]), np.zeros(n), np.zeros((n, n)), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    )
    origin = np.empty(n)
    for i in range(n):
        origin[i] = min(max(0.0, lower[i]), upper[i])
    _coordinate_search(objective, search, model, along)
    stage(objective)
    base, old = model.base, model.base.copy()
    trust = np.empty(n)
    for i in range(n):
        trust[i] = min(base[i] - lower[i], upper[i] - base[i], 0.25 * (1.0 + abs(x[i] - origin[i])))
    ratio, moved = _model_step(objective, search, model, along, trust)
    stage(objective)
    gain = f - model.value[VALUE]
    slope = _slope(model, old)
    interior = _interior(objective, base)
    diagonal = False
    for _ in range(most):
        if objective.count[STOP] != RUNNING:
            break
        start = model.value[VALUE]
        converged = slope < gamma * (f0 - f) or gain == 0.0
        if not (diagonal or interior < n or (slope >= gamma * (f0 - f) and gain > 0.0)):
            break
        f = start
        if interior < n and converged and not _leave_bounds(objective, search, model, along):
            break
        full = abs(ratio - 1.0) > 0.25 or converged
        _triple_search(objective, model, full)
        stage(objective)
        diagonal = not full
        copy(base, old)
        if ratio < 0.25:
            _scale(trust, 0.5)
        elif ratio > 0.75:
            _scale(trust, 2.0)
        ratio, moved = _model_step(objective, search, model, along, trust)
        stage(objective)
        if not moved and full and interior == n:
            break
        interior = _interior(objective, base)
        gain = f - model.value[VALUE]
        slope = _slope(model, old)
    copy(base, x)
    return model.value[VALUE]


LOCAL: Final = numba.types.FunctionType(
    numba.float64(OBJECTIVE_TYPE, SEARCH, FLOATS, numba.float64, numba.float64, numba.int64, numba.float64)
)
