"""Variable projection: the residual of a linear model as a function of η alone, and all its minima in a box.

    ρ(η) = min over θ of ‖y − F θ_F − M(η) θ_M‖²,  θ_j ≥ 0 where signed              (Golub & Pereyra 1973, (2.3))

F is projected out once; an evaluation fills the moving columns M (one call of the friction law), forms a few products
with the window's Statistics and solves the small non-negative least squares. Minima are found in three steps, in s
(s = ln η where η is positive, else η):

1. search: a global search's points (global_search.py), or all points of a lattice. Where every column depends on one η
   only, `lattice` evaluations give all latticeᵠ combinations and, by six-point interpolation of the columns in s, ρ and
   its derivatives anywhere between (eta_grid.py): no further evaluation is spent on finding the valleys and running
   down them.
2. from the bottom of each valley, or from each point where there is no table, evaluations again: Gauss–Newton with
   Kaufman's Jacobian (BIT 15:49–57, 1975). With D_k = ∂M/∂s_k θ_M, r the residual and P⊥ the projector off the columns
   in use,

       (DᵀP⊥D + μ diag) δ = Dᵀr

   M′ are forward differences; where every column depends on one η, one more fill gives all of them.
3. the lowest once more, until a step promises nothing.

The law's kernel comes in as a function of explicit type (docs/decisions/004-refit.md).
"""

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from estimators.models.friction.base import SIGNATURE
from estimators.numerics.jit import inline, kernel
from estimators.numerics.nnls import Integers, nnls
from estimators.numerics.normal_equations import copy, damped_step, dot, gauss_newton, normal_equations
from estimators.quantities import Floats
from estimators.refit.eta_grid import interpolate, lagrange, starts
from estimators.refit.settings import POINTS

Law = Callable[[Floats, int, int, Floats, Floats, Floats], None]

#: 1, derived: Step of ln η for forward differences: far above rounding, and a column hardly bends over it.
STEP: Final = 1e-5
#: 1, argued: Largest step in ln η: a factor e.
LIMIT: Final = 1.0
#: 1, derived: Share of yᵀy below which a change of ρ is rounding.
ROUNDING: Final = 1e-13
#: 1, derived: A step in ln η below it changes nothing that is reported.
SMALLEST: Final = 1e-10
#: 1, argued: Damping μ of Gauss-Newton to begin with.
DAMPING: Final = 1e-3
#: 1, argued: Factor of μ after a step that helped.
EASIER: Final = 0.1
#: 1, argued: Factor of μ after a step that did not help.
HARDER: Final = 10.0
#: 1, argued: Share of the step before that a step of a descent which still converges is at most: at a bend of the law
#: (a threshold on a sample) steps go on without end, and rounding leads them.
SHRINKS: Final = 0.5
#: 1, derived: Share of the gain of the last step, as asked, down to which a descent that converges goes on: of 1e-6 in
#: χ² to 1e-12, 1.4e-6 of a deviation, so that two descents into one valley end alike.
EXACT: Final = 1e-6
#: trials, argued: Trials of one step, each with μ ten times larger.
TRIALS: Final = 8
#: iterations, argued: Gauss-Newton iterations at most.
ITERATIONS: Final = 40
#: iterations, argued: Iterations on evaluations that tell a runner-up from the lowest minimum, since the table has led
#: to its bottom.
PROBE: Final = 3
#: 1, argued: Closer minima in ln η (or in shares of the range) are one.
APART: Final = 0.05
#: points, argued: Points of the lattice's diagonal at which the columns between its points are compared with the law.
PROBES: Final = 3


class ProjectionProblem(NamedTuple):
    """What the kernels take, in this order; f: signed fixed columns, m: moving ones, q: nonlinear parameters."""

    constants: Floats  # of the law
    signals: Floats  # (B, 2, SIGNALS) where it is evaluated
    columns: int  # it has
    moving: Integers  # (m,) which of them η moves
    owner: (
        Integers  # (derivatives,) by which η the derivative columns are: (m,), or (q·m,) where one depends on several
    )
    separate: bool  # every column depends on one η
    scale: Floats  # (3, q) lower and upper s, and 1 where s = ln η
    band: Floats  # (width, B) WᵀW
    cross: Floats  # (free + f + 1, B) Wᵀ[Q F y], F and y projected off the unsigned fixed columns Q
    block: Floats  # (f + 1, f + 1) [F y]ᵀ[F y], likewise
    signed: Integers  # (f + m,)


