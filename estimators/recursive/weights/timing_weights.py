"""Rows in which the torque changes within a sample weigh by how uncertain the instant of a sample is.

A drive holds a torque for a period T, or reports its mean, or its value at either end; the second difference of the
positions at that instant is of T before and T after it. So torque and acceleration are of the same instant to ±T/2,
evenly, whatever the kernel, and a row's error has in addition to the variance R of the others

    (T²/12)·ẏ²         ẏ: change of the torque under the kernel, Σ ġ[k] y[k]

Where an acceleration jumps (a trapezoid's corner, J·a/2 within one sample) that is ten deviations, at every corner and
with the same sign: no noise, and an alarm where corners are steeper than in the start. Such a row is multiplied by

    w = 1 / √(1 + h·ẏ²)        h = T²/(12·R)

which is what least squares do with rows of known variances. R is the variance of rows as they came: the residual's
variance, which is of weighted rows, over the mean of w². From the weighted rows alone it would be wrong where torque
and position are of one instant after all: rows that are lighter than their errors would make R smaller and with it all
weights, again and again, until no row counted and no change was an alarm. A lag that the whole of the motion shows is
another matter (misfit/regressors.py). Less than NOTICED of R changes nothing: a weight that is off by so little costs
nothing.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from estimators.numerics.jit import inline, kernel
from estimators.quantities import Floats
from estimators.rows import ROUNDING, SLOPE, WEIGHT, Rows

#: 1, argued: Variance by timing, over the residual's, below which no weight changes: it would cost more than it gives.
NOTICED: Final = 0.1


def temper(rows: Rows, timing: Floats, owners: NDArray[np.int64]) -> Rows:
    """The rows as they are learnt; timing: (outputs,) h, 0 where it is not known; owners: the joint of each output.

    WEIGHT of what it returns is w.
    """
    if len(rows.motion) != len(rows.time) or not _jumps(rows.motion, timing, owners):
        return rows
    phi, y, motion = rows.phi.copy(), rows.y.copy(), rows.motion.copy()
    _temper(phi, y, motion, timing, owners)
    return rows._replace(phi=phi, y=y, motion=motion)


@inline
def _more(motion: Floats, timing: Floats, owners: NDArray[np.int64], row: int, joint: int) -> float:
    """h·ẏ² of a joint's outputs."""
    most = 0.0
    for output in range(len(owners)):
        if owners[output] == joint:
            most = max(most, timing[output])
    return float(most * motion[row, joint, SLOPE])


@kernel("b1(Array(f8, 3, 'A', readonly=True), f8[::1], Array(i8, 1, 'C', readonly=True))")
def _jumps(motion: Floats, timing: Floats, owners: NDArray[np.int64]) -> bool:
    for row in range(len(motion)):
        for joint in range(motion.shape[1]):
            if _more(motion, timing, owners, row, joint) > NOTICED:
                return True
    return False


@inline
def weigh(phi: Floats, y: Floats, motion: Floats, timing: Floats, owners: NDArray[np.int64]) -> None:
    """`temper`, in place."""
    for row in range(len(y)):
        for joint in range(motion.shape[1]):
            more = _more(motion, timing, owners, row, joint)
            if not more > NOTICED:
                continue
            weight = 1.0 / np.sqrt(1.0 + more)
            motion[row, joint, WEIGHT] *= weight
            motion[row, joint, ROUNDING] *= weight * weight
            for output in range(len(owners)):
                if owners[output] == joint:
                    y[row, output] *= weight
                    for column in range(phi.shape[2]):
                        phi[row, output, column] *= weight


@kernel("void(f8[:, :, ::1], f8[:, ::1], f8[:, :, ::1], f8[::1], Array(i8, 1, 'C', readonly=True))")
def _temper(phi: Floats, y: Floats, motion: Floats, timing: Floats, owners: NDArray[np.int64]) -> None:
    weigh(phi, y, motion, timing, owners)
