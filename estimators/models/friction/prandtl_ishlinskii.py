"""Friction that remembers where it turned: τ = b·q̇ + Σ w_i s_i(q), s_i springs that slip at r_i.

Reference: Al-Bender, Lampaert, Swevers, "The generalized Maxwell-slip model", IEEE Trans. Autom. Control
50:1883–1887, 2005,
without its slip dynamics: Prandtl–Ishlinskii stops, linear in their weights. estimators/conditioning/stops.py follows
them. One that slips at nearly nothing is the Coulomb friction of a law without memory.
"""

import math
from typing import Annotated, Final, Literal

from pydantic import Field

from estimators.models.friction.base import (
    NOTHING,
    REVERSALS,
    SIGNATURE,
    FrictionLaw,
    FrictionSettings,
    numbers,
    viscous,
)
from estimators.numerics.jit import kernel
from estimators.quantities import Axis, Floats, Parameter
from estimators.rows import RATE, VALUE

EQUATION: Final = "Al-Bender 2005 (4), W_i"
Threshold = Annotated[float, Field(gt=0, le=10)]


class PrandtlIshlinskiiSettings(FrictionSettings):
    """Where its springs slip."""

    kind: Literal["prandtl_ishlinskii"] = "prandtl_ishlinskii"
    thresholds: Annotated[tuple[Threshold, ...], Field(min_length=1, max_length=12)] = (0.0005, 0.002, 0.008, 0.032)

    def law(self, axis: Axis) -> FrictionLaw:
        """The law in the units of this axis."""
        meaning = f"friction that builds up over so many {axis.length}: "
        springs = tuple(
            Parameter(f"stop{i}", axis.effort, -math.inf, math.inf, EQUATION, f"{meaning}{reach:g}", REVERSALS)
            for i, reach in enumerate(self.thresholds, 1)
        )
        parameters = (viscous(axis, "EMPS IDM, Fv"), *springs)
        return FrictionLaw(parameters, (), NOTHING, numbers(), kernel=_fill, stops=self.thresholds)


@kernel(SIGNATURE)
def _fill(signals: Floats, position: int, first: int, _constants: Floats, _eta: Floats, columns: Floats) -> None:
    for row in range(len(signals)):
        columns[row, 0] = signals[row, position, RATE]
        for i in range(columns.shape[1] - 1):
            columns[row, 1 + i] = signals[row, first + i, VALUE]
