"""Effect on θ of an error of the position that is not configured: an instrumental variable shows it (Hausman's test).

An encoder may be off between its lines, its disc may be loose, its cable may pick up noise. The second derivative of
such an error is in the column of the inertia, and may be larger there than the joint's own acceleration; but it is
not in the torque. So least squares find an inertia that is too small, and no residual shows it, as θ is fitted to
these very columns. The error is quick and a motion is slow, so the same acceleration after a low-pass, z, contains
almost none of it (T = 50 ms twice, see HIGH_PASS of regressors.py). With z in place of the inertia's column a as an
instrument:

    β = G⁻¹ Σ φz,  its element of a: b     s = Σ z(y − φθ)     g: column of G⁻¹ that belongs to a
    θ_z − θ = g s/b, of variance  g gᵀ size · (Σ z² − βᵀ Σ φz)/b²    where the model is right: then θ is efficient

size: variance of white noise that would leave θ as uncertain as it is. An error makes the square of a larger,
never smaller, so it only counts where it makes the inertia smaller. NOISE deviations of that are taken for noise.
References: Durbin, Rev. Int. Stat. Inst. 22:23–32, 1954; Hausman, Econometrica 46:1251–1271, 1978.
"""

import numpy as np

from estimators.misfit.unmodelled_torque import NOISE
from estimators.numerics.directions import Directions, share_of
from estimators.numerics.jit import inline
from estimators.quantities import Floats
from estimators.thresholds import LEAST_DIVISOR


@inline
def position_error(
    directions: Directions, slow: Floats, theta: Floats, noise: Floats, left: Floats, inertia: int, found: Floats
) -> bool:
    """Write by how much θ is off (p,) because of such an error, beyond noise; returns whether any shows.

    directions: of the products of φ; slow (p + 2,): Σ z[φ y z]; theta (p,): of least squares; noise, left: (p, p)
    covariances of it, by the residual and by steps of an encoder; inertia: which parameter it is.
    """
    p, inverse = len(theta), directions.inverse
    own, alone, pull, along = 0.0, slow[p + 1], slow[p], inverse[inertia, inertia]
    for i in range(p):
        beta = 0.0
        for j in range(p):
            beta += inverse[i, j] * slow[j]
        alone -= slow[i] * beta
        pull -= slow[i] * theta[i]
        if i == inertia:
            own = beta
        found[i] = 0.0
    moved = pull / own if own != 0.0 else 0.0
    if moved * theta[inertia] <= 0.0 or not (along > 0.0 and alone > 0.0):
        return False
    gram = directions.gram
    size = share_of(gram, noise) / max(share_of(gram, inverse), LEAST_DIVISOR)
    beyond = moved**2 - NOISE**2 * (size * alone / own**2 + left[inertia, inertia] / along**2)
    if not beyond > 0.0:
        return False
    for i in range(p):
        found[i] = inverse[i, inertia] * np.copysign(np.sqrt(beyond), moved)
    return True
