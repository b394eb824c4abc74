"""A whole robot, live: residual torque of every joint each tick, parameters each second, payload and changes told.

    every 10 ms   residual torque against the model and its threshold (contact.py)
    50 Hz         regression rows: base parameters, friction, the last link's ten parameters (motion.py)
    0.5 s         what explains the residual: a payload, or the friction of one joint? (causes.py); does what was learnt
                  of the residual, where that was asked for, still help? (compensation.py)
    1 s           Bayesian update towards the prior; it teaches three seconds later, if nothing happened meanwhile

All decisions fall at fixed row counts, so results do not depend on how rows are cut into batches.
Why so: docs/decisions/021-whole-robots-live.md.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from estimators.base import Event, Phase, Status
from estimators.misfit.long_run import LongRun
from estimators.models.robots.files.identified import IdentifiedRobot
from estimators.models.robots.tree import PARAMETERS
from estimators.online.robot.block import BLOCK, LOOK, ROWS, Block
from estimators.online.robot.compensation import Compensation
from estimators.online.robot.contact import SLOW, SOON, ContactWatch
from estimators.online.robot.estimate import VERSION, Friction, Kept, RobotEstimate, read_kept
from estimators.online.robot.friction_discrepancy import KNOTS, Bends, FrictionColumns
from estimators.online.robot.learner import learner_of
from estimators.online.robot.motion import CHUNK, QUICK, Chunk, RobotMotion
from estimators.online.robot.motion import SLOW as SLOW_PASS
from estimators.online.robot.prediction import Prediction
from estimators.online.robot.residual_attribution import CERTAIN, GONE, PAYLOAD, Attribution, Causes, in_words
from estimators.quantisation.robot_errors_in_variables import Encoders, shares
from estimators.quantisation.robot_shifted_quantiser import RobotShiftedQuantiser, torque
from estimators.quantities import Floats, Nanoseconds
from estimators.reasons import Reason
from estimators.recursive.process_noise_correction import Belief, Wander

AFTER: Final = 3  # blocks that a block waits before it teaches
AT_REST: Final = 0.02  # rad/s (m/s)
CLIPPED: Final = 9.0  # times the variance, that one squared residual counts at most
SLOWLY: Final = 0.02  # of a block in the variance
LONGEST: Final = 100  # rows (2 s) after which residuals count as independent
DOUBTFUL: Final = 3.0  # times the deviation of what has just changed
NOTHING: Final = np.zeros((0, 0))
SPEEDS: Final = (0.1, 0.5)  # of the speed seen, at which friction torque is reported


class RobotEstimator:
    """Identifies one robot from equidistant rows of all its joints."""

    def __init__(self, learnt: IdentifiedRobot, period: float, start: float = 12.0, teaches: bool = True) -> None:
        """period: s between rows; start: s of motion that the start lasts; teaches: False keeps the parameters."""
        model = learnt.model()
        n = model.tree.size()
        self.model, self._n, self._teaches = model, n, teaches
        self._chunk = max(1, round(CHUNK / period))
        self._stride = max(1, round(1.0 / (ROWS * period)))
        self._start_rows = start * ROWS
        self._correlation, self._variance = learnt.correlation, learnt.variance.copy()
        self._reach = learnt.reach()
        self._compensation = Compensation(model, learnt.learned)
        self._motion = RobotMotion(model, self._reach, learnt.loading, period, bool(self._compensation.joints))
        self._twisted = bool(model.twisted)
        self._units = tuple(joint.axis.effort for joint in learnt.robot.joints)
        motor_side = any(joint.motor_side for joint in learnt.robot.joints)
        self._causes = Causes(model, np.sqrt(np.diag(learnt.prior_covariance)), learnt.correlation, motor_side)
        own = np.sort(np.concatenate([model.base + terms for terms in self._causes.terms]))
        self._learner = learner_of(learnt, own, BLOCK / ROWS)
        self._told = self._causes.friction_columns(np.outer(self._reach, SPEEDS))
        self._slow = self._causes.friction_columns(np.full((n, 1), SLOW))
        self._at_knots = self._causes.friction_columns(np.outer(self._reach, KNOTS))
        self._wander = Wander(model.size + n, self._told)
        self._long_run = LongRun(learnt.correlation, self._learner.unknown, LONGEST, 1.0 - SLOWLY)
        deviations = np.sqrt(learnt.variance) if learnt.deviations is None else learnt.deviations
        self._encoders = Encoders(model, (QUICK, SLOW_PASS), period)
        self._reread = RobotShiftedQuantiser(n, model.size + n, (QUICK, SLOW_PASS), period, self._stride)
        reach = np.where(self._reach > 0.0, self._reach, 1.0)
        self._bends = Bends(reach, model.size + n, learnt.bends)
        self._watch = ContactWatch(learnt.peaks, deviations, reach, self._chunk * period)
        self._starting, self._believed = True, 0
        self._found: set[int] = set()  # joints whose friction the start has found anew
        self._pending: deque[tuple[int, Floats, Floats, Floats, Floats, Floats, Floats]] = deque()  # n, X y r q e q̇
        self._readings: list[tuple[Nanoseconds, Floats]] = []  # since the last block
        self._rest: tuple[Nanoseconds, Floats] = (np.zeros(0, np.int64), np.zeros((0, 2 + self._twisted, n)))
        self._samples = 0
        self._now = Block(model.size + n, n)
        self._closed = self._now.sample.copy(), self._now.e.copy()  # of the last block that may teach
        self._moved_rows, self._moves, self._blocks = 0, False, 0
        self._time = self._doubted = 0  # ns
        self._measured, self._predicted, self._compensated = np.full((3, n), np.nan)
        self._events: list[Event] = []
        self.learnt, self.faults = 0, 0  # blocks that have taught, and that could not
        self._adopt()
        self._believe()

    def absorb(self, time: Nanoseconds, q: Floats, tau: Floats, link: Floats | None = None) -> None:
        """Equidistant rows; NaN where a value is missing.

        time: (rows,) ns, q: (rows, n) rad (m), tau: (rows, n) N·m (N), link: (rows, n) of second encoders, needed where
        the model has `twisted` joints.
        """
        link = q if link is None else link
        rows = np.empty((len(time), 2 + self._twisted, self._n))
        for k, values in enumerate((q, tau, link)[: 2 + self._twisted]):
            rows[:, k] = values
        if len(self._rest[0]):
            time, rows = np.concatenate((self._rest[0], time)), np.concatenate((self._rest[1], rows))
        whole = len(time) // self._chunk * self._chunk
        for first in range(0, whole, self._chunk):
            part = slice(first, first + self._chunk)
            if not self._encoders.settled:
                self._readings.append((time[part], rows[part, 0]))
            self._absorb(time[part], self._motion.absorb(rows[part]))
        self._rest = (time[whole:].copy(), rows[whole:].copy())

    def estimate(self) -> RobotEstimate:
        """Report; never learns."""
        phase, status, reasons = self._state()
        progress = min(99.0, 100.0 * self._moved_rows / max(self._start_rows, 1)) if self._starting else 100.0
        return RobotEstimate(
            self._time, phase, status, reasons, self._measured, self._predicted, self._watch.deviations,
            self._watch.limits, tuple((self._watch.told & (not self._starting)).tolist()),
            self._causes.payload, progress, self._compensated,
        )  # fmt: skip

    def parameters(self) -> tuple[Floats, Floats]:
        """θ and its deviations, (p,) each, in the order of `model.names`."""
        p = self.model.size
        return self._learner.theta[:p], np.sqrt(np.diag(self._covariance) + self._bends.owed)[:p]

    def friction(self) -> Friction:
        """At SPEEDS of the speed seen."""
        speeds, theta = np.outer(self._reach, SPEEDS), self._learner.theta
        torque = np.array([columns @ theta[place] for place, columns in self._told])
        return Friction(speeds, torque, self._deviations(speeds, self._told))

    def _deviations(self, speeds: Floats, friction: Sequence[FrictionColumns]) -> Floats:
        """(n, k) of each joint's friction, columns of it at speeds (n, k)."""
        P = self._covariance
        variances = [np.einsum("ka,ab,kb->k", one, P[np.ix_(place, place)], one) for place, one in friction]
        return np.asarray(np.sqrt(np.array(variances) + self._bends.of_friction(speeds, friction)))

    @property
    def _covariance(self) -> Floats:
        """(p + n, p + n) of θ and lags: without a walk that has not happened, with what encoders' steps did."""
        return np.asarray(self._wander.without(self._learner.covariance) + self._reread.owed)

    def compensations(self) -> dict[str, tuple[bool, float]]:
        """Joint → whether what was learnt of its residual is used, and the rms of what is left over that without."""
        names, found = self.model.robot.names, self._compensation
        return {names[j]: (bool(found.on[j]), found.ratio(j)) for j in found.joints}

    def start_residuals(self) -> tuple[Floats, Floats, Floats]:
        """Of the start so far: largest residual, its root mean square, and what friction has beyond its law, (n,) each.

        ValueError without motion.
        """
        return *self._watch.gathered(), self._bends.spread

    def events(self) -> list[Event]:
        """What happened since the last call."""
        told, self._events = self._events, []
        return told

    def keep(self) -> Kept | None:
        """What outlives a restart; nothing while the start lasts or something is wrong."""
        if self._starting or self._watch.told.any() or self._causes.payload.carried:
            return None
        return Kept(
            VERSION, self._learner.theta, self._learner.covariance + self._reread.owed, self._variance,
            self._watch.thresholds, self._watch.deviations, self.learnt, self._compensation.keep(), self._bends.spread,
            self._bends.moved, self._bends.seen,
        )  # fmt: skip

    def resume(self, kept: Mapping[str, Any]) -> None:
        """Go on from what `keep` gave, as a map of lists. Raises ValueError where it is of another model or version."""
        found = read_kept(kept, self._n, self.model.size + self._n)
        self._compensation.resume(np.array(kept.get("compensation", np.zeros_like(self._compensation.keep()) - 1.0)))
        self._learner.begin(found["theta"], found["covariance"])
        self._bends.resume(found["bends"], found["moved"], found["seen"])
        self._variance = found["variance"]
        self._watch.resume(found["thresholds"], found["deviations"])
        self.learnt, self._starting = int(kept["learnt"]), False
        self._adopt()
        self._believe()

    def _absorb(self, time: Nanoseconds, chunk: Chunk) -> None:
        predicted, unexplained = self._prediction.of(chunk)
        explained = predicted
        if self._causes.payload.carried:
            body = np.zeros((self._n, PARAMETERS))
            body[-1] = self._causes.carried
            payload = self.model.torque(body, chunk.q, chunk.dq, chunk.ddq)
            unexplained, explained = unexplained - payload, explained + payload
        known = used = NOTHING  # by the learnt compensation; what of it is used
        if self._compensation.joints:
            known = self._compensation.torque(chunk.twist, chunk.twist_rate, chunk.dq, chunk.ddq)
            used = np.where(self._compensation.on, known, 0.0)
            unexplained, explained = unexplained - used, explained + used
            self._compensated = np.where(self._compensation.on, known[-1], np.nan)
        self._time = int(time[-1])
        self._measured, self._predicted = chunk.tau[-1], explained[-1]
        if chunk.whole:
            self._judge(chunk, predicted, unexplained)
        first = -self._samples % self._stride
        self._samples += len(time)
        if self._encoders.known and not self._reread.hold(chunk.q):
            self._read_again()
        for at in range(first, len(time), self._stride):
            if not chunk.usable[at]:
                continue
            r = chunk.tau[at] - predicted[at]  # not `unexplained`, of which a payload is part
            if self._compensation.joints:
                r -= used[at]
                self._compensation.absorb(unexplained[at] + used[at], known[at], self._watch.moving)
            self._now.sample[self._now.count] = self._samples - len(time) + at
            self._row(chunk, at, r, unexplained[at])

    def _read_again(self) -> None:
        """What encoders elsewhere read, to the rows of the same motion."""
        now = self._now.sample, self._now.e
        self._reread.read(self._encoders.steps, self._samples, now, self._closed)

    def _judge(self, chunk: Chunk, predicted: Floats, unexplained: Floats) -> None:
        self._watch.notice(chunk.quick, chunk.dq)
        if self._starting:
            self._watch.gather(unexplained)
        if not self._watch.ready:
            return
        before = None
        if not self._starting and self._watch.exceeded(unexplained, self._stiction):
            before = unexplained + predicted - self._before.of(chunk)[0]
        changes = self._watch.look(unexplained, self._stiction, before)
        if self._starting:  # thresholds of the recordings: what is beyond them does not teach, and is no contact yet
            return
        if not self._watch.calm:
            self._pending.clear()
        if changes is None:
            return
        fresh, over = changes
        if fresh.any():
            self._causes.mark()
            self._say("contact", self._watch.words(fresh, unexplained, self.model.robot.names, self._units))
        if over.any():
            self._doubted = self._time + round(1e9 * SOON)
            names = ", ".join(name for name, one in zip(self.model.robot.names, over, strict=True) if one)
            self._say("recovered", f"{names}: the model explains the torque again")

    def _row(self, chunk: Chunk, at: int, r: Floats, u: Floats) -> None:
        """One regression row at 50 Hz."""
        now = self._now
        self._motion.row(chunk, at, now.X[now.count], now.Y[now.count])
        now.close(chunk.q[at], chunk.dq[at], r, u, self._watch.sliding)
        self._moved_rows += self._moves
        now.disturbed |= not self._watch.calm
        if now.count % LOOK == 0:
            self._look()
        if now.count == BLOCK:
            self._block()
            now.clear()

    def _look(self) -> None:
        now, lately = self._now, self._now.lately
        X, Y, r, u, dq = (rows[lately] for rows in (now.X, now.Y, now.r, now.u, now.dq))
        self._moves = bool(now.speed[lately].max() > AT_REST)
        weights = 1.0 / (self._variance * self._correlation)
        pulls = None
        if self._encoders.known:
            theta = self._learner.theta[: self.model.size]
            *pulls, self._watch.steps = self._encoders.look(now.q[lately], r, weights, theta, self._causes.carried)
        self._causes.look(X, Y, r, u, dq, weights, pulls)
        for one in self._compensation.look():
            self._say("compensation", one.words(self.model.robot))
        verdict = self._causes.verdict() if self._watch.ready else None
        if verdict is not None:
            self._pending.clear()
            self._doubted = 0
            self._tell(verdict)

    def _tell(self, verdict: Attribution) -> None:
        if verdict.cause in (PAYLOAD, GONE) and self._starting:
            self._begin_anew()
        if verdict.cause == PAYLOAD:
            self._say("payload", f"a payload of about {self._causes.payload.mass:.2g} kg is carried")
        elif verdict.cause == GONE:
            self._say("payload", "the payload is gone")
        else:
            terms = self._causes.friction_terms(verdict.cause)
            before = self._learner.theta[self.model.base + terms]
            after = before + verdict.change[: len(terms)]
            spread = np.sqrt(np.diag(verdict.covariance))[: len(terms)]
            if (after < -DOUBTFUL * spread).any():  # what drives a joint is no friction of it: somebody pushes on
                return
            if not self._starting:  # of a start nothing is known yet that could have changed
                words = in_words(self.model.law_of(verdict.cause), before, after)
                self._say("friction", f"the friction of {self.model.robot.names[verdict.cause]} has changed: {words}")
            elif verdict.cause not in self._found:
                self._found.add(verdict.cause)
                self._begin_anew()
            place = self.model.base + self._causes.terms[verdict.cause]
            self._learner.move(place, verdict.change, DOUBTFUL**2 * verdict.covariance)
            self._reread.forget(place)
            self._bends.forget(place)
            self._wander.known(place)
            self._watch.explained()
            self._adopt()
            self._believe()

    def _block(self) -> None:
        """One second of rows: what is three seconds old teaches."""
        if self._starting and self._moved_rows >= self._start_rows:
            self._starting = False
            self._watch.settle()
            self._watch.explained()
            self._causes.forget()
            self._believe()
            self._say("started", "the thresholds of the residuals stand")
        if not self._starting and self._watch.calm and self._moved_rows - self._believed >= self._start_rows:
            self._watch.grow()
            self._believe()
        self._blocks += 1
        if self._readings:
            self._encoders.absorb(*(np.concatenate(both) for both in zip(*self._readings, strict=True)))
            self._readings.clear()
            self._watch.slow = np.maximum(SLOW, self._encoders.speeds)
        if self._now.disturbed or self._causes.payload.carried or self._now.speed.max() <= AT_REST:
            return
        X, r, dq = self._now.X.copy(), self._now.r.copy(), self._now.dq.copy()
        if self._encoders.known:
            self._read_again()
        e, y = self._now.e.copy(), r + X @ self._learner.theta
        self._closed = self._now.sample.copy(), e
        self._pending.append((self._blocks, X, y, r, self._now.q.copy(), e, dq))
        if len(self._pending) <= AFTER:
            return
        self._teach(*self._pending.popleft())

    def _teach(self, number: int, X: Floats, y: Floats, r: Floats, q: Floats, e: Floats, dq: Floats) -> None:
        """Of a block: its number, columns, torque, residual of then, positions, encoders elsewhere, speeds."""
        before, slopes, u = y - X @ self._learner.theta, NOTHING, None
        if self._encoders.known:
            slopes = self._encoders.slopes(q)
            u = torque(e, slopes, self._learner.theta[: self.model.size])
        variance, most = self._long_run.of(self._variance), np.sqrt(CLIPPED * self._variance)
        self._bends.notice(dq, np.clip(before, -most, most), y, variance, u)
        if not self._teaches:
            return
        weights = 1.0 / variance
        expected = self._learner.predicted()
        if not self._learner.absorb(X, y, weights):
            self.faults += 1
            return
        found = Belief(self._learner.theta, self._learner.covariance)
        self._wander.absorb(expected, found, self._learner.fade, self._learner.walk)
        self._bends.absorb(self._learner, X, dq, weights)
        if self._encoders.known:
            noise = self._encoders.noise(slopes, shares(r), weights)
            self._reread.absorb(self._learner, X, e, (r != 0.0) * weights, slopes, noise)
            self._learner.unbias(noise)
        self._long_run.absorb(number, before, y - X @ self._learner.theta, most)
        squares = np.minimum(r**2, CLIPPED * self._variance).mean(axis=0)
        self._variance += SLOWLY * (squares - self._variance)
        self.learnt += 1
        self._adopt()

    def _believe(self) -> None:
        """The thresholds are those of residuals of the prediction by now."""
        self._before, self._believed = self._prediction, self._moved_rows

    def _begin_anew(self) -> None:
        """What was gathered of the start was before something has changed."""
        self._moved_rows = 0
        self._watch.gather_anew()

    def _adopt(self) -> None:
        """The learner's parameters are those of the prediction from here on."""
        theta = self._learner.theta
        shares = self._motion.shares(theta[self.model.base : self.model.size])
        self._prediction = Prediction(self.model, theta, shares)
        self._stiction = np.array([abs(float(columns[0] @ theta[place])) for place, columns in self._slow])
        self._causes.bends, self._causes.covariance = self._bends.spread, self._covariance
        self._watch.doubts = CERTAIN * self._deviations(np.outer(self._reach, KNOTS), self._at_knots)

    def _state(self) -> tuple[Phase, Status, tuple[Reason, ...]]:
        if self._time == 0 or not np.isfinite(self._measured).all():
            return Phase.WAITING, Status.UNESTIMATED, (Reason("incomplete_row"),)
        if self._starting:
            return (
                Phase.STARTING,
                Status.LEARNING,
                (Reason("robot_starting", None, {"seconds": self._start_rows / ROWS}),),
            )
        if self._watch.told.any() or self._time < self._doubted:  # what has happened is known within SOON
            return Phase.TRANSIENT, Status.LEARNING, (Reason("torque_unexplained"),)
        if self._causes.payload.carried:
            return Phase.HELD, Status.HELD, (Reason("payload_carried"),)
        bent = self._bends.reasons(self.model.robot.names, self._units)
        if not self._moves:
            return Phase.HELD, Status.HELD, (Reason("at_standstill"), *bent)
        return Phase.NORMAL, Status.LEARNING if bent else Status.VALID, bent

    def _say(self, kind: str, text: str) -> None:
        self._events.append(Event(self._time, kind, text))
