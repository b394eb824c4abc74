"""The inverse of a matrix of products, by Cholesky, or by eigenvalues where columns all but depend on each other.

And what is solved with a triangle, for which NumPy has the general elimination only.
"""

from typing import Final

import numpy as np

from estimators.numerics.jit import kernel
from estimators.quantities import Floats

OWN: Final = 1e-9  # of a column's square, that those before it do not imitate: below, eigenvalues are looked at
SMALL: Final = 1e-12  # of the largest eigenvalue: directions below it are none


def inverse_of(gram: Floats) -> Floats:
    """Inverse of AᵀA, infinite spread where A says nothing."""
    inverse = np.empty_like(gram)
    if _invert(gram, inverse):
        return inverse
    lengths = np.sqrt(np.diag(gram))
    lengths[~(lengths > 0.0)] = 1.0
    values, vectors = np.linalg.eigh(gram / lengths / lengths[:, np.newaxis])
    inverse = (vectors / np.maximum(values, SMALL * values[-1])) @ vectors.T
    return np.asarray(inverse / lengths / lengths[:, np.newaxis])


@kernel("b1(f8[:, ::1], f8[:, ::1])")
def _invert(gram: Floats, inverse: Floats) -> bool:
    """Fill the inverse of a symmetric matrix by Cholesky; False where a column all but depends on others."""
    n = len(gram)
    factor = np.zeros((n, n))  # of gram, then its inverse, lower triangles
    for j in range(n):
        for i in range(j, n):
            entry = gram[i, j]
            for k in range(j):
                entry -= factor[i, k] * factor[j, k]
            if i > j:
                factor[i, j] = entry / factor[j, j]
            elif entry > OWN * gram[j, j]:
                factor[j, j] = np.sqrt(entry)
            else:
                return False
    for j in range(n):
        factor[j, j] = 1.0 / factor[j, j]
        for i in range(j + 1, n):
            entry = 0.0
            for k in range(j, i):
                entry -= factor[i, k] * factor[k, j]
            factor[i, j] = entry / factor[i, i]
    for i in range(n):
        for j in range(i + 1):
            entry = 0.0
            for k in range(i, n):
                entry += factor[k, i] * factor[k, j]
            inverse[i, j] = inverse[j, i] = entry
    return True


@kernel("void(f8[:, ::1], f8[:, ::1])")
def forwards(root: Floats, columns: Floats) -> None:
    """Columns B (n, k) into R⁻¹ B; root: R (n, n), lower triangle."""
    n, many = columns.shape
    for i in range(n):
        for k in range(i):
            factor = root[i, k]
            for j in range(many):
                columns[i, j] -= factor * columns[k, j]
        for j in range(many):
            columns[i, j] /= root[i, i]


@kernel("void(f8[:, ::1], f8[::1])")
def backwards(root: Floats, vector: Floats) -> None:
    """A vector b (n,) into R⁻ᵀ b; root: R (n, n), lower triangle."""
    for i in range(len(vector) - 1, -1, -1):
        vector[i] /= root[i, i]
        for k in range(i):
            vector[k] -= root[i, k] * vector[i]
