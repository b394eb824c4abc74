"""Records of the causes that were found, and the state of a robot while such a cause is applied."""

from typing import Final

import numpy as np

from estimators.base import Phase, Status
from estimators.online.robot.estimate import Friction
from estimators.online.robot.findings.causes.base import Fitted
from estimators.online.robot.findings.causes.friction import share_of_friction
from estimators.online.robot.findings.causes.payload import MASS
from estimators.online.robot.findings.competition import NOTABLE
from estimators.online.robot.findings.explanation import BODY
from estimators.online.robot.findings.record import Findings
from estimators.online.robot.residual_attribution import AttributionVerdict, ResidualAttribution
from estimators.online.robot.watch import Unexplained
from estimators.quantities import Floats
from estimators.reasons import Reason

#: deviations, argued: Deviations of a joint's friction beyond which it has surely changed: one in 400 by chance.
SURELY: Final = 3.0

#: ns, argued: A change that was learnt and has not gone on for this time was chance: three blocks, each learnt anew.
ONCE: Final = 3_000_000_000

State = tuple[Phase, Status, tuple[Reason, ...]]

# codes of reasons, by the cause that is applied in addition to the model
BESIDE: Final = {
    "torque_constant": "robot_torque_constant",
    "encoder_slip": "robot_encoder_slip",
    "base_tilt": "robot_base_tilt",
    "spring": "robot_spring",
}


class ReportedFindings(Findings):
    """Findings of one robot, and which of them last."""

    def __init__(self, names: tuple[str, ...]) -> None:
        """names: of the joints."""
        super().__init__()
        self._names = names
        self._tool = 0  # number of the finding that the tool differs from the one that is configured
        self.beside_model: dict[
            tuple[str, tuple[int, ...]], int
        ] = {}  # numbers of what is applied in addition to the model

    def follow(self, time: int, attribution: ResidualAttribution) -> None:
        """Update the records of the finding under examination and of those that last."""
        standing = attribution.standing
        if standing is not None and standing.certain and standing.notable:
            others, best = tuple(one.cause.name for one in standing.rivals), standing.fitted[0]
            if standing.decided:
                self.settle(time, best.cause.name, best.cause.words(attribution.known(), best))
            else:
                self.doubt(time, others, f"several causes fit: {', '.join(others)}")
        if not self.beside_model:
            return
        known = attribution.known(bare=True)
        for key, number in self.beside_model.items():
            fitted = attribution.explanation.holding.get(key)
            # a payload that is being put down is reported as it was
            if fitted is not None and (key != BODY or abs(float(fitted.values[0])) >= MASS):
                self.refine(time, number, fitted.cause.words(known, fitted))

    def resume(self, time: int, fitted: Fitted, text: str) -> None:
        """Record causes that were found before this start of the program and are still applied."""
        key = fitted.cause.name, fitted.cause.joints
        self.beside_model[key] = self.decide(time, fitted.cause.name, (), text, False)

    def report_tool(self, time: int, text: str) -> None:
        """Record that the tool differs from the controller's (text), or no longer does ("")."""
        if text and self._tool:
            self.refine(time, self._tool, text)
        elif text:
            self._tool = self.note(time, "tool", text)
        elif self._tool:
            self.close(time, self._tool)
            self._tool = 0

    def take(self, time: int, verdict: AttributionVerdict) -> bool:
        """Write a verdict into the records; returns whether it is new, or the end of something."""
        cause = verdict.fitted.cause
        key = cause.name, cause.joints
        if verdict.instead is not None:  # its record becomes that of the right cause
            self.drop()
            self.reopen(self.beside_model.pop((verdict.instead.cause.name, verdict.instead.cause.joints), 0))
        if verdict.ends:
            self.drop()
            self.close(time, self.beside_model.pop(key, 0))
            return True
        if key in self.beside_model:
            self.drop()
            return False
        number = self.decide(
            time, cause.name, tuple(self._names[j] for j in cause.joints), verdict.text, not verdict.beside_model
        )
        if verdict.beside_model:
            self.beside_model[key] = number
        return True


