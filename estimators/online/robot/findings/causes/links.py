"""Links that differ from the model's: the model belongs to another robot, or to another tool."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from estimators.models.robots.whole_robot import SPREAD
from estimators.numerics.nnls import Integers
from estimators.online.robot.findings.causes.base import LOOKS, Cause, Fitted, RobotKnowledge
from estimators.quantities import Floats

#: 1, argued: One deviation of a link from its model in the pullback metric: data sheets are some 15 % off.
OFF: Final = 0.15
#: looks, argued: Looks after a start in which a wrong model must show: links do not change while a robot moves.
LASTS: Final = 20


@dataclass(frozen=True, slots=True)
class Links(Cause):
    """All base parameters."""

    joints: tuple[int, ...] = ()
    name: str = "links"
    looks: int = LOOKS
    simpler: str = "payload"

    def places(self, known: RobotKnowledge) -> Integers:
        """The base parameters."""
        return np.arange(known.model.base)

    def prior(self, known: RobotKnowledge) -> Floats:
        """The prior of the robot's description, narrower."""
        base = known.model.base
        return (OFF / SPREAD) ** 2 * known.prior[:base, :base]

    def lasts(self, looks: int, starting: bool) -> bool:
        """Whether changed links may have lasted so long; see Cause."""
        return starting or looks >= LASTS

    def words(self, known: RobotKnowledge, fitted: Fitted) -> str:
        """Sentence that the links do not fit."""
        return "the links of the model do not fit this robot: its masses or centres differ"
