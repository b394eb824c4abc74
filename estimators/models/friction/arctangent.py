"""Coulomb and viscous friction with a smooth step: τ = fc·sign(q̇) + fv·q̇ + fa·atan(fb·q̇).

Reference: Ding et al., Journal of Robotics 2018, 8219123, eq. (5); its constant f0 is the joint's offset. For large fb
the first and the last column are nearly the same.
"""

import math
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from estimators.models.friction.base import NOTHING, SIGNATURE, FrictionLaw, FrictionSettings, coulomb, numbers, viscous
from estimators.numerics.jit import kernel
from estimators.quantities import Axis, Floats, Parameter
from estimators.rows import RATE, SMOOTH_RATE


class ArctangentSettings(FrictionSettings):
    """Where the search for fb begins."""

    kind: Literal["arctangent"] = "arctangent"
    slope: Annotated[float, Field(ge=1.0, le=100.0)] = 10.0  # fb, s/rad (s/m)

    def law(self, axis: Axis) -> FrictionLaw:
        """The law in the units of this axis."""
        parameters = (
            coulomb(axis, "Ding 2018 (5), fc"),
            viscous(axis, "Ding 2018 (5), fv"),
            Parameter(
                "arctangent", axis.effort, -math.inf, math.inf, "Ding 2018 (5), fa", "friction that settles with speed"
            ),
        )
        nonlinear = (
            Parameter("slope", f"s/{axis.length}", 1.0, 100.0, "Ding 2018 (5), fb", "how soon it has settled"),
        )
        return FrictionLaw(parameters, nonlinear, numbers(self.slope), NOTHING, kernel=_fill)


@kernel(SIGNATURE)
def _fill(signals: Floats, position: int, _load: int, _constants: Floats, eta: Floats, columns: Floats) -> None:
    for row in range(len(signals)):
        v = signals[row, position, SMOOTH_RATE]
        columns[row, 0] = np.sign(v)
        columns[row, 1] = signals[row, position, RATE]
        columns[row, 2] = np.arctan(eta[0] * v)
