"""Radial basis functions of the twist: a kernel average as published, and ridge least squares on the same bases.

    ψ_j(u) = exp(−Σ_i (u_i − c_ij)²/(2 σ_i²)),  σ_i = half the distance of neighbouring centres
    w_j = Σ ψ_j y / Σ ψ_j      (30), not a least squares fit        f(u) = Σ w_j ψ_j / Σ ψ_j

Liu et al. 2023, (27)–(31); (28)'s σ is a precision there.
"""

from typing import Final, NamedTuple, Self

import numpy as np

from estimators.quantities import Floats

CENTRES: Final = 6  # of each input
RIDGE: Final = 1e-2  # of the bases' mean square


class RadialBases(NamedTuple):
    """Fitted to one joint."""

    centre: Floats  # (d,) of the inputs
    scale: Floats  # (d,)
    bases: Floats  # (k, d) centres, of standardised inputs
    width: float
    weight: Floats  # (k,)
    average: bool  # bases are normalised to sum 1

    @classmethod
    def fit(cls, u: Floats, y: Floats, average: bool = True) -> Self:
        """u (rows, d), y (rows,). average: the published kernel average; otherwise ridge least squares."""
        centre, scale = u.mean(axis=0), np.maximum(u.std(axis=0), 1e-12)
        line = np.linspace(-2.0, 2.0, CENTRES)
        bases = np.stack(np.meshgrid(*[line] * u.shape[1], indexing="ij"), axis=-1).reshape(-1, u.shape[1])
        found = cls(centre, scale, bases, float(line[1] - line[0]) / 2, np.zeros(len(bases)), average)
        psi = found._psi(u)
        if average:
            total = psi.sum(axis=0)
            return found._replace(weight=np.where(total > 1e-9, psi.T @ y / np.maximum(total, 1e-9), 0.0))
        information = psi.T @ psi
        ridge = RIDGE * np.trace(information) / len(bases) * np.eye(len(bases))
        return found._replace(weight=np.linalg.solve(information + ridge, psi.T @ y))

    def predict(self, inputs: Floats) -> Floats:
        """(rows,)."""
        psi = self._psi(inputs)
        if self.average:
            psi /= np.maximum(psi.sum(axis=1, keepdims=True), 1e-9)
        return np.asarray(psi @ self.weight)

    def _psi(self, u: Floats) -> Floats:
        standard = (u - self.centre) / self.scale
        apart = ((standard[:, None, :] - self.bases[None, :, :]) ** 2).sum(axis=2)
        return np.asarray(np.exp(-apart / (2.0 * self.width**2)))
