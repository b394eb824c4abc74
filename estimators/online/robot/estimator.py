"""A whole robot, live: residual torque of every joint each tick, parameters each second, payload and changes reported.

    every 10 ms   residual torque against the model and its threshold (contact.py)
    50 Hz         regression rows: base parameters, friction, the last link's ten parameters (motion.py)
    0.5 s         what explains the residual: causes compete (residual_attribution.py). Does a learned compensation,
                  where one was asked for, still help (compensation.py)?
    1 s           Bayesian update towards the prior; a block teaches three seconds later, if nothing happened meanwhile

All decisions fall at fixed row counts, so results do not depend on how rows are cut into batches.
The reasons for this design are in docs/decisions/018-whole-robots-learning.md.
"""

from collections.abc import Mapping
from concurrent.futures import Executor
from typing import Any, Final

import numpy as np

from estimators.base import Event, Phase, Status
from estimators.conditioning.finer_rows import FinerRows
from estimators.models.robots.files.identified import IdentifiedRobot
from estimators.online.robot.block import BLOCK, LOOK, ROWS, Block
from estimators.online.robot.contact import SOON
from estimators.online.robot.estimate import VERSION, Friction, Kept, RobotEstimate, read_kept
from estimators.online.robot.findings.carried import NO_PAYLOAD, Payload
from estimators.online.robot.findings.explanation import BODY
from estimators.online.robot.findings.quick_samples import QuickSamples
from estimators.online.robot.findings.record import RobotFinding
from estimators.online.robot.findings.tool import ToldTool
from estimators.online.robot.friction_refit import FrictionRefits
from estimators.online.robot.learner import RobotLearner
from estimators.online.robot.motion import CHUNK, OF_RATE, QUICK, SLOW, Chunk, RobotMotion
from estimators.online.robot.residual_attribution import AttributionVerdict
from estimators.online.robot.start import RobotStart
from estimators.online.robot.told_findings import ToldFindings, state_beside
from estimators.online.robot.unseen_speed import UnseenSpeed
from estimators.online.robot.watch import RobotWatch
from estimators.quantities import Floats, Nanoseconds
from estimators.reasons import Reason
from estimators.thresholds import AT_REST, START

#: 1, argued: Times its deviation by which a change that was just found is doubted.
DOUBTFUL: Final = 3.0
#: ns, argued: Time behind a change within which the model's own may go on changing, and what it does not know is no
#: contact: a minute, the time constant of a gear's oil.
CHANGES_ON: Final = 60_000_000_000