PROBLEM: Final = (
    f"FunctionType({SIGNATURE}), f8[::1], f8[:, :, ::1], i8, i8[::1], i8[::1], b1, f8[:, ::1], "
    "f8[:, ::1], f8[:, ::1], f8[:, ::1], i8[::1]"
)


@inline
def _fill(law: Law, p: ProjectionProblem, s: Floats, every: Floats, M: Floats) -> None:
    """M (m, B): the moving columns at s; every: (columns, B) scratch."""
    eta = np.empty(len(s))
    for k in range(len(s)):
        eta[k] = np.exp(s[k]) if p.scale[2, k] > 0.0 else s[k]
    law(p.signals, 0, 1, p.constants, eta, every.T)
    for c in range(len(p.moving)):
        copy(every[p.moving[c]], M[c])


@inline
def _project(
    p: ProjectionProblem, K: Floats, c: Floats, size: Floats, theta: Floats, state: Integers, scratch: Floats
) -> float:
    """ρ from the normal equations of [F M …]; fills theta and state (f + m,)."""
    yy = p.block[-1, -1]
    value = yy - nnls(K, c, p.signed, size, yy, theta, state, scratch)
    return value if np.isfinite(value) else np.inf


@inline
def _derivatives(law: Law, p: ProjectionProblem, s: Floats, every: Floats, X: Floats) -> int:
    """Fill the rows after M in X = [M M′] at s; returns the number of fills."""
    m, q = len(p.moving), len(s)
    beside, M = np.empty(q), np.empty((m, X.shape[1]))
    fills = 1 if p.separate else q
    for k in range(fills):
        for j in range(q):
            step = STEP if s[j] + STEP <= p.scale[1, j] else -STEP
            beside[j] = s[j] + step if p.separate or j == k else s[j]
        _fill(law, p, beside, every, M)
        for c in range(m):
            j = p.owner[k * m + c]
            factor = 1.0 / (beside[j] - s[j])
            for b in range(X.shape[1]):
                X[m + k * m + c, b] = factor * (M[c, b] - X[c, b])
    return fills


@inline
def _longest(d: Floats) -> float:
    longest = 0.0
    for k in range(len(d)):
        longest = max(longest, abs(d[k]))
    return longest


@inline
def _near(a: Floats, b: Floats, scale: Floats, distance: float) -> bool:
    """Whether no coordinate differs by more than distance: in ln η, or of the range."""
    near = True
    for k in range(len(a)):
        unit = 1.0 if scale[2, k] > 0.0 else scale[1, k] - scale[0, k]
        near = near and abs(a[k] - b[k]) <= distance * unit
    return near


@inline
def _run_down(
    p: ProjectionProblem,
    table: Floats,
    tc: Floats,
    ts: Floats,
    lattice: int,
    s: Floats,
    tolerance: float,
    known: Floats,
    stored: int,
) -> float:
    """Gauss–Newton from s, in place, on interpolated columns: no evaluation; returns ρ as the table has it.

    Stops, with +∞, where it reaches one of the `stored` known minima (bottoms, q).
    """
    m, q, n = len(p.moving), len(s), len(p.signed)
    K, c, size = np.empty((n + m, n + m)), np.empty(n + m), np.empty(n + m)
    theta, state, scratch, trial = np.empty(n), np.empty(n, np.int64), np.empty((n + 1, n)), np.empty(q)
    H, g, d = np.empty((q, q)), np.empty(q), np.empty(q)
    interpolate(table, tc, ts, lattice, p.owner, p.scale, s, m, K, c, size)
    value = _project(p, K, c, size, theta, state, scratch)
    mu = DAMPING
    for _ in range(ITERATIONS):
        gauss_newton(K, c, state, theta, m, p.owner, H, g)
        moved = False
        for _ in range(TRIALS):
            promise = damped_step(H, g, mu, s, p.scale, LIMIT, d)
            if promise <= tolerance * value or _longest(d) <= SMALLEST:
                break
            for k in range(q):
                trial[k] = s[k] + d[k]
            interpolate(table, tc, ts, lattice, p.owner, p.scale, trial, m, K, c, size)
            attempt = _project(p, K, c, size, theta, state, scratch)
            if attempt <= value:
                copy(trial, s)
                value = attempt
                mu *= EASIER
                moved = True
                break
            mu *= HARDER
        if not moved:
            break
        for i in range(stored):
            if _near(s, known[i], p.scale, 0.5 * APART):
                return np.inf
    return value


