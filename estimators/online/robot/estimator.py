"""A whole robot, live: residual torque of every joint each tick, parameters each second, payload and changes reported.

    every 10 ms   residual torque against the model and its threshold (contact.py)
    50 Hz         regression rows: base parameters, friction, the last link's ten parameters (motion.py)
    0.5 s         what explains the residual: causes compete (residual_attribution.py). Does a learned compensation,
                  where one was asked for, still help (compensation.py)?
    1 s           Bayesian update towards the prior; a block teaches three seconds later, unless something happens

All decisions fall at fixed row counts, so results do not depend on how rows are cut into batches.
The reasons for this design are in docs/decisions/018-whole-robots-learning.md.
"""

from collections.abc import Mapping
from concurrent.futures import Executor
from typing import Any

import numpy as np

from estimators.base import Event, Phase, Status
from estimators.conditioning.finer_rows import FinerRows
from estimators.models.robots.files.identified import IdentifiedRobot
from estimators.online.robot.block import BLOCK, LOOK, ROWS, Block
from estimators.online.robot.change_handling import DOUBTFUL, RobotChangeHandling
from estimators.online.robot.estimate import (
    VERSION,
    Friction,
    HeldFinding,
    RobotEstimate,
    RobotEstimatorState,
    read_state,
)
from estimators.online.robot.findings.carried import NO_PAYLOAD, Payload
from estimators.online.robot.findings.causes.position_jump import PositionJumps
from estimators.online.robot.findings.explanation import BODY
from estimators.online.robot.findings.quick_samples import QuickSamples
from estimators.online.robot.findings.record import RobotFinding
from estimators.online.robot.findings.tool import ConfiguredTool
from estimators.online.robot.findings.unseen_speed import UnseenSpeed
from estimators.online.robot.friction_refit import FrictionRefits
from estimators.online.robot.learner import RobotLearner
from estimators.online.robot.motion import CHUNK, OF_RATE, QUICK, Chunk, RobotMotion, cutoffs
from estimators.online.robot.reported_findings import state_beside
from estimators.online.robot.watch import RobotWatch
from estimators.online.start.robot_start import RobotStart
from estimators.quantities import Floats, Nanoseconds
from estimators.reasons import Reason
from estimators.thresholds import START


