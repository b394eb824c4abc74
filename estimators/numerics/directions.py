"""Least squares by direction: what rows identify of θ, how certain, and what of a difference is more than noise.

Directions are the eigenvectors u of Gs = L⁻¹GL⁻¹ = U g Uᵀ, L = √diag G, for products G = Σ φφᵀ: so they do not depend
on units. A direction is identifiable where g is more than rounding of float64 sums. For a difference x of two estimates
and the covariance that noise alone would give it, in the same units = V λ Vᵀ, what is more than noise is V cut(Vᵀx),
with cut(e) = sign(e)·√max(e² − λ, 0): of each direction, for along a weak one every parameter differs.
"""

from typing import Annotated, Self

import numpy as np

from estimators.numerics.jit import inline, kernel
from estimators.numerics.symmetric import eigen
from estimators.quantities import Floats
from estimators.thresholds import LEAST_DIVISOR, OWN_SHARE
from jointwatch_numba.layout import Flags, Layout, Matrix, Scratch, Vector


class Directions(Layout):
    """Directions of θ that products G (p, p) of rows identify, and those that they do not."""

    gram: Scratch[Annotated[Matrix, "p", "p"]]  # G
    scale: Scratch[Annotated[Vector, "p"]]  # L
    information: Scratch[Annotated[Vector, "p"]]  # g, in no order
    ways: Scratch[Annotated[Matrix, "p", "p"]]  # U, a direction each column
    identifiable: Scratch[Annotated[Flags, "p"]]
    inverse: Scratch[Annotated[Matrix, "p", "p"]]  # G⁻¹, 0 along directions that are not identifiable

    @classmethod
    def of(cls, gram: Floats) -> Self:
        """Directions of products (p, p)."""
        found = cls.zeros(p=len(gram))
        resolve(gram, found)
        return found


@inline
def resolve_scaled(gram: Floats, found: Directions) -> None:
    """Find the directions of products (≥ p, ≥ p) of some rows, which have the rounding of all: L is of those."""
    p = len(found.scale)
    unit, inverse = np.empty((p, p)), found.inverse
    for i in range(p):
        for j in range(p):
            found.gram[i, j], inverse[i, j] = gram[i, j], 0.0
            unit[i, j] = gram[i, j] / (found.scale[i] * found.scale[j])
    information, ways = eigen(unit)
    for k in range(p):
        found.information[k], found.identifiable[k] = information[k], information[k] > OWN_SHARE
        for i in range(p):
            found.ways[i, k] = ways[i, k]
            for j in range(p if found.identifiable[k] else 0):
                inverse[i, j] += ways[i, k] * ways[j, k] / (found.scale[i] * found.scale[j] * information[k])


@kernel(("f8[:, :]", Directions))
def resolve(gram: Floats, found: Directions) -> None:
    """Find the directions of products (≥ p, ≥ p) of all rows."""
    for i in range(len(found.scale)):
        found.scale[i] = np.sqrt(gram[i, i]) if gram[i, i] > 0.0 else 1.0
    resolve_scaled(gram, found)


@inline
def add_unidentifiable(directions: Directions, power: float, covariance: Floats) -> None:
    """Add to a covariance (p, p) of θ what is not identifiable: such a direction may explain all of Σ y², power."""
    p, ways, scale = len(covariance), directions.ways, directions.scale
    for k in range(p):
        if not directions.identifiable[k]:
            for i in range(p):
                for j in range(p):
                    covariance[i, j] += power * ways[i, k] * ways[j, k] / (scale[i] * scale[j])


@inline
def beyond_noise(directions: Directions, noise: Floats, differences: Floats) -> None:
    """Leave of differences of θ (n, p) what is more than noise; noise: (p, p), their covariance if nothing else is.

    Nothing along what is not identifiable: there estimates differ by convention, and add_unidentifiable() says what may
    be.
    """
    p, scale = len(noise), directions.scale
    unit = np.empty((p, p))
    for i in range(p):
        for j in range(p):
            unit[i, j] = noise[i, j] * scale[i] * scale[j]
    spread, ways = eigen(unit)
    projected = np.empty(p)
    for one in range(len(differences)):
        projected[:] = 0.0
        for k in range(p):
            if directions.identifiable[k]:
                along = 0.0
                for i in range(p):
                    along += directions.ways[i, k] * scale[i] * differences[one, i]
                for i in range(p):
                    projected[i] += directions.ways[i, k] * along
        for i in range(p):
            differences[one, i] = 0.0
        for k in range(p):
            along = 0.0
            for i in range(p):
                along += ways[i, k] * projected[i]
            kept = np.copysign(np.sqrt(max(along**2 - max(spread[k], 0.0), 0.0)), along)
            for i in range(p):
                differences[one, i] += ways[i, k] * kept / scale[i]


@inline
def share_of(gram: Floats, covariance: Floats) -> float:
    """Sum of the products of two matrices' entries: of Σ φφᵀ and a covariance of θ, Σ of the predictions' variances."""
    total = 0.0
    for i in range(len(gram)):
        for j in range(len(gram)):
            total += gram[i, j] * covariance[i, j]
    return total


@inline
def contrast(
    whole: Directions, without: Directions, near: Floats, theta: Floats, noise: Floats, pulled: Floats
) -> None:
    """Write what rows pull θ of least squares by (1, p), beyond noise: θ less that without them.

    Hausman's contrast: where the model is right its covariance is that of θ without them less that of θ. near: (p + 1,
    p + 1), products of [φ y] of these rows; theta: of least squares over all; noise: (p, p) its covariance; without:
    room for the directions of the other rows.
    """
    p = len(theta)
    left, score, both = np.empty((p, p)), np.empty(p), np.empty((p, p))
    for i in range(p):
        without.scale[i] = whole.scale[i]
        # with the normal equations of θ over all rows, the score of the other rows is minus that of these
        score[i] = near[i, p]
        for j in range(p):
            left[i, j] = whole.gram[i, j] - near[i, j]
            score[i] -= near[i, j] * theta[j]
    # a difference of sums has the rounding of all rows: along what is below it the others identify nothing
    resolve_scaled(left, without)
    size = share_of(whole.gram, noise) / max(share_of(whole.gram, whole.inverse), LEAST_DIVISOR)
    for i in range(p):
        pulled[0, i] = 0.0
        for j in range(p):
            pulled[0, i] += without.inverse[i, j] * score[j]
            both[i, j] = size * (without.inverse[i, j] - whole.inverse[i, j])
    beyond_noise(whole, both, pulled)
