"""Another zero of a joint's torque: a steady torque that has outlasted every push."""

from dataclasses import dataclass

from estimators.online.robot.findings.causes.base import LOOKS, Fitted, RobotKnowledge
from estimators.online.robot.findings.causes.steady_torque import LASTS, Contact
from estimators.quantities import Floats


@dataclass(frozen=True, slots=True)
class Offset:
    """The torque of a joint has another zero."""

    joints: tuple[int, ...]
    name: str = "offset"
    looks: int = LOOKS

    def moves(self, known: RobotKnowledge) -> Floats:
        """The joint's offset."""
        return Contact(self.joints).moves(known)

    def prior(self, known: RobotKnowledge) -> Floats:
        """That of the model."""
        return Contact(self.joints).prior(known)

    def lasts(self, looks: int, starting: bool) -> bool:
        """Whether an offset may have lasted so long; see Cause."""
        return looks >= LASTS

    def possible(self, known: RobotKnowledge, values: Floats, deviations: Floats) -> bool:
        """Any is."""
        return True

    def words(self, known: RobotKnowledge, fitted: Fitted) -> str:
        """The offset of every joint, as a sentence."""
        joint = known.model.robot.joints[self.joints[0]]
        return f"the torque of {joint.name} has another zero: {fitted.values[0]:+.3g} {joint.axis.effort}"
