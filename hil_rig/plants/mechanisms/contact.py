"""A pin in its bearing: material, geometry, and stiffness of a smooth contact with damping of impacts.

    K = 4/(3 (s₁ + s₂)) √(R₁R₂/(R₁ − R₂)),  s = (1 − ν²)/E;        F = K δ^1.5 (1 + 3/4 (1 − c_e²) δ̇/δ̇⁻) ≥ 0

δ̇⁻ is the speed at which the surfaces met (Lankarani & Nikravesh, J. Mech. Des. 112:369–376, 1990).
Rough surfaces: asperities.py.
"""

import numpy as np
from pydantic import Field

from hil_rig.plants.base import FrozenSettings


class Steel(FrozenSettings):
    """Material and geometry of a journal bearing; m, Pa."""

    young: float = Field(default=2.07e11, gt=0, description="E, Pa")
    poisson: float = Field(default=0.3, ge=0, lt=0.5)
    hardness: float = Field(default=2.8 * 353e6, gt=0, description="H = 2.8 σ_y, Pa")
    pin: float = Field(default=0.010, gt=0, description="R₂, m")
    clearance: float = Field(default=50e-6, gt=0, description="c = R₁ − R₂, m")
    width: float = Field(default=0.015, gt=0, description="m")
    roughness: float = Field(default=0.8e-6, gt=0, description="Ra, m")
    restitution: float = Field(default=0.9, gt=0, le=1, description="c_e")

    def hertz(self) -> float:
        """Stiffness K, N/m^1.5."""
        softness = 2.0 * (1.0 - self.poisson**2) / self.young
        outer = self.pin + self.clearance
        return float(4.0 / (3.0 * softness) * np.sqrt(outer * self.pin / self.clearance))
