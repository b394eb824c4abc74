"""Local search of multilevel coordinate search (Huyer & Neumaier 1999, §5): line searches, triple searches, box minima.

Coordinate line searches build a quadratic model (g, G) while they descend; its minimum over a trust box gives a
direction for a line search; after that, models come from points at ε^⅓-sized steps around the base (triple searches).

Beyond the paper, when tolerance > 0: a step that the model predicted well is taken without a line search, and the
search ends when the next gain, if convergence stays superlinear, is below tolerance × the gain since initialisation.
The paper's searches go on until a gain is exactly 0, which costs as much again.
"""

from typing import Annotated, Final

import numpy as np

from estimators.numerics.jit import inline, kernel
from estimators.quantities import Floats
from estimators.search.multilevel.coordinates import coordinate_search, leave_bounds
from estimators.search.multilevel.evaluation import RUNNING, Objective, SearchRules, copy, evaluate, stage
from estimators.search.multilevel.line.line import Line, clear, put, search_line
from estimators.search.multilevel.model import LocalModel, begin, triple_search
from estimators.search.multilevel.quadratic import box_minimum
from jointwatch_numba.layout import Function, Layout, Scratch, Vector

DIRECTION_STEPS: Final = 15

WELL: Final = 0.25  # |actual/predicted gain − 1| of a model that was right


class LocalSearch(Layout):
    """A local search: what it searches, how, and its model."""

    objective: Objective
    rules: SearchRules
    line_search: Function
    along: Line
    model: LocalModel
    trust: Annotated[Vector, "dimensions"]  # half the sides of the box around the base in which the model is trusted
    old: Scratch[Annotated[Vector, "dimensions"]]  # base before a step


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
def _slope(model: LocalModel, old: Floats) -> float:
    """b = |g|'max(|x|, |x_old|)."""
    total = 0.0
    for i in range(old.size):
        total += abs(model.g[i]) * max(abs(model.base[i]), abs(old[i]))
    return total


@inline
def _model_step(search: LocalSearch) -> tuple[float, bool]:
    """To the model's minimum within the trust box, and a line search that way, unless the model was right.

    Returns the gain over the predicted one, and whether there was a step.
    """
    objective, model, along, trust = search.objective, search.model, search.along, search.trust
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
    before = model.value
    predicted = before
    for i in range(n):
        predicted += p[i] * model.g[i]
        for j in range(n):
            predicted += 0.5 * p[i] * model.G[i, j] * p[j]
    value = evaluate(objective, x)
    ratio = (before - value) / (before - predicted)
    if search.rules.tolerance > 0.0 and value < before and abs(ratio - 1.0) < WELL:
        copy(x, base)
        model.value = value
        return ratio, True
    copy(base, along.base)
    along.points, along.cap = 0, DIRECTION_STEPS
    put(along, 0.0, before)
    put(along, 1.0, value)
    k = search_line(search.line_search, objective, along)
    if along.f[k] == before:
        return 0.0, True
    for i in range(n):
        base[i] = min(max(base[i] + along.a[k] * p[i], objective.lower[i]), objective.upper[i])
    model.value = along.f[k]
    if predicted == before:
        return 0.5, True
    return (before - along.f[k]) / (before - predicted), True


@inline
def _settled(along: Line, trust: Floats, ratio: float, gain: float, previous: float, small: float) -> bool:
    """Has a well-predicted step inside the trust box gained so little that the next gain, gain²/previous, is small?"""
    for i in range(trust.size):
        if abs(along.direction[i]) >= trust[i]:
            return False
    return abs(ratio - 1.0) < 2.0 * WELL and gain * gain < small * previous


@inline
def _begin(search: LocalSearch, x: Floats, f: float) -> None:
    """The model from line searches along every coordinate from x (value f), and the first trust box."""
    objective, model = search.objective, search.model
    clear(search.along)
    begin(model, x, f)
    coordinate_search(objective, search.line_search, model, search.along)
    stage(objective)
    for i in range(x.size):
        low, high, base = objective.lower[i], objective.upper[i], model.base[i]
        origin = min(max(0.0, low), high)
        search.trust[i] = min(base - low, high - base, 0.25 * (1.0 + abs(x[i] - origin)))


@inline
def _step(search: LocalSearch) -> tuple[float, bool, float]:
    """A step from the model; returns what _model_step() does, and the slope after it."""
    copy(search.model.base, search.old)
    ratio, moved = _model_step(search)
    stage(search.objective)
    return ratio, moved, _slope(search.model, search.old)


@kernel((LocalSearch, "f8[::1]", "f8"))
def local_search(search: LocalSearch, x: Floats, f: float) -> float:
    """Descend from x (value f); x becomes the minimiser. Returns the minimum."""
    n = x.size
    objective, model, rules = search.objective, search.model, search.rules
    _begin(search, x, f)
    ratio, moved, slope = _step(search)
    gain = previous = f - model.value
    interior = _interior(objective, model.base)
    diagonal = False
    for _ in range(rules.local_steps):
        if objective.stop != RUNNING:
            break
        flat = rules.gamma * (rules.start - f)  # a slope below it counts as none
        converged = slope < flat or gain == 0.0
        if not (diagonal or interior < n or (slope >= flat and gain > 0.0)):
            break
        f = model.value
        if interior < n and converged and not leave_bounds(objective, search.line_search, model, search.along):
            break
        full = abs(ratio - 1.0) > 0.25 or converged
        triple_search(objective, model, full)
        stage(objective)
        diagonal = not full
        if ratio < 0.25:
            _scale(search.trust, 0.5)
        elif ratio > 0.75:
            _scale(search.trust, 2.0)
        ratio, moved, slope = _step(search)
        if not moved and full and interior == n:
            break
        interior = _interior(objective, model.base)
        gain = f - model.value
        if _settled(search.along, search.trust, ratio, gain, previous, rules.tolerance * (rules.start - model.value)):
            break
        previous = gain
    copy(model.base, x)
    return float(model.value)
