"""Columns that are one function of one signal each: a plan says which, and one kernel fills them all.

A law of friction that has no others is filled by it, too.
"""

from typing import Final, NamedTuple

import numpy as np

from estimators.numerics.jit import inline
from estimators.quantities import Floats
from estimators.rows import RATE, SECOND, SMOOTH, SMOOTH_RATE, VALUE

KIND, CONSTANT, CHANNEL, PLACES = range(4)  # of a column's entry in a plan
# kinds of columns; c: the constant. OTHER: somebody else's, left alone
OTHER, ONE, ACCELERATION, SPEED, SIGN, TANH, SINE, COSINE = range(8)  # … 1, ẍ, ẋ, sign ẋ, tanh ẋ/c, sin c·x, cos c·x
TORQUE: Final = 1  # channel of y


class Plain(NamedTuple):
    """One column."""

    kind: int
    constant: float = 0.0
    channel: int = 0


@inline
def fill(signals: Floats, plan: Floats, phi: Floats, y: Floats) -> None:
    """Columns of the first output, and y: the torque (force). signals: as a Model's; plan: (parameters, PLACES)."""
    for row in range(len(signals)):
        for column in range(len(plan)):
            kind, channel, c = int(plan[column, KIND]), int(plan[column, CHANNEL]), plan[column, CONSTANT]
            if kind == ONE:
                phi[row, 0, column] = 1.0
            elif kind == ACCELERATION:
                phi[row, 0, column] = signals[row, channel, SECOND]
            elif kind == SPEED:
                phi[row, 0, column] = signals[row, channel, RATE]
            elif kind == SIGN:
                phi[row, 0, column] = np.sign(signals[row, channel, SMOOTH_RATE])
            elif kind == TANH:
                phi[row, 0, column] = np.tanh(signals[row, channel, SMOOTH_RATE] / c)
            elif kind == SINE:
                phi[row, 0, column] = np.sin(c * signals[row, channel, SMOOTH])
            elif kind == COSINE:
                phi[row, 0, column] = np.cos(c * signals[row, channel, SMOOTH])
        y[row, 0] = signals[row, TORQUE, VALUE]
