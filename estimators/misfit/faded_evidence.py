"""Recent evidence for a few columns that the model does not have: least squares with fading information.

    S ← f S + Σ XᵀWX,  b ← f b + Σ XᵀWr,  a ← f a + E[eᵀWr]      C = (S + P0⁻¹)⁻¹
    δ = C (b − a),  cov δ = C + (C a)(C a)ᵀ

One window ("look") is half a second of rows. When something has happened, only the last windows count. a is what noise
adds to b that the columns share with the residual (X = X0 + e). It is subtracted, but all of it stays in the deviation,
because half a second does not show how much of that noise there was.
The reasons are in docs/decisions/019-whole-robots-contacts.md, points 1 and 2.
"""

from collections import deque
from typing import Final, NamedTuple

import numpy as np

from estimators.quantities import Floats

#: 1, argued: Weight of the past after a look: ten looks count.
FADE: Final = 0.9
#: looks, argued: Looks that are kept alone for the question what holds lately.
KEPT: Final = 2
#: looks, argued: Looks behind a mark, within which another mark belongs to the same event.
MARKED: Final = 20


class Coefficients(NamedTuple):
    """Coefficients of the columns by the evidence so far."""

    values: Floats  # (k,)
    covariance: Floats  # (k, k)
    explained: float  # of the weighted squares, by all columns


class FadedEvidence:
    """Faded sums of the evidence for k columns with prior N(0, P0)."""

    def __init__(self, precision: Floats) -> None:
        """precision: (k, k), P0⁻¹."""
        k = len(precision)
        self._precision = precision
        self.S, self._b = np.zeros((k, k)), np.zeros((2, k))  # b, a
        self._since, self._marked = (np.zeros((k, k)), np.zeros((2, k))), MARKED + 1  # looks since the mark's own
        self._looks: deque[tuple[Floats, Floats]] = deque(maxlen=KEPT)

    def absorb(self, X: Floats, r: Floats, weights: Floats, pulls: Floats | None = None) -> None:
        """Add a window: X (rows, n, k), r (rows, n), weights (n,); pulls: (k,) E[eᵀWr], if columns have noise."""
        weighted = X * weights[:, None]
        S = np.einsum("tjk,tjl->kl", weighted, X)
        b = np.zeros_like(self._b)
        b[0] = np.einsum("tjk,tj->k", weighted, r)
        if pulls is not None:
            b[1] = pulls
        self._looks.append((S, b))
        self._marked += 1
        if self._marked > 0:
            self._since[0][:] += S
            self._since[1][:] += b
        self.S, self._b = FADE * self.S + S, FADE * self._b + b

    def change(self) -> Coefficients:
        """Most likely coefficients by all that has not faded."""
        return self._solved(self.S, self._b)

    def lately(self) -> Coefficients:
        """Most likely coefficients by the last windows alone."""
        if not self._looks:
            return self.change()
        S, b = (np.sum(parts, axis=0) for parts in zip(*self._looks, strict=True))
        return self._solved(S, b)

    def mark(self) -> None:
        """Note that something happens in the window that is under way."""
        if self._marked > MARKED:
            self._marked = -1
            self._since[0][:], self._since[1][:] = 0.0, 0.0

    def since(self) -> Coefficients:
        """Most likely coefficients by all windows since the mark, weighted equally; without a mark by the last ones."""
        return self._solved(*self._since) if len(self._looks) < self._marked <= MARKED else self.lately()

    def looks(self) -> list[Coefficients]:
        """Most likely coefficients by each of the last windows alone."""
        return [self._solved(S, b) for S, b in self._looks]

    def only_lately(self) -> None:
        """Forget all but the last windows."""
        self.S = np.sum([S for S, _ in self._looks], axis=0) if self._looks else 0.0 * self.S
        self._b = np.sum([b for _, b in self._looks], axis=0) if self._looks else 0.0 * self._b

    def clear(self) -> None:
        """Forget everything."""
        self._looks.clear()
        self._marked = MARKED + 1
        self.S[:], self._b[:] = 0.0, 0.0

    def _solved(self, S: Floats, b: Floats) -> Coefficients:
        C: Floats = np.asarray(np.linalg.inv(S + self._precision), np.float64)
        values, pulled = C @ (b[0] - b[1]), C @ b[1]
        return Coefficients(values, C + np.outer(pulled, pulled), float((b[0] - b[1]) @ values))
