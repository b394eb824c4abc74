"""LuGre's friction with its bristles' numbers stated: τ = F_c·ζ + d·ζ̇ + b·q̇.

    ζ̇ = (q̇ − |q̇|·ζ/g)/r,   g = 1 + (B − 1)·exp(−(q̇/v_s)²)

Reference: Canudas de Wit, Olsson, Åström, Lischinsky, IEEE Trans. Autom. Control 40:419–425, 1995, (1)–(3), with
ζ = σ0 z/F_c, r = F_c/σ0, d = σ1 r, B = F_s/F_c: linear in the rest. estimators/conditioning/stops.py follows ζ. For
comparison: r, B and v_s have to be stated, where `prandtl_ishlinskii` learns the shape before sliding.
"""

import math
from typing import Annotated, Literal

from pydantic import Field

from estimators.models.friction.base import (
    NOTHING,
    REVERSALS,
    SIGNATURE,
    FrictionLaw,
    FrictionSettings,
    coulomb,
    numbers,
    viscous,
)
from estimators.numerics.jit import kernel
from estimators.quantities import Axis, Floats, Parameter
from estimators.rows import RATE, VALUE

EQUATION = "Canudas de Wit 1995 (3)"


class LuGreSettings(FrictionSettings):
    """The settings of the bristles."""

    kind: Literal["lugre"] = "lugre"
    reach: Annotated[float, Field(gt=0, le=10)] = 0.005  # r, rad (m): deflection at which they slide
    breakaway: Annotated[float, Field(ge=1, le=10)] = (
        1.3  # B: friction just before sliding, divided by friction while sliding
    )
    speed: Annotated[float, Field(gt=0, le=10)] = 0.05  # v_s, rad/s (m/s)

    def law(self, axis: Axis) -> FrictionLaw:
        """The law in the units of this axis."""
        unit, damping = f"{axis.effort}·s", "friction of the bristles' own motion"
        parameters = (
            viscous(axis, f"{EQUATION}, σ2"),
            coulomb(axis, f"{EQUATION}, σ0 z at speed"),
            Parameter("bristle_damping", unit, -math.inf, math.inf, f"{EQUATION}, σ1 F_c/σ0", damping, REVERSALS),
        )
        bristle = (self.breakaway, self.speed)
        return FrictionLaw(parameters, (), NOTHING, numbers(), kernel=_fill, stops=(self.reach,), bristle=bristle)


@kernel(SIGNATURE)
def _fill(signals: Floats, position: int, first: int, _constants: Floats, _eta: Floats, columns: Floats) -> None:
    for row in range(len(signals)):
        columns[row, 0] = signals[row, position, RATE]
        columns[row, 1] = signals[row, first, VALUE]
        columns[row, 2] = signals[row, first, RATE]
