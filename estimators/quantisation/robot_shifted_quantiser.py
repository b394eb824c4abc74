"""Shifted quantiser of a whole robot: by how much encoder steps move θ, wherever they lie against the motion.

In a motion that repeats to the sample, rounding is one single draw: its effect on θ does not average out, and no
residual shows it (for one joint: shifted_quantiser.py). So PLACES encoders of each joint, shifted by shares of a step,
Δ, read the filtered motion, and their reading errors pass the low-passes:

    ε = Δ(round(q/Δ + s) − s) − q  →  e = ε̈ of joint k        δX = Σ_k e_k X_k,  u = δX θ
    d ← a d      d ← d + P(Nθ − (X + δX)ᵀW u − XᵀWX d)        error of θ, as it is learnt

A motion that never repeats draws anew each time, and d averages out. The covariance of θ is the mean of d dᵀ. One joint
solves for d from sums instead (shifted_quantiser.py): its learner forgets uniformly, a robot's parameter by parameter.
"""

from typing import Final

import numpy as np

from estimators.numerics.causal_low_pass import STATES
from estimators.numerics.jit import kernel
from estimators.numerics.nnls import Integers
from estimators.quantisation.robot_errors_in_variables import SPARSE
from estimators.quantisation.shifted_quantiser import PLACES
from estimators.quantities import Floats
from estimators.recursive.prior_bounded import PriorBounded

#: s, argued: Samples that are read at once, at most; bounds memory and changes no result.
WAITS: Final = 0.5


