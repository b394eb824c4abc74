"""A quadratic programme over a box, possibly indefinite: minimise g'p + ½ p'G p for low ≤ p ≤ high, low ≤ 0 ≤ high.

Cyclic exact coordinate minimisation, in which coordinates reach and leave their bounds, then one step in the subspace
of the free ones: Newton's, or a direction of no or negative curvature. Promises a local minimiser.
"""

from typing import Final

import numpy as np

from estimators.numerics.jit import inline
from estimators.quantities import Floats
from estimators.search.multilevel.evaluation import Ints

EPSILON: Final = 2.220446049250313e-16
REFINEMENTS: Final = 3
PASSES: Final = 100


@inline
def box_minimum(g: Floats, G: Floats, low: Floats, high: Floats) -> Floats:
    """The minimiser p (dimensions,), from p = 0; g (dimensions,), G (dimensions, dimensions) symmetric."""
    n = g.size
    G = G.copy()
    for i in range(n):
        G[i, i] *= 1.0 + 100.0 * EPSILON
    p, slope = np.zeros(n), g.copy()
    free = np.zeros(n, np.int64)
    value, freeing = np.inf, n > 0
    refined, steps, before = 0, 0, -1
    improved = _finite(g, G)
    while True:
        new = _value(p, g, slope)
        if not improved or refined > REFINEMENTS or (refined > 0 and before == _count(free) and new >= value):
            return p
        value = min(value, new) if refined == 0 else new
        if refined == 0 and steps >= 3 * n:
            return p
        _coordinate_passes(p, slope, G, low, high, free, freeing)
        count = _count(free)
        if freeing and before == count:
            _gradient(p, g, G, slope)
            refined += 1
        else:
            refined = 0
        before = count
        improved = value - _value(p, g, slope) > 0.0 or not freeing
        if improved and refined <= REFINEMENTS:
            if count == 0:
                freeing = True
            else:
                steps += 1
                freeing = _subspace_step(p, slope, G, low, high, free)
                _gradient(p, g, G, slope)


@inline
def _finite(g: Floats, G: Floats) -> bool:
    total = 0.0
    for i in range(g.size):
        total += abs(g[i])
        for j in range(g.size):
            total += abs(G[i, j])
    return total < np.inf


@inline
def _count(free: Ints) -> int:
    count = 0
    for i in range(free.size):
        count += free[i]
    return count


@inline
def _shift(slope: Floats, t: float, G: Floats, k: int) -> None:
    for i in range(slope.size):
        slope[i] += t * G[k, i]


@inline
def _gradient(p: Floats, g: Floats, G: Floats, slope: Floats) -> None:
    for i in range(p.size):
        total = g[i]
        for j in range(p.size):
            total += G[i, j] * p[j]
        slope[i] = total


@inline
def _value(p: Floats, g: Floats, slope: Floats) -> float:
    total = 0.0
    for i in range(p.size):
        total += 0.5 * p[i] * (g[i] + slope[i])
    return total


@inline
def _step(low: float, high: float, slope: float, curve: float) -> tuple[float, int]:
    """The minimiser t of slope·t + ½ curve·t² on [low, high], and whether it is the lower (−1) or upper (1) end."""
    if curve == 0.0 and slope == 0.0:
        return 0.0, 0
    if curve <= 0.0:
        if 2.0 * slope + (low + high) * curve > 0.0:
            return low, -1
        return high, 1
    t = -slope / curve
    if t <= low:
        return low, -1
    if t >= high:
        return high, 1
    return t, 0


@inline
def _coordinate_passes(
    p: Floats, slope: Floats, G: Floats, low: Floats, high: Floats, free: Ints, freeing: bool
) -> None:
    """Minimise along one coordinate after the other until a whole pass fixes nothing new."""
    n = p.size
    count, k = 0, n - 1
    for _ in range(PASSES * n):  # ties between bounds could go round for ever
        if count == n:
            return
        count += 1
        k = (k + 1) % n
        if free[k] == 0 and not freeing:
            continue
        t, end = _step(low[k] - p[k], high[k] - p[k], slope[k], G[k, k])
        if end != 0 or p[k] + t <= low[k] or p[k] + t >= high[k]:
            bound = low[k] if end < 0 or (end == 0 and p[k] + t <= low[k]) else high[k]
            free[k] = 0
            if p[k] != bound:
                _shift(slope, bound - p[k], G, k)
                p[k] = bound
                count = 0
        elif t != 0.0:
            p[k] += t
            _shift(slope, t, G, k)
            free[k] = 1


@inline
def _subspace_step(p: Floats, slope: Floats, G: Floats, low: Floats, high: Floats, free: Ints) -> bool:
    """One exact step in the free coordinates; True if it hit no bound."""
    n = p.size
    q = _direction(slope, G, free)
    least, most = -np.inf, np.inf
    gradient = gradient_size = curve = curve_size = 0.0
    moves = False
    for i in range(n):
        q[i] = (p[i] + q[i]) - p[i]
        if q[i] == 0.0:
            continue
        moves = True
        a, b = (low[i] - p[i]) / q[i], (high[i] - p[i]) / q[i]
        least, most = max(least, min(a, b)), min(most, max(a, b))
        gradient += slope[i] * q[i]
        gradient_size += abs(slope[i] * q[i])
    if not moves or least >= 0.0 or most <= 0.0:
        return True
    for i in range(n):
        for j in range(n):
            curve += q[i] * G[i, j] * q[j]
            curve_size += abs(q[i] * G[i, j] * q[j])
    if abs(gradient) < 100.0 * EPSILON * gradient_size:
        gradient = 0.0
    if abs(curve) < 100.0 * EPSILON * curve_size:
        curve = 0.0
    t, end = _step(least, most, gradient, curve)
    for i in range(n):
        if q[i] == 0.0:
            continue
        if end != 0 and t == (low[i] - p[i]) / q[i]:
            p[i], free[i] = low[i], 0
        elif end != 0 and t == (high[i] - p[i]) / q[i]:
            p[i], free[i] = high[i], 0
        else:
            p[i] = min(max(p[i] + t * q[i], low[i]), high[i])
    return end == 0


@inline
def _direction(slope: Floats, G: Floats, free: Ints) -> Floats:
    """Newton's direction on the free set, or one of no or negative curvature at the first bad pivot."""
    n = slope.size
    L, d, q = np.zeros((n, n)), np.zeros(n), np.zeros(n)
    for i in range(n):
        if free[i] == 0:
            continue
        pivot = G[i, i]
        for j in range(i):
            if free[j] == 0:
                continue
            entry = G[i, j]
            for k in range(j):
                entry -= L[i, k] * L[j, k] * d[k]
            L[i, j] = entry / d[j]
            pivot -= L[i, j] * L[i, j] * d[j]
        if pivot <= n * EPSILON:
            # q_i = 1 and q = −G⁻¹ G_i on the coordinates before: solve L' q = −L_i
            q[i] = 1.0
            for j in range(i - 1, -1, -1):
                if free[j] == 1:
                    q[j] = -L[i, j]
                    for k in range(j + 1, i):
                        q[j] -= L[k, j] * q[k]
            return q
        d[i] = pivot
    for i in range(n):
        if free[i] == 1:
            q[i] = -slope[i]
            for j in range(i):
                q[i] -= L[i, j] * q[j]
    for i in range(n):
        if free[i] == 1:
            q[i] /= d[i]
    for i in range(n - 1, -1, -1):
        if free[i] == 1:
            for k in range(i + 1, n):
                q[i] -= L[k, i] * q[k]
    return q