class GradualFriction:
    """Follows friction that changes by steps too small to be findings, and reports once that their sum is one."""

    def __init__(self, findings: ReportedFindings, names: tuple[str, ...]) -> None:
        """findings: to write into; names: of the joints."""
        self._findings, self._names = findings, names
        self._before: Friction | None = None  # before the first step
        self._number, self._since, self._until, self._resumes = 0, 0, 0, 0  # of the finding; ns

    def step(self, time: int, until: int, verdict: AttributionVerdict, friction: Friction) -> str:
        """Add a step that is learnt without a report; returns words where it explains an apparent contact, else "".

        until: ns by which another step must follow, or the change has ended; friction: before the step.
        """
        if time >= max(self._until, self._resumes):
            self._before, self._number, self._since = friction, 0, time
        self._until = until
        joints = tuple(self._names[j] for j in verdict.fitted.cause.joints)
        if not self._findings.unexplained(time, joints):
            return ""
        if self._number:
            self._findings.drop()
            return ""
        self._number = self._findings.decide(time, "friction", joints, verdict.text, True)
        return verdict.text

    def notice(self, time: int, until: int, before: Friction) -> None:
        """Note that learning has changed the friction without a step; before: the change; until: as of `step`."""
        if time < self._resumes:
            return
        if time >= self._until:
            self._before, self._number, self._since = before, 0, time
        self._until = max(self._until, until if self._number else time + ONCE)

    def note_change(self, until: int) -> None:
        """Note that a change was reported; changes learnt until then (ns) belong to it."""
        self._before, self._number, self._until, self._resumes = None, 0, 0, until

    def follows(self, time: int) -> bool:
        """Whether steps were learnt whose sum is not reported in another way."""
        return self._before is not None and time < self._until

    def follow(self, time: int, friction: Friction, usual: Floats) -> str:
        """Compare with the friction before the first step; returns words where that is a new finding, else "".

        usual: (n,) deviations of the undisturbed residual.
        """
        if self._before is None or not self.follows(time):
            return ""
        change = friction.torque - self._before.torque
        sure = (np.abs(change) > SURELY * friction.deviations).any(axis=1)
        joints = np.flatnonzero(sure & ((change**2).mean(axis=1) > NOTABLE * usual**2))
        if not len(joints) or self._findings.examined is not None:
            return ""
        names = [self._names[j] for j in joints]
        changed, before = change[joints, -1].tolist(), self._before.torque[joints, -1].tolist()
        each = ", ".join(map(share_of_friction, names, changed, before))
        text = f"the friction has changed gradually, at half the speed seen: {each}"
        if self._number:
            self._findings.refine(time, self._number, text, tuple(names))
            return ""
        self._number = self._findings.decide(time, "friction", tuple(names), text, True, self._since, gradual=True)
        return text


def state_beside(
    attribution: ResidualAttribution, unexplained: Unexplained, names: tuple[str, ...], moves: bool
) -> State | None:  # fmt: skip
    """State of a robot with a payload, with another applied cause, or with unexplained torque; else None.

    names: of the joints; moves: whether it is in motion.
    """
    others = tuple(
        Reason(BESIDE[one.cause.name], ", ".join(names[j] for j in one.cause.joints) or None)
        for one in attribution.explanation.others
    )
    if others:
        return Phase.HELD, Status.LEARNING, others
    payload = attribution.payload
    if payload.carried and payload.mass < 0.0:
        missing = {"missing": -payload.mass, "deviation": payload.mass_deviation}
        return Phase.HELD, Status.LEARNING, (Reason("payload_below_zero", None, missing),)
    percent = {"percent": 100.0 * unexplained.share}
    wrong = (Reason("robot_unexplained", None, percent),) if unexplained.too_much else ()
    if payload.carried:
        return Phase.HELD, Status.LEARNING if wrong else Status.HELD, (*wrong, Reason("payload_carried"))
    return (Phase.NORMAL, Status.LEARNING, wrong) if wrong and moves else None
