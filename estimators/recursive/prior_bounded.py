"""Bayesian least squares block by block, that forgets towards its prior and never becomes less certain than it.

    predict   θ ← θ0 + a(θ − θ0)      P ← aPaᵀ + (1 − aaᵀ)∘P0          ⇒ P ≤ P0 for ever
    update    J = P⁻¹ + Σ XᵀWX        θ = J⁻¹(P⁻¹θ + XᵀWy)

a is 1 for what does not change and exp(−T/τ) for what does; P0 must not couple the two kinds. Reference: whole-robot.md §5.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from estimators.quantities import Floats


class PriorBounded:
    """θ and P, in units of the prior's deviations."""

    def __init__(self, prior: Floats, prior_covariance: Floats, fade: Floats) -> None:
        """prior: (p,); prior_covariance: (p, p), positive definite; fade: (p,) a of one block."""
        self._scale = np.sqrt(np.diag(prior_covariance))
        self._prior = prior / self._scale
        self._P0 = prior_covariance / np.outer(self._scale, self._scale)
        self._fade, self._keeps = fade, 1.0 - np.outer(fade, fade)
        self._theta, self._P = self._prior.copy(), self._P0.copy()

    @property
    def theta(self) -> Floats:
        """(p,)."""
        return self._theta * self._scale

    @property
    def covariance(self) -> Floats:
        """(p, p)."""
        return self._P * np.outer(self._scale, self._scale)

    @property
    def prior_covariance(self) -> Floats:
        """(p, p)."""
        return self._P0 * np.outer(self._scale, self._scale)

    def begin(self, theta: Floats, covariance: Floats) -> None:
        """Go on from what was learnt before."""
        self._theta = theta / self._scale
        P = covariance / np.outer(self._scale, self._scale)
        self._P = 0.5 * (P + P.T)

    def absorb(self, information: Floats, vector: Floats) -> bool:
        """One block: Σ XᵀWX (p, p) and Σ XᵀWy (p,). False, and nothing learnt, where it is not finite or definite."""
        theta = self._prior + self._fade * (self._theta - self._prior)
        P = self._P * np.outer(self._fade, self._fade) + self._keeps * self._P0
        try:
            before = cho_factor(P, lower=True)
            inverse = cho_solve(before, np.eye(len(P)))
            J = inverse + information * np.outer(self._scale, self._scale)
            after = cho_factor(0.5 * (J + J.T), lower=True)
            theta = cho_solve(after, inverse @ theta + vector * self._scale)
            P = cho_solve(after, np.eye(len(P)))
        except (np.linalg.LinAlgError, ValueError):
            return False
        if not (np.isfinite(theta).all() and np.isfinite(P).all()):
            return False
        self._theta, self._P = theta, 0.5 * (P + P.T)
        return True

    def doubt(self, which: NDArray[np.int64]) -> None:
        """These parameters have changed: nothing is known of them but the prior's spread."""
        self._P[which, :] = 0.0
        self._P[:, which] = 0.0
        self._P[np.ix_(which, which)] = self._P0[np.ix_(which, which)]
