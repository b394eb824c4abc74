"""A rough surface as a fractal of asperities: stiffness and damping of a contact (Sun et al., Robotics 2021, 10, 36).

    K_m(δ) = ∫ k(a) n(a) da,   η(δ) = W_p/W_e,   C_n = η √(M K_m),   F_n = K_m δ + (D_n + C_n) δ̇

over asperities of contact area a ((1)–(26)), by quadrature: elastic above the critical area a_c, elastic-plastic in two
regimes below it, plastic below those; n(a) is the fractal's size law. W_e is the energy of the elastic and of the first
elastic-plastic regime, W_p the energy of the other two.

The printed closed forms h1 … h4 are dimensionally wrong, and (21), (22) have other limits than (20) ("1/100" instead of
1/110); the integrals are computed here with the limits of (20). λ of (11) is 1; the largest area is that of (1), m A_r.

The paper gives no roughness. With the 0.8 µm of a turned pin no asperity is in an elastic regime at any depth up to
0.1 mm: W_e = 0 and η is infinite for every load. A plant then uses critical damping, η = 2, with which the pin does not
bounce. With 0.1 µm η is 2 to 4 at the depths of the pointing mechanism, and K_m is six times Hertz's.
"""

from typing import Final, NamedTuple

import numpy as np

from hil_rig.plants.base import Floats
from hil_rig.plants.jit import inline
from hil_rig.plants.mechanisms.contact import Steel

GAMMA: Final = 1.5  # γ of the fractal
FIRST, SECOND = (1.03, 0.425), (1.40, 0.263)  # factor and exponent of P over ω/ω_c in the elastic-plastic regimes
ENDS: Final = (1.0, 6.0, 110.0)  # of ω/ω_c: elastic below, then the two, plastic above
CRITICAL: Final = 2.0  # η of critical damping: beyond it a contact creeps, and does not bounce either
NODES: Final = 4001
DEPTHS: Final = np.geomspace(1e-10, 1e-4, 121)  # m, of a table


class Asperities(NamedTuple):
    """The asperities of a contact at one depth; arrays (NODES,)."""

    area: Floats  # m²
    depth: Floats  # ω, m
    radius: Floats  # m
    worn: Floats  # ω/ω_c
    density: Floats  # n(a), 1/m²


def fractal_stiffness(steel: Steel, depths: Floats, halved: bool = False, mu: float = 0.0) -> Floats:
    """K_m, N/m, at depths δ (points,) m.

    halved: use the critical area as printed, half of the derived one; mu: coefficient of friction.
    """
    surface = _Surface(steel, halved, mu)
    return np.array([_summed(one, _stiffness(surface, one)) for one in map(surface.asperities, depths)])


def fractal_loss(steel: Steel, depths: Floats, mu: float = 0.0) -> Floats:
    """η = W_p/W_e of (23) at depths δ (points,) m; infinite if no asperity is elastic."""
    surface, found = _Surface(steel, False, mu), []
    for one in map(surface.asperities, depths):
        stored, lost = (_summed(one, part) for part in _energies(surface, one))
        found.append(lost / stored if stored > 0.0 else np.inf)
    return np.array(found)


def rough_table(steel: Steel, mass: float, mu: float) -> Floats:
    """Make the table of a plant's kernel, (points, 3): ln δ, K_m (N/m), C_n (N·s/m) for a body of `mass` kg."""
    stiffness = fractal_stiffness(steel, DEPTHS, mu=mu)
    damping = np.minimum(fractal_loss(steel, DEPTHS, mu=mu), CRITICAL) * np.sqrt(mass * stiffness)
    return np.column_stack([np.log(DEPTHS), stiffness, damping])


@inline
def rough(table: Floats, depth: float) -> tuple[float, float]:
    """Interpolate K_m (N/m) and C_n (N·s/m) in a table at a depth (m)."""
    place = (np.log(depth) - table[0, 0]) / (table[1, 0] - table[0, 0])
    at = min(max(int(place), 0), len(table) - 2)
    share = min(max(place - at, 0.0), 1.0)
    stiffness = (1.0 - share) * table[at, 1] + share * table[at + 1, 1]
    return float(stiffness), float((1.0 - share) * table[at, 2] + share * table[at + 1, 2])


