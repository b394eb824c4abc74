"""Line search without derivatives (GLS) along one direction: extend, bracket, refine the best minimum.

It keeps an ascending list of steps a with their values f, and adds one step at a time: by a parabola through the best
point, by a quartic through five, by extending or halving the list where those do not apply.
"""

from typing import Final, NamedTuple

import numba
import numpy as np

from estimators.base import Floats
from estimators.jit import inline, kernel
from estimators.search.multilevel.evaluation import (
    FLOATS,
    INTS,
    OBJECTIVE_TYPE,
    RUNNING,
    STOP,
    Ints,
    Objective,
    ascending,
    evaluate,
)

SMALL: Final = 0.1  # relative distance below which two steps are one
SECTION: Final = 0.5 * (3.0 - 5.0**0.5)
MOST: Final = 32  # room for steps

POINTS: Final = 0  # indices into Line.size
GIVEN: Final = 1
CAP: Final = 2  # points in all
SATURATED: Final = 3

LEAST_STEP: Final = 0  # indices into Line.range
GREATEST_STEP: Final = 1


class Line(NamedTuple):
    """The steps tried along base + a · direction."""

    base: Floats  # (dimensions,)
    direction: Floats  # (dimensions,)
    a: Floats  # (MOST,) ascending
    f: Floats  # (MOST,)
    range: Floats  # steps that stay in the box
    size: Ints
    x: Floats  # (dimensions,) scratch


LINE_TYPE: Final = numba.types.NamedTuple((FLOATS, FLOATS, FLOATS, FLOATS, FLOATS, INTS, FLOATS), Line)
SEARCH: Final = numba.types.FunctionType(numba.int64(OBJECTIVE_TYPE, LINE_TYPE))


@inline
def line(n: int) -> Line:
    """An empty line."""
    return Line(np.zeros(n), np.zeros(n), np.zeros(MOST), np.zeros(MOST), np.zeros(2), np.zeros(4, np.int64), np.zeros(n))


@inline
def put(line: Line, a: float, f: float) -> None:
    """Step a, with its value f, into the list."""
    s = line.size[POINTS]
    k = s
    while k > 0 and line.a[k - 1] > a:
        line.a[k], line.f[k] = line.a[k - 1], line.f[k - 1]
        k -= 1
    line.a[k], line.f[k] = a, f
    line.size[POINTS] = s + 1


@inline
def best(line: Line) -> int:
    """Index of the smallest value."""
    k = 0
    for j in range(1, line.size[POINTS]):
        if line.f[j] < line.f[k]:
            k = j
    return k


@inline
def _add(objective: Objective, line: Line, a: float) -> None:
    for i in range(line.x.size):
        line.x[i] = line.base[i] + a * line.direction[i]
    put(line, a, evaluate(objective, line.x))


@inline
def _range(objective: Objective, line: Line) -> None:
    low, high = -np.inf, np.inf
    for i in range(line.base.size):
        x, p = line.base[i], line.direction[i]
        if p > 0.0:
            low, high = max(low, (objective.lower[i] - x) / p), min(high, (objective.upper[i] - x) / p)
        elif p < 0.0:
            low, high = max(low, (objective.upper[i] - x) / p), min(high, (objective.lower[i] - x) / p)
    s = line.size[POINTS]
    line.range[LEAST_STEP] = min(low, line.a[0])
    line.range[GREATEST_STEP] = max(high, line.a[s - 1])


@inline
def _scale(line: Line) -> float:
    """The step that changes some coordinate by its own size."""
    scale = np.inf
    for i in range(line.base.size):
        if line.direction[i] != 0.0:
            scale = min(scale, abs(line.base[i] / line.direction[i]))
    if scale == 0.0:
        scale = np.inf
        for i in range(line.base.size):
            if line.direction[i] != 0.0:
                size = abs(line.base[i]) if line.base[i] != 0.0 else 1.0
                scale = min(scale, size / abs(line.direction[i]))
    return scale


@inline
def _spread(objective: Objective, line: Line) -> None:
    """If the given steps lie close together, add −scale or +scale, whichever reaches further."""
    scale = _scale(line)
    first, last = line.a[0], line.a[line.size[POINTS] - 1]
    if last - first > scale:
        return
    left = max(line.range[LEAST_STEP], min(-scale, line.range[GREATEST_STEP]))
    right = max(line.range[LEAST_STEP], min(scale, line.range[GREATEST_STEP]))
    if right - last >= first - left:
        if right > last:
            _add(objective, line, right)
    elif left < first:
        _add(objective, line, left)


