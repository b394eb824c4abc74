"""Smooth Coulomb friction with a Stribeck peak: τ = C1·tanh(q̇/ω1) + C2·q̇·exp(−|q̇/ω_s|^δ_s) + b·q̇ (+ b_D·q).

Reference: da Silva, de Souza, Schäfer 2007, T_d,in of (3.5) with (ω1, ω_s) read as the nonlinear pair. A wrong exponent
δ_s leaves a small residual and wrong coefficients: the start tries 0.5, 1 and 2; or have it searched.
"""

import math
from typing import Annotated, Final, Literal

import numpy as np
from pydantic import Field

from estimators.models.friction.base import (
    REVERSALS,
    SIGNATURE,
    FrictionLaw,
    FrictionSettings,
    coulomb,
    numbers,
    stiffness,
    viscous,
)
from estimators.numerics.jit import kernel
from estimators.quantities import Axis, Floats, Parameter
from estimators.rows import RATE, SMOOTH_RATE, VALUE

# places of η
OMEGA_TANH: Final = 0  # ω1
OMEGA_STRIBECK: Final = 1  # ω_s
EXPONENT: Final = 2  # δ_s
EXPONENTS: Final = (0.5, 1.0, 2.0)  # δ_s of the literature


class TanhStribeckSettings(FrictionSettings):
    """Where the search for the nonlinear parameters begins."""

    kind: Literal["tanh_stribeck"] = "tanh_stribeck"
    omega_tanh: Annotated[float, Field(ge=0.005, le=0.5)] = 0.05  # rad/s (m/s)
    omega_stribeck: Annotated[float, Field(ge=0.02, le=1.0)] = 0.14  # rad/s (m/s)
    exponent: Literal["searched"] | Annotated[float, Field(ge=0.5, le=2.0)] = 1.0
    stiffness: bool = False  # with b_D·q

    def law(self, axis: Axis) -> FrictionLaw:
        """The law in the units of this axis."""
        speed = f"{axis.length}/s"
        parameters = (
            coulomb(axis, "da Silva 2007 (3.5), C1"),
            Parameter(
                "stribeck",
                f"{axis.effort}·s/{axis.length}",
                0.0,
                math.inf,
                "da Silva 2007 (3.5), C2",
                "extra friction at low speed",
                REVERSALS,
            ),
            viscous(axis, "da Silva 2007 (3.5), b_in"),
            stiffness(axis, "da Silva 2007 (3.5), b_inD"),
        )[: 3 + self.stiffness]
        nonlinear = (
            Parameter("omega_tanh", speed, 0.005, 0.5, "da Silva 2007 (3.5), ω1", "speed over which friction turns"),
            Parameter(
                "omega_stribeck",
                speed,
                0.02,
                1.0,
                "da Silva 2007 (3.5), ω_s",
                "speed over which the extra friction fades",
            ),
            Parameter("exponent", "1", 0.5, 2.0, "da Silva 2007 (3.5), δ_s", "how abruptly the extra friction fades"),
        )
        omegas = (self.omega_tanh, self.omega_stribeck)
        if self.exponent == "searched":
            return FrictionLaw(parameters, nonlinear, numbers(*omegas, 1.0), numbers(0.0), kernel=_fill)
        fixed = numbers(self.exponent)
        return FrictionLaw(parameters, nonlinear[:2], numbers(*omegas), fixed, kernel=_fill)

    def alternatives(self) -> tuple[FrictionSettings, ...]:
        """The other usual exponents."""
        if self.exponent == "searched":
            return ()
        return tuple(self.model_copy(update={"exponent": other}) for other in EXPONENTS if other != self.exponent)


@kernel(SIGNATURE)
def _fill(signals: Floats, position: int, _load: int, constants: Floats, eta: Floats, columns: Floats) -> None:
    exponent = constants[0] if constants[0] > 0.0 else eta[EXPONENT]
    for row in range(len(signals)):
        v = signals[row, position, SMOOTH_RATE]
        columns[row, 0] = np.tanh(v / eta[OMEGA_TANH])
        scaled = abs(v / eta[OMEGA_STRIBECK])
        if exponent != 1.0:  # a power costs as much as all the rest
            scaled = scaled**exponent
        columns[row, 1] = v * np.exp(-scaled)
        columns[row, 2] = signals[row, position, RATE]
        if columns.shape[1] > 3:
            columns[row, 3] = signals[row, position, VALUE]
