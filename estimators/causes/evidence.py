"""How well each cause explains a window: marginal likelihoods over its shapes and sizes, and that of no cause at all.

    z = Qᵀr      Q: orthonormal basis of everything that the healthy joint and any cause can add       Σ: noise of z
    cause    p(z) = mean over shapes f and sizes s of N(z; s f, Σ + (λs)² n/K + (ds)² f fᵀ)      f of unit rms
    nothing  p(z) = N(z; 0, Σ)          unknown  p(z) = mean over s of N(z; 0, Σ + s² n/K)

Sizes are shares of the healthy signal's rms, uniform in ln s. λ is how far a real fault differs from its shape. What
an ordinary day does, some kelvin and per cent, belongs to Σ. What Q leaves of r has a variance as well, which may grow
by a share of (λs)², or of s² where the cause is unknown; it is believed for a few rows only.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from estimators.causes.base import Shape, unit
from estimators.causes.healthy_joint import DAY, Fit
from estimators.quantities import Floats

#: 1, argued: Sizes of a change, shares of the signal's rms: from what a day does to all of it.
SIZES: Final = np.geomspace(0.015, 1.0, 28)
#: 1, argued: The same for the twist, which an encoder on a wrong place makes many times larger.
TWISTS: Final = np.geomspace(0.05, 500.0, 60)
#: 1, derived: Deviation of a size about its value in the grid: half the distance of two.
BETWEEN: Final = 0.08
#: rows, argued: Independent rows for which what Q leaves is believed.
BELIEVED: Final = 20.0
#: 1, argued: Variance of that over what the reference left, on an ordinary day: errors grow where it did not move.
ORDINARY: Final = 2.0
#: 1, argued: Share of a change that lies beyond Q.
BEYOND: Final = 0.3
#: 1, argued: Share of the largest singular value of all shapes below which a direction is none.
RANK: Final = 0.02
#: 1, argued: Longest window's directions: beyond, each is of some tenths of a row's noise only.
MOST: Final = 60


class EvidencePart:
    """The residual of one signal in a window, ready to be compared with shapes."""

    def __init__(
        self,
        fit: Fit,
        columns: Floats,
        residual: Floats,
        shapes: Sequence[Shape],
        daily: Sequence[tuple[Floats, float]],
        sizes: Floats,
    ) -> None:
        """columns: (n, p) of the healthy joint; shapes: of all causes; daily: what an ordinary day adds, (n,), and its
        deviation; sizes: SIZES or TWISTS."""
        self._sizes = sizes
        self._n, self.rms = len(residual), fit.rms
        every = np.column_stack([unit(columns), *(unit(one.columns) for one in shapes)])
        U, singular, _ = np.linalg.svd(every, full_matrices=False)
        self._Q = U[:, : min(int((singular > RANK * singular[0]).sum()), MOST)]
        self.size = self._Q.shape[1]
        z = self._Q.T @ residual
        moved, noise = self._Q.T @ columns, fit.variance * fit.alike
        covariance = noise * (np.eye(self.size) + moved @ fit.inverse @ moved.T)
        covariance += self._n * max((DAY * fit.rms) ** 2, fit.ordinary) / self.size * np.eye(self.size)
        for column, deviation in daily:
            along = self._Q.T @ column
            covariance += deviation**2 * np.outer(along, along)
        self._variances, turned = np.linalg.eigh(covariance)  # what a fault may add is the same in any direction
        self._Q = self._Q @ turned
        self._z = turned.T @ z
        self._rest = float(residual @ residual - z @ z) / self._n
        self._usual, self._grown = ORDINARY * fit.variance, BEYOND * (sizes * fit.rms) ** 2
        self.nothing = float(self._around(np.zeros(1))[0] + _left(self._rest, self._usual))
        self.unknown = _mean(self._around(sizes) + _left(self._rest, self._usual + self._grown))
        self.explained = float(np.sqrt((z**2).sum() / self._n))

    def _precisions(self, sizes: Floats) -> Floats:
        """Inverse variances (sizes, K) with so much added in any direction, shares of the signal's rms."""
        added = self._n * (sizes * self.rms) ** 2 / self.size
        return np.asarray(1.0 / (np.maximum(self._variances, 0.0) + added[:, None]))

    def _around(self, sizes: Floats) -> Floats:
        """ln p(z) about zero for each of these sizes, without K/2·ln 2π."""
        precision = self._precisions(sizes)
        return np.asarray(0.5 * np.log(precision).sum(axis=1) - 0.5 * precision @ self._z**2)

    def evidence(self, shapes: Sequence[Shape], leak: float) -> float:
        """ln p(z) under a cause with these shapes, all their mixes equally likely; leak: λ."""
        ways = np.column_stack([self._ways(one) for one in shapes])
        precision, sizes = self._precisions(leak * self._sizes), (self._sizes * self.rms)[:, None]
        about = self._around(leak * self._sizes) + _left(self._rest, self._usual + leak**2 * self._grown)
        along, own = sizes * ((precision * self._z) @ ways), sizes**2 * (precision @ ways**2)
        wider = 1.0 + BETWEEN**2 * own  # a size may lie between two of the grid
        gained = 2.0 * along - own + (BETWEEN * (along - own)) ** 2 / wider - np.log(wider)
        return _mean((about[:, None] + 0.5 * gained).ravel())

    def _ways(self, shape: Shape) -> Floats:
        """Mixes of rms one in z, (K, m)."""
        gram = shape.columns.T @ shape.columns / self._n
        rms = np.sqrt(np.maximum((shape.mixes * (gram @ shape.mixes)).sum(axis=0), 1e-300))
        return np.asarray((self._Q.T @ shape.columns) @ (shape.mixes / rms))


def share_along(columns: Floats, residual: Floats) -> float:
    """Mean square of a residual (n,) along columns (n, k) of rms one."""
    values, vectors = np.linalg.eigh(columns.T @ columns / len(residual))
    kept = values > RANK**2 * values[-1]
    along = (vectors[:, kept].T @ (columns.T @ residual)) / len(residual)
    return float((along**2 / values[kept]).sum())


def _left(rest: float, variance: Floats | float) -> Floats:
    """ln p of the mean square that Q leaves, for these variances."""
    return np.asarray(-0.5 * BELIEVED * (np.log(variance) + rest / variance))


def _mean(logarithms: Floats) -> float:
    """ln of the mean of numbers whose logarithms are given."""
    most = float(np.max(logarithms))
    return most + float(np.log(np.exp(logarithms - most).mean()))
