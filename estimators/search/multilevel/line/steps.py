"""The steps of a line search: extend or split the list, parabola, quartic, local steps that refine a minimum."""

from typing import Final

import numpy as np

from estimators.numerics.jit import inline
from estimators.search.multilevel.evaluation import Objective
from estimators.search.multilevel.line.line import (
    SMALL,
    Line,
    add,
    best,
    first,
    guard,
    is_convex,
    is_minimum,
    median,
    nearest,
    second,
)

SECTION: Final = 0.5 * (3.0 - 5.0**0.5)


@inline
def extend(objective: Objective, line: Line) -> None:
    """Extrapolate at an end that still falls; otherwise split the interval that is longest for its distance."""
    s, a, f = line.points, line.a, line.f
    single = line.given == 1
    middle = median(line)
    left = a[0] > line.least_step and (single or f[0] < max(middle, f[1]))
    right = a[s - 1] < line.greatest_step and (single or f[s - 1] < max(middle, f[s - 2]))
    step = s - 1 if single else 1
    if left and (f[0] < f[s - 1] or not right):
        add(objective, line, max(line.least_step, a[0] - (a[step] - a[0]) / SMALL))
    elif right:
        add(objective, line, min(a[s - 1] + (a[s - 1] - a[s - 1 - step]) / SMALL, line.greatest_step))
    else:
        _split(objective, line)


@inline
def _split(objective: Objective, line: Line) -> None:
    s, a, f = line.points, line.a, line.f
    centre = a[best(line)]
    unit = np.inf
    for k in range(s):
        if is_minimum(line, k) and a[k] != centre:
            unit = min(unit, abs(a[k] - centre))
    if unit == np.inf:
        unit = max(centre - a[0], a[s - 1] - centre)
    widest, k = -1.0, 0
    for j in range(s - 1):
        width = (a[j + 1] - a[j]) / max(max(a[j + 1] - centre, centre - a[j]), unit)
        if width > widest:
            widest, k = width, j
    part = 0.5
    if f[k] < f[k + 1]:
        part = SECTION
    elif f[k] > f[k + 1]:
        part = 1.0 - SECTION
    add(objective, line, a[k] + part * (a[k + 1] - a[k]))


@inline
def parabola_step(objective: Objective, line: Line) -> None:
    """The minimiser of the parabola through the best step and its neighbours, kept off the known steps."""
    s, a = line.points, line.a
    if s < 3:
        extend(objective, line)
        return
    k = best(line)
    i = min(max(k - 1, 0), s - 3)
    curve = second(line, i, i + 1, i + 2)
    if not curve > 0.0:
        extend(objective, line)
        return
    step = guard(line, 0.5 * (a[i + 1] + a[i + 2] - first(line, i + 1, i + 2) / curve))
    if curve == np.inf or not nearest(line, step) > SMALL * (a[i + 2] - a[i]):
        if k == i or (k == i + 1 and a[i + 1] >= 0.5 * (a[i] + a[i + 2])):
            step = 0.5 * (a[i] + a[i + 1])
        else:
            step = 0.5 * (a[i + 1] + a[i + 2])
    add(objective, line, step)


@inline
def quartic_step(objective: Objective, line: Line) -> None:
    """The minimiser of the quartic through all five steps; a local step if it is not bounded below."""
    a, f = line.a, line.f
    i = line.points - 5
    d1, d2 = first(line, i, i + 1), second(line, i, i + 1, i + 2)
    middle, right = second(line, i + 1, i + 2, i + 3), second(line, i + 2, i + 3, i + 4)
    third = (middle - d2) / (a[3] - a[0])
    fourth = ((right - middle) / (a[4] - a[1]) - third) / (a[4] - a[0])
    if not is_convex(fourth):
        local_steps(objective, line)
        return
    # Newton's form through steps 0 … 4, expanded at step 2: q(t) = f[2] + c1 t + c2 t² + c3 t³ + c4 t⁴
    p, q, r = a[2] - a[0], a[2] - a[1], a[2] - a[3]
    c4 = fourth
    c3 = third + fourth * (p + q + r)
    c2 = d2 + third * (p + q) + fourth * (p * q + p * r + q * r)
    c1 = d1 + d2 * (p + q) + third * p * q + fourth * p * q * r
    low, high, count = _stationary(c1, c2, c3, c4)
    step = a[2] + low
    if count > 1:
        at_low = f[2] + low * (c1 + low * (c2 + low * (c3 + low * c4)))
        at_high = f[2] + high * (c1 + high * (c2 + high * (c3 + high * c4)))
        worst = max(f[0], f[1], f[2], f[3], f[4])
        if a[2] + high > a[4] and at_high < worst:
            step = a[2] + high
        elif a[2] + low < a[0] and at_low < worst:
            step = a[2] + low
        elif at_high <= at_low:
            step = a[2] + high
    add(objective, line, max(line.least_step, min(step, line.greatest_step)))


@inline
def _stationary(c1: float, c2: float, c3: float, c4: float) -> tuple[float, float, int]:
    """The least and greatest real root of c1 + 2 c2 t + 3 c3 t² + 4 c4 t³, and how many there are (1 or 3)."""
    # t = s − b/3 makes it s³ + p s + q (Cardano; trigonometric where there are three)
    b, c, d = 0.75 * c3 / c4, 0.5 * c2 / c4, 0.25 * c1 / c4
    p = c - b * b / 3.0
    q = 2.0 * b * b * b / 27.0 - b * c / 3.0 + d
    inside = 0.25 * q * q + p * p * p / 27.0
    if inside > 0.0 or p >= 0.0:
        root = np.sqrt(max(inside, 0.0))
        u = -0.5 * q - root if q > 0.0 else -0.5 * q + root
        u = np.sign(u) * abs(u) ** (1.0 / 3.0)
        t = (u - p / (3.0 * u) if u != 0.0 else 0.0) - b / 3.0
        return _polish(t, b, c, d), 0.0, 1
    size = 2.0 * np.sqrt(-p / 3.0)
    angle = np.arccos(min(1.0, max(-1.0, 3.0 * q / (p * size)))) / 3.0
    high = size * np.cos(angle) - b / 3.0
    low = size * np.cos(angle + 2.0 * np.pi / 3.0) - b / 3.0
    return _polish(low, b, c, d), _polish(high, b, c, d), 3


