"""Torque that repeats with the angle, added to any friction law: τ = Σ_i a_i·sin(n_i q) + b_i·cos(n_i q).

n_i: cycles a turn (rad/m on a slide): 2 for a shaft that is not straight, the number of pole pairs and of slots for a
motor's cogging, the teeth for a gear's. Reference: Otten, de Vries, van Amerongen, Rankers, Gaal, "Linear motor motion
control using a learning feedforward controller", IEEE/ASME Trans. Mechatronics 2:179–187, 1997: cogging is a function
of the position alone. A row's kernel of half width H sees what repeats slower than about 1/(2H) Hz.
"""

import math
from collections.abc import Sequence
from typing import Annotated, Final

import numpy as np
from pydantic import AfterValidator, Field

from estimators.models.friction.base import ANGLES, numbers
from estimators.numerics.jit import kernel
from estimators.quantities import Axis, Floats, Parameter
from estimators.rows import SMOOTH

MOST: Final = 8  # harmonics


def _different(ripple: tuple[float, ...]) -> tuple[float, ...]:
    if len({_named(one) for one in ripple}) < len(ripple):
        raise ValueError("expected harmonics that differ, found one twice")
    return ripple


CyclesPerTurn = Annotated[float, Field(gt=0, le=10_000, allow_inf_nan=False)]
Ripple = Annotated[
    tuple[CyclesPerTurn, ...],
    Field(max_length=MOST, description="cycles a turn (rad/m) of torques that repeat with the angle, each n"),
    AfterValidator(_different),
]


class Harmonics:
    """The columns sin(n q), cos(n q) of each n, one pair after the other: `repeat` fills them."""

    def __init__(self, ripple: Sequence[float], axis: Axis) -> None:
        self.cycles = numbers(*ripple)
        self.parameters = tuple(one for cycles in ripple for one in _pair(cycles, axis))


def _named(cycles: float) -> str:
    return f"ripple{cycles:.8g}".replace(".", "_")


def _pair(cycles: float, axis: Axis) -> tuple[Parameter, Parameter]:
    often = "a turn" if axis is Axis.ROTARY else "per m, times 2π"
    meaning, equation = f"torque that repeats {cycles:.8g} × {often}", "Otten 1997, cogging"
    sine, cosine = (
        Parameter(f"{_named(cycles)}_{part}", axis.effort, -math.inf, math.inf, equation, meaning, ANGLES)
        for part in ("sin", "cos")
    )
    return sine, cosine


@kernel("void(f8[:, :, ::1], i8, f8[::1], f8[:, :])")
def repeat(signals: Floats, position: int, cycles: Floats, columns: Floats) -> None:
    """Columns (rows, 2·harmonics); cycles: n of each."""
    for row in range(len(signals)):
        q = signals[row, position, SMOOTH]
        for i in range(len(cycles)):
            columns[row, 2 * i] = np.sin(cycles[i] * q)
            columns[row, 2 * i + 1] = np.cos(cycles[i] * q)
