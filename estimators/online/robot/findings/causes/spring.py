"""A spring on one axis: a hose or cable that pulls, or a balancer; its torque follows that axis' angle alone."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from estimators.numerics.nnls import Integers
from estimators.online.robot.findings.causes.base import DOUBT, LOOKS, Cause, Fitted, RobotKnowledge
from estimators.quantities import Axis, Floats

#: rad (m), argued: A spring between both links is at rest within a turn of the joint's zero.
FARTHEST: Final = 2.0 * np.pi
#: nats, argued: A payload is taken a hundred times an hour, and a hose is caught once a year: ln(100 · 8760) = 13.7.
#: On an axis that carries all links behind it, both are a torque over its angle.
RARITY: Final = 13.7


@dataclass(frozen=True, slots=True)
class Spring(Cause):
    """A torque k (q - rest), or k sin(q - rest) of what goes round with the joint: the drive has to overcome it."""

    joints: tuple[int, ...]
    turns: bool = False  # whether it turns with the joint (k sin)
    name: str = "spring"
    looks: int = LOOKS
    rarity: float = RARITY
    any_size: bool = True

    @property
    def forms(self) -> tuple[Cause, ...]:
        """Both of them: over a small angle they cannot be distinguished."""
        return tuple(Spring(self.joints, turns) for turns in (False, True))

    def places(self, known: RobotKnowledge) -> Integers:
        """The axis' angle and a constant; or, where it turns with the joint, sine and cosine of the angle."""
        return known.columns.spring(self.joints[0])[2:] if self.turns else known.columns.spring(self.joints[0])[:2]

    def prior(self, known: RobotKnowledge) -> Floats:
        """One deviation of either coefficient is that of a torque offset."""
        place = known.offset_term(self.joints[0])
        return np.asarray(known.prior[place, place] * np.eye(2))

    def possible(self, known: RobotKnowledge, values: Floats, deviations: Floats) -> bool:
        """Whether it is gone, or certainly pulls back to a place of rest within reach; k sin needs a rotary axis."""
        before = known.held[self.places(known)]
        stiffness, rest = self.size(before + values)
        if before.any() and self.is_over(known, before, values):
            return True
        if self.turns:
            rotary = known.model.robot.joints[self.joints[0]].axis is Axis.ROTARY
            return rotary and stiffness > DOUBT * float(deviations.max())
        return stiffness > DOUBT * float(deviations[0]) and abs(rest) <= FARTHEST

    def size(self, values: Floats) -> tuple[float, float]:
        """Stiffness, N·m/rad (N/m), and the angle (rad, m) where it does not pull, of the coefficients (2,)."""
        first, second = values.tolist()
        if self.turns:
            return float(np.hypot(first, second)), float(np.arctan2(-second, first))
        return first, -second / first if first else np.inf

    def deviations(self, values: Floats, covariance: Floats) -> Floats:
        """Deviations (2,) of `size`, to the first order."""
        (first, second), (stiffness, _) = values.tolist(), self.size(values)
        if self.turns:
            slopes = np.array([[first / stiffness, second / stiffness], [second, -first]])
            slopes[1] /= stiffness**2
        else:
            slopes = np.array([[1.0, 0.0], [second / first**2, -1.0 / first]])
        return np.sqrt(np.diag(slopes @ covariance @ slopes.T))

    def main_size(self, fitted: Fitted) -> tuple[float, float]:
        """Its stiffness, and the deviation."""
        return self.size(fitted.values)[0], float(self.deviations(fitted.values, fitted.covariance)[0])

    def words(self, known: RobotKnowledge, fitted: Fitted) -> str:
        """Its stiffness and its angle at rest, with their deviations, as a sentence."""
        joint = known.model.robot.joints[self.joints[0]]
        (stiffness, rest), sizes = self.size(fitted.values), self.deviations(fitted.values, fitted.covariance)
        effort, length = joint.axis.effort, joint.axis.length
        spring = f"{stiffness:.3g} ± {sizes[0]:.1g} {effort}/{length}, at rest at {rest:+.2g} ± {sizes[1]:.1g} {length}"
        return f"a spring acts on {joint.name}: {spring}, as of a hose or cable that pulls"
