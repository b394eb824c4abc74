"""The first phase of a local search: line searches along every coordinate, and the model from what they saw."""

from typing import Any, Final

from estimators.numerics.jit import inline
from estimators.search.multilevel.evaluation import RUNNING, Objective, copy, evaluate
from estimators.search.multilevel.line.line import Line, aim, best, put, search_line
from estimators.search.multilevel.model import LocalModel, cross_terms, difference, expand, move

COORDINATE_STEPS: Final = 6


@inline
def coordinate_search(objective: Objective, search: Any, model: LocalModel, along: Line) -> None:
    """Step 1 of the local search: a line search along every coordinate, and the model from what they saw."""
    n = model.base.size
    for i in range(n):
        if objective.stop != RUNNING:
            return
        x = model.base[i]
        copy(model.base, model.new)
        aim(along, model.base, model.value, i, COORDINATE_STEPS)
        rises = False
        if not objective.lower[i] < x < objective.upper[i]:
            inward = difference(objective, x, i) if x <= objective.lower[i] else -difference(objective, x, i)
            copy(model.base, model.x)
            model.x[i] = x + inward
            value = evaluate(objective, model.x)
            rises = value >= model.value
            put(along, inward, value)
        if rises:
            at_left, at_right, value = _stay(objective, model, i, inward, value)
        else:
            search_line(search, objective, along)
            at_left, at_right, value = _three_abscissae(objective, model, along, i)
        expand(model, i, at_left, at_right)
        copy(model.base, model.x)
        model.x[i] = model.left[i] if at_left <= at_right else model.right[i]
        value, partner = cross_terms(objective, model, i, value)
        move(model, i, partner, value)


@inline
def _stay(objective: Objective, model: LocalModel, i: int, inward: float, value: float) -> tuple[float, float, float]:
    """Returns f at δ (which is value) and at 2δ inwards of a bound from which f rises, and the best f."""
    x = model.base[i]
    model.left[i], model.right[i] = x + inward, x + 2.0 * inward
    model.x[i] = model.right[i]
    further = evaluate(objective, model.x)
    if further < model.value:
        model.new[i] = model.right[i]
        return value, further, further
    return value, further, model.value


@inline
def _three_abscissae(objective: Objective, model: LocalModel, along: Line, i: int) -> tuple[float, float, float]:
    """Base, left and right of coordinate i from a line search. Returns f at left and right, and the best f."""
    _drop_close(along, difference(objective, model.base[i], i))
    a, f, s = along.a, along.f, along.points
    j = best(along)
    x = model.base[i]
    model.new[i] = min(max(x + a[j], objective.lower[i]), objective.upper[i])
    first, second = j, j
    if i == 0 or a[j] == 0.0:
        first = j - 1 if j > 0 else 1
        second = j + 1 if 0 < j < s - 1 else (2 if j == 0 else j - 2)
        model.base[i] = model.new[i]
        model.value = f[j]
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
    kept, s = 0, along.points
    for k in range(s):
        if a[k] == centre or abs(a[k] - centre) >= tolerance or kept + s - k <= 3:
            a[kept], f[kept] = a[k], f[k]
            kept += 1
    along.points = kept


@inline
def leave_bounds(objective: Objective, search: Any, model: LocalModel, along: Line) -> bool:
    """Step inwards from each bound that x is on, and search along the line where that is better; True if any was."""
    n = model.base.size
    base, x = model.base, model.x
    better = False
    for i in range(n):
        if objective.lower[i] < base[i] < objective.upper[i]:
            continue
        inward = (
            difference(objective, base[i], i) if base[i] <= objective.lower[i] else -difference(objective, base[i], i)
        )
        copy(base, x)
        x[i] = min(max(base[i] + inward, objective.lower[i]), objective.upper[i])
        value = evaluate(objective, x)
        if value < model.value:
            aim(along, model.base, model.value, i, COORDINATE_STEPS)
            put(along, x[i] - base[i], value)
            k = search_line(search, objective, along)
            base[i] = min(max(base[i] + along.a[k], objective.lower[i]), objective.upper[i])
            model.value = along.f[k]
            better = True
    return better
