"""Corrects a covariance for a random walk of the parameters that has not happened, from how far they moved.

    P⁻ = P + Q    P⁺ = F P⁻    F = P⁺(P⁻)⁻¹    D⁻ = D + Q    D⁺ = F D⁻ Fᵀ         (a fades P and D before Q alike)
    E m² = cᵀ(P⁻ − P⁺)c − s cᵀ(I − F) D⁻ (I − F)ᵀc      m = cᵀ(θ⁺ − θ⁻)

Learnt with a walk of covariance Q a block, θ has the covariance P − sD where only 1 − s of that walk happens, for any
gain. s follows from the moves m of each joint's own columns c by moments (covariance matching, Mehra 1970), faded, and
of all joints the least: one that walks keeps the deviations of all. Neither θ nor its gain depends on s.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.quantities import Floats

#: 1, argued: Weight of the past after a block: 50 blocks count.
FADE: Final = 0.98


class Belief(NamedTuple):
    """θ and its covariance."""

    theta: Floats  # (p,)
    covariance: Floats  # (p, p)


class ProcessNoiseCorrection:
    """The share s of the walk of p parameters that has happened, from the moves of n joints."""

    def __init__(self, parameters: int, columns: Sequence[tuple[NDArray[np.int64], Floats]]) -> None:
        """columns: of each joint, which parameters it has and c of what is published of them, (rows, own)."""
        self._columns = columns
        self._D = np.zeros((parameters, parameters))
        self._missing, self._possible = np.zeros((2, len(columns)))  # of Σ m², and what would be for s = 1

    def absorb(self, before: Belief, after: Belief, fade: Floats, walk: Floats) -> None:
        """Take a block into account that was learnt. before: predicted for it; fade: (p,) a; walk: (p, p) Q."""
        self._D = self._D * np.outer(fade, fade) + walk
        scale = np.sqrt(np.diag(before.covariance))
        units = np.outer(scale, scale)
        F = np.linalg.solve(before.covariance / units, after.covariance / units).T
        F = F * scale[:, None] / scale
        rest = np.eye(len(F)) - F
        taken = rest @ self._D
        unneeded = taken @ rest.T
        expected, moved = before.covariance - after.covariance, after.theta - before.theta
        self._missing, self._possible = FADE * self._missing, FADE * self._possible
        for j, (own, c) in enumerate(self._columns):
            place = np.ix_(own, own)
            self._missing[j] += np.einsum("ka,ab,kb->", c, expected[place], c) - ((c @ moved[own]) ** 2).sum()
            self._possible[j] += np.einsum("ka,ab,kb->", c, unneeded[place], c)
        # F D Fᵀ; symmetric to the last bit, since what is not would grow
        self._D = self._D - (taken + taken.T) + 0.5 * (unneeded + unneeded.T)

    def known(self, which: NDArray[np.int64]) -> None:
        """These parameters have a covariance of their own from now on."""
        self._D[which, :], self._D[:, which] = 0.0, 0.0

    @property
    def share(self) -> float:
        """s, 0 while it is not identifiable."""
        if not (self._possible > 0.0).all():
            return 0.0
        return float(np.clip((self._missing / self._possible).min(), 0.0, 1.0))

    def without(self, covariance: Floats) -> Floats:
        """P − sD."""
        return covariance - self.share * self._D
