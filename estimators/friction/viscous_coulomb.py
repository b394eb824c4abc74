"""Viscous and Coulomb friction: τ = Fv·q̇ + Fc·sign(q̇).

Reference: Janot, Gautier, Brunot, "Data set and reference models of EMPS", 2019, inverse dynamic model.
"""

import math
from typing import Literal

import numpy as np

from estimators.base import RATE, SMOOTH_RATE, Axis, Floats, Parameter
from estimators.friction.base import NOTHING, SIGNATURE, FrictionLaw, FrictionSettings, numbers
from estimators.jit import kernel


class ViscousCoulombSettings(FrictionSettings):
    """Either term can be left out; without both the joint has no friction."""

    kind: Literal["viscous_coulomb"] = "viscous_coulomb"
    viscous: bool = True
    coulomb: bool = True

    def law(self, axis: Axis) -> FrictionLaw:
        """The law in the units of this axis."""
        viscous = Parameter("viscous", f"{axis.effort}·s/{axis.length}", 0.0, math.inf, "EMPS IDM, Fv")
        coulomb = Parameter("coulomb", axis.effort, 0.0, math.inf, "EMPS IDM, Fc")
        parameters = (viscous,) * self.viscous + (coulomb,) * self.coulomb
        return FrictionLaw(parameters, (), NOTHING, numbers(self.viscous, self.coulomb), odd=True, kernel=_fill)


@kernel(SIGNATURE)
def _fill(signals: Floats, position: int, _load: int, constants: Floats, _eta: Floats, columns: Floats) -> None:
    viscous, coulomb = constants[0] > 0, constants[1] > 0
    for row in range(len(signals)):
        if viscous:
            columns[row, 0] = signals[row, position, RATE]
        if coulomb:
            columns[row, int(viscous)] = np.sign(signals[row, position, SMOOTH_RATE])
