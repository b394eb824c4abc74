"""A line in the box and the steps tried along it: the ascending list that a line search works on."""

from typing import Annotated, Final

import numpy as np

from estimators.numerics.jit import inline
from estimators.quantities import Floats
from estimators.search.multilevel.evaluation import Objective, ascending, evaluate
from jointwatch_numba.layout import Layout, Scratch, Vector, by_address

SMALL: Final = 0.1  # relative distance below which two steps are one
MOST: Final = 40  # room for steps; the greatest cap is 25, and a pass adds at most six


class Line(Layout):
    """The steps tried along base + a · direction."""

    base: Annotated[Vector, "dimensions"]
    direction: Annotated[Vector, "dimensions"]
    x: Scratch[Annotated[Vector, "dimensions"]]
    a: Annotated[Vector, "most"]  # steps, ascending
    f: Annotated[Vector, "most"]
    least_step: float = 0.0  # steps that stay in the box
    greatest_step: float = 0.0
    points: int = 0  # steps in the list
    given: int = 0  # of them, those that a line search began with
    cap: int = 0  # points in all
    locals: int = 1  # minima that are refined, 1 but in an initialisation
    saturated: bool = False  # a local step would repeat a known one


search_line: Final = by_address("i8", Objective, Line)


@inline
def clear(line: Line) -> None:
    """Make a line empty."""
    for i in range(line.base.size):
        line.base[i] = line.direction[i] = line.x[i] = 0.0
    for k in range(line.a.size):
        line.a[k] = line.f[k] = 0.0
    line.least_step = line.greatest_step = 0.0
    line.points = line.given = line.cap = 0
    line.locals, line.saturated = 1, False


@inline
def put(line: Line, a: float, f: float) -> None:
    """Step a, with its value f, into the list."""
    s = line.points
    k = s
    while k > 0 and line.a[k - 1] > a:
        line.a[k], line.f[k] = line.a[k - 1], line.f[k - 1]
        k -= 1
    line.a[k], line.f[k] = a, f
    line.points = s + 1


@inline
def best(line: Line) -> int:
    """Index of the smallest value."""
    k = 0
    for j in range(1, line.points):
        if line.f[j] < line.f[k]:
            k = j
    return k


@inline
def add(objective: Objective, line: Line, a: float) -> None:
    """Evaluate step a and put it into the list."""
    for i in range(line.x.size):
        line.x[i] = line.base[i] + a * line.direction[i]
    put(line, a, evaluate(objective, line.x))


@inline
def minima(line: Line) -> int:
    """How many local minima the list shows."""
    s = line.points
    count = 0
    for k in range(s):
        if is_minimum(line, k):
            count += 1
    return count


@inline
def is_minimum(line: Line, k: int) -> bool:
    """Is step k a local minimum of the list? Of equal neighbours the last counts."""
    s = line.points
    f = line.f
    left = k == 0 or f[k] < f[k - 1] or (k < s - 1 and f[k] == f[k - 1])
    return bool(left and (k == s - 1 or f[k] < f[k + 1]))


@inline
def first(line: Line, i: int, j: int) -> float:
    """First divided difference [ij]."""
    difference: float = (line.f[j] - line.f[i]) / (line.a[j] - line.a[i])
    return difference


@inline
def second(line: Line, i: int, j: int, k: int) -> float:
    """Second divided difference [ijk]."""
    a, f = line.a, line.f
    difference: float = ((f[k] - f[j]) / (a[k] - a[j]) - (f[j] - f[i]) / (a[j] - a[i])) / (a[k] - a[i])
    return difference


@inline
def is_convex(curve: float) -> bool:
    """Can a parabola of this second difference be minimised?"""
    return 0.0 < curve < np.inf


@inline
def nearest(line: Line, a: float) -> float:
    """Distance from a to the nearest step in the list."""
    distance = np.inf
    for k in range(line.points):
        distance = min(distance, abs(line.a[k] - a))
    return distance


@inline
def median(line: Line) -> float:
    """The median of the values."""
    s = line.points
    order = ascending(line.f, s)
    return float(0.5 * (line.f[order[(s - 1) // 2]] + line.f[order[s // 2]]))


@inline
def guard(line: Line, a: float) -> float:
    """Step a drawn back to a moderate extrapolation, and off the ends of the list."""
    s = line.points
    x = line.a
    reach = (x[s - 1] - x[0]) / SMALL
    a = min(max(a, x[0] - reach), x[s - 1] + reach)
    a = max(line.least_step, min(a, line.greatest_step))
    if abs(a - x[0]) < SMALL * (x[1] - x[0]):
        a = (2.0 * x[0] + x[1]) / 3.0
    if abs(a - x[s - 1]) < SMALL * (x[s - 1] - x[s - 2]):
        a = (2.0 * x[s - 1] + x[s - 2]) / 3.0
    return a


@inline
def aim(line: Line, x: Floats, f: float, i: int, most: int) -> None:
    """The line from x (value f) along coordinate i, with step 0 known and room for `most` steps."""
    for j in range(x.size):
        line.base[j] = x[j]
        line.direction[j] = 1.0 if j == i else 0.0
    line.points, line.cap = 0, most
    put(line, 0.0, f)
