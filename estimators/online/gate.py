"""estimators/online/gate.py."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from estimators.numerics.jit import inline, kernel
from estimators.quantities import Floats

REST: Final = 0.2  # s below the standstill speed before a joint is called at rest: a reversal is shorter


WAKE: Final = 1.5  # times the standstill speed at which it moves again


class Gate:
    """Standstill with hysteresis in speed and time."""

    def __init__(self, standstill: float, period: float) -> None:
        """standstill: rad/s (m/s); period: s between rows."""
        self.state = np.array([1.0, 0.0])  # at rest, slow rows in a row
        self.limits = np.array([standstill, WAKE * standstill, max(1.0, REST / period)])

    @property
    def resting(self) -> bool:
        """Whether the last row was at rest."""
        return bool(self.state[0])

    def moving(self, speed: Floats) -> NDArray[np.bool_]:
        """Which rows may teach: (rows,). speed: (rows,) rad/s (m/s); NaN is not motion."""
        teaches = np.empty(len(speed), np.bool_)
        _gate(self.state, self.limits, speed, teaches)
        return teaches


@inline
def may_teach(state: Floats, limits: Floats, speed: float) -> bool:
    """Whether the next row may teach; state and limits: of a Gate."""
    if speed >= limits[0]:
        state[1] = 0.0
        if speed >= limits[1]:
            state[0] = 0.0
    else:
        state[1] += 1.0
        if state[1] >= limits[2]:
            state[0] = 1.0
    return bool(state[0] == 0.0)


@kernel("void(f8[::1], f8[::1], Array(f8, 1, 'A', readonly=True), b1[::1])")
def _gate(state: Floats, limits: Floats, speed: Floats, teaches: NDArray[np.bool_]) -> None:
    for row in range(len(speed)):
        teaches[row] = may_teach(state, limits, speed[row])
