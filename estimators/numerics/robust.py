"""Means that outliers do not move, and factors of deviations where a residual is structured."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from estimators.quantities import Floats

OUTLIER: Final = 5.0  # σ, residuals beyond it do not count into v₀


def robust_mean(squared: Floats) -> float:
    """Mean of squared residuals without those beyond 5 σ."""
    if not len(squared):
        return 0.0
    mean = float(np.mean(squared))
    for _ in range(3):
        kept = squared[squared <= OUTLIER**2 * mean]
        if not len(kept):
            break
        mean = float(np.mean(kept))
    return mean


def deviation_factors(phi: Floats, residual: Floats, covariance: Floats, noise: float, block: int) -> Floats:
    """Factor by which structured residual makes each deviation larger than √(v·P_ii): (parameters,), at least 1.

    Batch means of the score Φ'e (the sandwich P·S·P of a least-squares fit, S from blocks of rows long enough to be
    independent of each other). phi: (rows, parameters), residual: (rows,), both whitened; block: rows.
    """
    rows, p = phi.shape
    blocks = rows // block
    if blocks <= p or not noise > 0:
        return np.ones(p)
    score = (phi * residual[:, None])[: blocks * block].reshape(blocks, block, p).sum(axis=1)
    spread = score @ covariance
    variance = np.sum(spread**2, axis=0) * blocks / (blocks - p)
    claimed: NDArray[np.float64] = noise * np.diag(covariance)
    return np.asarray(np.sqrt(np.maximum(variance / claimed, 1.0)))
