"""Least squares without a prior, for comparison: ordinary, weighted with the full Ω, and reweighted until it stands.

    Ω = EᵀE/(N − p/n),  E (N, n) the residual's rows;  every row whitened by chol(Ω)⁻¹, columns scaled to unit length

After Liu et al., Actuators 2023, 12, 454, eqs. (20)–(25), corrected: what stands above is what is done.
"""

from typing import Final, NamedTuple

import numpy as np

from estimators.quantities import Floats

REPEATS: Final = 4
RANK: Final = (
    1e-10  # of the largest eigenvalue of normal equations, below which a direction is not identifiable from the rows
)


class Solution(NamedTuple):
    """θ, and its deviations if the rows were independent."""

    theta: Floats  # (p,)
    deviation: Floats  # (p,)
    omega: Floats  # (n, n) covariance of a row's residual


def ordinary(X: Floats, y: Floats) -> Solution:
    """Every row alike. X: (rows, n, p), y: (rows, n)."""
    return solve(X, y, np.eye(y.shape[1]))


def weighted(X: Floats, y: Floats, first: Solution | None = None) -> Solution:
    """Solution weighted by the Ω of another solution's residual, by default the ordinary one's."""
    return solve(X, y, (first or ordinary(X, y)).omega)


def reweighted(X: Floats, y: Floats, first: Solution | None = None) -> Solution:
    """Solution weighted by the Ω of its own residual, after a few iterations."""
    found = weighted(X, y, first)
    for _ in range(REPEATS - 1):
        found = solve(X, y, found.omega)
    return found


def solve(X: Floats, y: Floats, omega: Floats) -> Solution:
    """Solution weighted by this Ω (n, n)."""
    rows, n, p = X.shape
    least = 1e-12 * max(float(np.trace(omega)), 1e-300)
    whitening = np.linalg.inv(np.linalg.cholesky(omega + least * np.eye(n)))
    A = np.einsum("jk,tkp->tjp", whitening, X).reshape(rows * n, p)
    length = np.linalg.norm(A, axis=0)
    length[~(length > 0)] = 1.0
    R: Floats = np.asarray(np.linalg.qr(np.column_stack([A / length, (y @ whitening.T).ravel()]), mode="r"))
    U, s, V = np.linalg.svd(R[:p, :p])
    inverse = np.where(s > s[0] * p * np.finfo(float).eps, 1.0 / np.maximum(s, 1e-300), 0.0)
    theta = (V.T * inverse) @ (U.T @ R[:p, p]) / length
    residual = y - X @ theta
    deviation = np.sqrt(((V.T * inverse) ** 2).sum(axis=1)) / length
    omega = residual.T @ residual / max(rows - p / n, 1.0)
    return Solution(theta, deviation, omega)


def of_sums(K: Floats, c: Floats) -> tuple[Floats, float]:
    """θ (p,) of normal equations K θ = c, and the condition number of their rows, columns scaled to unit length.

    It is infinite where the rows do not determine every direction; then θ is zero.
    """
    length = np.sqrt(np.diag(K))
    length[~(length > 0.0)] = 1.0
    values, V = np.linalg.eigh(K / length / length[:, np.newaxis])
    identifiable = values > RANK * values[-1]
    theta = (V[:, identifiable] / values[identifiable]) @ (V[:, identifiable].T @ (c / length)) / length
    return theta, float(np.sqrt(values[-1] / values[0])) if identifiable.all() else float("inf")
