"""Eigenvalues and products of small matrices, inside kernels: Jacobi's rotations, cyclic.

Each rotation makes one off-diagonal entry zero; the diagonal tends to the eigenvalues quadratically (Golub & Van
Loan, Matrix Computations, 8.5).
"""

from typing import Final

import numpy as np

from estimators.numerics.jit import inline, kernel
from estimators.quantities import Floats

SWEEPS: Final = 30  # seldom more than 8
NOTHING: Final = 1e-30  # of the squares on the diagonal: the largest sum of squares off it at the end


@inline
def smallest(symmetric: Floats) -> float:
    """The smallest eigenvalue of (n, n), n > 0; NaN where an entry is none."""
    turned, ways = symmetric.copy(), np.empty((0, len(symmetric)))
    jacobi(turned, ways)
    least = turned[0, 0]
    for i in range(len(turned)):
        least = min(least, turned[i, i])
    return float(least)


@inline
def largest_share(part: Floats, whole: Floats, way: Floats) -> float:
    """max wᵀ part w / wᵀ whole w, and the w (n,) where it is; both (n, n), whole positive definite. NaN if it is not.

    With whole = LLᵀ the largest eigenvalue of L⁻¹ part L⁻ᵀ, w = L⁻ᵀv.
    """
    n = len(whole)
    root, middle, ways = np.zeros((n, n)), part.copy(), np.eye(n)
    for j in range(n):
        for i in range(j, n):
            entry = whole[i, j]
            for k in range(j):
                entry -= root[i, k] * root[j, k]
            if i == j:
                if not entry > 0.0:
                    return np.nan
                root[j, j] = np.sqrt(entry)
            else:
                root[i, j] = entry / root[j, j]
    for _ in range(2):  # L⁻¹ from the left, and, transposed, from the right
        for column in range(n):
            for i in range(n):
                for k in range(i):
                    middle[i, column] -= root[i, k] * middle[k, column]
                middle[i, column] /= root[i, i]
        middle = middle.T.copy()
    jacobi(middle, ways)
    most = 0
    for i in range(n):
        if middle[i, i] > middle[most, most]:
            most = i
    for i in range(n - 1, -1, -1):
        way[i] = ways[i, most]
        for k in range(i + 1, n):
            way[i] -= root[k, i] * way[k]
        way[i] /= root[i, i]
    return float(middle[most, most])


@inline
def jacobi(a: Floats, ways: Floats) -> None:
    """Turn a (n, n) until it is diagonal, and with it the columns of ways (m, n); NaN where an entry is none."""
    n = len(a)
    for _ in range(SWEEPS):
        on = beside = 0.0
        for i in range(n):
            on += a[i, i] ** 2
            for j in range(i):
                beside += a[i, j] ** 2
        if not np.isfinite(on + beside):
            a[:] = np.nan
        if not beside > NOTHING * on:
            break
        for i in range(n):
            for j in range(i):
                if a[i, j] != 0.0:
                    _rotate(a, ways, i, j)


@inline
def _rotate(a: Floats, ways: Floats, i: int, j: int) -> None:
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
    for k in range(len(ways)):
        first, second = ways[k, i], ways[k, j]
        ways[k, i], ways[k, j] = cosine * first - sine * second, sine * first + cosine * second


@kernel("Tuple((f8[::1], f8[:, ::1]))(f8[:, ::1])")
def eigen(symmetric: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues (n,), in no order, and eigenvectors (n, n), one a column, of (n, n)."""
    n = len(symmetric)
    turned, ways, values = symmetric.copy(), np.eye(n), np.empty(n)
    jacobi(turned, ways)
    for i in range(n):
        values[i] = turned[i, i]
    return values, ways


@kernel("f8[:, ::1](f8[:, :], f8[:, :])")
def product(first: Floats, second: Floats) -> Floats:
    """The product of two matrices, as small as these are without a library."""
    found = np.zeros((len(first), second.shape[1]))
    for i in range(len(first)):
        for k in range(len(second)):
            for j in range(second.shape[1]):
                found[i, j] += first[i, k] * second[k, j]
    return found