@inline
def _polish(t: float, b: float, c: float, d: float) -> float:
    """One Newton step on t³ + b t² + c t + d."""
    slope = c + t * (2.0 * b + 3.0 * t)
    if slope == 0.0:
        return t
    return t - (d + t * (c + t * (b + t))) / slope


@inline
def local_steps(objective: Objective, line: Line) -> None:
    """A step at each of the best strict minima, the very best last; saturated if none led away from known steps."""
    centre = np.empty(line.locals)
    count = 0
    for _ in range(line.locals):
        k = -1
        for j in range(line.points):
            known = False
            for c in range(count):
                known = known or centre[c] == line.a[j]
            if is_minimum(line, j) and not known and (k < 0 or line.f[j] < line.f[k]):
                k = j
        if k >= 0:
            centre[count] = line.a[k]
            count += 1
    line.saturated = True
    if line.points < 5:
        return
    saturated = True
    for c in range(count - 1, -1, -1):
        for k in range(line.points):
            if line.a[k] == centre[c]:
                _local_step(objective, line, k)
                saturated = saturated and line.saturated
                break
    line.saturated = saturated


@inline
def _local_step(objective: Objective, line: Line, k: int) -> None:
    """A step at minimum k, from parabolas and cubics through the five nearest steps."""
    s, a, f = line.points, line.a, line.f
    i = min(max(k - 2, 0), s - 5)
    possible, step = _local_minimiser(line, i, k - i)
    tolerance = 0.0
    if possible and f[k] <= median(line):
        tolerance = SMALL * (a[min(k + 1, s - 1)] - a[max(k - 1, 0)])
    near = not nearest(line, step) > tolerance
    line.saturated = near or not possible
    if possible and nearest(line, step) > 0.0:
        add(objective, line, step)


@inline
def _local_minimiser(line: Line, i: int, m: int) -> tuple[bool, float]:
    """Step from the five list points from i on, of which number m (0 … 4) is the best; whether one is possible."""
    a, f, s = line.a, line.f, line.points
    left, middle, right = (
        second(line, i, i + 1, i + 2),
        second(line, i + 1, i + 2, i + 3),
        second(line, i + 2, i + 3, i + 4),
    )
    if m == 0:
        step = -np.inf
        if is_convex(left):
            step = 0.5 * (a[i + 1] + a[i + 2] - first(line, i + 1, i + 2) / left)
            if step < line.least_step:
                return False, step
        elif a[i] == line.least_step and f[i + 1] < f[i + 2]:
            return False, step
        return True, guard(line, step)
    if m == 4:
        step = np.inf
        if is_convex(right):
            step = 0.5 * (a[i + 2] + a[i + 3] - first(line, i + 2, i + 3) / right)
            if step > line.greatest_step:
                return False, step
        elif a[s - 1] == line.greatest_step and f[i + 3] < f[i + 2]:
            return False, step
        return True, guard(line, step)
    if not is_convex(middle):
        if m < 2:
            step = 0.5 * (a[i + 1] + a[i + 2] - first(line, i + 1, i + 2) / left)
        else:
            step = 0.5 * (a[i + 2] + a[i + 3] - first(line, i + 2, i + 3) / right)
    elif not is_convex(left):
        if is_convex(right):
            step = _quadruple_right(line, i, middle, right)
        else:
            step = 0.5 * (a[i + 2] + a[i + 3] - first(line, i + 2, i + 3) / middle)
    elif is_convex(right) and f[i + 1] > f[i + 3]:
        step = _quadruple_right(line, i, middle, right)
    else:
        step = _quadruple_left(line, i, left, middle)
    step = max(line.least_step, min(step, line.greatest_step))
    return bool(np.isfinite(step)), step


@inline
def _quadruple_left(line: Line, i: int, left: float, middle: float) -> float:
    """The step by points 1 … 4 of the five."""
    a, f = line.a, line.f
    other = second(line, i, i + 2, i + 3) if f[i + 1] < f[i + 2] else second(line, i, i + 1, i + 3)
    slope = first(line, i + 1, i + 2)
    step = 0.5 * (a[i + 1] + a[i + 2] - slope / (left + middle - other))
    if a[i] < step < a[i + 4]:
        return float(step)
    return float(0.5 * (a[i + 1] + a[i + 2] - slope / max(left, middle)))


@inline
def _quadruple_right(line: Line, i: int, middle: float, right: float) -> float:
    """The step by points 2 … 5 of the five."""
    a, f = line.a, line.f
    other = second(line, i + 1, i + 3, i + 4) if f[i + 2] < f[i + 3] else second(line, i + 1, i + 2, i + 4)
    slope = first(line, i + 2, i + 3)
    step = 0.5 * (a[i + 2] + a[i + 3] - slope / (middle + right - other))
    if a[i] < step < a[i + 4]:
        return float(step)
    return float(0.5 * (a[i + 2] + a[i + 3] - slope / max(middle, right)))
