"""What the steps of a robot's encoders do to θ wherever they lie: the motion as found, read again by others.

A motion that repeats to the sample draws its rounding once: what that does to θ does not average out, and no residual
says it (as of one joint, online/reread.py). So PLACES encoders of each joint, shares of a step Δ apart, read the motion
as found, and what they read too much passes the low-passes:

    ε = Δ(round(q/Δ + s) − s) − q  →  e = ε̈ of joint k        δX = Σ_k e_k X_k,  u = δX θ
    d ← a d      d ← d + P(Nθ − (X + δX)ᵀW u − XᵀWX d)        what θ is off by, as it is learnt

A motion that never repeats draws anew each time, and d averages out by itself. The mean of d dᵀ is owed.
"""

import numpy as np

from estimators.conditioning.causal_low_pass import CausalLowPass
from estimators.numerics.nnls import Integers
from estimators.online.reread import PLACES
from estimators.online.robot.encoders import SPARSE
from estimators.quantities import Floats
from estimators.recursive.prior_bounded import PriorBounded


class Reread:
    """Of n joints and q parameters, lags included."""

    def __init__(self, joints: int, parameters: int, low_passes: tuple[float, float], period: float) -> None:
        """low_passes: Hz, one behind the other; period: s between samples."""
        self._passes = [CausalLowPass(PLACES * joints, cutoff, period) for cutoff in low_passes]
        self.delay = round(sum(np.sqrt(2.0) / (2.0 * np.pi * one) for one in low_passes) / period)
        """Samples by which e speaks of a motion later than a row does."""
        odd = 2 * np.arange(joints) + 1  # each joint its places in another order
        self._places = np.outer(np.arange(PLACES), odd) % PLACES / PLACES
        self._moved = np.zeros((PLACES, parameters))

    def read(self, q: Floats, steps: Floats) -> Floats:
        """e (samples, PLACES, n) of a motion (samples, n); steps: Δ (n,), 0 where there are none."""
        whole = np.where(steps > 0.0, steps, np.inf)
        at = q[:, None] / whole + self._places
        values = np.where(np.isfinite(whole), (np.round(at) - at) * steps, 0.0).reshape(len(q), -1)
        for one in self._passes:
            values, _, second = one.absorb(values)
        return second.reshape(len(q), PLACES, -1)

    def absorb(
        self, learner: PriorBounded, X: Floats, e: Floats, weights: Floats, slopes: Floats, noise: Floats
    ) -> None:
        """A block that the learner has just learnt, N (p, p) not yet taken off: X (rows, n, q), e (rows, PLACES, n),
        weights (rows, n), 0 of rows that say nothing; slopes: as Encoders gives them."""
        p, d = len(noise), self._moved * learner.fade
        theta, slopes, looks = learner.theta[:p], slopes[..., :p], (len(slopes), SPARSE, PLACES, -1)
        u = np.einsum("rsjk,rkl->rsjl", e.reshape(looks), slopes @ theta)
        wu = u * weights.reshape(*looks[:2], 1, -1)
        right = -np.einsum(
            "tlq,tjl->jq", X, wu.reshape(len(X), PLACES, -1) + (X @ d.T).swapaxes(1, 2) * weights[:, None]
        )
        own = np.einsum("rsjk,rsjl->rjkl", e.reshape(looks), wu)
        right[:, :p] += noise @ theta - np.einsum("rjkl,rklp->jp", own, slopes)
        self._moved = d + right @ learner.covariance

    def forget(self, which: Integers) -> None:
        """These parameters have been found anew."""
        self._moved[:, which] = 0.0

    @property
    def owed(self) -> Floats:
        """(q, q) mean of d dᵀ."""
        return np.asarray(self._moved.T @ self._moved / PLACES)