class RobotShiftedQuantiser:
    """Shifted quantisers of n joints, and the errors d of q parameters, lags included."""

    def __init__(
        self,
        joints: int,
        parameters: int,
        low_passes: tuple[float, float],
        period: float,
        stride: int = 1,
        apart: int = 1,
    ) -> None:
        """low_passes: Hz, one after the other; period: s between samples; stride: samples from a row to the next.

        apart: samples from one that an encoder read to the next; between them it holds its error.
        """
        quick, slow = low_passes
        self._apart = apart
        self._omegas, self._period, self._stride = (2.0 * np.pi * quick, 2.0 * np.pi * slow), period, stride
        self._state = np.full((2 * STATES, joints, PLACES), np.nan)
        delay = round(sum(np.sqrt(2.0) / (2.0 * np.pi * one) for one in low_passes) / period)
        self._ahead = -delay  # samples from the motion that e speaks of to the first that waits
        odd = 2 * np.arange(joints) + 1  # each joint its places in another order
        self._places = np.ascontiguousarray(np.outer(odd, np.arange(PLACES)) % PLACES / PLACES)
        self._waiting, self._count = np.empty((round(WAITS / period), joints)), 0
        self._moved = np.zeros((PLACES, parameters))

    def hold(self, q: Floats) -> bool:
        """Take samples (samples, n) that are to be read; returns whether there is room for as many more."""
        self._waiting[self._count : self._count + len(q)] = q
        self._count += len(q)
        return self._count + len(q) <= len(self._waiting)

    def read(self, steps: Floats, upto: int, *blocks: tuple[Integers, Floats]) -> None:
        """Read the samples that wait; upto: samples of the motion so far; steps: Δ (n,), 0 where there are none.

        blocks: of rows, each with its samples (rows,) and its e (rows, PLACES, n), which is filled as far as it is now
        known. Because of the low-passes e belongs to a later motion than its row.
        """
        first = upto - self._count + self._ahead
        skipped = -first % self._stride
        e = np.empty((max(0, -((skipped - self._count) // self._stride)), PLACES, len(steps)))
        _read(
            self._waiting[: self._count], steps, self._places, self._omegas, self._period, self._state, skipped,
            self._stride, -first % self._apart, self._apart, e,
        )  # fmt: skip
        for samples, found in blocks:
            at, over = np.divmod(samples - first - skipped, self._stride)
            inside = (at >= 0) & (at < len(e)) & (over == 0)
            found[inside] = e[at[inside]]
        self._count = 0

    def absorb(
        self, learner: PriorBounded, X: Floats, e: Floats, weights: Floats, slopes: Floats, noise: Floats
    ) -> None:
        """Follow a block that the learner has just learnt, before its noise N (p, p) is taken off.

        X: (rows, n, q); e: (rows, PLACES, n); weights: (rows, n), 0 where a row is not used; slopes: of Encoders.
        """
        p, d = len(noise), self._moved * learner.fade
        theta, looks = learner.theta[:p], (len(slopes), SPARSE, PLACES, -1)
        wu = torque(e, slopes, theta).reshape(looks) * weights.reshape(*looks[:2], 1, -1)
        slopes = slopes[..., :p]
        pulled = wu.reshape(len(X), PLACES, -1) + (X @ d.T).swapaxes(1, 2) * weights[:, None]
        right = -pulled.swapaxes(0, 1).reshape(PLACES, -1) @ X.reshape(-1, X.shape[2])
        own = np.einsum("rsjk,rsjl->rjkl", e.reshape(looks), wu)
        right[:, :p] += noise @ theta - np.einsum("rjkl,rklp->jp", own, slopes)
        self._moved = d + right @ learner.covariance

    def forget(self, which: Integers) -> None:
        """Set the errors of these parameters to zero: they have been found anew."""
        self._moved[:, which] = 0.0

    @property
    def covariance(self) -> Floats:
        """Covariance of θ and lags (q, q): the mean of d dᵀ."""
        return np.asarray(self._moved.T @ self._moved / PLACES)


def torque(e: Floats, slopes: Floats, theta: Floats) -> Floats:
    """Torque u (rows, PLACES, n) of e (rows, PLACES, n); slopes: of Encoders; theta: (p,)."""
    looks = e.reshape(len(slopes), SPARSE, PLACES, -1)
    return np.asarray(np.einsum("rsjk,rkl->rsjl", looks, slopes[..., : len(theta)] @ theta)).reshape(e.shape)


@kernel("void(f8[:, ::1], f8[::1], f8[:, ::1], UniTuple(f8, 2), f8, f8[:, :, ::1], i8, i8, i8, i8, f8[:, :, ::1])")
def _read(
    q: Floats, steps: Floats, places: Floats, omegas: tuple[float, float], period: float, state: Floats, skipped: int,
    stride: int, begin: int, apart: int, e: Floats,
) -> None:  # fmt: skip
    """Write e of each stride-th sample from `skipped` on; state: of both filters (6, n, PLACES).

    Each apart-th sample from `begin` on was read.
    """
    half, (first, second) = 0.5 * period, omegas
    gain, damping = half * first * first, np.sqrt(2.0) * first
    slow_gain, slow_damping = half * second * second, np.sqrt(2.0) * second
    turn, slow_turn = half * damping + (half * first) ** 2, half * slow_damping + (half * second) ** 2
    y, rate, last, z, slope, before = state[0], state[1], state[2], state[3], state[4], state[5]
    for row in range(len(q)):
        for j in range(len(steps)):
            step, whole, at = steps[j], steps[j] if steps[j] > 0.0 else np.inf, q[row, j]
            if np.isnan(last[j, 0]):
                for k in range(places.shape[1]):
                    lies = at / whole + places[j, k]
                    y[j, k] = last[j, k] = z[j, k] = before[j, k] = (np.rint(lies) - lies) * step
                    rate[j, k] = slope[j, k] = 0.0
            for k in range(places.shape[1]):
                u = last[j, k]
                if (row - begin) % apart == 0:
                    lies = at / whole + places[j, k]
                    u = (np.rint(lies) - lies) * step
                fresh = (rate[j, k] * (1.0 - turn) + gain * (last[j, k] + u - 2.0 * y[j, k])) / (1.0 + turn)
                value = y[j, k] + half * (rate[j, k] + fresh)
                y[j, k], rate[j, k], last[j, k] = value, fresh, u
                fresh = slope[j, k] * (1.0 - slow_turn) + slow_gain * (before[j, k] + value - 2.0 * z[j, k])
                fresh /= 1.0 + slow_turn
                z[j, k] += half * (slope[j, k] + fresh)
                slope[j, k], before[j, k] = fresh, value
        kept, over = (row - skipped) // stride, (row - skipped) % stride
        if over == 0 and kept >= 0:
            for j in range(len(steps)):
                for k in range(places.shape[1]):
                    e[kept, k, j] = second * second * (y[j, k] - z[j, k]) - slow_damping * slope[j, k]
