"""Gate: decides by standstill, with hysteresis, whether a row may teach.

A gate reports rest and saves work; it is not needed for safety. The bound on P (recursive/kernel.py) holds with every
gate open, and a closed gate leaves θ and P exactly as they are.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from estimators.numerics.jit import inline
from jointwatch_numba.layout import Layout

#: s, argued: A joint that is slower than standstill for this long is at rest; a reversal is shorter.
REST: Final = 0.2
#: 1, argued: Times the standstill speed at which a resting joint moves again (hysteresis).
WAKE: Final = 1.5


class GateState(Layout, version=3):
    """State of a gate: whether a joint rests, and what decides it."""

    standstill: float  # rad/s (m/s) below which it may rest
    wake: float  # rad/s (m/s) at which it moves again
    patience: float  # slow rows, one after the other, that are rest
    resting: bool = True
    slow: int = 0  # slow rows since the last fast one


class Gate:
    """Standstill of a joint, with hysteresis in speed and time."""

    def __init__(self, standstill: float, period: float, owners: Sequence[int] = (0,)) -> None:
        """standstill: rad/s (m/s); period: s between rows; owners: the joint of each output, of which there is one."""
        self.owners = np.array(owners, np.int64)
        self.state = GateState(standstill=standstill, wake=WAKE * standstill, patience=max(1.0, REST / period))

    @property
    def standstill(self) -> float:
        """Speed below which the joint rests, rad/s (m/s)."""
        return self.state.standstill

    @standstill.setter
    def standstill(self, speed: float) -> None:
        self.state.standstill, self.state.wake = speed, WAKE * speed

    @property
    def resting(self) -> bool:
        """Whether the joint was at rest at the last row."""
        return self.state.resting


@inline
def may_teach(gate: GateState, least: float, speed: float) -> bool:
    """Whether the next row may teach; speed: rad/s (m/s), NaN is not motion; least: speed below which no row does."""
    if speed >= gate.standstill:
        gate.slow = 0
        if speed >= gate.wake:
            gate.resting = False
    else:
        gate.slow += 1
        if gate.slow >= gate.patience:
            gate.resting = True
    return not gate.resting and (least <= 0.0 or speed >= least)