class RobotEstimator:
    """Identifies one robot from equidistant rows of all its joints.

    A RobotLearner has the parameters, a RobotWatch judges the residual, a RobotStart counts the motion of the start;
    this class feeds them rows, and carries out what follows from one for the others.
    """

    def __init__(
        self,
        learnt: IdentifiedRobot,
        period: float,
        start: float = START,
        teaches: bool = True,
        executor: Executor | None = None,
        tool: ToldTool | None = None,
    ) -> None:
        """period: s between rows; start: s of motion that the start lasts; teaches: False keeps the parameters.

        executor: where searches of a friction's nonlinear parameters run, by default inline; tool: what the controller
        was told of it.
        """
        self.model = model = learnt.model()
        self._n = n = model.tree.size()
        self._channels = 2 + bool(model.twisted)  # of each joint
        self._finer = FinerRows(self._channels * n, period, 2.0 * QUICK)
        slow, between = min(SLOW, OF_RATE / period), period if self._finer.factor > 1 else 0.0
        period = self._finer.period
        self._chunk, self._stride = max(1, round(CHUNK / period)), max(1, round(1.0 / (ROWS * period)))
        self._units = tuple(joint.axis.effort for joint in learnt.robot.joints)
        self._watch = RobotWatch(model, learnt, self._chunk * period, tool, slow, between)
        compensates = bool(self._watch.compensation.joints)
        self._motion = RobotMotion(model, learnt.reach(), learnt.loading, period, compensates, slow)
        attribution = self._watch.attribution
        self._learner = RobotLearner(model, learnt, self._motion, attribution, period, self._stride, teaches)
        self._refits = FrictionRefits(model, learnt.correlation, learnt.reach(), executor)
        self._quick = QuickSamples(n, self._stride, period, slow)
        self._unseen = UnseenSpeed(model, learnt.reach(), self._watch.contact.remembered)
        self._start, self._reference = RobotStart(start * ROWS), self._learner.prediction
        # times and readings that do not fill a chunk yet
        self._unused: tuple[Nanoseconds, Floats] = (np.zeros(0, np.int64), np.zeros((0, self._channels, n)))
        self._block = Block(model.size + n, n)  # rows of the present second
        self._samples, self._moves = 0, False  # readings so far; whether a joint has moved in the last half second
        # ns: of the newest reading; until which a change that has just ended is doubted; until which the model's own
        # change may go on
        self._time = self._doubted = self._changing = 0
        self._measured, self._predicted = np.full((2, n), np.nan)
        self._contact_words = ""  # words about the last contact
        self._events: list[Event] = []
        self._findings = ToldFindings(model.robot.names)

    @property
    def learnt(self) -> int:
        """Blocks that have taught."""
        return self._learner.learnt

    @property
    def faults(self) -> int:
        """Blocks that could not teach, because the covariance was not positive."""
        return self._learner.faults

    def absorb(self, time: Nanoseconds, q: Floats, tau: Floats, link: Floats | None = None) -> None:
        """Learn from equidistant rows; NaN where a value is missing.

        time: (rows,) ns, q: (rows, n) rad (m), tau: (rows, n) N·m (N), link: (rows, n) of second encoders, needed where
        the model has `twisted` joints.
        """
        link = q if link is None else link
        rows = np.empty((len(time), self._channels, self._n))
        for k, values in enumerate((q, tau, link)[: self._channels]):
            rows[:, k] = values
        time, flat = self._finer.absorb(time, rows.reshape(len(time), -1))
        rows = flat.reshape(len(time), *rows.shape[1:])
        if len(self._unused[0]):
            time, rows = np.concatenate((self._unused[0], time)), np.concatenate((self._unused[1], rows))
        whole = len(time) // self._chunk * self._chunk
        for first in range(0, whole, self._chunk):
            part = slice(first, first + self._chunk)
            self._learner.absorb_readings(time[part], rows[part, 0])
            self._absorb(time[part], self._motion.absorb(rows[part]))
        self._unused = (time[whole:].copy(), rows[whole:].copy())

    def estimate(self) -> RobotEstimate:
        """Report; never learns."""
        phase, status, reasons = self._state()
        contact, watch = self._watch.contact, self._watch
        contacts = tuple((contact.reported & (not self._start.active)).tolist())
        return RobotEstimate(
            self._time, phase, status, reasons, self._measured, self._predicted, contact.deviations, contact.limits,
            contacts, _possible(watch.attribution.payload), self._start.progress, watch.compensated,
            self._findings.every, watch.location.found, None if watch.tool is None else watch.tool.difference,
        )  # fmt: skip

    def parameters(self) -> tuple[Floats, Floats]:
        """θ and its deviations, (p,) each, in the order of `model.names`."""
        return self._learner.parameters()

    def friction(self) -> Friction:
        """Friction of every joint at two speeds, with its deviations."""
        return self._learner.friction()

    def compensations(self) -> dict[str, tuple[bool, float]]:
        """Joint → whether its learned compensation is used, and rms of the residual with it over that without."""
        names, found = self.model.robot.names, self._watch.compensation
        return {names[j]: (bool(found.on[j]), found.ratio(j)) for j in found.joints}

    def start_residuals(self) -> tuple[Floats, Floats, Floats]:
        """Largest residual of the start so far, its root mean square, and friction beyond its law, (n,) each.

        Raises ValueError without motion.
        """
        return *self._watch.contact.gathered(), self._learner.discrepancy.spread

    def findings(self) -> tuple[RobotFinding, ...]:
        """What has happened, the oldest first: one record each, refined while more is known."""
        return self._findings.every

    def events(self) -> list[Event]:
        """What happened since the last call."""
        told, self._events = self._events, []
        return told

    def distrust(self) -> None:
        """Learn nothing from the last seconds: what a joint has sent then may have been wrong."""
        self._learner.drop_waiting()

    def keep(self) -> Kept | None:
        """State that outlives a restart; None while the start lasts or something is wrong."""
        contact, learner, discrepancy = self._watch.contact, self._learner, self._learner.discrepancy
        if self._start.active or contact.reported.any() or self._findings.held.keys() - {BODY}:
            return None
        if self._watch.attribution.payload.mass < 0.0:  # something is wrong, and not carried
            return None
        bayesian = learner.bayesian
        return Kept(
            VERSION, bayesian.theta, bayesian.covariance + learner.quantiser.covariance, learner.variance,
            contact.thresholds, contact.deviations, self.learnt, self._watch.compensation.keep(), discrepancy.spread,
            discrepancy.moved, discrepancy.seen, self._refits.etas, self._watch.attribution.keep(),
        )  # fmt: skip

    def resume(self, kept: Mapping[str, Any]) -> None:
        """Go on from what `keep` gave, as a map of lists. Raises ValueError where it is of another model or version."""
        found, learner, watch = read_kept(kept, self._n, self.model.size + self._n), self._learner, self._watch
        self._refits.resume(kept.get("etas", self._refits.etas))
        learner.follow_laws()
        compensation = np.array(kept.get("compensation", np.zeros_like(watch.compensation.keep()) - 1.0))
        watch.compensation.resume(compensation)
        learner.bayesian.begin(found["theta"], found["covariance"])
        learner.discrepancy.resume(found["bends"], found["moved"], found["seen"])
        learner.variance = found["variance"]
        watch.contact.resume(found["thresholds"], found["deviations"])
        learner.learnt, self._start.active = int(kept["learnt"]), False
        learner.adopt()
        carried = watch.attribution.resume(found["payload"], learner.variance)
        if carried is not None:
            self._findings.resume(self._time, carried, carried.cause.words(watch.attribution.known(bare=True), carried))
        self._mark_reference()

    def _absorb(self, time: Nanoseconds, chunk: Chunk) -> None:
        """Judge the residual of 10 ms of readings, then take the regression rows that fall among them."""
        predicted, unexplained = self._learner.prediction.of(chunk)
        found = self._watch.explain(chunk, predicted, unexplained)
        self._time = int(time[-1])
        self._measured, self._predicted = chunk.tau[-1], found.explained[-1]
        if chunk.whole:
            self._judge(chunk, predicted, found.unexplained)
        first = -self._samples % self._stride
        if self._refits.searchable:
            self._quick.absorb(chunk.quick, chunk.place, self._samples)
        self._samples += len(time)
        self._learner.follow(chunk.q, self._samples, self._block)
        for at in range(first, len(time), self._stride):
            if not chunk.usable[at]:
                continue
            r, u = chunk.tau[at] - predicted[at], found.unexplained[at]  # r: with the torque of a payload
            if len(found.used):
                r -= found.used[at]
                self._watch.compensation.absorb(u + found.used[at], found.learned[at], self._watch.contact.moving)
            self._block.sample[self._block.count] = self._samples - len(time) + at
            self._take_row(chunk, at, r, u)

    def _judge(self, chunk: Chunk, predicted: Floats, unexplained: Floats) -> None:
        """Compare the residual with its thresholds: report a contact, or end the examination of one."""
        watch, starting = self._watch, self._start.active
        contact, friction = watch.contact, self._learner.stiction
        self._unseen.notice(chunk.quick, chunk.dq)
        contact.unknown = unseen = self._unseen.torque(self._learner.theta)
        changing = self._time < self._changing and not starting and contact.ready
        if changing and contact.exceeded(unexplained, friction):
            contact.unknown = unseen + DOUBTFUL * self._learner.unknown(chunk)
        changes = watch.judge(chunk, predicted, unexplained, friction, self._reference, starting)
        if not watch.contact.calm and not starting:
            self._learner.drop_waiting()
        watch.locate(chunk, unexplained, friction, starting)
        if changes is None:
            return
        fresh, over = changes
        names = self.model.robot.names
        if fresh.any():
            watch.attribution.mark()
            self._contact_words = watch.contact.words(fresh, unexplained, names, self._units)
            text = self._contact_words + watch.where(names)
            touched = tuple(name for name, one in zip(names, fresh, strict=True) if one)
            if self._findings.examine(self._time, "contact", touched, text):
                self._add_event("contact", text)
        if over.any() and not watch.contact.reported.any() and not watch.attribution.suspects:
            self._end_examination()

    def _end_examination(self) -> None:
        """What was examined is over, and no cause of it was found that stays."""
        examined = self._findings.examined
        if examined is not None:
            self._doubted = self._time + round(1e9 * SOON)
            self._findings.close(self._time)
            self._add_event("recovered", f"{', '.join(examined.joints)}: the model explains the torque again")

    def _take_row(self, chunk: Chunk, at: int, r: Floats, u: Floats) -> None:
        """Take one regression row at 50 Hz; r, u: (n,) residual without payload, and with it."""
        now = self._block
        self._motion.row(chunk, at, now.X[now.count], now.Y[now.count])
        tells = self._watch.contact.sliding & ~self._unseen.joints
        now.close(chunk.q[at], chunk.dq[at], chunk.ddq[at], r, u, tells)
        self._start.count(self._moves)
        now.disturbed |= not self._watch.contact.calm
        if now.count % LOOK == 0:
            self._explain()
        if now.count == BLOCK:
            self._end_block()
            now.clear()

    def _explain(self) -> None:
        """Half a second of rows: look for what explains their residual."""
        now, watch, learner, pulls = self._block, self._watch, self._learner, None
        self._moves = bool(now.speed[now.lately].max() > AT_REST)
        if learner.encoders.known:
            q, r, carried = now.q[now.lately], now.r[now.lately], watch.attribution.explanation.carried
            weights = 1.0 / (learner.variance * learner.correlation)
            *pulls, watch.contact.steps = learner.encoders.effects(q, r, weights, learner.theta, carried)
        leaves = None if self._start.active else self._leaves_law
        switched, verdict = watch.absorb(now, learner.variance, pulls, leaves)
        for one in switched:
            self._add_event("compensation", one.words(self.model.robot))
        examined, where = self._findings.examined, watch.where(self.model.robot.names)
        if examined is not None and examined.cause == "contact" and not examined.others and where:
            self._findings.refine(self._time, examined.number, self._contact_words + where)
        self._findings.follow(self._time, watch.attribution)
        self._check_tool()
        if verdict is not None and verdict.silent:
            self._learn(verdict)
        elif verdict is not None:
            learner.drop_waiting()
            self._doubted = 0
            self._carry_out(verdict)
        elif watch.attribution.over and not watch.contact.reported.any():
            self._end_examination()

    def _leaves_law(self, joints: tuple[int, ...], looks: int) -> bool:
        """Whether a friction has left the shape of its law over the last looks; see FrictionRefits."""
        return self._refits.leaves_law(joints, looks * LOOK - self._block.count)

    def _check_tool(self) -> None:
        """Compare what is carried with what the controller was told, after the start and in motion."""
        tool, attribution = self._watch.tool, self._watch.attribution
        if tool is None or self._start.active or not self._moves or not self._watch.contact.calm:
            return
        change = tool.compare(attribution.payload, attribution.theta, attribution.known().root)
        if change is not None:
            self._add_event("tool", tool.difference.text or "the tool agrees with the one that the controller was told")
        if change is not None or tool.difference.differs:
            self._findings.tell_tool(self._time, tool.difference.text)

    def _carry_out(self, verdict: AttributionVerdict) -> None:
        """Hold what was found beside the model, or learn it."""
        watch, start, cause = self._watch, self._start, verdict.fitted.cause
        key = cause.name, cause.joints
        if start.active and (verdict.held or key not in start.changed):
            start.changed.add(key)
            self._begin_anew()
        new = self._findings.take(self._time, verdict)
        if watch.tool is not None:
            watch.tool.forget()
        if new and (verdict.held or not start.active):  # of a start nothing is known yet that could have changed
            self._add_event(cause.name, verdict.text)
        watch.contact.explained()
        watch.unexplained.forget()
        if not verdict.held:
            self._learn(verdict)

    def _learn(self, verdict: AttributionVerdict) -> None:
        """Move the model's own parameters by what was found."""
        self._refits.spoil()
        self._learner.move(verdict.fitted, DOUBTFUL)
        self._changing = self._time + CHANGES_ON
        self._mark_reference()

    def _end_block(self) -> None:
        """One second of rows: end the start, set thresholds anew, let what is three seconds old teach."""
        self._refit_friction()
        contact, start, now = self._watch.contact, self._start, self._block
        if start.active and start.enough:
            start.active = False
            contact.settle()
            contact.explained()
            self._watch.attribution.settle()
            self._mark_reference()
            self._add_event("started", "the thresholds of the residuals stand")
        if not start.active and contact.calm and start.due:
            contact.grow()
            self._mark_reference()
        speeds = self._learner.begin_block()
        if speeds is not None:
            contact.slow = np.maximum(AT_REST, speeds)
        if not (now.disturbed or self._findings.held or now.speed.max() <= AT_REST):
            self._learner.close(now, self._samples)

    def _refit_friction(self) -> None:
        """Look whether a friction has left its law, and put in force what a search has found; see FrictionRefits."""
        if self._start.active or self._findings.held:
            return
        learner, calm = self._learner, not self._block.disturbed
        for one in self._refits.absorb(self._block, learner.bayesian.theta, calm, self._quick):
            name, details = self.model.robot.names[one.joint], None if one.search is None else one.search.plain
            if one.reason:
                if not one.sharpens:  # η in force still holds, as certain as it was
                    self._add_event("refit_rejected", f"friction of {name}, {one.words}: {one.reason}", details)
                continue
            told = "sharpened" if one.sharpens else "refit_accepted"
            self._add_event(told, f"friction of {name}: {one.words}", details)
            learner.restore(one.place, self._refits.rest)
            learner.change(one.place, one.theta - learner.bayesian.theta[one.place], one.covariance)
            learner.follow_laws()
            self._watch.contact.explained()
            self._watch.unexplained.forget()
            self._watch.attribution.forget()  # rows so far have columns of another η
            learner.adopt()
            self._mark_reference()
        if self._refits.doubtful:
            learner.drop_waiting()

    def _mark_reference(self) -> None:
        """The thresholds are those of residuals of the present prediction."""
        self._reference = self._learner.prediction
        self._start.mark()

    def _begin_anew(self) -> None:
        """Forget what was gathered of the start: it was before something has changed."""
        self._start.begin_anew()
        self._watch.contact.gather_anew()
        self._watch.attribution.gather_anew()

    def _state(self) -> tuple[Phase, Status, tuple[Reason, ...]]:
        """What the robot does, whether its values may be used, and why not; the first that holds."""
        if self._time == 0 or not np.isfinite(self._measured).all():
            return Phase.WAITING, Status.UNESTIMATED, (Reason("incomplete_row"),)
        if self._start.active:
            why = Reason("robot_starting", None, {"seconds": self._start.rows / ROWS})
            return Phase.STARTING, Status.LEARNING, (why,)
        names, refused = self.model.robot.names, self._refits.reasons(self.model.robot.names)
        happened = self._findings.examined is not None or self._watch.contact.reported.any()
        if happened or self._time < self._doubted:  # what has happened is known within SOON
            return Phase.TRANSIENT, Status.LEARNING, (Reason("torque_unexplained"), *refused)
        watch = self._watch
        too_much = watch.unexplained.too_much
        bent = (*self._learner.discrepancy.reasons(names, self._units, too_much), *refused)
        beside = state_beside(watch.attribution, watch.unexplained, names, self._moves)
        if beside is not None:
            return beside[0], beside[1], (*beside[2], *(bent if too_much else ()))
        if not self._moves:
            return Phase.HELD, Status.HELD, (Reason("at_standstill"), *bent)
        return Phase.NORMAL, Status.LEARNING if bent else Status.VALID, bent

    def _add_event(self, kind: str, text: str, details: Mapping[str, Any] | None = None) -> None:
        self._events.append(Event(self._time, kind, text, None, details))


def _possible(payload: Payload) -> Payload:
    """The payload as it is published: NO_PAYLOAD where its mass is below zero beyond its deviation, as nothing is."""
    below = payload.mass < (0.0 if payload.carried else -DOUBTFUL * payload.mass_deviation)
    return NO_PAYLOAD if below else payload