class RobotEstimator:
    """Identifies one robot from equidistant rows of all its joints.

    A RobotLearner has the parameters, a RobotWatch judges the residual, a RobotStart counts the motion of the start,
    and RobotChangeHandling passes on what one has found to the others; this class feeds them rows, and reports.
    """

    def __init__(
        self,
        learnt: IdentifiedRobot,
        period: float,
        start: float = START,
        teaches: bool = True,
        executor: Executor | None = None,
        tool: ConfiguredTool | None = None,
    ) -> None:
        """period: s between rows; start: s of motion that the start lasts; teaches: False keeps the parameters.

        executor: where searches of a friction's nonlinear parameters run, by default inline; tool: that the controller
        is configured for.
        """
        self.model = model = learnt.model()
        self._n = n = model.tree.size()
        self._channels = 2 + bool(model.twisted)  # of each joint
        self._finer = FinerRows(self._channels * n, period, 2.0 * QUICK)
        quick, slow = cutoffs(learnt.at_rest())
        slow, between = min(slow, OF_RATE / period), period if self._finer.factor > 1 else 0.0
        period = self._finer.period
        self._chunk, self._stride = max(1, round(CHUNK / period)), max(1, round(1.0 / (ROWS * period)))
        self._units = tuple(joint.axis.effort for joint in learnt.robot.joints)
        self._watch = RobotWatch(model, learnt, self._chunk * period, tool, slow, between, quick)
        compensates = bool(self._watch.compensation.joints)
        self._motion = RobotMotion(model, learnt.reach(), learnt.loading, period, compensates, slow, quick)
        attribution = self._watch.attribution
        made = self._finer.made
        self._learner = RobotLearner(model, learnt, self._motion, attribution, period, self._stride, teaches, made)
        self._refits = FrictionRefits(model, learnt.correlation, learnt.reach(), executor)
        self._quick = QuickSamples(n, self._stride, period, slow)
        self._unseen = UnseenSpeed(model, learnt.reach(), self._watch.contact.remembered)
        self._start = RobotStart(start * ROWS)
        self._jumps = PositionJumps(learnt.speed, period, self._chunk)
        self._changes = RobotChangeHandling(model, self._watch, self._learner, self._refits, self._start, self._jumps)
        self._findings = self._changes.findings
        # times and readings that do not fill a chunk yet
        self._unused: tuple[Nanoseconds, Floats] = (np.zeros(0, np.int64), np.zeros((0, self._channels, n)))
        self._at_rest = self._watch.contact.slow = learnt.at_rest()
        self._block = Block(model.size + n, self._at_rest)  # rows of the present second
        self._samples, self._moves = 0, False  # readings so far; whether a joint has moved in the last half second
        self._measured, self._predicted = np.full((2, n), np.nan)

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
        whole, apart = len(time) // self._chunk * self._chunk, self._finer.factor
        for first in range(0, whole, self._chunk):
            part = slice(first, first + self._chunk)
            measured = slice(first + -self._samples % apart, part.stop, apart)
            self._learner.absorb_readings(time[measured], rows[measured, 0])
            self._jumps.absorb(rows[part, 0])
            self._absorb(time[part], self._motion.absorb(rows[part]))
        self._unused = (time[whole:].copy(), rows[whole:].copy())

    def estimate(self) -> RobotEstimate:
        """Report; never learns."""
        phase, status, reasons = self._state()
        contact, watch = self._watch.contact, self._watch
        contacts = tuple((contact.reported & (not self._start.active)).tolist())
        thresholds = contact.limits + contact.stuck(self._learner.stiction)
        return RobotEstimate(
            self._changes.time, phase, status, reasons, self._measured, self._predicted, contact.deviations,
            thresholds, contacts, _possible(watch.attribution.payload), self._start.progress, watch.compensated,
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
        """What has happened, the oldest first: one record each, refined as more becomes known."""
        return self._findings.every

    def held(self) -> dict[str, dict[str, HeldFinding]]:
        """The causes at single joints that are applied in addition to the model: joint → cause → how much."""
        names, found = self.model.robot.names, dict[str, dict[str, HeldFinding]]()
        since = {one.number: one.since for one in self._findings.every}
        for one in self._watch.attribution.explanation.others:
            began = since.get(
                self._findings.beside_model.get((one.cause.name, one.cause.joints), 0), self._changes.time
            )
            for j in one.cause.joints:
                found.setdefault(names[j], {})[one.cause.name] = HeldFinding(*one.cause.main_size(one), began)
        return found

    def events(self) -> list[Event]:
        """What happened since the last call."""
        return self._changes.events()

    def distrust(self) -> None:
        """Learn nothing from the last seconds: a joint may have sent wrong values."""
        self._learner.drop_waiting()

    def keep(self) -> RobotEstimatorState | None:
        """State that a restart keeps; None while the start lasts or something is wrong."""
        contact, learner, discrepancy = self._watch.contact, self._learner, self._learner.discrepancy
        if self._start.active or contact.reported.any() or self._findings.beside_model.keys() - {BODY}:
            return None
        if self._watch.attribution.payload.mass < 0.0:  # this is an error and no payload
            return None
        bayesian = learner.bayesian
        return RobotEstimatorState(
            VERSION, bayesian.theta, bayesian.covariance + learner.quantiser.covariance, learner.variance,
            contact.thresholds, contact.deviations, self.learnt, self._watch.compensation.keep(), discrepancy.spread,
            discrepancy.moved, discrepancy.seen, discrepancy.identified, self._refits.etas,
            self._watch.attribution.keep(), contact.held,
        )  # fmt: skip

    def resume(self, saved: Mapping[str, Any]) -> None:
        """Go on from the state of `keep`, as a map of lists. Raises ValueError for another model or version."""
        found, learner, watch = read_state(saved, self._n, self.model.size + self._n), self._learner, self._watch
        self._refits.resume(saved.get("etas", self._refits.etas))
        learner.follow_laws()
        compensation = np.array(saved.get("compensation", np.zeros_like(watch.compensation.keep()) - 1.0))
        watch.compensation.resume(compensation)
        learner.bayesian.begin(found["theta"], found["covariance"])
        learner.discrepancy.resume(found["friction_discrepancy"], found["moved"], found["seen"], found["identified"])
        learner.variance = found["variance"]
        watch.contact.resume(found["thresholds"], found["deviations"], found["held"])
        learner.learnt, self._start.active = int(saved["learnt"]), False
        learner.adopt()
        carried = watch.attribution.resume(found["payload"], learner.variance)
        if carried is not None:
            self._findings.resume(
                self._changes.time, carried, carried.cause.words(watch.attribution.known(bare=True), carried)
            )
        self._changes.mark_reference()

    def _absorb(self, time: Nanoseconds, chunk: Chunk) -> None:
        """Judge the residual of 10 ms of readings, then take the regression rows that fall among them."""
        predicted, unexplained = self._learner.prediction.of(chunk)
        found = self._watch.explain(chunk, predicted, unexplained)
        self._changes.time = int(time[-1])
        self._measured, self._predicted = chunk.tau[-1], found.explained[-1]
        if chunk.whole:
            self._unseen.notice(chunk.quick, chunk.dq)
            if not self._watch.pass_within(chunk, found.unexplained, self._learner.stiction, self._start.active):
                self._changes.judge(chunk, predicted, found.unexplained, self._unseen.torque(self._learner.theta))
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

    def _take_row(self, chunk: Chunk, at: int, r: Floats, u: Floats) -> None:
        """Take one regression row at 50 Hz; r, u: (n,) residual without payload, and with it."""
        now = self._block
        self._motion.row(chunk, at, now.X[now.count], now.Y[now.count])
        usable = self._watch.contact.sliding & ~self._unseen.joints
        now.close(chunk.q[at], chunk.dq[at], chunk.ddq[at], r, u, usable)
        self._start.count(self._moves)
        now.disturbed |= not self._watch.contact.calm
        if now.count % LOOK == 0:
            self._explain()
        if now.count == BLOCK:
            self._end_block()
            now.clear()

    def _explain(self) -> None:
        """Look for what explains the residual of the last half second of rows."""
        now, watch, learner, pulls = self._block, self._watch, self._learner, None
        self._moves = bool(now.speed[now.lately].max() > 1.0)
        if learner.encoders.known:
            q, r, carried = now.q[now.lately], now.r[now.lately], watch.attribution.explanation.carried
            weights = 1.0 / (learner.variance * learner.correlation)
            *pulls, watch.contact.steps = learner.encoders.effects(q, r, weights, learner.theta, carried)
        leaves, theta = None if self._start.active else self._leaves_law, learner.bayesian.theta
        self._changes.follow(*watch.absorb(now, learner.variance, pulls, leaves), self._moves)
        now.follow(learner.bayesian.theta - theta)

    def _leaves_law(self, joints: tuple[int, ...], looks: int) -> bool:
        """Whether a friction no longer has the shape of its law over the last looks; see FrictionRefits."""
        return self._refits.leaves_law(joints, looks * LOOK - self._block.count)

    def _end_block(self) -> None:
        """End a block of one second: end the start, set thresholds anew, learn the block of three seconds ago."""
        now = self._block
        self._changes.refit_friction(now, self._quick)
        self._changes.settle()
        speeds = self._learner.begin_block()
        if speeds is not None:
            self._watch.contact.slow = np.maximum(self._at_rest, speeds)
        if not (now.disturbed or self._findings.beside_model or now.speed.max() <= 1.0):
            self._learner.close(now, self._samples)

    def _state(self) -> tuple[Phase, Status, tuple[Reason, ...]]:
        """What the robot does, whether its values may be used, and why not: the first condition that applies."""
        if self._changes.time == 0 or not np.isfinite(self._measured).all():
            return Phase.WAITING, Status.UNESTIMATED, (Reason("incomplete_row"),)
        if self._start.active:
            why = Reason("robot_starting", None, {"seconds": self._start.rows / ROWS})
            return Phase.STARTING, Status.LEARNING, (why,)
        names, refused = self.model.robot.names, self._refits.reasons(self.model.robot.names)
        if self._changes.unsettled:
            return Phase.TRANSIENT, Status.LEARNING, (Reason("torque_unexplained"), *refused)
        watch = self._watch
        too_much = watch.unexplained.too_much
        beyond_law = (*self._learner.discrepancy.reasons(names, self._units, too_much), *refused)
        beside = state_beside(watch.attribution, watch.unexplained, names, self._moves)
        if beside is not None:
            return beside[0], beside[1], (*beside[2], *(beyond_law if too_much else ()))
        if not self._moves:
            return Phase.HELD, Status.HELD, (Reason("at_standstill"), *beyond_law)
        return Phase.NORMAL, Status.LEARNING if beyond_law else Status.VALID, beyond_law


def _possible(payload: Payload) -> Payload:
    """The payload as it is published: NO_PAYLOAD where its mass is negative by more than its deviation."""
    below = payload.mass < (0.0 if payload.carried else -DOUBTFUL * payload.mass_deviation)
    return NO_PAYLOAD if below else payload
