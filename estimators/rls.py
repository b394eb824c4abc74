"""Recursive least squares on a UD factorisation: bounded at standstill, deaf to non-finite rows, batch by batch.

Per row, with P = U D U' in units of the residual variance (Bierman, Factorization Methods for Discrete Sequential
Estimation, 1977, section V.3), λ from the forgetting law:

    d ← d/λ                                              forgetting
    per output j:  e = y_j − h'θ,  f = U'h,  v = d∘f,  z = f'v
                   U, d ← Bierman's update with noise r_j,  k = its gain before division
                   θ ← θ + k·clip(e)/(r_j + z)           clip at 5·√(v_long·(r_j + z))
    per axis i whose share of forgetting is due:  the same update with h = e_i, zero innovation, R_i = P∞_i/(2Σ(1 − λ))

The last line is the bound. Without data an axis goes from the information I to Λ·I + 2Σ(1 − λ)/P∞ between two visits,
Λ = Πλ; as Σ(1 − λ) ≥ 1 − Λ the fixed point is at least 2/P∞, whatever λ does in between, and visits come before Λ is
below ½: hence P_ii ≤ P∞_i. (The zero-innovation pseudo-observation of PX4 and openpilot; exponential resetting, Salgado, Goodwin,
Middleton, Int. J. Control 47:477–491, 1988.) UD is invariant to column scaling, so θ is in SI units and only P∞ is
scaled: 1/P∞ is the bound's weight in rows of typical excitation, P∞_i = P∞·r̄/rms(column i)².
"""

import itertools
import math
from typing import Final

import numpy as np

