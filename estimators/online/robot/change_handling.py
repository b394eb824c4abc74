"""Carries out and reports what one part of a whole robot's estimator has found, in its other parts.

A residual that leaves its thresholds is examined; the cause that is found is applied in addition to the model, or is
learnt; a friction that has left its law gets a new one; the start ends. Each is an event or a finding.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from estimators.base import Event
from estimators.models.robots.whole_robot import WholeRobot
from estimators.online.robot.block import Block
from estimators.online.robot.compensation import Switched
from estimators.online.robot.contact import SOON
from estimators.online.robot.findings.causes.encoder_slip import EncoderSlip
from estimators.online.robot.findings.causes.position_jump import PositionJumps
from estimators.online.robot.findings.quick_samples import QuickSamples
from estimators.online.robot.friction_refit import FrictionRefits
from estimators.online.robot.learner import FOLLOWED, RobotLearner
from estimators.online.robot.motion import Chunk
from estimators.online.robot.reported_findings import GradualFriction, ReportedFindings
from estimators.online.robot.residual_attribution import AttributionVerdict
from estimators.online.robot.watch import RobotWatch
from estimators.online.start.robot_start import RobotStart
from estimators.quantities import Floats

#: 1, argued: Times its deviation by which a change that was just found is doubted.
DOUBTFUL: Final = 3.0
#: ns, argued: Time after a change within which the model's own may go on changing, and what it does not know is no
#: contact: a minute, the time constant of a gear's oil.
CHANGES_ON: Final = 60_000_000_000


class RobotChangeHandling:
    """Carries out what the parts of one robot have found."""

    def __init__(
        self, model: WholeRobot, watch: RobotWatch, learner: RobotLearner, refits: FrictionRefits, start: RobotStart,
        jumps: PositionJumps,
    ) -> None:  # fmt: skip
        """The parts are shared with the estimator, which feeds them."""
        self._robot, self._units, self._jumps = model.robot, tuple(one.axis.effort for one in model.robot.joints), jumps
        self._watch, self._learner, self._refits, self._start = watch, learner, refits, start
        self.findings = ReportedFindings(model.robot.names)
        self._gradual = GradualFriction(self.findings, model.robot.names)
        self.time = 0  # ns, of the newest reading
        self._reference = learner.prediction  # by which the thresholds were set
        # ns, instants: until the first a change that has just ended is doubted; until the second the model may change
        self._doubted = self._changing = 0
        self._settled = 0  # blocks that had taught when the start ended
        self._contact_words = ""  # words about the last contact
        self._events: list[Event] = []

    @property
    def unsettled(self) -> bool:
        """Whether something happens whose cause is not known yet, or has just ended."""
        contact = self._watch.contact
        examined = self.findings.examined is not None or bool((contact.reported | contact.drifting).any())
        return examined or self.time < self._doubted  # what has happened is known within SOON

    def events(self) -> list[Event]:
        """Return what happened since the last call."""
        events, self._events = self._events, []
        return events

    def judge(self, chunk: Chunk, predicted: Floats, unexplained: Floats, unseen: Floats) -> None:
        """Compare the residual with its thresholds: report a contact, or end the examination of one.

        unseen: (n,) torque that laws may be off at speeds that were never seen.
        """
        watch, starting = self._watch, self._start.active
        contact, friction = watch.contact, self._learner.stiction
        contact.unknown = unseen
        changing = self.time < self._changing and not starting
        unsure = changing or bool(watch.attribution.explanation.holding)
        if unsure and contact.ready and contact.exceeded(unexplained, friction):
            contact.unknown = unseen + DOUBTFUL * self._learner.unknown(chunk, changing)
        changes = watch.judge(chunk, predicted, unexplained, friction, self._reference, starting)
        if not watch.contact.calm and not starting:
            self._learner.drop_waiting()
        watch.locate(chunk, unexplained, friction, starting)
        if changes is None:
            return
        fresh, over = changes
        names = self._robot.names
        if fresh.any():
            watch.attribution.mark()
            self._contact_words = watch.contact.words(fresh, unexplained, friction, names, self._units)
            text = self._contact_words + watch.where(names)
            touched = tuple(name for name, one in zip(names, fresh, strict=True) if one)
            cause, jump = "contact", self._jumps.found()
            if jump is not None:
                slipped = EncoderSlip((jump.joint,))
                touched, cause, text = (names[jump.joint],), slipped.name, slipped.seen(self._robot, jump.size)
            if self.findings.examine(self.time, cause, touched, text):
                self._add_event(cause, text)
        if over.any() and not watch.contact.reported.any() and not watch.attribution.suspects:
            self._end_examination()

    def _end_examination(self) -> None:
        """End an examination: the residual is within its thresholds again, and no lasting cause was found."""
        examined = self.findings.examined
        if examined is not None:
            self._doubted = self.time + round(1e9 * SOON)
            self._watch.attribution.end_mark()
            self.findings.close(self.time)
            self._add_event("recovered", f"{', '.join(examined.joints)}: the model explains the torque again")

    def follow(self, switched: Sequence[Switched], verdict: AttributionVerdict | None, moves: bool) -> None:
        """Carry out what half a second of rows has shown: see RobotWatch.absorb; moves: whether a joint moved in it."""
        watch, learner, names = self._watch, self._learner, self._robot.names
        for one in switched:
            self._add_event("compensation", one.words(self._robot))
        examined, where = self.findings.examined, watch.where(names)
        if examined is not None and examined.cause == "contact" and not examined.others and where:
            self.findings.refine(self.time, examined.number, self._contact_words + where)
        self.findings.follow(self.time, watch.attribution)
        self._check_tool(moves)
        if verdict is not None and verdict.silent:
            if verdict.fitted.cause.name == "friction":
                self._report_gradual(self._gradual.step(self.time, self.time + CHANGES_ON, verdict, learner.friction()))
            elif examined is not None or watch.contact.drifted[list(verdict.fitted.cause.joints)].any():
                self.findings.take(self.time, verdict)  # the residual was too large for longer than a contact
                self._add_event(verdict.fitted.cause.name, verdict.text)
            if self.findings.examined is None and (examined is not None or watch.contact.drifted.any()):
                watch.contact.explained()
            self._learn(verdict)
        elif verdict is not None:
            learner.drop_waiting()
            self._doubted = 0
            self._carry_out(verdict)
        elif watch.attribution.over and not watch.contact.reported.any():
            self._end_examination()

    def _check_tool(self, moves: bool) -> None:
        """Compare what is carried with what the controller is configured for, after the start and in motion."""
        tool, attribution = self._watch.tool, self._watch.attribution
        if tool is None or self._start.active or not moves or not self._watch.contact.calm:
            return
        change = tool.compare(attribution.payload, attribution.theta, attribution.known().root)
        if change is not None:
            self._add_event("tool", tool.difference.text or "the tool agrees with the one configured in the controller")
        if change is not None or tool.difference.differs:
            self.findings.report_tool(self.time, tool.difference.text)

    def _carry_out(self, verdict: AttributionVerdict) -> None:
        """Apply what was found in addition to the model, or learn it."""
        watch, start, cause = self._watch, self._start, verdict.fitted.cause
        key = cause.name, cause.joints
        if start.active and (verdict.beside_model or key not in start.changed):
            start.changed.add(key)
            self._begin_anew()
        new = self.findings.take(self.time, verdict)
        if watch.tool is not None:
            watch.tool.forget()
        # before the start ends nothing is known that could have changed
        if new and (verdict.beside_model or not start.active):
            self._add_event(cause.name, verdict.text)
        watch.contact.explained()
        watch.unexplained.forget()
        if not verdict.beside_model:
            self._gradual.note_change(self.time + CHANGES_ON)
            self._learn(verdict)

    def _learn(self, verdict: AttributionVerdict) -> None:
        """Move the model's own parameters by what was found."""
        self._refits.spoil()
        self._learner.move(verdict.fitted, DOUBTFUL)
        self._changing = self.time + CHANGES_ON
        self.mark_reference()

    def settle(self) -> None:
        """End the start where there was enough motion; where there was as much again, set the thresholds anew."""
        contact, start = self._watch.contact, self._start
        if start.active and start.enough:
            start.active = False
            contact.settle()
            contact.explained()
            self._watch.attribution.settle()
            self._settled = self._learner.learnt
            self.mark_reference()
            self._add_event("started", "the thresholds of the residuals stand")
        if not start.active and contact.calm and start.due:
            contact.grow()
            self.mark_reference()
        if not start.active and self._learner.learnt >= self._settled + FOLLOWED:
            before = self._learner.changes_since()
            if before is not None:
                friction = self._learner.friction()._replace(torque=before)
                self._gradual.notice(self.time, self.time + CHANGES_ON, friction)
        if not start.active and self._gradual.follows(self.time):
            self._report_gradual(self._gradual.follow(self.time, self._learner.friction(), contact.deviations))

    def refit_friction(self, block: Block, quick: QuickSamples) -> None:
        """Look whether a friction has left its law, and put in force what a search has found; see FrictionRefits."""
        if self._start.active or self.findings.beside_model:
            return
        learner, calm = self._learner, not block.disturbed
        for one in self._refits.absorb(block, learner.bayesian.theta, calm, quick):
            name, details = self._robot.names[one.joint], None if one.search is None else one.search.plain
            if one.reason:
                if not one.sharpens:  # η in force still holds, as certain as it was
                    self._add_event("refit_rejected", f"friction of {name}, {one.words}: {one.reason}", details)
                continue
            kind = "sharpened" if one.sharpens else "refit_accepted"
            self._add_event(kind, f"friction of {name}: {one.words}", details)
            learner.restore(one.place, self._refits.rest)
            learner.change(one.place, one.theta - learner.bayesian.theta[one.place], one.covariance)
            learner.follow_laws()
            block.disturbed = True  # its columns are of another η
            self._gradual.note_change(self.time + CHANGES_ON)
            self._watch.contact.explained()
            self._watch.unexplained.forget()
            self._watch.attribution.forget()  # rows so far have columns of another η
            learner.adopt()
            self.mark_reference()
        if self._refits.doubtful:
            learner.drop_waiting()

    def _report_gradual(self, text: str) -> None:
        if text:
            self._add_event("friction", text)

    def mark_reference(self) -> None:
        """The thresholds are those of residuals of the present prediction."""
        self._reference = self._learner.prediction
        self._start.mark()

    def _begin_anew(self) -> None:
        """Forget what the start has gathered: something has changed since."""
        self._start.begin_anew()
        self._watch.contact.gather_anew()
        self._watch.attribution.gather_anew()

    def _add_event(self, kind: str, text: str, details: Mapping[str, Any] | None = None) -> None:
        self._events.append(Event(self.time, kind, text, None, details))
