"""The quadratic model of a local search: how values around the base point make it, and how it follows the base."""

from typing import Annotated, Final

from estimators.numerics.jit import inline
from estimators.quantities import Floats
from estimators.search.multilevel.evaluation import RUNNING, Objective, copy, evaluate
from estimators.search.multilevel.quadratic import EPSILON
from jointwatch_numba.layout import Layout, Matrix, Scratch, Vector

DIFFERENCE: Final = EPSILON ** (1.0 / 3.0)


class LocalModel(Layout):
    """The base point and the quadratic model around it: f(x) ≈ value + g'(x − base) + ½ (x − base)'G (x − base)."""

    base: Annotated[Vector, "dimensions"]
    g: Annotated[Vector, "dimensions"]
    G: Annotated[Matrix, "dimensions", "dimensions"]
    left: Annotated[Vector, "dimensions"]  # two more abscissae per coordinate
    right: Annotated[Vector, "dimensions"]
    x: Scratch[Annotated[Vector, "dimensions"]]
    new: Scratch[Annotated[Vector, "dimensions"]]  # the best point seen around the base
    value: float = 0.0


@inline
def begin(model: LocalModel, x: Floats, f: float) -> None:
    """A flat model around x, where the value is f."""
    copy(x, model.base)
    model.value = f
    for i in range(x.size):
        model.g[i] = model.left[i] = model.right[i] = model.x[i] = model.new[i] = 0.0
        for j in range(x.size):
            model.G[i, j] = 0.0


@inline
def difference(objective: Objective, x: float, i: int) -> float:
    """δ: the step of a difference at x along coordinate i."""
    delta = DIFFERENCE * abs(x) if x != 0.0 else DIFFERENCE
    return float(min(delta, 0.25 * (objective.upper[i] - objective.lower[i])))


@inline
def expand(model: LocalModel, i: int, at_left: float, at_right: float) -> None:
    """g_i and G_ii of the parabola through the base, left_i and right_i, expanded at the base."""
    to_left, to_right = model.left[i] - model.base[i], model.right[i] - model.base[i]
    slope_left, slope_right = (at_left - model.value) / to_left, (at_right - model.value) / to_right
    model.G[i, i] = 2.0 * (slope_right - slope_left) / (to_right - to_left)
    model.g[i] = slope_left - 0.5 * model.G[i, i] * to_left


@inline
def _predicted(model: LocalModel, k: int, x: float) -> float:
    d = x - model.base[k]
    return float(d * (model.g[k] + 0.5 * model.G[k, k] * d))


@inline
def cross_terms(objective: Objective, model: LocalModel, i: int, new_value: float) -> tuple[float, int]:
    """G_ik for every k < i from one value each, with i at model.x[i], k where the model is lower.

    new_value: the best value seen, at model.new. Returns it as it is after these, and the best point's k (−1: none).
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
        rest = value - model.value - _predicted(model, i, x[i]) - _predicted(model, k, x[k])
        model.G[i, k] = model.G[k, i] = rest / (di * (x[k] - base[k]))
        if value < new_value:
            new_value, partner = value, k
            copy(x, model.new)
        x[k] = base[k]
    return new_value, partner


@inline
def move(model: LocalModel, i: int, partner: int, value: float) -> None:
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
    model.value = value


@inline
def triple_search(objective: Objective, model: LocalModel, full: bool) -> None:
    """The model anew (full) or its diagonal from points at ±δ around the base, which follows the best of them.

    Coordinates on a bound have no part in it: their rows are zero.
    """
    n = model.base.size
    for i in range(n):
        x, low, high = model.base[i], objective.lower[i], objective.upper[i]
        delta = difference(objective, x, i)
        model.left[i], model.right[i] = max(x - delta, low), min(x + delta, high)
        if x <= low or x >= high:
            model.left[i] = model.right[i] = x
            model.g[i] = 0.0
        for k in range(n):
            if full or model.left[i] == model.right[i]:
                model.G[i, k] = model.G[k, i] = 0.0
    for i in range(n):
        if objective.stop != RUNNING:
            return
        if model.left[i] == model.base[i] == model.right[i]:
            continue
        x = model.x
        copy(model.base, x)
        copy(model.base, model.new)
        value, partner = model.value, -1
        x[i] = model.left[i]
        at_left = evaluate(objective, x)
        x[i] = model.right[i]
        at_right = evaluate(objective, x)
        expand(model, i, at_left, at_right)
        x[i] = model.left[i] if at_left <= at_right else model.right[i]
        if min(at_left, at_right) < value:
            value = min(at_left, at_right)
            model.new[i] = x[i]
        if full:
            value, partner = cross_terms(objective, model, i, value)
        if value < model.value:
            move(model, i, partner, value)