class _Surface:
    """Constants of a rough surface."""

    def __init__(self, steel: Steel, halved: bool, mu: float) -> None:
        from scipy.optimize import brentq  # imported here, since it would add half a second to every start

        ra = 1e6 * steel.roughness
        self.steel, self.D, self.G = steel, 1.54 / ra**0.045 + 1.0, 10.0 ** (-5.26 / ra**0.045)
        D = self.D
        self.modulus = steel.young / (2.0 * (1.0 - steel.poisson**2))
        self.size = brentq(lambda p: _size_law(p, D), 1.0 + 1e-9, 20.0)  # φ of (1b)
        self.stretch = (3.0 - D) / (D - 1.0) * self.size ** (-(3.0 - D) / 2.0)
        k_mu = 1.0 - 0.228 * mu if mu <= 0.3 else 0.932 * np.exp(-1.58 * (mu - 0.3))  # (3)
        # ω/ω_c = (a_c/a)^(D−2) with ω_c = (33π k_μ φ_m/40)² R
        yielding = (33.0 * np.pi * k_mu * steel.hardness / self.modulus / 40.0) ** 2
        self.critical = float((self.height(1.0) / (yielding * self.radius(1.0))) ** (1.0 / (D - 2.0)))
        self.critical /= 2.0 if halved else 1.0
        self.softer = (0.454 + 0.41 * steel.poisson) * steel.hardness  # K H of (16), (18)

    def height(self, a: float | Floats) -> Floats:
        """Deformation ω, m, of an asperity of contact area a."""
        D = self.D
        return np.asarray(2.0 * self.G ** (D - 2.0) * np.sqrt(np.log(GAMMA)) * (4.0 * a / np.pi) ** ((3.0 - D) / 2.0))

    def radius(self, a: float | Floats) -> Floats:
        """Radius R, m, of an asperity of contact area a."""
        return np.asarray(a / (2.0 * np.pi * self.height(a)))

    def asperities(self, depth: float) -> Asperities:
        """The asperities of a contact pressed in by `depth` m."""
        D, steel = self.D, self.steel
        nominal = 2.0 * steel.pin * steel.width * np.sqrt(depth / (2.0 * (steel.clearance + depth)))  # (11)
        largest = self.stretch * nominal
        smallest = min(self.critical * ENDS[2] ** (-1.0 / (D - 2.0)), largest) * 1e-9
        a = np.exp(np.linspace(np.log(smallest), np.log(largest), NODES))
        density = (D - 1.0) / 2.0 * self.size ** ((3.0 - D) / 2.0) * largest ** ((D - 1.0) / 2.0)
        return Asperities(
            a, self.height(a), self.radius(a), (self.critical / a) ** (D - 2.0), density * a ** (-(D + 1.0) / 2.0)
        )


def _stiffness(surface: _Surface, one: Asperities) -> Floats:
    """dP/dω of each asperity, N/m."""
    found = 2.0 * surface.modulus * np.sqrt(one.radius * one.depth)
    for k, (factor, power) in enumerate((FIRST, SECOND)):
        plastic = 2.0 / 3.0 * surface.softer * np.pi * one.radius * factor * (1.0 + power) * one.worn**power
        found = np.where(one.worn > ENDS[k], plastic, found)
    return np.where(one.worn > ENDS[2], 0.0, found)


def _energies(surface: _Surface, one: Asperities) -> tuple[Floats, Floats]:
    """∫ P dω of each asperity, J: the elastic energy, (15) and (17), and the energy that is lost, (19) and (20)."""
    elastic = 8.0 / 15.0 * surface.modulus * np.sqrt(one.radius) * one.depth**2.5
    first, second = (
        2.0 / 3.0 * factor * surface.softer * np.pi * one.radius * one.depth**2 * one.worn**power / (2.0 + power)
        for factor, power in (FIRST, SECOND)
    )
    plastic = np.pi * one.radius * surface.steel.hardness * one.depth**2
    stored = np.where(one.worn <= ENDS[0], elastic, np.where(one.worn <= ENDS[1], first, 0.0))
    lost = np.where(one.worn > ENDS[2], plastic, np.where(one.worn > ENDS[1], second, 0.0))
    return stored, lost


def _summed(one: Asperities, each: Floats) -> float:
    """Integrate over all asperities."""
    return float(np.trapezoid(each * one.density * one.area, np.log(one.area)))


def _size_law(phi: float, D: float) -> float:
    """Residual of (1b): (φ^((3−D)/2) − (1 + φ^(−(D−1)/2))^(−(3−D)/(D−1))) − (3 − D)/(D − 1)."""
    left = phi ** ((3.0 - D) / 2.0) - (1.0 + phi ** (-(D - 1.0) / 2.0)) ** (-(3.0 - D) / (D - 1.0))
    return float(left - (3.0 - D) / (D - 1.0))
