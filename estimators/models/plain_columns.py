"""Columns that are one function of one signal each: a plan says which, and one kernel fills them all.

A law of friction that has no others is filled by it, too.
"""

from typing import Final, NamedTuple

import numpy as np

from estimators.numerics.jit import inline
from estimators.quantities import Floats
from estimators.rows import RATE, SECOND, SMOOTH, SMOOTH_RATE, VALUE

# columns of a plan, which has a row for each column of a law
KIND: Final = 0  # one of those below
CONSTANT: Final = 1  # c
CHANNEL: Final = 2  # of the signals
PLACES: Final = 3
# kinds of columns
OTHER: Final = 0  # somebody else's, left alone
ONE: Final = 1  # 1
ACCELERATION: Final = 2  # ẍ
SPEED: Final = 3  # ẋ
SIGN: Final = 4  # sign ẋ
TANH: Final = 5  # tanh ẋ/c
SINE: Final = 6  # sin c·x
COSINE: Final = 7  # cos c·x
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
