"""Counterbalances: a spring or gas cylinder between a link and what carries it, as columns of its joint's torque.

    L = √(D² + k² − 2 D k cos δ)      lever h = D k sin δ / L      δ = q + angle
    gas:   h A · energy/(volume − (L − rest) A)      coil:  h (L − rest) and h (its stiffness and its preload)

D from the joint's axis to the cylinder's far end, k to its near end, L its length; energy = m R T of the gas.
"""

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from estimators.quantities import Floats, Settings

Length = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class GasSettings(Settings):
    """A hydropneumatic cylinder of known gas: its torque times a coefficient near 1."""

    kind: Literal["gas"] = "gas"
    distance: Length  # D, m
    crank: Length  # k, m
    rest: Length  # m
    angle: float = 0.0  # of δ at q = 0, in the description's unit of angles
    area: Length  # m²
    volume: Length  # m³ at the rest length
    energy: Length  # J

    def columns(self, q: Floats) -> Floats:
        """Torque of the known gas: (rows, 1) in N·m."""
        lever, length = _lever(q + self.angle, self.distance, self.crank)
        free = np.maximum(self.volume - (length - self.rest) * self.area, 0.01 * self.volume)
        return (lever * self.area * self.energy / free)[:, np.newaxis]

    def names(self) -> tuple[tuple[str, str, float], ...]:
        """Name, unit and nominal value of each coefficient."""
        return (("counterbalance", "1", 1.0),)


class CoilSettings(Settings):
    """A coil spring, with its data sheet's stiffness and preload (0: to be learnt)."""

    kind: Literal["coil"] = "coil"
    distance: Length
    crank: Length
    rest: Length
    angle: float = 0.0
    stiffness: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0  # N/m
    preload: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0  # N

    def columns(self, q: Floats) -> Floats:
        """Columns of stiffness and preload: (rows, 2) in m² and m."""
        lever, length = _lever(q + self.angle, self.distance, self.crank)
        return np.column_stack([lever * (length - self.rest), lever])

    def names(self) -> tuple[tuple[str, str, float], ...]:
        """Name, unit and nominal value of each coefficient."""
        return (("spring_stiffness", "N/m", self.stiffness), ("spring_preload", "N", self.preload))


CounterbalanceSettings = Annotated[GasSettings | CoilSettings, Field(discriminator="kind")]


def _lever(delta: Floats, distance: float, crank: float) -> tuple[Floats, Floats]:
    length = np.sqrt(distance**2 + crank**2 - 2.0 * distance * crank * np.cos(delta))
    return np.sin(delta) * distance * crank / length, length
