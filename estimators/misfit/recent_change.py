"""Change of one parameter that the last rows show: σ contains it until θ follows, or an alarm comes.

A value that changes gradually leaves the residual below what an alarm counts for many seconds, while θ, of a minute,
hardly moves. The last two blocks show it long before. With their products B of [φ y], and θ and Σ from before them:

    s = B_φy − B_φφ θ     t_i² = s_i²/(v_i B_ii + (B Σ B)_ii)     δ_i = s_i/B_ii
    Σ_ii += δ_i²          where |t_i| > SHOWN, and i alone explains nearly as much as any, s_i²/B_ii

v_i: variance of a score of column i over its information, as the residual is correlated. A change is in it, too, so it
follows its present value no faster than the alarm's unit does. Each parameter is tried alone, since all rows before
tell the values of the others. θ is not changed.
"""

from typing import Final

import numpy as np

from estimators.misfit.unmodelled_torque import SHOWN
from estimators.numerics.jit import inline
from estimators.numerics.symmetric import product
from estimators.quantities import Floats

#: 1, argued: A parameter that explains this share of what the best explains may be the changed one: in two seconds
#: columns are much alike, and more than one parameter may have changed.
NEARLY: Final = 0.8


@inline
def recent_change(recent: Floats, theta: Floats, covariance: Floats, variances: Floats) -> Floats:
    """Return the variances (p,) of θ by a change of one parameter in the last rows; 0 where they show none.

    recent: (p + 1, p + 1) their products of [φ y]; theta: (p,) of least squares over the rows before; covariance:
    (p, p) its own; variances: (p,) v.
    """
    p, best = len(theta), 0.0
    explained, found, gram = np.zeros(p), np.zeros(p), np.empty((p, p))
    for i in range(p):
        for j in range(p):
            gram[i, j] = recent[i, j]
    spread = product(product(gram, covariance), gram)
    for i in range(p):
        score = recent[i, p]
        for j in range(p):
            score -= gram[i, j] * theta[j]
        if gram[i, i] > 0.0 and score**2 > SHOWN**2 * (variances[i] * gram[i, i] + spread[i, i]):
            explained[i], found[i] = score**2 / gram[i, i], (score / gram[i, i]) ** 2
            best = max(best, explained[i])
    for i in range(p):
        if explained[i] < NEARLY * best:
            found[i] = 0.0
    return found
