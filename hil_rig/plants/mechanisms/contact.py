"""The normal force between a pin and its bearing: Hertz's stiffness, or a rough surface's, with damping of impacts.

Hertz      K = 4/(3 (s₁ + s₂)) √(R₁R₂/(R₁ − R₂)),  s = (1 − ν²)/E;        F = K δ^1.5 (1 + 3/4 (1 − c_e²) δ̇/δ̇⁻) ≥ 0
fractal    K_m(δ) = ∫ k(a) n(a) da over asperities of contact area a (Sun et al. 2021, (1)–(24)), by quadrature:
           elastic above the critical area a_c, elastic-plastic in two regimes below it, n(a) the fractal's size law

δ̇⁻ is the speed at which the surfaces met (Lankarani & Nikravesh, J. Mech. Des. 112:369–376, 1990). The printed closed
forms of the fractal stiffness are dimensionally wrong (design, pointing mechanism §3): the integral is what they mean.
"""

from typing import Final

import numpy as np
from pydantic import Field

from hil_rig.plants.base import Floats, FrozenSettings


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


REGIMES: Final = ((1.0, 6.0, 1.03 * 1.425, 0.425), (6.0, 110.0, 1.40 * 1.263, 0.263))  # of ω/ω_c, elastic-plastic


def fractal_stiffness(steel: Steel, depths: Floats, halved: bool = False) -> Floats:
    """K_m, N/m, at depths δ (points,) m. halved: the critical area as printed, half of the one derived."""
    from scipy.optimize import brentq  # half a second of every start, for one contact law

    ra = 1e6 * steel.roughness
    D, G = 1.54 / ra**0.045 + 1.0, 10.0 ** (-5.26 / ra**0.045)
    modulus = steel.young / (2.0 * (1.0 - steel.poisson**2))
    size = brentq(lambda p: _size_law(p, D), 1.0 + 1e-9, 20.0)  # φ of (1b)
    phi, k_mu = steel.hardness / modulus, 1.0  # φ_m, and no friction in the yield point
    stretch = (3.0 - D) / (D - 1.0) * size ** (-(3.0 - D) / 2.0)

    def height(a: Floats) -> Floats:
        return np.asarray(2.0 * G ** (D - 2.0) * np.sqrt(np.log(1.5)) * (4.0 * a / np.pi) ** ((3.0 - D) / 2.0))

    def radius(a: Floats) -> Floats:
        return np.asarray(a / (2.0 * np.pi * height(a)))

    # ω/ω_c = (a_c/a)^(D−2) with ω_c = (33π k_μ φ_m/40)² R
    yielding = (33.0 * np.pi * k_mu * phi / 40.0) ** 2
    critical = float((height(np.ones(1))[0] / (yielding * radius(np.ones(1))[0])) ** (1.0 / (D - 2.0)))
    critical /= 2.0 if halved else 1.0
    outer = steel.pin + steel.clearance
    nominal = 2.0 * steel.pin * steel.width * np.sqrt(depths / (2.0 * (outer - steel.pin + depths)))  # (11), λ = 1
    found = []
    for area in nominal:
        largest = stretch * area
        smallest = critical * REGIMES[-1][1] ** (-1.0 / (D - 2.0))  # fully plastic below: no stiffness
        if largest <= smallest:
            found.append(0.0)
            continue
        a = np.exp(np.linspace(np.log(smallest), np.log(largest), 4001))
        worn = (critical / a) ** (D - 2.0)  # ω/ω_c
        stiffness = 2.0 * modulus * np.sqrt(radius(a) * height(a))
        for low, high, factor, power in REGIMES:
            inside = (worn > low) & (worn <= high)
            K = 0.454 + 0.41 * steel.poisson
            plastic = 2.0 / 3.0 * K * steel.hardness * np.pi * radius(a) * factor * worn**power
            stiffness = np.where(inside, plastic, stiffness)
        density = (D - 1.0) / 2.0 * size ** ((3.0 - D) / 2.0) * largest ** ((D - 1.0) / 2.0) * a ** (-(D + 1.0) / 2.0)
        found.append(np.trapezoid(stiffness * density * a, np.log(a)))
    return np.array(found)


def _size_law(phi: float, D: float) -> float:
    """(1b): (φ^((3−D)/2) − (1 + φ^(−(D−1)/2))^(−(3−D)/(D−1))) − (3 − D)/(D − 1)."""
    left = phi ** ((3.0 - D) / 2.0) - (1.0 + phi ** (-(D - 1.0) / 2.0)) ** (-(3.0 - D) / (D - 1.0))
    return float(left - (3.0 - D) / (D - 1.0))