@inline
def _minima(line: Line) -> int:
    """How many local minima the list shows."""
    s = line.size[POINTS]
    count = 0
    for k in range(s):
        if _is_minimum(line, k):
            count += 1
    return count


@inline
def _is_minimum(line: Line, k: int) -> bool:
    s = line.size[POINTS]
    f = line.f
    left = k == 0 or f[k] < f[k - 1] or (k < s - 1 and f[k] == f[k - 1])
    return left and (k == s - 1 or f[k] < f[k + 1])


@inline
def _runs_into_bound(line: Line) -> bool:
    """The list is monotone and its best end is at the end of the range."""
    s = line.size[POINTS]
    up = down = False
    for k in range(s - 1):
        if line.f[k] < line.f[k + 1]:
            up = True
        elif line.f[k] > line.f[k + 1] or k < s - 2:
            down = True
    a = line.a[best(line)]
    return not (up and down) and (a == line.range[LEAST_STEP] or a == line.range[GREATEST_STEP])


@inline
def _second(line: Line, i: int, j: int, k: int) -> float:
    """Second divided difference [ijk]."""
    a, f = line.a, line.f
    return ((f[k] - f[j]) / (a[k] - a[j]) - (f[j] - f[i]) / (a[j] - a[i])) / (a[k] - a[i])


@inline
def _first(line: Line, i: int, j: int) -> float:
    """First divided difference [ij]."""
    return (line.f[j] - line.f[i]) / (line.a[j] - line.a[i])


@inline
def _is_convex(curve: float) -> bool:
    return 0.0 < curve < np.inf


@inline
def _nearest(line: Line, a: float) -> float:
    """Distance from a to the nearest step in the list."""
    distance = np.inf
    for k in range(line.size[POINTS]):
        distance = min(distance, abs(line.a[k] - a))
    return distance


