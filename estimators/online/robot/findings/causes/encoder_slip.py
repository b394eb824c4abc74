"""An encoder that has slipped on its shaft: it reads another angle than the joint has."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from estimators.models.robots.description import RobotDescription
from estimators.numerics.nnls import Integers
from estimators.online.robot.findings.causes.base import LOOKS, Cause, Fitted, RobotKnowledge
from estimators.quantities import Floats

#: rad (m), argued: One deviation of a slip: a few degrees, as of a belt's tooth or a loose coupling.
SLIPS: Final = 0.05
#: rad (m), argued: Beyond it the columns, which are a derivative, do not hold.
MOST: Final = 0.5


@dataclass(frozen=True, slots=True)
class EncoderSlip(Cause):
    """The encoder of a joint reads another angle than before at the same place."""

    joints: tuple[int, ...]
    name: str = "encoder_slip"
    looks: int = LOOKS

    def places(self, known: RobotKnowledge) -> Integers:
        """The joint's angle."""
        return np.array([known.columns.slips.start + self.joints[0]])

    def prior(self, known: RobotKnowledge) -> Floats:
        """One deviation is SLIPS."""
        return np.array([[SLIPS**2]])

    def possible(self, known: RobotKnowledge, values: Floats, deviations: Floats) -> bool:
        """Whether it is small."""
        return bool(abs(values[0]) <= MOST)

    def seen(self, robot: RobotDescription, size: float) -> str:
        """Sentence about a slip that was seen as a jump of the position, by size in rad (m)."""
        joint = robot.joints[self.joints[0]]
        jump = f"the position of {joint.name} has jumped by {1e3 * size:+.3g} m{joint.axis.length} within a sample"
        return f"{jump}, as no joint moves: its encoder has slipped, or was given another zero"

    def words(self, known: RobotKnowledge, fitted: Fitted) -> str:
        """The slip of every joint, as a sentence."""
        joint = known.model.robot.joints[self.joints[0]]
        size = f"{1e3 * fitted.values[0]:+.3g} m{joint.axis.length}"
        return f"the encoder of {joint.name} has slipped: it reads about {size} beyond what it did"
