"""Viscous and Coulomb friction: τ = Fv·q̇ + Fc·sign(q̇).

Reference: Janot, Gautier, Brunot, "Data set and reference models of EMPS", 2019, inverse dynamic model.
"""

from typing import Literal

import numpy as np

from estimators.models.friction.base import NOTHING, SIGNATURE, FrictionLaw, FrictionSettings, coulomb, numbers, viscous
from estimators.numerics.jit import kernel
from estimators.quantities import Axis, Floats
from estimators.rows import RATE, SMOOTH_RATE


class ViscousCoulombSettings(FrictionSettings):
    """Either term can be left out; without both the joint has no friction."""

    kind: Literal["viscous_coulomb"] = "viscous_coulomb"
    viscous: bool = True
    coulomb: bool = True

    def law(self, axis: Axis) -> FrictionLaw:
        """The law in the units of this axis."""
        parameters = (viscous(axis, "EMPS IDM, Fv"),) * self.viscous + (coulomb(axis, "EMPS IDM, Fc"),) * self.coulomb
        return FrictionLaw(parameters, (), NOTHING, numbers(self.viscous, self.coulomb), kernel=_fill)


@kernel(SIGNATURE)
def _fill(signals: Floats, position: int, _load: int, constants: Floats, _eta: Floats, columns: Floats) -> None:
    with_viscous, with_coulomb = constants[0] > 0, constants[1] > 0
    for row in range(len(signals)):
        if with_viscous:
            columns[row, 0] = signals[row, position, RATE]
        if with_coulomb:
            columns[row, int(with_viscous)] = np.sign(signals[row, position, SMOOTH_RATE])
