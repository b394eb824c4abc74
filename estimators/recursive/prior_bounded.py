"""Bayesian least squares block by block, that forgets towards its prior and never becomes less certain than it.

    predict   θ ← θ0 + a(θ − θ0)      P ← aPaᵀ + (1 − aaᵀ)∘P0          ⇒ P ≤ P0 for ever
    update    J = P⁻¹ + Σ XᵀWX        θ = J⁻¹(P⁻¹θ + XᵀWy)

a is 1 for what does not change and exp(−T/τ) for what does; P0 must not couple the two kinds.
"""

import numpy as np
from numpy.typing import NDArray

from estimators.numerics.jit import inline, kernel
from estimators.quantities import Floats
from estimators.recursive.process_noise_correction import Belief


class PriorBounded:
    """θ and P, in units of the prior's deviations."""

    def __init__(self, prior: Floats, prior_covariance: Floats, fade: Floats) -> None:
        """prior: (p,); prior_covariance: (p, p), positive definite; fade: (p,) a of one block."""
        self._scale = np.sqrt(np.diag(prior_covariance))
        self._prior = prior / self._scale
        self._P0 = prior_covariance / np.outer(self._scale, self._scale)
        self._fade = fade
        self._theta, self._P = self._prior.copy(), self._P0.copy()

    @property
    def theta(self) -> Floats:
        """(p,)."""
        return self._theta * self._scale

    @property
    def covariance(self) -> Floats:
        """(p, p)."""
        return np.asarray(self._P * np.outer(self._scale, self._scale))

    @property
    def prior_covariance(self) -> Floats:
        """(p, p)."""
        return np.asarray(self._P0 * np.outer(self._scale, self._scale))

    @property
    def unknown(self) -> float:
        """How many parameters are known no better than by their prior, by variance."""
        return float(np.diag(self._P).sum())

    def begin(self, theta: Floats, covariance: Floats) -> None:
        """Go on from what was learnt before."""
        self._theta = theta / self._scale
        P = covariance / np.outer(self._scale, self._scale)
        self._P = 0.5 * (P + P.T)

    @property
    def fade(self) -> Floats:
        """(p,) a of one block."""
        return self._fade

    @property
    def walk(self) -> Floats:
        """(p, p): by how much a block makes θ less certain."""
        return np.asarray((1.0 - np.outer(self._fade, self._fade)) * self.prior_covariance)

    def predicted(self) -> Belief:
        """θ and P before the next block."""
        theta = self._prior + self._fade * (self._theta - self._prior)
        return Belief(theta * self._scale, np.outer(self._fade, self._fade) * self.covariance + self.walk)

    def absorb(self, X: Floats, y: Floats, weights: Floats) -> bool:
        """One block: X (rows, n, p), y (rows, n), weights (n,). False, and nothing learnt, if P is not definite."""
        theta, P = self._theta.copy(), self._P.copy()
        if not _absorb(self._prior, self._P0, self._fade, X * self._scale, y, weights, theta, P):
            return False
        self._theta, self._P = theta, P
        return True

    def unbias(self, noise: Floats) -> None:
        """Take off what noise in the columns of a block did, θ ← θ + PNθ; noise: (k, k) N of the first k parameters."""
        k = len(noise)
        pulled = noise @ self.theta[:k] * self._scale[:k]
        self._theta = self._theta + self._P[:, :k] @ pulled

    def move(self, which: NDArray[np.int64], change: Floats, covariance: Floats) -> None:
        """These parameters have changed, all at once: by how much, (k,), and how certain that is, (k, k)."""
        scale = self._scale[which]
        self._theta[which] += change / scale
        self._prior[which] += change / scale
        self._P[which, :] = 0.0
        self._P[:, which] = 0.0
        self._P[np.ix_(which, which)] = covariance / np.outer(scale, scale)


@inline
def _invert(A: Floats) -> bool:
    """A symmetric matrix (p, p) into its inverse, by Cholesky in place; False where it is not positive definite.

    Innermost loops run along rows and add nothing up, so that several entries are computed at once.
    """
    p = len(A)
    column, found = np.empty(p), np.zeros((p, p))
    for k in range(p):
        if not A[k, k] > 0.0:
            return False
        A[k, k] = np.sqrt(A[k, k])
        for i in range(k + 1, p):
            A[i, k] /= A[k, k]
            column[i] = A[i, k]
        for i in range(k + 1, p):
            factor = column[i]
            for j in range(k + 1, i + 1):
                A[i, j] -= factor * column[j]
    for i in range(p):  # the triangle into its inverse
        for k in range(i):
            column[k], A[i, k] = A[i, k], 0.0
        for k in range(i):
            factor = column[k]
            for j in range(k + 1):
                A[i, j] -= factor * A[k, j]
        for j in range(i):
            A[i, j] /= A[i, i]
        A[i, i] = 1.0 / A[i, i]
    for k in range(p):
        for i in range(k + 1):
            factor = A[k, i]
            for j in range(i + 1):
                found[i, j] += factor * A[k, j]
    for i in range(p):
        for j in range(i + 1):
            A[i, j] = A[j, i] = found[i, j]
    return True


@kernel("b1(f8[::1], f8[:, ::1], f8[::1], f8[:, :, ::1], f8[:, ::1], f8[::1], f8[::1], f8[:, ::1])")
def _absorb(
    prior: Floats, P0: Floats, fade: Floats, X: Floats, y: Floats, weights: Floats, theta: Floats, P: Floats
) -> bool:
    """Update θ and P in place; see the module."""
    p = len(theta)
    for i in range(p):
        theta[i] = prior[i] + fade[i] * (theta[i] - prior[i])
        for j in range(p):
            both = fade[i] * fade[j]
            P[i, j] = both * P[i, j] + (1.0 - both) * P0[i, j]
    if not _invert(P):
        return False
    vector = np.zeros(p)
    for i in range(p):
        for j in range(p):
            vector[i] += P[i, j] * theta[j]
    for row in range(len(X)):
        for n in range(len(weights)):
            for i in range(p):
                x = weights[n] * X[row, n, i]
                if x != 0.0:
                    vector[i] += x * y[row, n]
                    for j in range(i + 1):
                        P[i, j] += x * X[row, n, j]
    for i in range(p):
        for j in range(i):
            P[j, i] = P[i, j]
    if not _invert(P):
        return False
    for i in range(p):
        theta[i] = 0.0
        for j in range(p):
            theta[i] += P[i, j] * vector[j]
        if not np.isfinite(theta[i]):
            return False
    return True
