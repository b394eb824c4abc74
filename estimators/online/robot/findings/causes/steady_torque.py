"""A torque that stays the same while joints move: a contact at first, another zero of the sensor when it lasts."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from estimators.numerics.nnls import Integers
from estimators.online.robot.findings.causes.base import LOOKS, Cause, Fitted, RobotKnowledge
from estimators.quantities import Floats

#: looks, argued: Looks after which a steady torque is another zero: a person pushes for less than ten seconds.
LASTS: Final = 20


@dataclass(frozen=True, slots=True)
class Contact(Cause):
    """A push on these joints. It is reported by thresholds (contact.py), so here it only competes."""

    joints: tuple[int, ...]
    name: str = "contact"
    looks: int = 1
    any_size: bool = True  # how hard somebody pushes does not follow from what the joint itself needs

    def places(self, known: RobotKnowledge) -> Integers:
        """The joints' offsets."""
        return np.array([known.offset_term(j) for j in self.joints])

    def prior(self, known: RobotKnowledge) -> Floats:
        """The prior of the offsets in the model."""
        places = self.places(known)
        return np.diag(known.prior[places, places])

    def lasts(self, looks: int, starting: bool) -> bool:
        """Whether a push may have lasted so long; see Cause."""
        return looks < LASTS

    def words(self, known: RobotKnowledge, fitted: Fitted) -> str:
        """Sentence about the torque of the push."""
        names, units = known.model.robot.names, [joint.axis.effort for joint in known.model.robot.joints]
        each = zip(self.joints, fitted.values, strict=True)
        return "; ".join(f"{names[j]}: a steady {value:.3g} {units[j]}" for j, value in each)


@dataclass(frozen=True, slots=True)
class Offset(Contact):
    """The torque of a joint has another zero: a steady torque that has lasted longer than any push."""

    name: str = "offset"
    looks: int = LOOKS

    def lasts(self, looks: int, starting: bool) -> bool:
        """Whether an offset may have lasted so long; see Cause."""
        return looks >= LASTS

    def words(self, known: RobotKnowledge, fitted: Fitted) -> str:
        """The offset of every joint, as a sentence."""
        joint = known.model.robot.joints[self.joints[0]]
        return f"the torque of {joint.name} has another zero: {fitted.values[0]:+.3g} {joint.axis.effort}"
