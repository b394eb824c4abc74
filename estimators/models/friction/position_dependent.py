"""Viscous and Coulomb friction with a part that grows with the position: τ = b·q̇ + C·sign(q̇) + b_D·q.

Reference: da Silva, de Souza, Schäfer 2007, b_inD·θ_in of T_d,in (3.5): like Dahl's, a friction with the stiffness b_D
about the encoder's zero, but without memory of the last reversal. The encoder's absolute zero goes into the joint's
offset.
"""

from typing import Literal

import numpy as np

from estimators.models.friction.base import (
    NOTHING,
    SIGNATURE,
    FrictionLaw,
    FrictionSettings,
    coulomb,
    stiffness,
    viscous,
)
from estimators.numerics.jit import kernel
from estimators.quantities import Axis, Floats
from estimators.rows import RATE, SMOOTH_RATE, VALUE


class PositionDependentSettings(FrictionSettings):
    """Nothing to set."""

    kind: Literal["position_dependent"] = "position_dependent"

    def law(self, axis: Axis) -> FrictionLaw:
        """The law in the units of this axis."""
        parameters = (
            viscous(axis, "da Silva 2007 (3.5), b_in"),
            coulomb(axis, "da Silva 2007 (4.6), b_outC"),
            stiffness(axis, "da Silva 2007 (3.5), b_inD"),
        )
        return FrictionLaw(parameters, (), NOTHING, NOTHING, kernel=_fill)


@kernel(SIGNATURE)
def _fill(signals: Floats, position: int, _load: int, _constants: Floats, _eta: Floats, columns: Floats) -> None:
    for row in range(len(signals)):
        columns[row, 0] = signals[row, position, RATE]
        columns[row, 1] = np.sign(signals[row, position, SMOOTH_RATE])
        columns[row, 2] = signals[row, position, VALUE]
