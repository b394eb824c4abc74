"""Viscous friction up to the cube of velocity: τ = kc·sign(q̇) + k1·q̇ + k2·q̇|q̇| + k3·q̇³.

Reference: Liu et al., Actuators 2023, 12, 454, eqs. (9)–(11), for a friction that is the same in both directions.
Beyond the speeds it was identified at it extrapolates badly.
"""

import math
from typing import Final, Literal

import numpy as np

from estimators.models.friction.base import NOTHING, SIGNATURE, FrictionLaw, FrictionSettings, coulomb, viscous
from estimators.numerics.jit import kernel
from estimators.quantities import Axis, Floats, Parameter
from estimators.rows import RATE, SMOOTH_RATE

CURVE: Final = "how friction bends at speed"


class CubicViscousSettings(FrictionSettings):
    """Nothing to set."""

    kind: Literal["cubic_viscous"] = "cubic_viscous"

    def law(self, axis: Axis) -> FrictionLaw:
        """The law in the units of this axis."""
        rate = f"s/{axis.length}"
        parameters = (
            coulomb(axis, "Liu 2023 (10), kc"),
            viscous(axis, "Liu 2023 (10), k1"),
            Parameter("viscous_square", f"{axis.effort}·({rate})²", -math.inf, math.inf, "Liu 2023 (10), k2", CURVE),
            Parameter("viscous_cube", f"{axis.effort}·({rate})³", -math.inf, math.inf, "Liu 2023 (10), k3", CURVE),
        )
        return FrictionLaw(parameters, (), NOTHING, NOTHING, kernel=_fill)


@kernel(SIGNATURE)
def _fill(signals: Floats, position: int, _load: int, _constants: Floats, _eta: Floats, columns: Floats) -> None:
    for row in range(len(signals)):
        v = signals[row, position, SMOOTH_RATE]
        columns[row, 0] = np.sign(v)
        columns[row, 1] = signals[row, position, RATE]
        columns[row, 2] = v * abs(v)
        columns[row, 3] = v * v * v
