"""Friction that changes with temperature, for any law, with a channel T in °C:

    τ = c_T·(T − T₀)·sign q̇ + b_T·T_V·(1 − exp(−(T − T₀)/T_V))·q̇

T₀: a temperature that is chosen, at which the law's own coefficients hold. The dry part is linear in T, the viscous one
falls by e each T_V; b_T is its slope at T₀. Reference: Bittencourt, Gunnarsson, "Static friction in a robot joint:
modeling and identification of load and temperature effects", J. Dyn. Syst. Meas. Control 134:051013, 2012, whose F_vT
is −b_T·T_V·exp(T₀/T_V). Its Stribeck part, which is linear in T as well, counts as dry friction here.
"""

import math
from typing import Annotated, Final

import numpy as np
from pydantic import Field

from estimators.numerics.jit import kernel
from estimators.quantities import Axis, Floats, Parameter
from estimators.rows import RATE, SMOOTH, SMOOTH_RATE

ROLE: Final = "temperature"
TEMPERATURES: Final = "different temperatures"
#: K, argued: T_V of that law, 20.7 K, as measured on a robot joint (LiTH-ISY-R-2948).
THINNING: Final = 20.7
Reference = Annotated[float, Field(ge=-100, le=300, allow_inf_nan=False)]


class Warmth:
    """The columns of c_T and b_T, which `warm` fills; none without a reference."""

    def __init__(self, reference: float | None, axis: Axis) -> None:
        """reference: T₀, °C."""
        self.reference = 0.0 if reference is None else reference
        self.channels = () if reference is None else (ROLE,)
        self.parameters = () if reference is None else _parameters(axis)


def _parameters(axis: Axis) -> tuple[Parameter, Parameter]:
    dry, wet = "Bittencourt 2012, Coulomb part by T", "Bittencourt 2012, viscous part by T"
    meaning = "by how much {} changes with each °C"
    return (
        Parameter(
            "coulomb_temperature", f"{axis.effort}/K", -math.inf, math.inf, dry, meaning.format("coulomb"), TEMPERATURES
        ),
        Parameter(
            "viscous_temperature",
            f"{axis.effort}·s/({axis.length}·K)",
            -math.inf,
            math.inf,
            wet,
            meaning.format("viscous"),
            TEMPERATURES,
        ),
    )


@kernel("void(f8[:, :, ::1], i8, i8, f8, f8[:, :])")
def warm(signals: Floats, position: int, channel: int, reference: float, columns: Floats) -> None:
    """Columns (rows, 2) of the temperature in a channel; reference: T₀, °C."""
    for row in range(len(signals)):
        warmer = signals[row, channel, SMOOTH] - reference
        columns[row, 0] = warmer * np.sign(signals[row, position, SMOOTH_RATE])
        thinner = THINNING * (1.0 - math.exp(-warmer / THINNING))
        columns[row, 1] = thinner * signals[row, position, RATE]