from estimators import rls_state as at
from estimators.base import Floats
from estimators.forgetting import NOISE, RANDOM_WALK, Forgetting, Threshold, arm, next_lambda
from estimators.jit import inline, kernel
from estimators.rls_state import (
    AXIS,
    CLIPPED,
    CONSTANT,
    ERROR,
    FORGOTTEN,
    HEADER,
    LAMBDA,
    LAST,
    LAW,
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

CLIP: Final = 25.0  # (5σ)²
LONG_CLIP: Final = 9.0  # the long variance learns at most this many times itself
DUE: Final = 0.01  # an axis is due for its pseudo-observation after this much forgetting
OVERDUE: Final = 0.25  # and does not wait for its turn after this much
LARGEST: Final = 100.0  # P∞
ABSURD: Final = 1e100  # refused like a non-finite value: its square would overflow


@inline
def _observe(d: Floats, u: Floats, f: Floats, v: Floats, k: Floats, p: int, first: int, r: float) -> float:
    """Bierman's measurement update of U and d from f = U'h, v = d∘f, nonzero from `first` on.

    Returns α = r + h'Ph and leaves the gain times α in k.
    """
    alpha = r
    for j in range(first, p):
        vj = v[j]
        new = alpha + f[j] * vj
        step = -f[j] / alpha
        d[j] *= alpha / new
        k[j] = vj
        column = j * p
        for i in range(j):
            old = u[column + i]
            ki = k[i]
            u[column + i] = old + ki * step
            k[i] = ki + vj * old
        alpha = new
    return alpha


@inline
def _observe_axis(d: Floats, u: Floats, f: Floats, v: Floats, k: Floats, p: int, axis: int, r: float) -> None:
    """Observe one coordinate as what it is, with noise r: only U and d change."""
    for i in range(axis):
        k[i] = 0.0
    f[axis] = 1.0
    v[axis] = d[axis]
    for j in range(axis + 1, p):
        f[j] = u[j * p + axis]
        v[j] = d[j] * f[j]
    _observe(d, u, f, v, k, p, axis, r)


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
def _bound(state: Floats, d: Floats, u: Floats, f: Floats, v: Floats, k: Floats, p: int) -> None:
    """Pseudo-observations that are due."""
    forgotten = state[FORGOTTEN]
    axis = int(state[AXIS])
    bound = HEADER + 2 * p + p * p
    visited = bound + p
    for turn in range(p):
        share = forgotten - state[visited + axis]
        if share < DUE or (turn > 0 and share < OVERDUE):
            break
        _observe_axis(d, u, f, v, k, p, axis, 0.5 * state[bound + axis] / share)
        state[visited + axis] = forgotten
        axis += 1
        if axis == p:
            axis = 0
    state[AXIS] = axis


@inline
def _wander(state: Floats, d: Floats, u: Floats, f: Floats, p: int) -> None:
    """Random walk of one axis, p rows' worth, where its variance is below P∞."""
    axis = int(state[AXIS])
    bound = state[HEADER + 2 * p + p * p + axis]
    variance = d[axis]
    for j in range(axis + 1, p):
        variance += d[j] * u[j * p + axis] * u[j * p + axis]
    q = min(p * state[CONSTANT] * bound, bound - variance)
    if q > 0.0:
        _walk(d, u, f, p, axis, q)
    state[AXIS] = axis + 1 if axis + 1 < p else 0


@kernel("void(f8[::1], f8[:, :, ::1], f8[:, ::1])")
def absorb(state: Floats, phi: Floats, y: Floats) -> None:
    """Learn from rows, in place.

    state: see rls_state.py; phi: (rows, outputs, parameters); y: (rows, outputs).
    """
    rows, m, p = phi.shape
    theta = state[HEADER : HEADER + p]
    d = state[HEADER + p : HEADER + 2 * p]
    u = state[HEADER + 2 * p : HEADER + 2 * p + p * p]
    scratch = HEADER + 4 * p + p * p
    f = state[scratch : scratch + p]
    v = state[scratch + p : scratch + 2 * p]
    k = state[scratch + 2 * p : scratch + 3 * p]
    r = state[scratch + 3 * p : scratch + 3 * p + m]
    long = state[scratch + 3 * p + m : scratch + 3 * p + 2 * m]
    short = state[scratch + 3 * p + 2 * m : scratch + 3 * p + 3 * m]
    usable = state[scratch + 3 * p + 3 * m : scratch + 3 * p + 4 * m]
    for row in range(rows):
        present = 0
        for j in range(m):
            whole = abs(y[row, j]) < ABSURD
            for i in range(p):
                whole &= abs(phi[row, j, i]) < ABSURD
            usable[j] = whole
            present += whole
        if present == 0:
            state[REFUSED] += 1.0
            continue
        lam = state[LAMBDA]
        state[ROWS] += 1.0
        if lam < 1.0:
            inverse = 1.0 / lam
            for i in range(p):
                d[i] *= inverse
            state[FORGOTTEN] += 1.0 - lam
        state[WEIGHT] = lam * state[WEIGHT] + 1.0
        state[WEIGHT_2] = lam * lam * state[WEIGHT_2] + 1.0
        rate = 1.0 / state[ROWS]
        rate_long = max(state[RATE_LONG], rate)
        rate_short = max(state[RATE_SHORT], rate)
        young = state[ROWS] <= 10.0 * p  # the residual variance is not known yet
        opened = state[SINCE] < state[OPEN]
        mean_q = mean_clipped = mean_e = mean_z = mean_y = mean_e_raw = 0.0
        for j in range(m):
            if usable[j] == 0.0:
                state[MASKED] += 1.0
                continue
            e = y[row, j]
            for i in range(p):
                e -= phi[row, j, i] * theta[i]
            if j == 0:
                state[LAST] = e
            for i in range(p):
                s = phi[row, j, i]
                for n in range(i):
                    s += u[i * p + n] * phi[row, j, n]
                f[i] = s
                v[i] = d[i] * s
            alpha = _observe(d, u, f, v, k, p, 0, r[j])
            q = e * e / alpha
            mean_q += q
            mean_e_raw += e * e / r[j]
            level = long[j]
            if opened:
                level = max(level, short[j])
            if q > CLIP * level and not young:
                e = math.copysign(math.sqrt(CLIP * level * alpha), e)
                q = CLIP * level
                state[CLIPPED] += 1.0
            gain = e / alpha
            for i in range(p):
                theta[i] += k[i] * gain
            limit = LONG_CLIP * long[j]
            long[j] += rate_long * ((q if young or q < limit else limit) - long[j])
            short[j] += rate_short * (q - short[j])
            mean_clipped += q
            mean_e += e * e / r[j]
            mean_z += alpha / r[j] - 1.0
            mean_y += y[row, j] * y[row, j] / r[j]
        rate = max(state[RATE_ERROR], rate)
        state[ERROR] += rate * (mean_e_raw - state[ERROR])
        state[SIGNAL] += rate * (mean_y - state[SIGNAL])
        if state[STARTING] == 1.0:
            continue
        if state[LAW] == RANDOM_WALK:
            _wander(state, d, u, f, p)
        else:
            _bound(state, d, u, f, v, k, p)
        share = 1.0 / present
        mean_long = mean_short = 0.0
        for j in range(m):
            mean_long += long[j] / m
            mean_short += short[j] / m
        state[LAMBDA] = next_lambda(
            state, mean_long, mean_short, mean_q * share, mean_clipped * share, mean_e * share, mean_z * share
        )


class RecursiveLeastSquares:
    """θ and its covariance, row by row, in one flat array `state` (see rls_state.py)."""

    def __init__(self, parameters: int, outputs: int, period: float, forgetting: Forgetting) -> None:
        """period: s between rows. Learns nothing before `begin`."""
        self.p, self.m, self.period = p, m, period = parameters, outputs, period
        self.state = state = np.zeros(at.size(p, m))
        cuts = np.cumsum([HEADER, p, p, p * p, p, p, 3 * p, m, m, m, m])
        parts = [state[a:b] for a, b in itertools.pairwise(cuts)]
        self.theta, self.d, u, self.bound, self._visited, _, self.noise, self._long, self._short, _ = parts
        self._u = u.reshape(p, p).T  # u[i, j] above the diagonal; the rest is not used
        state[RATE_LONG] = min(period / 5.0, 0.02)
        state[RATE_SHORT] = min(period / 0.1, 0.1)
        state[RATE_ERROR] = min(period / 2.0, 0.1)
        state[at.OPEN] = 1.0 / period
        forgetting.pack(state, period)

    def begin(self, noise: Floats, scale: Floats, largest: float = LARGEST) -> None:
        """Start from nothing: θ = 0, P = P∞/2, and λ = 1 until `settle`.

        noise: (outputs,) relative variances of the outputs; scale: (parameters,) rms of each column over typical
        motion, outputs whitened; largest: P∞, so that the bound weighs 1/P∞ rows of typical motion.
        """
        state = self.state
        state[[at.FORGOTTEN, AXIS, ROWS, at.WEIGHT, at.WEIGHT_2, ERROR, SIGNAL]] = 0.0
        state[[LAMBDA, STARTING]] = 1.0
        state[SINCE] = np.inf
        for part in (self.theta, self._u, self._visited, self._long, self._short):
            part[:] = 0.0
        self.noise[:] = noise
        self.bound[:] = largest / scale**2
        self.d[:] = 0.5 * self.bound

    def settle(self, threshold: Threshold, memory: float = 0.0) -> None:
        """End the starting procedure: from here on the forgetting law decides λ.

        threshold: of the alarm; memory: rows that a resting memory reaches at least.
        """
        self.state[STARTING] = 0.0
        arm(self.state, threshold, memory)

    def accept_noise(self) -> None:
        """The residual variance of now becomes the alarm's unit."""
        self.state[NOISE] = self.variance()

    def absorb(self, phi: Floats, y: Floats) -> None:
        """Learn from rows: phi (rows, outputs, parameters), y (rows, outputs), both C-contiguous float64."""
        absorb(self.state, phi, y)

    def covariance(self) -> Floats:
        """P (parameters, parameters), in units of the whitened residual variance."""
        u = np.triu(self._u, 1) + np.eye(self.p)
        return np.asarray((u * self.d) @ u.T)

    def relative_trace(self) -> float:
        """tr(P) in units of P∞: never above the number of parameters."""
        return float(np.sum(np.diag(self.covariance()) / self.bound))

    def variance(self) -> float:
        """Recent residual variance, whitened: what multiplies P."""
        return float(np.mean(self._long))

    def recent_variance(self) -> float:
        """The same over the last tenth of a second."""
        return float(np.mean(self._short))

    def share(self) -> float:
        """Σw²/Σw of the rows' weights w, ½ to 1: white noise of variance v gives θ the covariance v·P·share."""
        weight = self.state[at.WEIGHT]
        return float(self.state[at.WEIGHT_2] / weight) if weight else 1.0
