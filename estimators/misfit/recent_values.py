"""How far the values of the last seconds are from θ, as a share of the torque.

Where the truth jumps as often as residuals remember, as with a load that is taken up and put down every ten seconds,
θ is the mean of several truths, and σ is that of the mean. No misfit regressor shows it, and no alarm counts it once
the residual of a jump is usual. But the last seconds are explained better by values of their own. With their products
G of [φ y], as sums that fade within MEMORY blocks:

    u = (y − φθ)² − min (y − φθ')² = sᵀ G⁺ s     s = G_φy − G_φφ θ     gain = max(u − chance·(y − φθ)², 0)

Of a constant truth u is p times the residual variance, times the rows that say the same; over BY_CHANCE times that is
no chance. √(gain/y²) is what the prediction is wrong by now, so its limit is that of a prediction (block_end.py). The
values of the last seconds are not used themselves: they know too little.
"""

from typing import Final

import numpy as np

from estimators.misfit.scores import sweep
from estimators.numerics.jit import inline, kernel
from estimators.quantities import Floats
from estimators.thresholds import OWN_SHARE

#: blocks, argued: Memory of the last seconds: a motion tells values apart in it, and it is short against the minute
#: that θ rests on.
MEMORY: Final = 5.0
#: 1, argued: Times what a constant truth leaves on average that p values explain by chance in the last seconds: of six
#: values, once in two hundred.
BY_CHANCE: Final = 3.0


@inline
def recent_gain(recent: Floats, theta: Floats, rows: float, overlap: float) -> float:
    """Return the square of the torque that other values explain beyond θ and beyond chance.

    recent: (p + 1, p + 1) products of [φ y] of the last seconds; theta: (p,) of all rows; rows: how many the last are;
    overlap: rows that say the same.
    """
    p = len(theta)
    if not (rows > 0.0 and recent[p, p] > 0.0):
        return 0.0
    rest, unexplained = recent.copy(), recent[p, p]
    for i in range(p):
        for j in range(p):
            rest[i, p] -= recent[i, j] * theta[j]
        unexplained -= theta[i] * (recent[i, p] + rest[i, p])
    for i in range(p):  # in units of each column
        size = np.sqrt(recent[i, i]) if recent[i, i] > 0.0 else 1.0
        rest[i, p] /= size
        rest[p, i] = rest[i, p]
        for j in range(p):
            rest[i, j] /= size
            rest[j, i] /= size
    rest[p, p] = unexplained
    for i in range(p):
        if rest[i, i] > OWN_SHARE:
            sweep(rest, i)
    chance = BY_CHANCE * p * overlap / rows
    return float(max(unexplained - rest[p, p] - chance * unexplained, 0.0))


@kernel("f8(f8[:, ::1], f8[::1], f8, f8)")
def gain_of(products: Floats, theta: Floats, rows: float, overlap: float) -> float:
    """Return the gain of `recent_gain`, called from Python."""
    return recent_gain(products, theta, rows, overlap)
