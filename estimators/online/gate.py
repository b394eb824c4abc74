"""When a row may teach: standstill with hysteresis.

A gate is a flag and a saving, not the safety: the bound on P (recursive/kernel.py) holds with every gate open, and a
closed gate leaves θ and P exactly as they are, so crossing it moves nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from estimators.numerics.jit import inline
from estimators.quantities import Floats

REST: Final = 0.2  # s below the standstill speed before a joint is called at rest: a reversal is shorter
WAKE: Final = 1.5  # times the standstill speed at which it moves again


@dataclass(slots=True)
class GateKept:
    """What a Gate keeps."""

    VERSION: ClassVar[int] = 2

    state: Floats  # (joints, 2) at rest, slow rows in a row
    limits: Floats  # (3,) speed of rest, of waking, slow rows in a row that are rest


class Gate:
    """Standstill of each joint, with hysteresis in speed and time."""

    def __init__(self, standstill: float, period: float, owners: Sequence[int] = (0,)) -> None:
        """standstill: rad/s (m/s); period: s between rows; owners: for each output its joint, whose rest masks it."""
        limits = np.array([standstill, WAKE * standstill, max(1.0, REST / period)])
        self.kept = GateKept(np.tile((1.0, 0.0), (max(owners) + 1, 1)), limits)
        self.owners = np.array(owners, np.int64)

    @property
    def limits(self) -> Floats:
        """Of every joint, (3,) as kept."""
        return self.kept.limits

    @property
    def standstill(self) -> float:
        """Speed below which a joint rests, rad/s (m/s)."""
        return float(self.kept.limits[0])

    @standstill.setter
    def standstill(self, speed: float) -> None:
        self.kept.limits[:2] = speed, WAKE * speed

    @property
    def resting(self) -> bool:
        """Whether every joint was at rest at the last row."""
        state = self.kept.state
        return bool(state[0, 0] if len(state) == 1 else state[:, 0].all())


@inline
def moves(state: Floats, limits: Floats, speed: float) -> bool:
    """Whether a joint moves, by the next row; state: (2,) of the joint; NaN is not motion."""
    if speed >= limits[0]:
        state[1] = 0.0
        if speed >= limits[1]:
            state[0] = 0.0
    else:
        state[1] += 1.0
        if state[1] >= limits[2]:
            state[0] = 1.0
    return bool(state[0] == 0.0)


@inline
def at_rest(state: Floats) -> bool:
    """Whether every joint is at rest; state: of a Gate."""
    rest = True
    for joint in range(len(state)):
        rest = rest and state[joint, 0] != 0.0
    return bool(rest)


@inline
def may_teach(state: Floats, limits: Floats, owners: NDArray[np.int64], least: float, speed: Floats, y: Floats) -> bool:
    """Whether the next row may teach; outputs of joints at rest become NaN where another one moves.

    state, limits, owners: of a Gate; least: rad/s (m/s) below which nothing is taught at once; speed (joints,);
    y (outputs,).
    """
    teaches = False
    for joint in range(len(state)):
        if moves(state[joint], limits, speed[joint]) and (least <= 0.0 or speed[joint] >= least):
            teaches = True
        elif len(state) > 1:
            for output in range(len(y)):
                if owners[output] == joint:
                    y[output] = np.nan
    return teaches
