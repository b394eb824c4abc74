"""Effect on θ of a torque that is truncated toward zero to whole steps: it is half a step too small on average.

A cast to an integer drops the digits after the point: Δ/2 on average. A drive that rounds drops nothing on average.
No data sheet says which of the two a drive does, but the effect is known once the step Δ is. With the column w of the
narrowest dead zone (regressors.py), which is the sign of the torque except near zero:

    y = Φθ + a w,  a = 0 or −Δ/2     C = G⁻¹A_φw     Z = A_ww − A_wφ C     r = A_wy − A_wφ θ ~ N(a Z, V)
    P = 1/(1 + (1 − CUTS)/CUTS · exp(−(r a Z − a²Z²/2)/V))     Σ = P a² C Cᵀ

P: probability of a cut. Where the torque passes zero at other instants than the speed, the rows show it (P is 0 or 1).
Where torque and speed have one sign, w is the column of Coulomb friction, Z is zero, and P keeps its prior value. θ is
not changed.
"""

import math
from typing import Final

import numpy as np

from estimators.misfit.unmodelled_torque import UNSEEN, Floor
from estimators.numerics.jit import inline
from estimators.quantities import Floats

#: 1, argued: Share of drives with a coarse torque that cut it: most round. Where the rows do not show it, σ holds half
#: of a cut's effect, so that a cut is two deviations.
CUTS: Final = 0.25
#: nats, derived: Log-likelihood ratio at most: beyond it P is 0 or 1 as far as a deviation is concerned.
SURE: Final = 50.0


@inline
def cut_torque(
    inverse: Floats, columns: Floats, scores: Floats, theta: Floats, variance: float, floor: Floor, half: float
) -> Floats:
    """Return the covariance (p, p) of θ that such a cut causes.

    inverse: of the products of φ (p, p); columns: (p + 2,)² products of [φ w y]; scores: (p + 1,)², their covariance;
    theta: (p,) of least squares; variance: of a row's noise; half: half a step, in units of the coefficient of w.
    """
    p = len(theta)
    effect, found = np.zeros(p), np.empty((p, p))
    left, score, spread = columns[p, p], columns[p, p + 1], scores[p, p]
    for i in range(p):
        for j in range(p):
            effect[i] += inverse[i, j] * columns[j, p]
    for i in range(p):
        left -= columns[p, i] * effect[i]
        score -= columns[p, i] * theta[i]
        spread -= 2.0 * effect[i] * scores[p, i]
        for j in range(p):
            spread += effect[i] * effect[j] * scores[i, j]
    evidence = 0.0
    if left > UNSEEN * columns[p, p]:
        white = variance * left
        spread = max(floor.share * spread + (1.0 - floor.share) * floor.white * white, floor.lowest * white)
        evidence = -half * left * (score + 0.5 * half * left) / spread
    probability = 1.0 / (1.0 + (1.0 - CUTS) / CUTS * math.exp(-min(max(evidence, -SURE), SURE)))
    for i in range(p):
        for j in range(p):
            found[i, j] = probability * half**2 * effect[i] * effect[j]
    return found
