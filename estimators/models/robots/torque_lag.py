"""How late a joint's torque is against its position: what of θ hangs on it, and what a recording says of it.

    y(t) = X θ + δ ẏ(t)      δ > 0: the torque runs ahead

Of one instant the two are known to a bus cycle, a current filter, a sample's hold: LAG_SPREAD, before motion. θ learnt
without δ is off by −S δ, S = P XᵀW ẏ. Joint least squares of both follows from it by blocks, since

    cov [θ δ] = [[P + SΣSᵀ, −SΣ], [−ΣSᵀ, Σ]]      Σ = (LAG_SPREAD⁻² + ẏᵀWẏ − SᵀXᵀWẏ)⁻¹
"""

from typing import NamedTuple

import numpy as np

from estimators.quantities import Floats
from estimators.thresholds import LAG_SPREAD


class TorqueLag(NamedTuple):
    """The torque lag of n joints, p parameters."""

    values: Floats  # (n,) δ, s
    covariance: Floats  # (n, n) Σ
    moves: Floats  # (p, n) S

    def with_theta(self, theta: Floats, covariance: Floats) -> tuple[Floats, Floats]:
        """[θ δ] (p + n,) and its covariance; theta, covariance: of θ learnt without δ."""
        joint = self.moves @ self.covariance
        own = covariance + joint @ self.moves.T
        return np.append(theta - self.moves @ self.values, self.values), np.block(
            [[own, -joint], [-joint.T, self.covariance]]
        )


def unknown(parameters: int, joints: int) -> TorqueLag:
    """The lag of every joint before any motion: unknown."""
    return TorqueLag(np.zeros(joints), LAG_SPREAD**2 * np.eye(joints), np.zeros((parameters, joints)))