@inline
def _median(line: Line) -> float:
    """The median of the values."""
    s = line.size[POINTS]
    order = ascending(line.f, s)
    return 0.5 * (line.f[order[(s - 1) // 2]] + line.f[order[s // 2]])


@inline
def _guard(line: Line, a: float) -> float:
    """Step a drawn back to a moderate extrapolation, and off the ends of the list."""
    s = line.size[POINTS]
    x = line.a
    reach = (x[s - 1] - x[0]) / SMALL
    a = min(max(a, x[0] - reach), x[s - 1] + reach)
    a = max(line.range[LEAST_STEP], min(a, line.range[GREATEST_STEP]))
    if abs(a - x[0]) < SMALL * (x[1] - x[0]):
        a = (2.0 * x[0] + x[1]) / 3.0
    if abs(a - x[s - 1]) < SMALL * (x[s - 1] - x[s - 2]):
        a = (2.0 * x[s - 1] + x[s - 2]) / 3.0
    return a


@inline
def _extend(objective: Objective, line: Line) -> None:
    """Extrapolate at an end that still falls; otherwise split the interval that is longest for its distance."""
    s, a, f = line.size[POINTS], line.a, line.f
    single = line.size[GIVEN] == 1
    middle = _median(line)
    left = a[0] > line.range[LEAST_STEP] and (single or f[0] < max(middle, f[1]))
    right = a[s - 1] < line.range[GREATEST_STEP] and (single or f[s - 1] < max(middle, f[s - 2]))
    step = s - 1 if single else 1
    if left and (f[0] < f[s - 1] or not right):
        _add(objective, line, max(line.range[LEAST_STEP], a[0] - (a[step] - a[0]) / SMALL))
    elif right:
        _add(objective, line, min(a[s - 1] + (a[s - 1] - a[s - 1 - step]) / SMALL, line.range[GREATEST_STEP]))
    else:
        _split(objective, line)


@inline
def _split(objective: Objective, line: Line) -> None:
    s, a, f = line.size[POINTS], line.a, line.f
    centre = a[best(line)]
    unit = np.inf
    for k in range(s):
        if _is_minimum(line, k) and a[k] != centre:
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
    _add(objective, line, a[k] + part * (a[k + 1] - a[k]))


@inline
def _parabola(objective: Objective, line: Line) -> None:
    """The minimiser of the parabola through the best step and its neighbours, kept off the known steps."""
    s, a = line.size[POINTS], line.a
    if s < 3:
        _extend(objective, line)
        return
    k = best(line)
    i = min(max(k - 1, 0), s - 3)
    curve = _second(line, i, i + 1, i + 2)
    if not curve > 0.0:
        _extend(objective, line)
        return
    step = _guard(line, 0.5 * (a[i + 1] + a[i + 2] - _first(line, i + 1, i + 2) / curve))
    if curve == np.inf or not _nearest(line, step) > SMALL * (a[i + 2] - a[i]):
        if k == i or (k == i + 1 and a[i + 1] >= 0.5 * (a[i] + a[i + 2])):
            step = 0.5 * (a[i] + a[i + 1])
        else:
            step = 0.5 * (a[i + 1] + a[i + 2])
    _add(objective, line, step)


@inline
def _quartic(objective: Objective, line: Line) -> None:
    """The minimiser of the quartic through all five steps; a local step if it is not bounded below."""
    a, f = line.a, line.f
    i = line.size[POINTS] - 5
    d1, d2 = _first(line, i, i + 1), _second(line, i, i + 1, i + 2)
    middle, right = _second(line, i + 1, i + 2, i + 3), _second(line, i + 2, i + 3, i + 4)
    third = (middle - d2) / (a[3] - a[0])
    fourth = ((right - middle) / (a[4] - a[1]) - third) / (a[4] - a[0])
    if not _is_convex(fourth):
        _local_step(objective, line)
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
    _add(objective, line, max(line.range[LEAST_STEP], min(step, line.range[GREATEST_STEP])))


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
def _descent(objective: Objective, line: Line) -> None:
    """Look closer to step 0 when the best is step 0 itself or four times as far as the next one towards it."""
    s, a = line.size[POINTS], line.a
    if _nearest(line, 0.0) > 0.0:
        return
    k = best(line)
    if a[k] == 0.0:
        if k == s - 1 or (k > 0 and a[k + 1] - a[k] <= a[k] - a[k - 1]):
            _add(objective, line, a[k - 1] / 3.0)
        else:
            _add(objective, line, a[k + 1] / 3.0)
        return
    towards = a[k - 1] if a[k] > 0.0 else a[k + 1]
    if abs(a[k]) > 4.0 * abs(towards):
        _add(objective, line, a[k] / 3.0)


@inline
def _convex(line: Line) -> bool:
    for k in range(1, line.size[POINTS] - 1):
        if not _second(line, k - 1, k, k + 1) >= 0.0:
            return False
    return True


@inline
def _confirm_saturated(line: Line) -> None:
    """Saturated stays so only if the parabola at the best step also says so."""
    k = best(line)
    if line.size[SATURATED] == 0 or k == 0 or k == line.size[POINTS] - 1:
        return
    a, curve = line.a, _second(line, k - 1, k, k + 1)
    if not _is_convex(curve):
        line.size[SATURATED] = 0
        return
    step = 0.5 * (a[k] + a[k + 1] - _first(line, k, k + 1) / curve)
    step = max(line.range[LEAST_STEP], min(step, line.range[GREATEST_STEP]))
    line.size[SATURATED] = 1 if abs(a[k] - step) <= SMALL * (a[k + 1] - a[k - 1]) else 0


@inline
def _local_step(objective: Objective, line: Line) -> None:
    """A step at the best strict minimum, from parabolas and cubics through the five nearest steps."""
    s, a, f = line.size[POINTS], line.a, line.f
    k = -1
    for j in range(s):
        if _is_minimum(line, j) and (k < 0 or f[j] < f[k]):
            k = j
    if k < 0 or s < 5:
        line.size[SATURATED] = 1
        return
    i = min(max(k - 2, 0), s - 5)
    possible, step = _local_minimiser(line, i, k - i)
    tolerance = 0.0
    if possible and f[k] <= _median(line):
        tolerance = SMALL * (a[min(k + 1, s - 1)] - a[max(k - 1, 0)])
    near = not _nearest(line, step) > tolerance
    line.size[SATURATED] = 1 if near or not possible else 0
    if possible and _nearest(line, step) > 0.0:
        _add(objective, line, step)


@inline
def _local_minimiser(line: Line, i: int, m: int) -> tuple[bool, float]:
    """Step from the five list points from i on, of which number m (0 … 4) is the best; whether one is possible."""
    a, f, s = line.a, line.f, line.size[POINTS]
    left, middle, right = _second(line, i, i + 1, i + 2), _second(line, i + 1, i + 2, i + 3), _second(line, i + 2, i + 3, i + 4)
    if m == 0:
        step = -np.inf
        if _is_convex(left):
            step = 0.5 * (a[i + 1] + a[i + 2] - _first(line, i + 1, i + 2) / left)
            if step < line.range[LEAST_STEP]:
                return False, step
        elif a[i] == line.range[LEAST_STEP] and f[i + 1] < f[i + 2]:
            return False, step
        return True, _guard(line, step)
    if m == 4:
        step = np.inf
        if _is_convex(right):
            step = 0.5 * (a[i + 2] + a[i + 3] - _first(line, i + 2, i + 3) / right)
            if step > line.range[GREATEST_STEP]:
                return False, step
        elif a[s - 1] == line.range[GREATEST_STEP] and f[i + 3] < f[i + 2]:
            return False, step
        return True, _guard(line, step)
    if not _is_convex(middle):
        if m < 2:
            step = 0.5 * (a[i + 1] + a[i + 2] - _first(line, i + 1, i + 2) / left)
        else:
            step = 0.5 * (a[i + 2] + a[i + 3] - _first(line, i + 2, i + 3) / right)
    elif not _is_convex(left):
        if _is_convex(right):
            step = _quadruple_right(line, i, middle, right)
        else:
            step = 0.5 * (a[i + 2] + a[i + 3] - _first(line, i + 2, i + 3) / middle)
    elif _is_convex(right) and f[i + 1] > f[i + 3]:
        step = _quadruple_right(line, i, middle, right)
    else:
        step = _quadruple_left(line, i, left, middle)
    step = max(line.range[LEAST_STEP], min(step, line.range[GREATEST_STEP]))
    return bool(np.isfinite(step)), step


@inline
def _quadruple_left(line: Line, i: int, left: float, middle: float) -> float:
    """From points 1 … 4 of the five."""
    a, f = line.a, line.f
    other = _second(line, i, i + 2, i + 3) if f[i + 1] < f[i + 2] else _second(line, i, i + 1, i + 3)
    slope = _first(line, i + 1, i + 2)
    step = 0.5 * (a[i + 1] + a[i + 2] - slope / (left + middle - other))
    if a[i] < step < a[i + 4]:
        return step
    return 0.5 * (a[i + 1] + a[i + 2] - slope / max(left, middle))


@inline
def _quadruple_right(line: Line, i: int, middle: float, right: float) -> float:
    """From points 2 … 5 of the five."""
    a, f = line.a, line.f
    other = _second(line, i + 1, i + 3, i + 4) if f[i + 2] < f[i + 3] else _second(line, i + 1, i + 2, i + 4)
    slope = _first(line, i + 2, i + 3)
    step = 0.5 * (a[i + 2] + a[i + 3] - slope / (middle + right - other))
    if a[i] < step < a[i + 4]:
        return step
    return 0.5 * (a[i + 2] + a[i + 3] - slope / max(middle, right))


@kernel(numba.int64(OBJECTIVE_TYPE, LINE_TYPE))
def line_search(objective: Objective, line: Line) -> int:
    """Add steps to the list; base, direction, cap and the given steps are set. Returns the index of the best."""
    line.size[GIVEN] = line.size[POINTS]
    line.size[SATURATED] = 0
    _range(objective, line)
    _spread(objective, line)
    while line.size[POINTS] < min(5, line.size[CAP]):
        _parabola(objective, line)
        if objective.count[STOP] != RUNNING:
            return best(line)
        if line.size[POINTS] > 3 and _runs_into_bound(line):
            return best(line)
    if _minima(line) == 1:
        if _runs_into_bound(line):
            return best(line)
        if line.size[POINTS] == 5:
            _quartic(objective, line)
        _descent(objective, line)
        if _convex(line):
            return best(line)
    before = -1
    while objective.count[STOP] == RUNNING:
        _descent(objective, line)
        _confirm_saturated(line)
        if line.size[SATURATED] == 1 or line.size[POINTS] == before or line.size[POINTS] >= line.size[CAP]:
            return best(line)
        before = line.size[POINTS]
        _local_step(objective, line)
    return best(line)
