"""Recursive least squares on a UD factorisation: P is bounded at standstill, non-finite rows are ignored.

Per row, with P = U D U' in units of the residual variance (Bierman, Factorization Methods for Discrete Sequential
Estimation, 1977, section V.3), λ from the forgetting law:

    d ← d/λ                                              forgetting
    per output j:  e = y_j − h'θ,  f = U'h,  v = d∘f,  z = f'v
                   U, d ← Bierman's update with noise r_j,  k = its gain before division
                   θ ← θ + k·clip(e)/(r_j + z)           clip at 5·√(v_long·(r_j + z))
    per axis i whose share of forgetting is due:  the same update with h = e_i, zero innovation, R_i = P∞_i/(2Σ(1 − λ))

The last line is the bound. Without data an axis goes from the information I to Λ·I + 2Σ(1 − λ)/P∞ between two visits,
Λ = Πλ; as Σ(1 − λ) ≥ 1 − Λ the fixed point is at least 2/P∞, whatever λ does in between, and an axis that has lost a
quarter does not wait for its turn: hence P_ii ≤ P∞_i. This pseudo-observation of zero innovation is what PX4 and
openpilot arrived at, and is exponential resetting (Salgado, Goodwin, Middleton, Int. J. Control 47:477–491, 1988). UD
is invariant to column scaling, so θ is in SI units and only P∞ is scaled: P∞_i = P∞/rms(column i)², outputs whitened,
so that the bound weighs 1/P∞ rows of typical excitation.

A row's output with a non-finite value is masked: it never touches the state. Bierman's two divisions a column are one
here (1/α_j is kept), and f_j is formed in the pass that updates column j: a quarter less time, see
tests/benchmarks/estimation/rls.py.
"""

import math
from typing import Final

from estimators.numerics.jit import inline, inline_always, kernel
from estimators.quantities import Floats
from estimators.recursive.forgetting import FORTESCUE, PALEOLOGU, RANDOM_WALK, VARIANCE_RATIO, next_lambda
from estimators.recursive.state import RecursiveState
from jointwatch_numba.matrix import as_vector

#: 1, argued: Times p rows in which the residual variance is not known, and nothing is clipped.
YOUNG: Final = 10
#: v, argued: Squared innovation, in residual variances, beyond which it is clipped: five deviations.
CLIP: Final = 25.0
#: v, argued: A squared residual counts at most this many variances where a variance is learnt: three deviations.
LONG_CLIP: Final = 9.0
#: 1, argued: Forgetting after which an axis gets its pseudo-observation (decision 001, point 4).
DUE: Final = 0.01
#: 1, argued: Forgetting after which it does not wait for its turn.
OVERDUE: Final = 0.25
#: 1, derived: A larger number is refused like NaN: its square would overflow.
ABSURD: Final = 1e100


@inline
def _observe_axis(d: Floats, u: Floats, k: Floats, p: int, axis: int, r: float) -> None:
    """Make the pseudo-observation h = e_axis with innovation zero and noise r: only U and d change."""
    alpha, inverse = r, 1.0 / r
    for i in range(axis):
        k[i] = 0.0
    for j in range(axis, p):
        column = j * p
        f = u[column + axis] if j > axis else 1.0
        v = d[j] * f
        step = -f * inverse
        new = alpha + f * v
        inverse = 1.0 / new
        d[j] *= alpha * inverse
        k[j] = v
        for i in range(j):
            old = u[column + i]
            ki = k[i]
            u[column + i] = old + ki * step
            k[i] = ki + v * old
        alpha = new


@inline
def _walk(d: Floats, u: Floats, a: Floats, p: int, axis: int, q: float) -> None:
    """P ← P + q·e_i·e_i' (Agee & Turner's rank-one update; Bierman 1977, theorem V.2.1)."""
    for i in range(axis):
        a[i] = 0.0
    a[axis] = 1.0
    for j in range(axis, -1, -1):
        s = a[j]
        new = d[j] + q * s * s
        b = q / new
        q = b * d[j]
        d[j] = new
        for i in range(j):
            a[i] -= s * u[j * p + i]
            u[j * p + i] += b * s * a[i]


@inline_always
def _bound(state: RecursiveState, u: Floats) -> None:
    """Make the pseudo-observations that are due; u: U column by column, flat."""
    p = state.parameters
    for turn in range(p):
        axis = state.axis
        share = state.forgotten - state.visited[axis]
        if share < DUE or (turn > 0 and share < OVERDUE):
            break
        _observe_axis(state.d, u, state.gain, p, axis, 0.5 * state.bound[axis] / share)
        state.visited[axis] = state.forgotten
        state.axis = axis + 1 if axis + 1 < p else 0


@inline
def _random_walk(state: RecursiveState, u: Floats) -> None:
    """Let one axis walk at random, p rows' worth, where its variance is below P∞; u: U column by column, flat."""
    p, axis, d = state.parameters, state.axis, state.d
    variance = d[axis]
    for j in range(axis + 1, p):
        variance += d[j] * u[j * p + axis] * u[j * p + axis]
    q = min(p * state.walk * state.bound[axis], state.bound[axis] - variance)
    if q > 0.0:
        _walk(d, u, state.gain, p, axis, q)
    state.axis = axis + 1 if axis + 1 < p else 0


