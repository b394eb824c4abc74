"""Friction over speed, direction by direction, as a cubic above a threshold: eight coefficients and λ for each joint.

    τ = kc±·s + k1±·w + k2±·w² + k3±·w³,   s = tanh(q̇/ε),   w = q̇ − λ·sign(q̇) where |q̇| > λ, else 0

The eight by least squares with kc± ≥ 0 and a ridge (beyond the data a cubic goes anywhere), λ by the lattice of what
they leave. Nothing is predicted beyond 1.1 times the top speed. Liu et al. 2023, (9)–(11); columns: directional.py.
"""

from typing import Final, NamedTuple

import numpy as np

from estimators.models.friction.directional import LOWEST, DirectionalSettings
from estimators.models.robots.files.identified import REACH
from estimators.offline.robot.fit import constrained
from estimators.quantities import Axis, Floats

RIDGE: Final = 1e-3  # of the columns' mean square
LATTICE: Final = 24  # values of λ
WIDEST: Final = 0.5  # of the highest speed: the largest λ
FEWEST: Final = 24  # rows for nine numbers


class CubicFriction(NamedTuple):
    """The cubic friction of one joint."""

    names: tuple[str, ...]  # of the eight
    units: tuple[str, ...]
    coefficients: Floats  # (8,)
    threshold: float  # λ, rad/s (m/s)
    reach: float  # rad/s (m/s), up to which it is known
    left: float  # N·m (N), rms of what it leaves

    def at(self, speed: Floats) -> Floats:
        """N·m (N) at speeds (rows,); NaN beyond what is known."""
        law = DirectionalSettings().law(Axis.ROTARY)
        still = np.zeros_like(speed)
        columns = law.columns(still, speed, still, np.array([self.threshold]))
        return np.where(np.abs(speed) <= self.reach, columns @ self.coefficients, np.nan)


def cubic_friction(speed: Floats, friction: Floats, axis: Axis) -> CubicFriction | None:
    """speed rad/s (m/s) and friction N·m (N), (rows,), of rows in which the joint moves; None: too few."""
    if len(speed) < FEWEST:
        return None
    law = DirectionalSettings().law(axis)
    fastest, still = float(np.abs(speed).max()), np.zeros_like(speed)
    signed = np.array([int(one.low >= 0.0) for one in law.parameters], np.int64)
    best, chosen, threshold = np.inf, np.zeros(len(signed)), LOWEST
    for wide in np.geomspace(LOWEST, max(WIDEST * fastest, 2.0 * LOWEST), LATTICE):
        columns = law.columns(still, speed, still, np.array([wide]))
        square = (columns**2).mean(axis=0)
        K = columns.T @ columns / len(speed) + np.diag(RIDGE * square + 1e-12)
        theta, _ = constrained(K, columns.T @ friction / len(speed), signed)
        left = float(((friction - columns @ theta) ** 2).mean())
        if left < best:
            best, chosen, threshold = left, theta, float(wide)
    names, units = zip(*((one.name, one.unit) for one in law.parameters), strict=True)
    return CubicFriction(names, units, chosen, threshold, REACH * fastest, float(np.sqrt(best)))
