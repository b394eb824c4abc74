"""Friction that grows with the load T, with a Stribeck peak: τ = c·q̇ + (F_c + F_s·e)·s + (µ_c + µ_Δ·e)·|T|·s.

s = sign(q̇), e = exp(−(q̇/ω_s)²), µ_Δ = µ_s − µ_c. Reference: Guo, Ju, Wang, Aerospace 2024, 11, 368, eqs. (42), (52),
with |T| for the equivalent normal torque and a part F that needs no load.
"""

import math
from typing import Annotated, Final, Literal

import numpy as np
from pydantic import Field

from estimators.models.friction.base import (
    LOADS,
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
from estimators.rows import RATE, SMOOTH, SMOOTH_RATE

PEAK: Final = "extra friction at low speed"
FADES: Final = "speed over which the extra friction fades"


class LoadDependentSettings(FrictionSettings):
    """Whether friction has a Stribeck peak, and where the search for its width begins."""

    kind: Literal["load_dependent"] = "load_dependent"
    stribeck: bool = True
    omega_stribeck: Annotated[float, Field(ge=0.005, le=5.0)] = 0.1  # rad/s (m/s)

    def law(self, axis: Axis) -> FrictionLaw:
        """The law in the units of this axis."""
        parameters = (
            viscous(axis, "Guo 2024 (42), c_v"),
            coulomb(axis, "Guo 2024 (42), the part without load"),
            Parameter("load", "1", 0.0, math.inf, "Guo 2024 (42), µ_c", "friction that grows with the load", LOADS),
            Parameter(
                "coulomb_stribeck",
                axis.effort,
                -math.inf,
                math.inf,
                "Guo 2024 (52), the part without load",
                PEAK,
                REVERSALS,
            ),
            Parameter(
                "load_stribeck",
                "1",
                -math.inf,
                math.inf,
                "Guo 2024 (52), µ_s − µ_c",
                f"{PEAK}, by load",
                REVERSALS,
            ),
        )
        if not self.stribeck:
            return FrictionLaw(parameters[:3], (), NOTHING, NOTHING, kernel=_fill)
        nonlinear = (Parameter("omega_stribeck", f"{axis.length}/s", 0.005, 5.0, "Guo 2024 (52), w_s", FADES),)
        return FrictionLaw(parameters, nonlinear, numbers(self.omega_stribeck), NOTHING, kernel=_fill)


@kernel(SIGNATURE)
def _fill(signals: Floats, position: int, load: int, _constants: Floats, eta: Floats, columns: Floats) -> None:
    for row in range(len(signals)):
        v = signals[row, position, SMOOTH_RATE]
        s, weight = np.sign(v), abs(signals[row, load, SMOOTH])
        columns[row, 0] = signals[row, position, RATE]
        columns[row, 1] = s
        columns[row, 2] = weight * s
        if len(eta) > 0:
            peak = np.exp(-((v / eta[0]) ** 2))
            columns[row, 3] = peak * s
            columns[row, 4] = peak * weight * s
