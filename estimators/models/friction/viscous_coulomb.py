"""Viscous and Coulomb friction: τ = Fv·q̇ + Fc·sign(q̇), or Fc·tanh(q̇/ε) with a transition ε.

Reference: Janot, Gautier, Brunot, "Data set and reference models of EMPS", 2019, inverse dynamic model.
"""

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from estimators.models.friction.base import NOTHING, SIGNATURE, FrictionLaw, FrictionSettings, coulomb, numbers, viscous
from estimators.models.plain_columns import SIGN, SPEED, TANH, Plain
from estimators.numerics.jit import kernel
from estimators.quantities import Axis, Floats
from estimators.rows import RATE, SMOOTH_RATE


class ViscousCoulombSettings(FrictionSettings):
    """Either term can be left out; without both the joint has no friction."""

    kind: Literal["viscous_coulomb"] = "viscous_coulomb"
    viscous: bool = True
    coulomb: bool = True
    transition: Annotated[float, Field(ge=0.0, le=0.5)] = 0.0  # ε, rad/s (m/s): 0 is a sign

    def law(self, axis: Axis) -> FrictionLaw:
        """The law in the units of this axis."""
        parameters = (viscous(axis, "EMPS IDM, Fv"),) * self.viscous + (coulomb(axis, "EMPS IDM, Fc"),) * self.coulomb
        constants = numbers(self.viscous, self.coulomb, self.transition)
        sign = Plain(TANH, self.transition) if self.transition else Plain(SIGN)
        plain = (Plain(SPEED),) * self.viscous + (sign,) * self.coulomb
        return FrictionLaw(parameters, (), NOTHING, constants, kernel=fill, plain=plain)

    def fixed(self, axis: Axis) -> dict[str, Any]:
        """What a baseline must have in common; without `transition` where it is 0, which baselines need not name."""
        return {key: value for key, value in super().fixed(axis).items() if key != "transition" or value}


@kernel(SIGNATURE)
def fill(signals: Floats, position: int, _load: int, constants: Floats, _eta: Floats, columns: Floats) -> None:
    """Fill the columns (rows, terms); the arguments are those of SIGNATURE in base.py."""
    with_viscous, with_coulomb = constants[0] > 0, constants[1] > 0
    for row in range(len(signals)):
        if with_viscous:
            columns[row, 0] = signals[row, position, RATE]
        if with_coulomb:
            v = signals[row, position, SMOOTH_RATE]
            columns[row, int(with_viscous)] = np.tanh(v / constants[2]) if constants[2] > 0.0 else np.sign(v)