@inline
def _polish(
    law: Law,
    p: ProjectionProblem,
    s: Floats,
    iterations: int,
    tolerance: float,
    exact: bool,
    known: Floats,
    stored: int,
    theta: Floats,
    X: Floats,
    count: Integers,
) -> float:
    """Gauss–Newton from s, in place, on evaluations, until a step promises less than tolerance·ρ; returns ρ.

    exact: steps that shrink by SHRINKS go on down to EXACT of that. Fills theta (f + m,) and X (m + derivatives, B) =
    [M M′] at s; adds to count: evaluations, fills. Stops, with +∞, where it reaches one of the `stored` known minima
    (bottoms, q).
    """
    m, q, n, nodes = len(p.moving), len(s), len(p.signed), X.shape[1]
    total = n + len(p.owner)
    K, c, size = np.empty((total, total)), np.empty(total), np.empty(total)
    state, scratch, trial, attempted = np.empty(n, np.int64), np.empty((n + 1, n)), np.empty(q), np.empty(n)
    H, g, d = np.empty((q, q)), np.empty(q), np.empty(q)
    every, M = np.empty((p.columns, nodes)), np.empty((m, nodes))
    _fill(law, p, s, every, X[:m])
    normal_equations(X[:m], p.band, p.cross, p.block, K, c, size)
    value = _project(p, K, c, size, theta, state, scratch)
    count[0] += 1
    count[1] += 1
    mu, last = DAMPING, np.inf
    for iteration in range(iterations + 1):
        count[1] += _derivatives(law, p, s, every, X)
        normal_equations(X, p.band, p.cross, p.block, K, c, size)
        gauss_newton(K, c, state, theta, m, p.owner, H, g)
        moved = False
        for _ in range(TRIALS if iteration < iterations else 0):
            promise = damped_step(H, g, mu, s, p.scale, LIMIT, d)
            step = _longest(d)
            goes_on = exact and promise > EXACT * tolerance * value and step <= SHRINKS * last
            if (promise <= tolerance * value and not goes_on) or step <= SMALLEST:
                break
            for k in range(q):
                trial[k] = s[k] + d[k]
            _fill(law, p, trial, every, M)
            normal_equations(M, p.band, p.cross, p.block, K, c, size)
            attempt = _project(p, K, c, size, attempted, state, scratch)
            count[0] += 1
            count[1] += 1
            if attempt <= value + ROUNDING * p.block[-1, -1]:
                copy(trial, s)
                copy(attempted, theta)
                for column in range(m):
                    copy(M[column], X[column])
                value, last = attempt, step
                mu *= EASIER
                moved = True
                break
            mu *= HARDER
        if not moved:
            break
        for i in range(stored):
            if _near(s, known[i], p.scale, 0.5 * APART):
                return np.inf
    return value


@inline
def _insert(value: float, s: Floats, scale: Floats, best: Floats, where: Floats, stored: int) -> int:
    """Store (value, s) among the `stored` lowest so far, unless a lower one is within APART; returns how many are."""
    for i in range(stored):
        near = _near(s, where[i], scale, APART)
        if near and best[i] <= value:
            return stored
        if near:  # the other is the worse of the two: take it out
            for j in range(i, stored - 1):
                best[j] = best[j + 1]
                copy(where[j + 1], where[j])
            stored -= 1
            break
    if stored == len(best):
        if value >= best[stored - 1]:
            return stored
        stored -= 1
    place = stored
    while place > 0 and best[place - 1] > value:
        best[place] = best[place - 1]
        copy(where[place - 1], where[place])
        place -= 1
    best[place] = value
    copy(s, where[place])
    return stored + 1


