"""Another torque constant, or gain of the torque sensor: all of a joint's torque is measured too large or small."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from estimators.numerics.nnls import Integers
from estimators.online.robot.findings.causes.base import LOOKS, Cause, Fitted, RobotKnowledge
from estimators.quantities import Floats

#: 1, argued: One deviation of a torque constant's change: magnets lose that much, and drives are replaced.
CHANGES: Final = 0.1
#: 1, argued: A change beyond this is another fault, such as a wrong unit.
MOST: Final = 0.5


@dataclass(frozen=True, slots=True)
class TorqueConstant(Cause):
    """The torque of a joint is measured by another factor."""

    joints: tuple[int, ...]
    name: str = "torque_constant"
    looks: int = LOOKS

    def places(self, known: RobotKnowledge) -> Integers:
        """The joint's predicted torque."""
        return np.array([known.columns.gains.start + self.joints[0]])

    def prior(self, known: RobotKnowledge) -> Floats:
        """One deviation is CHANGES."""
        return np.array([[CHANGES**2]])

    def possible(self, known: RobotKnowledge, values: Floats, deviations: Floats) -> bool:
        """Whether it is too small to be a wrong unit."""
        return bool(abs(values[0]) <= MOST)

    def words(self, known: RobotKnowledge, fitted: Fitted) -> str:
        """The change of every torque constant, as a sentence."""
        name = known.model.robot.names[self.joints[0]]
        percent = f"{100.0 * fitted.values[0]:+.0f} %"
        return f"the torque of {name} is measured {percent} beyond what it was: another torque constant"
