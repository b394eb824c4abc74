"""Directions of θ that no motion has told yet, and what they add to the deviations.

Recursive least squares begin from a prior of P∞/2, narrow beside what θ may be: where the rows say nothing its own
deviation is that of the prior. With the information of all rows so far in columns of rms one, G = Σ φφᵀ = U diag(g) Uᵀ,
a direction is known to √(v/g), or at the worst to what explains all of y, of rms s:

    added variance of θ_k = Σ_i (U_ki / scale_k)² · max(0, min(s², v/g_i) − v/(g_i + 2/P∞))

which is nothing as soon as g_i is a row or two. v: residual variance; θ itself is left at 0 there (window.py).
"""

from typing import Final

import numpy as np

from estimators.numerics.jit import kernel
from estimators.quantities import Floats

ENOUGH: Final = 0.5  # rows of typical motion along a direction, from which the prior is 4 % of its variance


class Untold:
    """Follows what the rows have told of each direction, until they have told of all."""

    def __init__(self, parameters: int, largest: float) -> None:
        """largest: P∞."""
        self._prior = 2.0 / largest  # rows that it weighs
        self._gram = np.zeros((parameters, parameters))
        self._scale = np.ones(parameters)
        self._signal = 0.0
        self.open = False  # whether anything is untold

    def begin(self, phi: Floats, noise: Floats, scale: Floats, signal: float) -> None:
        """From these rows on: phi (rows, outputs, parameters); noise: (outputs,) variances; scale: (parameters,) rms of
        each column, signal: rms of y, both whitened."""
        self._gram[:] = 0.0
        self._scale[:] = scale
        self._signal, self.open = signal, True
        self.add(phi, noise)

    def add(self, phi: Floats, noise: Floats) -> None:
        """More rows."""
        if self.open:
            _add(phi, 1.0 / np.sqrt(noise), 1.0 / self._scale, np.empty(len(self._scale)), self._gram)

    def variances(self, variance: float) -> Floats:
        """What is added to the variance of each parameter: (parameters,). variance: of the residual, whitened."""
        if not self.open:
            return np.zeros(len(self._scale))
        told, directions = np.linalg.eigh(self._gram)
        told = np.maximum(told, 0.0)
        self.open = bool(told[0] < ENOUGH)
        with np.errstate(divide="ignore", invalid="ignore"):
            least = np.fmin(self._signal**2, variance / told)
        added = np.maximum(least - variance / (told + self._prior), 0.0)
        return np.asarray((directions / self._scale[:, None]) ** 2 @ added)


@kernel("void(Array(f8, 3, 'A', readonly=True), f8[::1], f8[::1], f8[::1], f8[:, ::1])")
def _add(phi: Floats, weight: Floats, share: Floats, row: Floats, gram: Floats) -> None:
    """Add Σ φφᵀ row by row: the sum must not depend on how rows are cut; row: scratch."""
    for i in range(len(phi)):
        for output in range(phi.shape[1]):
            total = 0.0
            for k in range(len(row)):
                row[k] = weight[output] * share[k] * phi[i, output, k]
                total += row[k]
            if np.isfinite(total):
                for k in range(len(row)):
                    for j in range(len(row)):
                        gram[k, j] += row[k] * row[j]
