"""Viscous and Coulomb friction with a torque that repeats: τ = b·q̇ + C·sign(q̇) + A1·sin(κq) + A2·cos(κq).

Reference: da Silva, de Souza, Schäfer 2007, T_d,out + T_fscs of (4.6), κ = 1 there: flexspline and circular spline of a
harmonic drive. With κ = 1 the last two columns are those of gravity about a horizontal axis: leave one of both out.
"""

import math
from typing import Annotated, Final, Literal

import numpy as np
from pydantic import Field

from estimators.models.friction.base import (
    ANGLES,
    NOTHING,
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

WAVE: Final = "friction that comes and goes with the angle"


class CyclicSettings(FrictionSettings):
    """How often the torque repeats."""

    kind: Literal["cyclic"] = "cyclic"
    wave_number: Annotated[float, Field(gt=0.0, le=1e5)] = 1.0  # κ: cycles per turn (rad/m on a slide)

    def law(self, axis: Axis) -> FrictionLaw:
        """The law in the units of this axis."""
        parameters = (
            viscous(axis, "da Silva 2007 (4.6), b_out"),
            coulomb(axis, "da Silva 2007 (4.6), b_outC"),
            Parameter("cyclic_sin", axis.effort, -math.inf, math.inf, "da Silva 2007 (4.6), A1", WAVE, ANGLES),
            Parameter("cyclic_cos", axis.effort, -math.inf, math.inf, "da Silva 2007 (4.6), A2", WAVE, ANGLES),
        )
        return FrictionLaw(parameters, (), NOTHING, numbers(self.wave_number), kernel=_fill)


@kernel(SIGNATURE)
def _fill(signals: Floats, position: int, _load: int, constants: Floats, _eta: Floats, columns: Floats) -> None:
    for row in range(len(signals)):
        phase = constants[0] * signals[row, position, SMOOTH]
        columns[row, 0] = signals[row, position, RATE]
        columns[row, 1] = np.sign(signals[row, position, SMOOTH_RATE])
        columns[row, 2] = np.sin(phase)
        columns[row, 3] = np.cos(phase)