@inline
def _store(law: Law, p: ProjectionProblem, lattice: int, store: Floats, table: Floats, tc: Floats, ts: Floats) -> float:
    """Columns on the lattice's diagonal, and their normal equations; returns how wrong columns between its points are.

    store: (m·lattice, B). The error is the largest of a column's at PROBES of the diagonal, as a share of the longest
    that this column is on it.
    """
    q, m, nodes = p.scale.shape[1], len(p.moving), p.signals.shape[0]
    every, s, M = np.empty((p.columns, nodes)), np.empty(q), np.empty((m, nodes))
    for i in range(lattice):
        for k in range(q):
            s[k] = p.scale[0, k] + (p.scale[1, k] - p.scale[0, k]) * i / (lattice - 1)
        _fill(law, p, s, every, M)
        for column in range(m):
            copy(M[column], store[column * lattice + i])
    normal_equations(store, p.band, p.cross, p.block, table, tc, ts)
    longest = np.zeros(m)
    for column in range(m):
        for i in range(lattice):
            x = store[column * lattice + i]
            longest[column] = max(longest[column], dot(x, x))
    worst, w, slope = 0.0, np.empty(POINTS), np.empty(POINTS)
    for probe in range(1, PROBES + 1):
        first = (lattice - POINTS) * probe // (PROBES + 1)
        at = first + 0.5 * (POINTS - 1)
        for k in range(q):
            s[k] = p.scale[0, k] + (p.scale[1, k] - p.scale[0, k]) * at / (lattice - 1)
        _fill(law, p, s, every, M)
        lagrange(at - first, w, slope)
        for column in range(m):
            off = 0.0
            for b in range(nodes):
                value = M[column, b]
                for i in range(POINTS):
                    value -= w[i] * store[column * lattice + first + i, b]
                off += value * value
            if longest[column] > 0.0:
                worst = max(worst, np.sqrt(off / longest[column]))
    return worst


@kernel(f"f8({PROBLEM}, i8, f8[:, ::1], f8[::1], f8[::1], i8[::1])")
def tabulate(
    law: Law,
    constants: Floats,
    signals: Floats,
    columns: int,
    moving: Integers,
    owner: Integers,
    separate: bool,
    scale: Floats,
    band: Floats,
    cross: Floats,
    block: Floats,
    signed: Integers,
    lattice: int,
    table: Floats,
    tc: Floats,
    ts: Floats,
    count: Integers,
) -> float:
    """The table of a window, f + m·lattice columns; every column depends on one η. Returns its error, see _store."""
    p = ProjectionProblem(constants, signals, columns, moving, owner, separate, scale, band, cross, block, signed)
    store = np.empty((len(moving) * lattice, signals.shape[0]))
    count[0] += lattice
    count[1] += lattice + PROBES
    return _store(law, p, lattice, store, table, tc, ts)


@kernel(f"i8({PROBLEM}, i8, f8[:, ::1], f8[::1], f8[::1], f8[:, ::1], f8[::1], i8[::1])")
def lattice_points(
    law: Law,
    constants: Floats,
    signals: Floats,
    columns: int,
    moving: Integers,
    owner: Integers,
    separate: bool,
    scale: Floats,
    band: Floats,
    cross: Floats,
    block: Floats,
    signed: Integers,
    lattice: int,
    table: Floats,
    tc: Floats,
    ts: Floats,
    where: Floats,
    values: Floats,
    count: Integers,
) -> int:
    """Fill where (starts, q) and values (starts,) with points of the lattice to begin at; returns how many.

    table: of tabulate(), without columns where there is none.
    """
    p = ProjectionProblem(constants, signals, columns, moving, owner, separate, scale, band, cross, block, signed)
    q, m, n, nodes = p.scale.shape[1], len(p.moving), len(p.signed), p.signals.shape[0]
    f, tabled = n - m, len(tc) > 0
    every, s, place = np.empty((p.columns, nodes)), np.empty(q), np.empty(q, np.int64)
    all_values, theta = np.empty(lattice**q), np.empty(n)
    state, scratch = np.empty(n, np.int64), np.empty((n + 1, n))
    K, c, size = np.empty((n, n)), np.empty(n), np.empty(n)
    M = np.empty((m, nodes))
    index = np.arange(n)
    for point in range(len(all_values)):
        rest = point
        for k in range(q):
            place[k] = rest % lattice
            rest //= lattice
        if tabled:
            for column in range(m):
                index[f + column] = f + column * lattice + place[p.owner[column]]
            for i in range(n):
                for j in range(n):
                    K[i, j] = table[index[i], index[j]]
                c[i], size[i] = tc[index[i]], ts[index[i]]
        else:
            for k in range(q):
                s[k] = p.scale[0, k] + (p.scale[1, k] - p.scale[0, k]) * place[k] / (lattice - 1)
            _fill(law, p, s, every, M)
            normal_equations(M, p.band, p.cross, p.block, K, c, size)
            count[0] += 1
            count[1] += 1
        all_values[point] = _project(p, K, c, size, theta, state, scratch)
    found = np.empty(len(where), np.int64)
    number = starts(all_values, lattice, q, found)
    for i in range(number):
        point = found[i]
        values[i] = all_values[point]
        for k in range(q):
            where[i, k] = p.scale[0, k] + (p.scale[1, k] - p.scale[0, k]) * (point % lattice) / (lattice - 1)
            point //= lattice
    return number


