"""The row at which θ has most likely changed: the alarm's own guess is off by a few rows, which matter most.

A change shows at once or late, depending on where in the motion it falls; an older row left in a window looks like
another η, and a row of after left out may be the only one near standstill. With r = y − φθ₀ the errors of the θ₀ of
before, the likelihood of a change at row k, maximised over the θ after it, exceeds that of none by half of

    g(k) = cᵀ(G + Λ)⁻¹c,   G = Σ φᵀφ,  c = Σ φᵀr  over rows ≥ k,   Λ: what was known of θ before

(generalised likelihood ratio: Willsky & Jones, IEEE Trans. Automatic Control 21:108–112, 1976).
"""

import numpy as np

from estimators.quantities import Floats
from estimators.recursive.prior import Prior
from estimators.rows import Rows
from estimators.thresholds import RIDGE


def onset(rows: Rows, noise: Floats, before: Prior, candidates: int) -> int:
    """Index, among the first `candidates` rows, of the first row of after; noise: (outputs,) variances.

    Twice as many are looked at where one of the last eighth is likeliest: the alarm was of a disturbance before it.
    """
    weight = np.isfinite(rows.y) / np.sqrt(noise)
    phi = np.nan_to_num(rows.phi) * weight[:, :, np.newaxis]
    wrong = np.nan_to_num(rows.y - rows.phi @ before.theta) * weight
    count = min(candidates, len(phi))
    while True:
        found = _likeliest(phi, wrong, before, count)
        if found < count - count // 8 or count == len(phi):
            return found
        count = min(2 * count, len(phi))


def _likeliest(phi: Floats, wrong: Floats, before: Prior, count: int) -> int:
    """The k of the first `count` rows with the largest g(k); phi, wrong: whitened columns and errors of θ₀."""
    head, error = phi[:count], wrong[:count]
    gram = np.einsum("rmi,rmj->rij", head, head)
    cross = np.einsum("rmi,rm->ri", head, error)
    p = phi.shape[2]
    both, late = phi.reshape(-1, p), phi[count:].reshape(-1, p)
    lengths = np.sqrt(np.einsum("ri,ri->i", both, both) + np.diag(before.information))
    lengths = np.where(lengths > 0.0, lengths, 1.0)
    # sums from each candidate to the window's end
    gram = np.cumsum(gram[::-1], axis=0)[::-1] + late.T @ late + before.information
    cross = (np.cumsum(cross[::-1], axis=0)[::-1] + late.T @ wrong[count:].ravel()) / lengths
    gain = np.linalg.solve(gram / np.outer(lengths, lengths) + RIDGE * np.eye(p), cross[:, :, np.newaxis])[:, :, 0]
    return int(np.argmax(np.sum(cross * gain, axis=1)))
