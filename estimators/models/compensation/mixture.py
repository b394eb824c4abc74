"""Regression from a mixture of Gaussians over twist, its rate (and direction), and the residual.

    f(u) = Σ h_k(u) f_k(u),  f_k = μ_y + Σ_yu Σ_uu⁻¹ (u − μ_u),  h_k ∝ π_k N(u; μ_u, Σ_uu)      (34), (37), (38)
    var f = Σ h_k (S_k + f_k²) − f²                                                    (39), corrected

EM is scikit-learn's; what it finds is evaluated by a kernel. Liu et al. 2023, loop 3.
"""

from typing import Any, Final, NamedTuple, Self

import numpy as np

from estimators.numerics.jit import kernel
from estimators.quantities import Floats

REGULAR: Final = 1e-4  # added to the covariances' diagonal, of standardised data
MOST: Final = 4000  # rows that EM sees, evenly chosen


class MixtureError(Exception):
    """The mixture cannot be fitted; the text says why."""


class GaussianMixtureRegression(NamedTuple):
    """Fitted to one joint; K components, d inputs."""

    centre: Floats  # (d + 1,) of [u, y]
    scale: Floats  # (d + 1,)
    factor: Floats  # (K,) log of π_k / sqrt|Σ_uu|
    mean: Floats  # (K, d + 1)
    precision: Floats  # (K, d, d) Σ_uu⁻¹
    gain: Floats  # (K, d) Σ_yu Σ_uu⁻¹
    left: Floats  # (K,) S_k

    @classmethod
    def fit(cls, u: Floats, y: Floats, components: int, seed: int = 0) -> Self:
        """u (rows, d), y (rows,). Raises MixtureError."""
        try:
            from sklearn.mixture import GaussianMixture
        except ImportError as error:
            raise MixtureError("a learnt compensation needs scikit-learn: pip install 'jointwatch[learned]'") from error
        data = np.column_stack((u, y))
        centre, scale = data.mean(axis=0), np.maximum(data.std(axis=0), 1e-12)
        chosen = np.unique(np.linspace(0, len(data) - 1, min(len(data), MOST)).astype(np.int64))
        mixture: Any = GaussianMixture(components, reg_covar=REGULAR, random_state=seed, n_init=2)
        mixture.fit(((data - centre) / scale)[chosen])
        d = u.shape[1]
        inner, across = mixture.covariances_[:, :d, :d], mixture.covariances_[:, d, :d]
        precision = np.linalg.inv(inner)
        gain = np.einsum("kd,kde->ke", across, precision)
        left = mixture.covariances_[:, d, d] - np.einsum("kd,kd->k", gain, across)
        factor = np.log(mixture.weights_) - 0.5 * np.linalg.slogdet(inner)[1]
        arrays = (factor, mixture.means_, precision, gain, left)
        return cls(centre, scale, *(np.ascontiguousarray(one, np.float64) for one in arrays))

    def predict(self, inputs: Floats) -> Floats:
        """(rows,)."""
        return self.with_deviation(inputs)[0]

    def with_deviation(self, inputs: Floats) -> tuple[Floats, Floats]:
        """(rows,) and how sure the mixture is of it, one standard deviation (rows,)."""
        out = np.empty((len(inputs), 2))
        _evaluate(np.ascontiguousarray(inputs), *self, out)
        return out[:, 0], out[:, 1]


@kernel("void(f8[:, ::1], f8[::1], f8[::1], f8[::1], f8[:, ::1], f8[:, :, ::1], f8[:, ::1], f8[::1], f8[:, ::1])")
def _evaluate(
    u: Floats,
    centre: Floats,
    scale: Floats,
    factor: Floats,
    mean: Floats,
    precision: Floats,
    gain: Floats,
    left: Floats,
    out: Floats,
) -> None:
    K, d = gain.shape
    away, share, value = np.empty(d), np.empty(K), np.empty(K)
    for row in range(len(u)):
        largest = -np.inf
        for k in range(K):
            for i in range(d):
                away[i] = (u[row, i] - centre[i]) / scale[i] - mean[k, i]
            distance, line = 0.0, mean[k, d]
            for i in range(d):
                line += gain[k, i] * away[i]
                for j in range(d):
                    distance += away[i] * precision[k, i, j] * away[j]
            share[k], value[k] = factor[k] - 0.5 * distance, line
            largest = max(largest, share[k])
        total = found = square = 0.0
        for k in range(K):
            weight = np.exp(share[k] - largest)
            total += weight
            found += weight * value[k]
            square += weight * (left[k] + value[k] * value[k])
        found /= total
        out[row, 0] = found * scale[d] + centre[d]
        out[row, 1] = np.sqrt(max(square / total - found * found, 0.0)) * scale[d]
