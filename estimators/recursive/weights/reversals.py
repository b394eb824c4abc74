"""Weights of rows that see a reversal: where a joint sticks the model does not hold, so they have their own variance.

Under the kernel of such a row a joint turns round, or hardly moves: what sticks there is not −Fc·sign(v), and the row's
error is up to twice the Coulomb friction, a hundred deviations of the others. Beyond GROSS of those, where no residual
is believed here (numerics/robust.py, recursive/kernel.py), each such row is multiplied by

    w = σ / σ_r        σ, σ_r: rms of what least squares over the other rows leaves of those, and of these

which is what least squares do with rows of two variances. Less than GROSS stays as it is, w = 1: there the rows around
a reversal are what tells Coulomb from viscous friction, and published values rest on them. It is over at half of GROSS.
Rows below the standstill speed are not among them: nothing is learnt from them.

Where a joint stops, friction is any torque up to the Coulomb friction, and so are rows that see a stop. As long as it
has moved one way only, these rows alone tell Coulomb friction from the offset, and wrongly: until it has moved either
way they weigh UNPROVEN.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from estimators.numerics.jit import inline, kernel
from estimators.numerics.robust import OUTLIER
from estimators.quantities import Floats
from estimators.rows import SPEED, Rows
from estimators.thresholds import LEAST_DIVISOR

#: 1, argued: Mean speed over its rms below which a row saw a reversal, or a joint that hardly moves.
TURNING: Final = 0.9
#: 1, argued: Share of the standstill speed that is added to the rms speed: rounding is no reversal.
AROUND: Final = 0.1
GROSS: Final = OUTLIER  # σ
#: 1, argued: Share of GROSS below which rows with a reversal are trusted again (hysteresis).
OVER: Final = 0.5
#: rad/s (m/s), argued: Least standstill speed that AROUND is a share of.
UNSEEN: Final = 1e-3
#: 1, argued: Mean speed over its rms above which a row saw nothing of a reversal or a stop.
CLEAR: Final = 0.99
#: 1, argued: Weight of rows that saw a stop, until the joint has moved in both directions (decision 016, point 1).
UNPROVEN: Final = 1e-3
#: rows, argued: Rows without a reversal from which variances are compared.
LEAST: Final = 10
#: rows, tuned: Rows with a reversal from which variances are compared; ten left five of thirty scans not valid
#: (decision 016, point 6).
ONE: Final = 1


@inline
def turns(mean: float, rms: float, slow: float) -> bool:
    """Whether a row saw a reversal; mean, rms: of its joint's speed under the kernel; slow: rad/s (m/s) at rest."""
    return bool(abs(mean) < TURNING * (rms + AROUND * slow))


@inline
def clear(mean: float, rms: float, slow: float) -> bool:
    """Whether a row saw no reversal and no stop; arguments as of turns()."""
    return bool(abs(mean) >= CLEAR * (rms + AROUND * slow))


def turning(rows: Rows, owners: NDArray[np.int64], slow: float) -> tuple[NDArray[np.bool_], Floats]:
    """Which outputs of rows saw one, and which way the joint of each moved: (rows, outputs) each.

    The way is 0 where a row saw something of a reversal or a stop; owners: the joint of each output.
    """
    seen, ways = np.zeros(rows.y.shape, np.bool_), np.ones(rows.y.shape)
    if len(rows.motion) == len(rows.time):
        _turning(rows.motion, rows.speed, owners, slow, seen, ways)
    return seen, ways


@kernel(
    "void(Array(f8, 3, 'A', readonly=True), Array(f8, 2, 'A', readonly=True), Array(i8, 1, 'C', readonly=True), f8, "
    "b1[:, ::1], f8[:, ::1])"
)
def _turning(
    motion: Floats, speed: Floats, owners: NDArray[np.int64], slow: float, seen: NDArray[np.bool_], ways: Floats
) -> None:
    for row in range(len(seen)):
        for output in range(len(owners)):
            mean, rms = motion[row, owners[output], SPEED], speed[row, owners[output]]
            seen[row, output] = turns(mean, rms, slow)
            ways[row, output] = np.sign(mean) if clear(mean, rms, slow) else 0.0


def weight(straight: float, rows: float, reversing: float, seen: float, now: float = 1.0) -> float:
    """w from the residual's squares over this many rows of either kind; now: what it is so far."""
    if rows < LEAST or seen < ONE:
        return now
    if reversing <= 0.0:  # without noise both are differences of large numbers, and may be below zero
        return 1.0
    ratio = (max(straight, LEAST_DIVISOR) / rows) / max(reversing / seen, LEAST_DIVISOR)
    return float(np.sqrt(ratio)) if ratio < (1.0 if now == 1.0 else OVER**-2) / GROSS**2 else 1.0


@kernel("f8(f8[:, ::1], f8[::1])")
def left(products: Floats, theta: Floats) -> float:
    """Σ (y − φθ)² from products (n, n) of [φ … y], lower triangle."""
    last = len(products) - 1
    total = products[last, last]
    for i in range(len(theta)):
        total += theta[i] * (products[i, i] * theta[i] - 2.0 * products[last, i])
        for j in range(i):
            total += 2.0 * theta[i] * products[i, j] * theta[j]
    return float(total)
