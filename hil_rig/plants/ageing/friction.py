"""Friction of a robot's joint by speed, load, temperature and wear, after Bittencourt and Axelsson.

    τ_f = F_c + F_cτ·ℓ + (F_s0 + F_sτ·ℓ + F_sT·T)·exp(−|φ̇/(φ̇_s0 + φ̇_sT·T)|^α) + (F_v0 + F_vT·exp(−T/T_V))·φ̇

with the motor's speed φ̇ > 0 (rad/s), the load torque ℓ (share of the largest) and the lubricant's temperature T (°C).
Wear w adds dry friction and no viscous one: w·(0.7·F_c + Stribeck part, 1.3 times wider). Numbers: Bittencourt,
Wernholt, Sander-Tavallaey, Brogårdh, LiTH-ISY-R-2948, 2010; form of wear: Bittencourt, Axelsson, LiTH-ISY-R-3058, 2013.
The law was fitted from 30 to 80 °C; below, the Stribeck part's size and speed stop at floors.
"""

from typing import Final, NamedTuple

import numpy as np

from hil_rig.plants.base import Floats

SPREAD: Final = 0.15  # standard deviation of each coefficient's logarithm over joints
FLOOR_SPEED: Final = 5.0  # rad/s
WEAR_COULOMB: Final = 0.7
WEAR_WIDTH: Final = 1.3


class AgeingFriction(NamedTuple):
    """The friction law of one joint; torques are shares of the largest torque."""

    coulomb: float = 0.031
    coulomb_load: float = 0.023
    stribeck: float = -0.025
    stribeck_load: float = 0.126
    stribeck_temperature: float = 0.0016  # 1/K
    speed: float = -25.0  # rad/s
    speed_temperature: float = 1.0  # rad/s/K
    viscous: float = 1.3e-4  # s/rad
    viscous_cold: float = 1.32e-3  # s/rad
    thinning: float = 20.7  # K
    power: float = 1.3

    @classmethod
    def drawn(cls, random: np.random.Generator) -> "AgeingFriction":
        """Draw the friction of another joint."""
        usual = cls()
        spread = [value * float(np.exp(SPREAD * random.normal())) for value in usual]
        return cls._make(spread)._replace(power=usual.power)

    def torque(self, speed: Floats, load: Floats, temperature: Floats, wear: Floats) -> Floats:
        """Friction (hours, bands) at speeds (bands,) with load, temperature and wear (hours,)."""
        ell, warm, worn = (one[:, None] for one in (load, temperature, wear))
        coulomb = self.coulomb + self.coulomb_load * ell
        height = np.maximum(self.stribeck + self.stribeck_load * ell + self.stribeck_temperature * warm, 0.0)
        width = np.maximum(self.speed + self.speed_temperature * warm, FLOOR_SPEED)
        viscous = self.viscous + self.viscous_cold * np.exp(-warm / self.thinning)
        fresh = coulomb + height * np.exp(-((speed / width) ** self.power)) + viscous * speed
        dry = WEAR_COULOMB * coulomb + height * np.exp(-((speed / (WEAR_WIDTH * width)) ** self.power))
        return np.asarray(fresh + worn * dry)

    def growth(self, speed: Floats, load: Floats, temperature: Floats, wear: Floats) -> Floats:
        """Relative growth (hours,) of dry friction by wear at one speed (1,)."""
        fresh = self.torque(speed, load, temperature, 0.0 * wear)
        worn = self.torque(speed, load, temperature, wear)
        viscous = (self.viscous + self.viscous_cold * np.exp(-temperature / self.thinning))[:, None] * speed
        share: Floats = ((worn - fresh) / (fresh - viscous))[:, 0]
        return share
