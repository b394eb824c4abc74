"""A body that the last link carries beyond the model, or lacks."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from estimators.numerics.nnls import Integers
from estimators.online.robot.findings.carried import tool_prior
from estimators.online.robot.findings.causes.base import DOUBT, GONE_BELOW, Cause, Fitted, RobotKnowledge
from estimators.quantities import Floats

#: kg, argued: The least payload that is reported.
MASS: Final = 0.25
#: deviations, argued: Deviations of a payload's mass from which it is reported.
CERTAIN: Final = 4.0
#: m, argued: A centre of mass is never farther from the last link's frame: four deviations of a tool's size.
WITHIN: Final = 0.6
#: looks, argued: Looks in a row that must say the same: a push does not last.
BRIEF: Final = 2


@dataclass(frozen=True, slots=True)
class PayloadCause(Cause):
    """A body that was taken, changed, or put down."""

    name: str = "payload"
    joints: tuple[int, ...] = ()
    looks: int = BRIEF

    def places(self, known: RobotKnowledge) -> Integers:
        """The last link's ten parameters."""
        return np.arange(known.columns.body.start, known.columns.body.stop)

    def prior(self, known: RobotKnowledge) -> Floats:
        """The prior of a tool, by the pullback metric."""
        return tool_prior()

    def possible(self, known: RobotKnowledge, values: Floats, deviations: Floats) -> bool:
        """Whether the link's mass stays positive, and the centre of the carried body is within reach."""
        total = known.carried + values
        spare = 0.0 if known.carried.any() else float(known.bodies[-1, 0])
        if float(total[0]) < -DOUBT * float(deviations[0]) - spare:
            return False
        if not known.carried.any() and abs(float(values[0])) < max(CERTAIN * float(deviations[0]), MASS):
            return False
        if is_gone(known, values):
            return True
        slack = DOUBT * float(np.linalg.norm(deviations[1:4]))
        return float(np.linalg.norm(total[1:4])) <= WITHIN * abs(float(total[0])) + slack

    def is_over(self, known: RobotKnowledge, before: Floats, change: Floats) -> bool:
        """Whether the body has been put down."""
        return is_gone(known, change)

    def words(self, known: RobotKnowledge, fitted: Fitted) -> str:
        """Sentence about the body that is carried now."""
        mass = float((known.carried + fitted.values)[0])
        if is_gone(known, fitted.values):
            return "the payload is gone"
        if mass < 0.0:
            return f"about {-mass:.2g} kg less than the model has is carried: no payload weighs that"
        return f"a payload of about {mass:.2g} kg is carried"


def is_gone(known: RobotKnowledge, change: Floats) -> bool:
    """Whether this change (10,) takes off all that was carried."""
    before, now = float(known.carried[0]), float((known.carried + change)[0])
    return bool(known.carried.any() and abs(now) < max(GONE_BELOW * abs(before), 0.5 * MASS))
