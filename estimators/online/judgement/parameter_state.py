"""State of each parameter: known, not identifiable from this motion and from which others, or doubtful.

The data fail to distinguish directions of θ rather than single parameters. From the covariance Σ of all of θ a
parameter has two deviations: √Σ_ii, whatever the others are, and 1/√(Σ⁻¹)_ii, if all others were known. It is known
where the first is small, not identifiable where only the second is, and doubtful where neither is. The parameters from
which it is not distinguished are the fewest others whose knowledge would make it known: repeatedly, the one with which
it shares most variance, V_ij²/V_jj, is taken as known. Where even the second is larger than a value that would explain
all of the torque, the motion shows nothing of the parameter: it is not identifiable, whatever the others are.
"""

from typing import Final

import numpy as np

from estimators.numerics.elimination import eliminate
from estimators.numerics.jit import inline
from estimators.quantities import Floats
from estimators.thresholds import RIDGE

KNOWN: Final = 0  # codes of a state
NOT_IDENTIFIABLE: Final = 1  # separately from some others
UNMODELLED_TORQUE: Final = 2  # separately from a torque of the angle that the model may lack
DOUBTFUL: Final = 3


@inline
def conditional(covariance: Floats, deviations: Floats) -> None:
    """Write the deviation (p,) of each parameter if all others were known; covariance: (p, p), its diagonal positive.

    Where the matrix cannot be inverted, it is the deviation with the others unknown.
    """
    p = len(deviations)
    unit, inverse = np.empty((p, p)), np.zeros((p, p))
    for i in range(p):
        for j in range(p):
            unit[i, j] = covariance[i, j] / np.sqrt(covariance[i, i] * covariance[j, j])
        unit[i, i] += RIDGE
        inverse[i, i] = 1.0
    invertible = eliminate(unit, inverse, p, p)
    for i in range(p):
        share = inverse[i, i] if invertible else 1.0
        deviations[i] = np.sqrt(covariance[i, i] / max(share, 1.0))


@inline
def partners(covariance: Floats, which: int, limit: float) -> int:
    """Return the fewest others whose knowledge makes a parameter's deviation this small, as bits of a number."""
    left, found, p = covariance.copy(), 0, len(covariance)
    taken = np.zeros(p, np.bool_)
    taken[which] = True
    for _ in range(p - 1):
        if left[which, which] <= limit * limit:
            break
        best, most = -1, 0.0
        for j in range(p):
            if not taken[j] and left[j, j] > 0.0:
                shared = left[which, j] ** 2 / left[j, j]
                if shared > most:
                    best, most = j, shared
        if best < 0:
            break
        taken[best] = True
        found |= 1 << best
        column, own = left[best].copy(), left[best, best]
        for i in range(p):
            for k in range(p):
                left[i, k] -= column[i] * column[k] / own
    return found
