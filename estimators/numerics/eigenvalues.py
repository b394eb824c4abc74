"""The smallest eigenvalue of a small symmetric matrix, inside kernels: Jacobi's rotations, cyclic.

Each rotation makes one entry beside the diagonal zero; the diagonal tends to the eigenvalues quadratically (Golub & Van
Loan, Matrix Computations, 8.5).
"""

from typing import Final

import numpy as np

from estimators.numerics.jit import inline
from estimators.quantities import Floats

SWEEPS: Final = 30  # seldom more than 8
NOTHING: Final = 1e-30  # of the squares on the diagonal: what is left beside it


@inline
def smallest(symmetric: Floats) -> float:
    """Of (n, n), n > 0; NaN where an entry is none."""
    a, n = symmetric.copy(), len(symmetric)
    for _ in range(SWEEPS):
        on = beside = 0.0
        for i in range(n):
            on += a[i, i] ** 2
            for j in range(i):
                beside += a[i, j] ** 2
        if not np.isfinite(on + beside):
            return np.nan
        if beside <= NOTHING * on:
            break
        for i in range(n):
            for j in range(i):
                if a[i, j] != 0.0:
                    _rotate(a, i, j)
    least = a[0, 0]
    for i in range(n):
        least = min(least, a[i, i])
    return float(least)


@inline
def _rotate(a: Floats, i: int, j: int) -> None:
    """The plane of i and j, so that a[i, j] becomes 0."""
    theta = (a[j, j] - a[i, i]) / (2.0 * a[i, j])
    tangent = 1.0 / (abs(theta) + np.sqrt(theta * theta + 1.0))
    if theta < 0.0:
        tangent = -tangent
    cosine = 1.0 / np.sqrt(tangent * tangent + 1.0)
    sine = tangent * cosine
    for k in range(len(a)):
        first, second = a[k, i], a[k, j]
        a[k, i], a[k, j] = cosine * first - sine * second, sine * first + cosine * second
    for k in range(len(a)):
        first, second = a[i, k], a[j, k]
        a[i, k], a[j, k] = cosine * first - sine * second, sine * first + cosine * second
