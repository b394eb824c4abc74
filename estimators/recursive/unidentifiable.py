"""Directions of θ that are not identifiable from the motion so far, and what they add to the deviations.

Recursive least squares begin from a prior of P∞/2, which is narrow compared with the values that θ may have: without
excitation a deviation is that of the prior. With the information of all rows so far in columns of rms one,
G = Σ φφᵀ = U diag(g) Uᵀ, a direction is known to √(v/g), or at the worst to what explains all of y, of rms s:

    added covariance of θ = Σ_i a_i a_iᵀ · max(0, min(s², v/g_i) − v/(g_i + 2/P∞))      a_i: U_i / scale

which vanishes as soon as g_i is a row or two. v: residual variance; θ itself is left at 0 there (start/rows.py).
"""

from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from estimators.numerics.jit import kernel
from estimators.quantities import Floats

#: rows, derived: Rows of typical motion along a direction, from which the prior is 4 % of its variance.
ENOUGH: Final = 0.5


@dataclass(slots=True)
class UnexcitedState:
    """State of an Unexcited."""

    VERSION: ClassVar[int] = 1

    gram: Floats  # (parameters, parameters) of columns of rms one
    scale: Floats  # (parameters,)
    signal: float
    open: bool  # whether any direction is not identifiable yet


class Unexcited:
    """Follows the information on each direction, until all are identifiable."""

    def __init__(self, parameters: int, largest: float) -> None:
        """largest: P∞."""
        self._prior = 2.0 / largest  # rows that it weighs
        self.state = UnexcitedState(np.zeros((parameters, parameters)), np.ones(parameters), 0.0, False)

    @property
    def open(self) -> bool:
        """Whether any direction is not identifiable yet."""
        return self.state.open

    def begin(self, phi: Floats, noise: Floats, scale: Floats, signal: float) -> None:
        """Begin with these rows: phi (rows, outputs, parameters).

        noise: (outputs,) variances; scale: (parameters,) rms of each column, signal: rms of y, both whitened.
        """
        state = self.state
        state.gram[:], state.scale[:], state.signal, state.open = 0.0, scale, signal, True
        self.add(phi, noise)

    def add(self, phi: Floats, noise: Floats) -> None:
        """Add more rows; arguments as of begin()."""
        if self.state.open:
            scale = self.state.scale
            _add(phi, 1.0 / np.sqrt(noise), 1.0 / scale, np.empty(len(scale)), self.state.gram)

    def covariance(self, variance: float) -> Floats:
        """What is added to the covariance of θ: (parameters, parameters). variance: of the residual, whitened."""
        state = self.state
        if not state.open:
            return np.zeros_like(state.gram)
        information, directions = np.linalg.eigh(state.gram)
        information = np.maximum(information, 0.0)
        state.open = bool(information[0] < ENOUGH)
        with np.errstate(divide="ignore", invalid="ignore"):
            least = np.fmin(state.signal**2, variance / information)
        added = np.maximum(least - variance / (information + self._prior), 0.0)
        ways = directions / state.scale[:, None]
        return np.asarray((ways * added) @ ways.T)


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
