"""Local search of multilevel coordinate search (Huyer & Neumaier 1999, §5): line searches, triple searches, box minima.

Coordinate line searches build a quadratic model (g, G) while they descend; its minimum over a trust box gives a
direction for a line search; after that, models come from points at ε^⅓-sized steps around the base (triple searches).

Beyond the paper, when tolerance > 0: a step that the model foretold well is taken without a line search, and the
search ends when the next gain, if convergence stays superlinear, is below tolerance × the gain since initialisation.
The paper's searches go on until a gain is exactly 0, which costs as much again.
"""

from typing import Any, Final

import numba
import numpy as np

from estimators.numerics.jit import inline, kernel
from estimators.quantities import Floats
from estimators.search.multilevel.coordinates import coordinate_search, leave_bounds
from estimators.search.multilevel.evaluation import (
    FLOATS,
    OBJECTIVE_TYPE,
    RUNNING,
    STOP,
    Objective,
    copy,
    evaluate,
    stage,
)
from estimators.search.multilevel.line.line import CAP, POINTS, SEARCH, Line, Search, empty_line, put
from estimators.search.multilevel.model import VALUE, LocalModel, triple_search
from estimators.search.multilevel.quadratic import box_minimum

DIRECTION_STEPS: Final = 15
SIGNATURE: Final[Any] = numba.float64(
    OBJECTIVE_TYPE, SEARCH, FLOATS, numba.float64, numba.float64, numba.int64, numba.float64, numba.float64
)
LOCAL: Final[Any] = numba.types.FunctionType(SIGNATURE)

WELL: Final = 0.25  # |actual/predicted gain − 1| of a model that was right


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
def _model_step(
    objective: Objective, search: Search, model: LocalModel, along: Line, trust: Floats, brief: bool
) -> tuple[float, bool]:
    """To the model's minimum within the trust box, and a line search that way; brief: not where the model was right.

    Returns the gain over the predicted one, and whether there was a step.
    """
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
    ratio = (before - value) / (before - predicted)
    if brief and value < before and abs(ratio - 1.0) < WELL:
        copy(x, base)
        model.value[VALUE] = value
        return ratio, True
    copy(base, along.base)
    along.size[POINTS], along.size[CAP] = 0, DIRECTION_STEPS
    put(along, 0.0, before)
    put(along, 1.0, value)
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
def _settled(along: Line, trust: Floats, ratio: float, gain: float, previous: float, small: float) -> bool:
    """Has a well-foretold step inside the trust box gained so little that the next gain, gain²/previous, is small?"""
    for i in range(trust.size):
        if abs(along.direction[i]) >= trust[i]:
            return False
    return abs(ratio - 1.0) < 2.0 * WELL and gain * gain < small * previous


@kernel(SIGNATURE)
def local_search(
    objective: Objective,
    search: Search,
    x: Floats,
    f: float,
    f0: float,
    most: int,
    gamma: float,
    tolerance: float,
) -> float:
    """Descend from x (value f) in at most `most` steps; x becomes the minimiser. Returns the minimum.

    search: line_search; f0: best value after initialisation; gamma: the paper's stop; tolerance: 0 for that alone.
    """
    n = x.size
    lower, upper = objective.lower, objective.upper
    along = empty_line(n)
    model = LocalModel(
        x.copy(), np.array([f]), np.zeros(n), np.zeros((n, n)), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    )
    base, old = model.base, np.empty(n)
    coordinate_search(objective, search, model, along)
    stage(objective)
    copy(base, old)
    trust = np.empty(n)
    for i in range(n):
        origin = min(max(0.0, lower[i]), upper[i])
        trust[i] = min(base[i] - lower[i], upper[i] - base[i], 0.25 * (1.0 + abs(x[i] - origin)))
    ratio, moved = _model_step(objective, search, model, along, trust, tolerance > 0.0)
    stage(objective)
    gain = previous = f - model.value[VALUE]
    slope = _slope(model, old)
    interior = _interior(objective, base)
    diagonal = False
    for _ in range(most):
        if objective.counts[STOP] != RUNNING:
            break
        converged = slope < gamma * (f0 - f) or gain == 0.0
        if not (diagonal or interior < n or (slope >= gamma * (f0 - f) and gain > 0.0)):
            break
        f = model.value[VALUE]
        if interior < n and converged and not leave_bounds(objective, search, model, along):
            break
        full = abs(ratio - 1.0) > 0.25 or converged
        triple_search(objective, model, full)
        stage(objective)
        diagonal = not full
        copy(base, old)
        if ratio < 0.25:
            _scale(trust, 0.5)
        elif ratio > 0.75:
            _scale(trust, 2.0)
        ratio, moved = _model_step(objective, search, model, along, trust, tolerance > 0.0)
        stage(objective)
        if not moved and full and interior == n:
            break
        interior = _interior(objective, base)
        gain = f - model.value[VALUE]
        slope = _slope(model, old)
        if _settled(along, trust, ratio, gain, previous, tolerance * (f0 - model.value[VALUE])):
            break
        previous = gain
    copy(base, x)
    return float(model.value[VALUE])
