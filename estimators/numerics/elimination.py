"""Small square systems solved in place, inside kernels: Gaussian elimination with partial pivoting, triangles."""

from typing import Final

import numpy as np

from estimators.numerics.jit import inline
from estimators.quantities import Floats

SINGULAR: Final = 1e-13  # of the largest entry: a pivot below it is none


@inline
def eliminate(A: Floats, b: Floats, n: int, columns: int) -> bool:
    """Turn b (≥ n, columns) into A⁻¹b; A (≥ n, ≥ n) is destroyed. False when A is singular to working precision."""
    largest = 0.0
    for i in range(n):
        for j in range(n):
            largest = max(largest, abs(A[i, j]))
    for j in range(n):
        best = j
        for i in range(j + 1, n):
            if abs(A[i, j]) > abs(A[best, j]):
                best = i
        if not abs(A[best, j]) > SINGULAR * largest:
            return False
        if best != j:
            for k in range(n):
                A[j, k], A[best, k] = A[best, k], A[j, k]
            for k in range(columns):
                b[j, k], b[best, k] = b[best, k], b[j, k]
        for i in range(j + 1, n):
            factor = A[i, j] / A[j, j]
            if factor != 0.0:
                for k in range(j + 1, n):
                    A[i, k] -= factor * A[j, k]
                for k in range(columns):
                    b[i, k] -= factor * b[j, k]
    for j in range(n - 1, -1, -1):
        for k in range(columns):
            for i in range(j + 1, n):
                b[j, k] -= A[j, i] * b[i, k]
            b[j, k] /= A[j, j]
    return bool(np.isfinite(b[0, 0])) if n and columns else True


@inline
def divide_by_upper(root: Floats, right: Floats) -> None:
    """Turn right (n, columns) into root⁻¹ right; root (n, n): upper triangular."""
    for j in range(len(root) - 1, -1, -1):
        for k in range(right.shape[1]):
            for i in range(j + 1, len(root)):
                right[j, k] -= root[j, i] * right[i, k]
            right[j, k] /= root[j, j]
