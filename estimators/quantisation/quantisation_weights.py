"""Quantisation weights: rows in which an encoder's rounding does not average out are weighted by their own variance.

At a constant speed rounding is a beat (rounding.py). If the kernel passes its frequency, the residual of the row has ρ
times the variance v of white rounding, up to seventy times, for as long as the speed stays. With R the variance of the
rows as they are learnt, and ρ̄ ≤ 1 the mean of their ρ, each such row is multiplied by

    w = 1 / √(1 + g·max(SURE·(ρ − ρ̄), ρ_most − ρ̄))        g = v/R, v = θᵀNθ − 2nᵀθ

(N, n: of a row, encoder_steps.py)

as least squares weigh rows of known variances. So neither θ nor the alarm mistakes the beat for a change. SURE: the ρ
of one row is known to a factor of two, and rows of a lasting beat are not independent. Where a beat is narrower than φ
is known (rounding.py), ρ may be ρ_most for as long as the speed stays.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from estimators.numerics.jit import inline, kernel
from estimators.quantities import Floats
from estimators.rows import MOST, ROUNDING, WEIGHT, Rows

#: 1, tuned: Factor by which a row's weight overestimates its excess rounding noise: origin not recorded.
SURE: Final = 2.0


def temper(rows: Rows, gain: Floats, usual: Floats, owners: NDArray[np.int64]) -> Rows:
    """Return the weighted rows; gain: (outputs,) g; usual: (outputs,) ρ̄; owners: the joint of each output.

    Their WEIGHT is w, their ROUNDING is the rounding noise after weighting.
    """
    if len(rows.motion) != len(rows.time) or not (
        gain.max() > 0.0 and rows.motion[:, :, MOST].max(initial=0.0) > usual.min()
    ):
        return rows
    phi, y, motion = rows.phi.copy(), rows.y.copy(), rows.motion.copy()
    _temper(phi, y, motion, gain, usual, owners)
    return rows._replace(phi=phi, y=y, motion=motion)


@inline
def weigh(phi: Floats, y: Floats, motion: Floats, gain: Floats, usual: Floats, owners: NDArray[np.int64]) -> None:
    """Weigh rows in place; arguments as of `temper`."""
    for row in range(len(y)):
        for joint in range(motion.shape[1]):
            most = 0.0
            for output in range(len(owners)):
                if owners[output] == joint:
                    beyond = SURE * (motion[row, joint, ROUNDING] - usual[output])
                    most = max(most, gain[output] * max(beyond, motion[row, joint, MOST] - usual[output]))
            if most > 0.0:
                weight = 1.0 / np.sqrt(1.0 + most)
                motion[row, joint, WEIGHT] = weight
                motion[row, joint, ROUNDING] *= weight * weight
        for output in range(len(owners)):
            weight = motion[row, owners[output], WEIGHT]
            if weight != 1.0:
                y[row, output] *= weight
                for column in range(phi.shape[2]):
                    phi[row, output, column] *= weight


@kernel("void(f8[:, :, ::1], f8[:, ::1], f8[:, :, ::1], f8[::1], f8[::1], Array(i8, 1, 'C', readonly=True))")
def _temper(phi: Floats, y: Floats, motion: Floats, gain: Floats, usual: Floats, owners: NDArray[np.int64]) -> None:
    weigh(phi, y, motion, gain, usual, owners)
