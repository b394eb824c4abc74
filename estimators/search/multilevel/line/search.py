"""Line search without derivatives (GLS) along one direction: extend, bracket, refine the best minimum.

It adds one step at a time to an ascending list: by a parabola through the best point, by a quartic through five, by
extending or splitting the list where those do not apply. The list is saturated when a local step would repeat a known
one.
"""

import numpy as np

from estimators.numerics.jit import inline, kernel
from estimators.search.multilevel.evaluation import RUNNING, Objective
from estimators.search.multilevel.line.line import (
    SMALL,
    Line,
    add,
    best,
    first,
    is_convex,
    minima,
    nearest,
    second,
)
from estimators.search.multilevel.line.steps import extend, local_steps, parabola_step, quartic_step


@inline
def _range(objective: Objective, line: Line) -> None:
    low, high = -np.inf, np.inf
    for i in range(line.base.size):
        x, p = line.base[i], line.direction[i]
        if p > 0.0:
            low, high = max(low, (objective.lower[i] - x) / p), min(high, (objective.upper[i] - x) / p)
        elif p < 0.0:
            low, high = max(low, (objective.upper[i] - x) / p), min(high, (objective.lower[i] - x) / p)
    s = line.points
    line.least_step = min(low, line.a[0])
    line.greatest_step = max(high, line.a[s - 1])


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
    first, last = line.a[0], line.a[line.points - 1]
    if last - first > scale:
        return
    left = max(line.least_step, min(-scale, line.greatest_step))
    right = max(line.least_step, min(scale, line.greatest_step))
    if right - last >= first - left:
        if right > last:
            add(objective, line, right)
    elif left < first:
        add(objective, line, left)


@inline
def _runs_into_bound(line: Line) -> bool:
    """The list is monotone and its best end is at the end of the range."""
    s = line.points
    up = down = False
    for k in range(s - 1):
        if line.f[k] < line.f[k + 1]:
            up = True
        elif line.f[k] > line.f[k + 1] or k < s - 2:
            down = True
    a = line.a[best(line)]
    return not (up and down) and (a == line.least_step or a == line.greatest_step)


@inline
def _descent(objective: Objective, line: Line) -> None:
    """Look closer to step 0 when the best is step 0 itself or four times as far as the next one towards it."""
    s, a = line.points, line.a
    if nearest(line, 0.0) > 0.0:
        return
    k = best(line)
    if a[k] == 0.0:
        if k == s - 1 or (k > 0 and a[k + 1] - a[k] <= a[k] - a[k - 1]):
            add(objective, line, a[k - 1] / 3.0)
        else:
            add(objective, line, a[k + 1] / 3.0)
        return
    towards = a[k - 1] if a[k] > 0.0 else a[k + 1]
    if abs(a[k]) > 4.0 * abs(towards):
        add(objective, line, a[k] / 3.0)


@inline
def _convex(line: Line) -> bool:
    convex = True
    for k in range(1, line.points - 1):
        convex = convex and second(line, k - 1, k, k + 1) >= 0.0
    return convex


@inline
def _confirm_saturated(line: Line) -> None:
    """Stay saturated only if the parabola at the best step is, too."""
    k = best(line)
    if not line.saturated or k == 0 or k == line.points - 1:
        return
    a, curve = line.a, second(line, k - 1, k, k + 1)
    if not is_convex(curve):
        line.saturated = False
        return
    step = 0.5 * (a[k] + a[k + 1] - first(line, k, k + 1) / curve)
    step = max(line.least_step, min(step, line.greatest_step))
    line.saturated = abs(a[k] - step) <= SMALL * (a[k + 1] - a[k - 1])


@kernel((Objective, Line))
def line_search(objective: Objective, line: Line) -> int:
    """Add steps to the list; base, direction, cap, locals and the given steps are set. Returns the best's index."""
    line.given = line.points
    line.saturated = False
    _range(objective, line)
    _spread(objective, line)
    while line.points < min(5, line.cap):
        if line.locals == 1:
            parabola_step(objective, line)
        else:
            extend(objective, line)
        if objective.stop != RUNNING:
            return best(line)
        if line.points > 3 and _runs_into_bound(line):
            return best(line)
    if minima(line) == 1:
        if _runs_into_bound(line):
            return best(line)
        if line.points == 5:
            quartic_step(objective, line)
        _descent(objective, line)
        if _convex(line):
            return best(line)
    before = -1
    while objective.stop == RUNNING:
        _descent(objective, line)
        _confirm_saturated(line)
        if line.saturated or line.points == before or line.points >= line.cap:
            return best(line)
        before = line.points
        local_steps(objective, line)
    return best(line)
