"""A friction of its own for each direction, viscous only above a threshold speed λ.

    τ = kc±·s + k1±·w + k2±·w² + k3±·w³,   s = tanh(q̇/ε),   w = q̇ − λ·sign(q̇) where |q̇| > λ, else 0

the coefficients with + for q̇ ≥ 0, those with − for q̇ < 0. Reference: Liu et al., Actuators 2023, 12, 454, eqs. (9) to
(11), where k², k³ are indices and not powers; (9) taken literally jumps by k1·λ at the threshold, w does not.
"""

import math
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from estimators.models.friction.base import SIGNATURE, FrictionLaw, FrictionSettings, numbers
from estimators.numerics.jit import kernel
from estimators.quantities import Axis, Floats, Parameter
from estimators.rows import SMOOTH_RATE

TERMS = 4  # of each direction
LOWEST = 0.001  # of λ, rad/s (m/s): as good as none, and above zero, so that λ is searched in ln λ

MEANINGS = (
    "friction that only depends on direction",
    "friction that grows with speed",
    *("how it bends at speed",) * 2,
)


class DirectionalSettings(FrictionSettings):
    """Where the search for the threshold begins, and how wide the reversal is."""

    kind: Literal["directional"] = "directional"
    threshold: Annotated[float, Field(ge=LOWEST, le=1.0)] = 0.02  # λ, rad/s (m/s)
    transition: Annotated[float, Field(ge=1e-4, le=0.1)] = 0.01  # ε, rad/s (m/s): 1e-4 is as good as a sign

    def law(self, axis: Axis) -> FrictionLaw:
        """The law in the units of this axis."""
        rate = f"s/{axis.length}"
        units = (axis.effort, f"{axis.effort}·{rate}", f"{axis.effort}·({rate})²", f"{axis.effort}·({rate})³")
        names = ("coulomb", "viscous", "viscous_square", "viscous_cube")
        lows = (0.0, -math.inf, -math.inf, -math.inf)
        parameters = tuple(
            Parameter(f"{name}_{way}", unit, low, math.inf, f"Liu 2023 (10), {symbol}{sign}", f"{meaning}, {way}")
            for way, sign in (("forward", "+"), ("backward", "−"))
            for name, unit, low, symbol, meaning in zip(
                names, units, lows, ("kc", "k1", "k2", "k3"), MEANINGS, strict=True
            )
        )
        nonlinear = (
            Parameter(
                "threshold", f"{axis.length}/s", LOWEST, 1.0, "Liu 2023 (9), λ", "speed at which a direction begins"
            ),
        )
        constants = numbers(self.transition)
        return FrictionLaw(parameters, nonlinear, numbers(self.threshold), constants, kernel=_fill)


@kernel(SIGNATURE)
def _fill(signals: Floats, position: int, _load: int, constants: Floats, eta: Floats, columns: Floats) -> None:
    for row in range(len(signals)):
        v = signals[row, position, SMOOTH_RATE]
        w = v - np.sign(v) * min(eta[0], abs(v))
        here = 0 if v >= 0.0 else TERMS
        for term in range(2 * TERMS):
            columns[row, term] = 0.0
        columns[row, here] = np.tanh(v / constants[0])
        columns[row, here + 1] = w
        columns[row, here + 2] = w * w
        columns[row, here + 3] = w * w * w
