"""Least squares by direction: what rows identify of θ, how certain, and what of a difference is more than noise.

Directions are the eigenvectors u of Gs = L⁻¹GL⁻¹ = U g Uᵀ, L = √diag G, for products G = Σ φφᵀ: so they do not depend
on units. A direction is identifiable where g is more than rounding of float64 sums. Of a difference x of two estimates
and the covariance that noise alone would give it, in the same units = V λ Vᵀ, what is more than noise is V cut(Vᵀx),
with cut(e) = sign(e)·√max(e² − λ, 0): of each direction, for along a weak one every parameter differs.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from estimators.quantities import Floats
from estimators.thresholds import LEAST_DIVISOR, OWN_SHARE


@dataclass(frozen=True, eq=False)
class Directions:
    """Directions of θ that products G (p, p) of rows identify, and those that they do not."""

    gram: Floats  # G
    scale: Floats  # (p,) L
    information: Floats  # (p,) g, ascending
    ways: Floats  # (p, p) U, a direction each column
    identifiable: NDArray[np.bool_]  # (p,)

    @classmethod
    def of(cls, gram: Floats, scale: Floats | None = None) -> Self:
        """Directions of products (p, p); scale: L, of the rows whose rounding they have; None: these are all."""
        if scale is None:
            scale = np.sqrt(gram.diagonal())
            scale[~(scale > 0.0)] = 1.0
        information, ways = np.linalg.eigh(gram / (scale[:, None] * scale))
        return cls(gram, scale, information, ways, information > OWN_SHARE)

    @cached_property
    def inverse(self) -> Floats:
        """G⁻¹ (p, p), 0 along directions that are not identifiable."""
        ways = self.ways[:, self.identifiable] / self.scale[:, None]
        return np.asarray((ways / self.information[self.identifiable]) @ ways.T)

    def unidentifiable(self, power: float) -> Floats:
        """Covariance (p, p) of θ along what is not identifiable: such a direction may explain all of Σ y², power."""
        ways = self.ways[:, ~self.identifiable] / self.scale[:, None]
        return np.asarray(power * ways @ ways.T)

    def beyond_noise(self, noise: Floats, *differences: Floats) -> list[Floats]:
        """What of each difference of θ (p,) is more than noise; noise: (p, p), its covariance if nothing else is.

        Nothing along what is not identifiable: there estimates differ by convention, and unidentifiable() says what may
        be.
        """
        spread, ways = np.linalg.eigh(noise * (self.scale[:, None] * self.scale))
        seen, limit, found = self.ways[:, self.identifiable], np.maximum(spread, 0.0), list[Floats]()
        for difference in differences:
            along = ways.T @ (seen @ (seen.T @ (self.scale * difference)))
            kept = np.sign(along) * np.sqrt(np.maximum(along**2 - limit, 0.0))
            found.append(ways @ kept / self.scale)
        return found


def contrast(whole: Directions, near: Floats, theta: Floats, noise: Floats) -> Floats:
    """What rows pull θ of least squares by (p,), beyond noise: θ less that without them.

    Hausman's contrast: where the model is right its covariance is that of θ without them less that of θ. near: (p + 1,
    p + 1), products of [φ y] of these rows; theta: of least squares over all; noise: (p, p) its covariance.
    """
    p = len(theta)
    # a difference of sums has the rounding of all rows: along what is below it the others identify nothing
    far, inverse = Directions.of(whole.gram - near[:p, :p], whole.scale), whole.inverse
    without = far.inverse
    # with the normal equations of θ over all rows, the score of the other rows is minus that of these
    pulled = without @ (near[:p, p] - near[:p, :p] @ theta)
    size = float(np.sum(whole.gram * noise)) / max(float(np.sum(whole.gram * inverse)), LEAST_DIVISOR)
    return whole.beyond_noise(size * (without - inverse), pulled)[0]
