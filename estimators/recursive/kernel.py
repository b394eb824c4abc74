"""Recursive least squares on a UD factorisation: bounded at standstill, deaf to non-finite rows, batch by batch.

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
tests/benchmarks/rls.py.
"""

import math
from typing import Final

from estimators.numerics.jit import inline, kernel
from estimators.quantities import Floats
from estimators.recursive.forgetting import RANDOM_WALK, next_lambda
from estimators.recursive.state import (
    AXIS,
    CLIPPED,
    CONSTANT,
    ERROR,
    FORGOTTEN,
    HEADER,
    LAMBDA,
    LAW,
    LEAST,
    MASKED,
    OPEN,
    RATE_ERROR,
    RATE_LONG,
    RATE_SHORT,
    REFUSED,
    ROWS,
    SIGNAL,
    SINCE,
    STARTING,
    WEIGHT,
    WEIGHT_2,
)

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
    """Observe one coordinate as what it is, with noise r: only U and d change."""
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


@inline
def _bound(state: Floats, d: Floats, u: Floats, k: Floats, p: int) -> None:
    """Pseudo-observations that are due."""
    forgotten = state[FORGOTTEN]
    axis = int(state[AXIS])
    bound = HEADER + 2 * p + p * p
    visited = bound + p
    for turn in range(p):
        share = forgotten - state[visited + axis]
        if share < DUE or (turn > 0 and share < OVERDUE):
            break
        _observe_axis(d, u, k, p, axis, 0.5 * state[bound + axis] / share)
        state[visited + axis] = forgotten
        axis += 1
        if axis == p:
            axis = 0
        state[AXIS] = axis


@inline
def _wander(state: Floats, d: Floats, u: Floats, k: Floats, p: int) -> None:
    """Random walk of one axis, p rows' worth, where its variance is below P∞."""
    axis = int(state[AXIS])
    bound = state[HEADER + 2 * p + p * p + axis]
    variance = d[axis]
    for j in range(axis + 1, p):
        variance += d[j] * u[j * p + axis] * u[j * p + axis]
    q = min(p * state[CONSTANT] * bound, bound - variance)
    if q > 0.0:
        _walk(d, u, k, p, axis, q)
    state[AXIS] = axis + 1 if axis + 1 < p else 0


@inline
def learn(state: Floats, phi: Floats, y: Floats, rows: int, m: int, p: int) -> None:
    """Learn from rows, in place. phi: (rows·outputs·parameters,), y: (rows·outputs,), flat."""
    theta = state[HEADER : HEADER + p]
    d = state[HEADER + p : HEADER + 2 * p]
    u = state[HEADER + 2 * p : HEADER + 2 * p + p * p]
    scratch = HEADER + 4 * p + p * p
    k = state[scratch : scratch + p]
    r = state[scratch + p : scratch + p + m]
    long = state[scratch + p + m : scratch + p + 2 * m]
    short = state[scratch + p + 2 * m : scratch + p + 3 * m]
    for row in range(rows):
        inverse_lambda = 1.0 / state[LAMBDA]
        count = state[ROWS] + 1.0
        rate = 1.0 / count
        rate_long = max(state[RATE_LONG], rate)
        rate_short = max(state[RATE_SHORT], rate)
        young = count <= YOUNG * p
        opened = state[SINCE] < state[OPEN]
        present = 0
        sum_q = sum_clipped = sum_e = sum_clipped_e = sum_z = sum_y = 0.0
        for j in range(m):
            h = (row * m + j) * p
            target = y[row * m + j]
            e = target
            size = 0.0
            for i in range(p):
                x = phi[h + i]
                e -= x * theta[i]
                size += abs(x)
            if not (abs(e) < ABSURD and size < ABSURD):  # true for NaN and infinity anywhere in h and y
                state[MASKED] += 1.0
                continue
            noise = r[j]
            alpha, inverse = noise, 1.0 / noise
            for column in range(p):  # not a function of its own: that would cost a fifth
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
            inverse_lambda = 1.0
            q = e * e * inverse
            whitened = e * e / noise
            sum_q += q
            sum_e += whitened
            level = max(long[j], state[LEAST])
            if opened and short[j] > level:
                level = short[j]
            if q > CLIP * level and not young:
                e = math.copysign(math.sqrt(CLIP * level * alpha), e)
                q = CLIP * level
                whitened = e * e / noise
                state[CLIPPED] += 1.0
            gain = e * inverse
            for i in range(p):
                theta[i] += k[i] * gain
            limit = LONG_CLIP * long[j]
            long[j] += rate_long * ((q if young or q < limit else limit) - long[j])
            short[j] += rate_short * (q - short[j])
            sum_clipped += q
            sum_clipped_e += whitened
            sum_z += alpha / noise - 1.0
            sum_y += target * target / noise
            present += 1
        if present == 0:
            state[REFUSED] += 1.0
            continue
        state[ROWS] = count
        lam = state[LAMBDA]
        state[FORGOTTEN] += 1.0 - lam
        state[WEIGHT] = lam * state[WEIGHT] + 1.0
        state[WEIGHT_2] = lam * lam * state[WEIGHT_2] + 1.0
        rate = max(state[RATE_ERROR], rate)
        state[ERROR] += rate * (sum_e - state[ERROR])
        state[SIGNAL] += rate * (sum_y - state[SIGNAL])
        if state[STARTING] == 1.0:
            continue
        if state[LAW] == RANDOM_WALK:
            _wander(state, d, u, k, p)
        else:
            _bound(state, d, u, k, p)
        mean_long = mean_short = 0.0
        for j in range(m):
            mean_long += long[j] / m
            mean_short += short[j] / m
        share = 1.0 / present
        state[LAMBDA] = next_lambda(
            state, mean_long, mean_short, sum_q * share, sum_clipped * share, sum_clipped_e * share, sum_z * share
        )


@kernel("void(f8[::1], f8[:, :, ::1], f8[:, ::1])")
def absorb(state: Floats, phi: Floats, y: Floats) -> None:
    """Learn from rows, in place.

    state: see state.py; phi: (rows, outputs, parameters); y: (rows, outputs).
    """
    rows, m, p = phi.shape
    learn(state, phi.reshape(-1), y.reshape(-1), rows, m, p)
