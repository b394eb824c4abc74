"""What a quantity is: arrays, settings, parameters and the units of an axis."""

from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

Floats = NDArray[np.float64]
Nanoseconds = NDArray[np.int64]


class Settings(BaseModel):
    """Frozen settings; an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Parameter(NamedTuple):
    """One coefficient of an equation of motion."""

    name: str
    unit: str
    low: float  # plausible range, in the unit
    high: float
    equation: str  # where it is defined
    meaning: str = ""  # in words, for someone who sees it for the first time
    needs: str = "a more varied motion"  # what motion would teach it
    late: float = 1.0  # by how much its column runs ahead where the torque is read late: 0, −1 where y is no torque


class Axis(StrEnum):
    """Whether a joint turns or slides: decides every unit."""

    ROTARY = "rotary"
    PRISMATIC = "prismatic"

    @property
    def length(self) -> str:
        """Unit of position."""
        return "rad" if self is Axis.ROTARY else "m"

    @property
    def effort(self) -> str:
        """Unit of torque or force."""
        return "N·m" if self is Axis.ROTARY else "N"

    @property
    def inertia(self) -> str:
        """Unit of inertia or mass."""
        return "kg·m²" if self is Axis.ROTARY else "kg"

    def unit_of(self, role: str) -> str | None:
        """Unit of a channel by its role ("torque", "link_position", …); None where any unit is allowed."""
        units = {
            "position": self.length,
            "torque": "N·m",
            "force": "N",
            "load": self.effort,
            "velocity": f"{self.length}/s",
            "temperature": "°C",
        }
        return units.get(role.rpartition("_")[2])
