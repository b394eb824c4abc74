"""By how much the friction of a robot's joints bends beyond its law, and what that does to θ.

    τ = X θ + B d + …      B: hats over |q̇| at KNOTS of the speed seen, times the direction

d is not learnt: it is known to D, the same at every knot of a joint, by moments of the residual at the knots (χ² of as
many beyond what its long-run variance leaves to chance; two of them follow a law of two terms). What θ is off by for
each d is followed block by block, as a considered parameter (Schmidt 1966):

    S ← a S      S ← S + P XᵀW (B − X S)      published friction c θ is off by (c S − B) d
"""

from typing import Final

import numpy as np

from estimators.quantities import Floats
from estimators.recursive.prior_bounded import PriorBounded

KNOTS: Final = (0.05, 0.1, 0.2, 0.5, 1.0)  # of the speed seen
CHANCE: Final = 15.1  # χ² of as many, passed once in a hundred times
FADE: Final = 0.99  # of a block: many periods of a motion
FREE: Final = 3.0  # knots that a law of Coulomb and viscous friction leaves
KNEE: Final = np.eye(len(KNOTS))


class Bends:
    """Of n joints and q parameters, lags included."""

    def __init__(self, reach: Floats, parameters: int, known: Floats) -> None:
        """reach: (n,) rad/s (m/s) seen; known: (n,) D by the identification, N·m (N)."""
        n, k = len(reach), len(KNOTS)
        self._reach, self._known = np.where(reach > 0.0, reach, 1.0), known
        self._moved = np.zeros((parameters, n, k))  # S
        self._pulled, self._rows, self._noise = np.zeros((n, k)), np.zeros((n, k)), np.ones(n)

    def columns(self, dq: Floats) -> Floats:
        """B (rows, n, knots), 0 where dq (rows, n) is."""
        share = np.abs(dq) / self._reach
        found = np.stack([np.interp(share, KNOTS, one) for one in KNEE], axis=2)
        return np.asarray(found * np.sign(dq)[:, :, None])

    def notice(self, dq: Floats, r: Floats, variance: Floats) -> None:
        """A block of residuals: (rows, n) each, 0 where a row says nothing; variance: (n,) R c."""
        B = self.columns(dq)
        self._pulled = FADE * self._pulled + np.einsum("tnk,tn->nk", B, r)
        self._rows = FADE * self._rows + (B**2).sum(axis=0)
        self._noise = variance

    def absorb(self, learner: PriorBounded, X: Floats, dq: Floats, weights: Floats) -> None:
        """A block that the learner has just learnt: X (rows, n, q), dq (rows, n), weights (n,)."""
        S = self._moved * learner.fade[:, None, None]
        n, k = S.shape[1:]
        WX = X * weights[:, None]
        right = np.einsum("tnq,tnk->qnk", WX, self.columns(dq))
        flat = X.reshape(-1, X.shape[2])
        right -= (WX.reshape(flat.shape).T @ (flat @ S.reshape(len(S), -1))).reshape(S.shape)
        self._moved = S + np.tensordot(learner.covariance, right, 1)

    def forget(self, which) -> None:
        """These parameters have been found anew."""
        self._moved[which] = 0.0

    @property
    def spread(self) -> Floats:
        """D (n,), N·m (N)."""
        told = self._rows > 0.0
        squares = np.where(told, self._pulled**2 / np.where(told, self._rows, 1.0), 0.0).sum(axis=1)
        beyond = np.maximum(squares - CHANCE * self._noise, 0.0) / np.maximum(self._rows.sum(axis=1), 1.0)
        return np.sqrt(np.maximum(beyond * len(KNOTS) / FREE, self._known**2))

    def owed(self, j: int, place, columns: Floats, speeds: Floats) -> Floats:
        """Variance (k,) of friction that columns (k, own) of the parameters at place give joint j at speeds (k,)."""
        off = np.tensordot(columns, self._moved[place], 1)
        at = np.zeros((len(speeds), len(self._reach)))
        at[:, j] = speeds
        off[:, j] -= self.columns(at)[:, j]
        return np.einsum("knb,n->k", off**2, self.spread**2)
