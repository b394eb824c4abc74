"""Initialisation lists (Huyer & Neumaier 1999, §3): where each coordinate is first looked at."""

from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from estimators.quantities import Floats
from estimators.search.base import SearchProblem
from estimators.search.multilevel.evaluation import Ints
from estimators.search.multilevel.line.line import MOST

FAR: Final = 1000.0  # beyond so many times its distance from 0, or from ±1, an end of the box is drawn in


class FirstValues(NamedTuple):
    """The values of every coordinate; a length of 0: to be found by line searches."""

    x: Floats  # (dimensions, longest) ascending
    length: Ints  # (dimensions,)
    start: Ints  # (dimensions,) index of the first point


def ends(lower: Floats, upper: Floats) -> Floats:
    """List 0: (lower, middle, upper)."""
    values = np.empty((lower.size, 3))
    values[:, 0], values[:, 1], values[:, 2] = lower, 0.5 * lower + 0.5 * upper, upper
    return values


def drawn_in(lower: Floats, upper: Floats) -> Floats:
    """List 1: as 0 with far ends drawn in, and with 0 in the middle where the box straddles it."""
    values = np.empty((lower.size, 3))
    for i, (u, v) in enumerate(zip(lower.tolist(), upper.tolist(), strict=True)):
        if u < 0.0 < v:
            values[i] = nearer(0.0, u), 0.0, nearer(0.0, v)
        else:
            low, high = (u, nearer(u, v)) if u >= 0.0 else (nearer(v, u), v)
            values[i] = low, 0.5 * (low + high), high
    return values


def sixths(lower: Floats, upper: Floats) -> Floats:
    """List 2: a sixth, a half and five sixths of the way."""
    return np.column_stack([(5.0 * lower + upper) / 6.0, 0.5 * lower + 0.5 * upper, (lower + 5.0 * upper) / 6.0])


def nearer(x: float, y: float) -> float:
    """y, or a point on the way from x to it where it is very far."""
    if FAR * abs(x) < 1.0:
        return float(np.sign(y)) if abs(y) > FAR else y
    return float(10.0 * np.sign(y) * abs(x)) if abs(y) > FAR * abs(x) else y


def around(problem: SearchProblem, start: Floats, scale: Floats | None) -> FirstValues:
    """(lower, start, upper), or start ± scale in the box; a start on a bound is that end, the middle comes second."""
    low, high = problem.lower, problem.upper
    if scale is not None:
        low, high = np.maximum(low, start - scale), np.minimum(high, start + scale)
    values, first = np.empty((start.size, 3)), np.ones(start.size, np.int64)
    for i, x in enumerate(start.tolist()):
        u, v = nearer(x, low[i]), nearer(x, high[i])
        u, v = (u if u < x else low[i]), (v if v > x else high[i])
        if u < x < v:
            values[i] = u, x, v
        else:
            values[i] = u, 0.5 * (u + v), v
            first[i] = 0 if x <= u else 2
    return FirstValues(values, np.full(start.size, 3), first)


def custom(problem: SearchProblem, lists: tuple[tuple[float, ...], ...], first: tuple[int, ...] | None) -> FirstValues:
    """Lists given by hand, one per dimension of the whole box. Raises ValueError on any that does not fit."""
    first = first or tuple(len(values) // 2 for values in lists)
    if len(lists) != problem.free.size or len(first) != problem.free.size:
        raise ValueError(f"mcs: expected {problem.free.size} initialisation lists, got {len(lists)}")
    chosen = [lists[i] for i in np.flatnonzero(problem.free)]
    start = [first[i] for i in np.flatnonzero(problem.free)]
    x = np.zeros((len(chosen), max(map(len, chosen))))
    for i, values in enumerate(chosen):
        ascending = all(a < b for a, b in pairwise(values))
        inside = len(values) >= 3 and problem.lower[i] <= values[0] and values[-1] <= problem.upper[i]
        if not (ascending and inside and 0 <= start[i] < len(values)):
            raise ValueError(
                f"mcs: expected at least three ascending values in [{problem.lower[i]}, {problem.upper[i]}] "
                f"and the index of one of them, got {values} and {start[i]}"
            )
        x[i, : len(values)] = values
    return FirstValues(x, np.array([len(values) for values in chosen]), np.array(start))


def first_values(
    problem: SearchProblem,
    initial: int | tuple[tuple[float, ...], ...] | None,
    first: tuple[int, ...] | None,
    scale: tuple[float, ...] | None,
) -> FirstValues:
    """The list that the settings and the problem's start ask for. Raises ValueError on one that does not fit."""
    if isinstance(initial, tuple):
        return custom(problem, initial, first)
    lower, upper, n = problem.lower, problem.upper, problem.lower.size
    if problem.start is not None:
        if scale is not None and len(scale) != problem.free.size:
            raise ValueError(f"mcs: expected a scale of {problem.free.size} values, got {len(scale)}")
        return around(problem, problem.start, None if scale is None else np.array(scale)[problem.free])
    if initial == 3:
        return FirstValues(np.zeros((n, MOST)), np.zeros(n, np.int64), np.zeros(n, np.int64))
    if initial in (0, 2) and not problem.finite:
        raise ValueError(f"mcs: initialisation list {initial} needs finite bounds")
    if initial == 1 or not problem.finite:
        x = drawn_in(lower, upper)
    else:
        x = sixths(lower, upper) if initial == 2 else ends(lower, upper)
    return FirstValues(x, np.full(n, 3), np.ones(n, np.int64))