@inline
def _prediction_error(theta: Floats, phi: Floats, h: int, p: int, target: float) -> tuple[float, float]:
    """y − φθ of the row that begins at phi[h], and Σ|φ|, which is not finite where any entry is not."""
    e, size = target, 0.0
    for i in range(p):  # not of len(theta): that h is not negative LLVM knows from p > 0, and spares a check each turn
        x = phi[h + i]
        e -= x * theta[i]
        size += abs(x)
    return e, size


@inline
def _clipped(state: RecursiveState, j: int, e: float, q: float, alpha: float, opened: bool) -> tuple[float, float]:
    """An innovation of output j and its square over its variance, clipped; opened: the short variance may widen it."""
    level = max(state.long[j], state.least)
    if opened and state.short[j] > level:
        level = state.short[j]
    if q > CLIP * level:
        state.clipped += 1
        return math.copysign(math.sqrt(CLIP * level * alpha), e), CLIP * level
    return e, q


@inline_always
def _finish_row(
    state: RecursiveState,
    u: Floats,
    present: int,
    rate: float,
    sum_q: float,
    sum_clipped: float,
    sum_e: float,
    sum_clipped_e: float,
    sum_z: float,
    sum_y: float,
) -> None:
    """Count a row of which `present` outputs were learnt, forget, and bound P; the sums are over these outputs."""
    state.rows += 1
    lam = state.forgetting
    state.forgotten += 1.0 - lam
    state.weight = lam * state.weight + 1.0
    state.squared_weight = lam * lam * state.squared_weight + 1.0
    rate = max(state.rate_error, rate)
    state.error += rate * (sum_e - state.error)
    state.signal += rate * (sum_y - state.signal)
    if state.starting:
        return
    if state.law == RANDOM_WALK:
        _random_walk(state, u)
    else:
        _bound(state, u)
    long = short = 0.0
    if state.law == VARIANCE_RATIO or state.law == FORTESCUE:  # no other law asks for them
        for j in range(state.outputs):
            long += state.long[j] / state.outputs
            short += state.short[j] / state.outputs
    share = 1.0 / present
    state.forgetting = next_lambda(
        state, long, short, sum_q * share, sum_clipped * share, sum_clipped_e * share, sum_z * share
    )


@inline
def learn(state: RecursiveState, phi: Floats, y: Floats, rows: int) -> None:
    """Learn from rows, in place. phi: (rows·outputs·parameters,), y: (rows·outputs,), flat."""
    m, p = state.outputs, state.parameters
    theta, d, u, k, long, short = state.theta, state.d, as_vector(state.u), state.gain, state.long, state.short
    powers = state.law == PALEOLOGU  # the one law that asks for sum_clipped_e and sum_z
    for row in range(rows):
        inverse_lambda = 1.0 / state.forgetting
        rate = 1.0 / (state.rows + 1)
        young = state.rows + 1 <= YOUNG * p
        opened = state.since < state.opened
        present = 0
        sum_q = sum_clipped = sum_e = sum_clipped_e = sum_z = sum_y = 0.0
        for j in range(m):
            h, target = (row * m + j) * p, y[row * m + j]
            e, size = _prediction_error(theta, phi, h, p, target)
            if not (abs(e) < ABSURD and size < ABSURD):  # true for NaN and infinity anywhere in h and y
                state.masked += 1
                continue
            noise = state.noise[j]
            alpha, inverse = noise, 1.0 / noise  # r + z so far, and its inverse
            # Bierman's update with the forgetting of d; not a function of its own: that would cost a fifth
            for column in range(p):
                first = column * p
                f = phi[h + column]
                for i in range(column):
                    f += u[first + i] * phi[h + i]
                dj = d[column] * inverse_lambda
                v = dj * f
                step = -f * inverse
                new = alpha + f * v
                inverse = 1.0 / new
                d[column] = dj * (alpha * inverse)
                k[column] = v
                for i in range(column):
                    old = u[first + i]
                    ki = k[i]
                    u[first + i] = old + ki * step
                    k[i] = ki + v * old
                alpha = new
            inverse_lambda = 1.0  # once a row
            q = e * e * inverse  # squared innovation over its variance
            sum_q += q
            sum_e += e * e / noise
            if not young:
                e, q = _clipped(state, j, e, q, alpha, opened)
            gain = e * inverse  # θ ← θ + k·clip(e)/(r + z)
            for i in range(p):
                theta[i] += k[i] * gain
            limit = LONG_CLIP * long[j]  # running means of the residual variance, long and short
            long[j] += max(state.rate_long, rate) * ((q if young or q < limit else limit) - long[j])
            short[j] += max(state.rate_short, rate) * (q - short[j])
            sum_clipped += q
            if powers:
                sum_clipped_e += e * e / noise
                sum_z += alpha / noise - 1.0
            sum_y += target * target / noise
            present += 1
        if present == 0:
            state.refused += 1
        else:
            _finish_row(state, u, present, rate, sum_q, sum_clipped, sum_e, sum_clipped_e, sum_z, sum_y)


@kernel((RecursiveState, "f8[:, :, ::1]", "f8[:, ::1]"))
def absorb(state: RecursiveState, phi: Floats, y: Floats) -> None:
    """Learn from rows, in place. phi: (rows, outputs, parameters); y: (rows, outputs)."""
    learn(state, as_vector(phi), as_vector(y), len(y))