@inline
def _distinct(
    law: Law,
    p: ProjectionProblem,
    margin: float,
    tolerance: float,
    best: Floats,
    where: Floats,
    stored: int,
    tabled: bool,
    count: Integers,
) -> int:
    """Follow to its end every minimum that is worse than the first by less than margin; returns how many are left.

    One that was given up on a slope ends at the first, and is none. Those that the table has led to their bottoms are
    there already.
    """
    theta, X, s = np.empty(len(p.signed)), np.empty((len(p.moving) + len(p.owner), p.signals.shape[0])), where[0].copy()
    left = 1
    for i in range(1, stored):
        value = best[i]
        copy(where[i], s)
        if not tabled and value - best[0] < margin:
            value = _polish(law, p, s, ITERATIONS, tolerance, False, where, 1, theta, X, count)
        if value == np.inf or _near(s, where[0], p.scale, APART):
            continue
        best[left] = value
        copy(s, where[left])
        left += 1
    return left


@kernel(
    f"i8({PROBLEM}, i8, f8[:, ::1], f8[::1], f8[::1], i8, f8[:, ::1], f8[::1], i8, f8, f8, f8, b1, "
    "f8[::1], f8[:, ::1], f8[::1], f8[:, ::1], i8[::1])"
)
def minima(
    law: Law,
    constants: Floats,
    signals: Floats,
    columns: int,
    moving: Integers,
    owner: Integers,
    separate: bool,
    scale: Floats,
    band: Floats,
    cross: Floats,
    block: Floats,
    signed: Integers,
    lattice: int,
    table: Floats,
    tc: Floats,
    ts: Floats,
    given: int,
    places: Floats,
    values: Floats,
    probe: int,
    coarse: float,
    fine: float,
    doubtful: float,
    exact: bool,
    best: Floats,
    where: Floats,
    theta: Floats,
    X: Floats,
    count: Integers,
) -> int:
    """Fill best (minima,) and where (minima, q) with ρ and s of the lowest distinct minima, in order; returns how many.

    table: of tabulate(), on which the points run down first, without columns where there is none. places, values: the
    `given` points to begin from, and ρ there. probe: iterations of all minima but the lowest. coarse, fine: the part of
    ρ that the last step may still promise, elsewhere and for the lowest, of which theta and X are; exact: see _polish.
    count: (2,) evaluations of ρ and fills of the moving columns.
    """
    p = ProjectionProblem(constants, signals, columns, moving, owner, separate, scale, band, cross, block, signed)
    bottoms, bottom, s = np.empty(len(best)), np.empty(where.shape), np.empty(where.shape[1])
    found = 0
    for i in range(given):
        copy(places[i], s)
        value = values[i]
        if len(tc) > 0:
            value = _run_down(p, table, tc, ts, lattice, s, coarse, bottom, found)
        if value < np.inf:
            found = _insert(value, s, scale, bottoms, bottom, found)
    stored = 0
    for i in range(found):
        copy(bottom[i], s)
        value = _polish(law, p, s, probe, coarse, False, where, stored if probe > PROBE else 0, theta, X, count)
        if value < np.inf:
            stored = _insert(value, s, scale, best, where, stored)
    if stored > 0:
        copy(where[0], s)
        best[0] = _polish(law, p, s, ITERATIONS, fine, exact, where, 0, theta, X, count)
        copy(s, where[0])
        stored = _distinct(law, p, doubtful * best[0], fine, best, where, stored, len(tc) > 0, count)
    return stored
