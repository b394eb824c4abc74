"""A whole robot, live: residual torque of every joint each tick, parameters each second, payload and changes told.

    every 10 ms   residual torque against the model, thresholds, contact            (tick rate inside the chunk)
    50 Hz         regression rows: base parameters, friction, the last link's ten parameters
    0.5 s         what explains the residual: a payload, or the friction of one joint?
    1 s           Bayesian update towards the prior; it teaches three seconds later, if nothing happened meanwhile

All decisions fall at fixed row counts, so results do not depend on how rows are cut into batches.
Reference: whole-robot.md §5–§7.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np

from estimators.base import Event, Phase, Status
from estimators.models.robots.inertia import metric, standard
from estimators.models.robots.tree import PARAMETERS
from estimators.models.robots.whole_robot import WholeRobot
from estimators.online.robot_motion import CHUNK, Chunk, RobotMotion
from estimators.quantities import Floats, Nanoseconds
from estimators.recursive.faded_evidence import FADE, Change, FadedEvidence
from estimators.recursive.prior_bounded import PriorBounded

ROWS: Final = 50.0  # Hz, of regression rows
LOOK: Final = 25  # rows between two looks at what explains the residual
BLOCK: Final = 50  # rows that teach together
AFTER: Final = 3  # blocks that a block waits before it teaches
AT_REST: Final = 0.02  # rad/s (m/s)
FRICTION_MEMORY: Final = 600.0  # s
MARGIN: Final = 1.5  # threshold over the largest residual of the start
GAUSSIAN: Final = 4.75  # and over its deviation: with LASTING, < 0.1 crossings of seven joints in ten minutes of noise
OUTLIER: Final = 8.0  # robust deviations of the start, beyond which a residual is no start
LASTING: Final = 3  # chunks in a row above the threshold
RELEASE: Final = 0.7  # of the threshold
QUIET: Final = 0.2  # s below it
CLIPPED: Final = 9.0  # times the variance, that one squared residual counts at most
SLOWLY: Final = 0.02  # of a block in the variance
PAYLOAD: Final = 0.25  # kg, the least that is told
CERTAIN: Final = 4.0  # its deviations
TOOL: Final = (5.0, 0.15)  # kg, m: what a payload may weigh and measure, one deviation
CURRENT: Final = 0.1  # of a mass weighed by motor current: the torque constant is known no better
CHANGED: Final = 36.0  # squared deviations that the friction of one joint is off
PAYLOAD_LOOKS: Final = 2
FRICTION_LOOKS: Final = 4  # a payload is told before
SHARE: Final = 0.5  # of what is unexplained, that an explanation must explain
SPEEDS: Final = (0.1, 0.5)  # of the speed seen, at which friction torque is published
VERSION: Final = 1  # of the kept state


class Payload(NamedTuple):
    """A body that the last link carries beyond the model."""

    mass: float  # kg
    mass_deviation: float
    centre: tuple[float, float, float]  # m, in the last link's frame; NaN until a mass is told
    centre_deviation: tuple[float, float, float]
    told: bool  # it counts


NO_PAYLOAD: Final = Payload(0.0, np.inf, (np.nan,) * 3, (np.inf,) * 3, False)


@dataclass(frozen=True, slots=True)
class RobotEstimate:
    """What is known of a robot at one instant; n joints."""

    time: int  # ns
    phase: Phase
    status: Status
    reasons: tuple[str, ...]
    measured: Floats  # (n,) filtered torque, N·m (N)
    predicted: Floats  # (n,) of the model, the payload included
    deviations: Floats  # (n,) of the residual in the start
    thresholds: Floats  # (n,) NaN in the start
    contact: tuple[bool, ...]  # joints whose residual is beyond it
    payload: Payload
    friction: Floats  # (n, 2) torque at SPEEDS of the speed seen
    friction_deviations: Floats
    friction_speeds: Floats  # (n, 2) rad/s (m/s)
    names: tuple[str, ...]
    values: Floats  # (p,) base parameters and terms
    parameter_deviations: Floats
    progress: float  # of the start, per cent
    learnt: int  # blocks that have taught


@dataclass(slots=True)
class Kept:
    """What outlives a restart."""

    version: int
    theta: Floats
    covariance: Floats
    variance: Floats
    thresholds: Floats
    deviations: Floats
    reach: Floats
    learnt: int


@dataclass(slots=True)
class _Start:
    """The residuals of the start, by chunks: peak and mean square of each joint."""

    peaks: list[Floats] = field(default_factory=list)
    squares: list[Floats] = field(default_factory=list)


class Learnt(NamedTuple):
    """What an identification found: where the live robot begins."""

    theta: Floats  # (p,)
    covariance: Floats  # (p, p)
    prior: Floats  # (p,)
    prior_covariance: Floats  # (p, p)
    variance: Floats  # (n,) of the residual
    correlation: Floats  # (n,) rows that count as one
    reach: Floats  # (n,) rad/s (m/s) seen
    peaks: Floats  # (n,) largest residual of the training under the live low-pass; NaN: not known
    deviations: Floats  # (n,) its root mean square
    motor_side: bool  # torque is motor current times a constant


class RobotEstimator:
    """Identifies one robot from equidistant rows of all its joints."""

    def __init__(self, model: WholeRobot, learnt: Learnt, period: float, start: float = 12.0) -> None:
        """period: s between rows; start: s of motion after which the thresholds stand."""
        n = model.tree.size()
        self.model, self._period, self._n = model, period, n
        self._chunk = max(1, round(CHUNK / period))
        self._stride = max(1, round(1.0 / (ROWS * period)))
        self._start_rows = round(start * ROWS)
        self._motor_side = learnt.motor_side
        self._correlation, self.variance = learnt.correlation, learnt.variance.copy()
        self.reach = learnt.reach.copy()
        self._motion = RobotMotion(model, learnt.reach, period)
        seconds = BLOCK / ROWS
        fade = np.ones(model.size)
        self._friction = [
            np.array([k for k, term in enumerate(model.terms) if term.joints == (j,)], np.int64) for j in range(n)
        ]
        own = model.base + np.concatenate(self._friction) if n else np.zeros(0, np.int64)
        fade[own] = np.exp(-seconds / FRICTION_MEMORY)
        prior = learnt.prior_covariance.copy()
        inert = np.setdiff1d(np.arange(model.size), own)
        prior[np.ix_(own, inert)] = prior[np.ix_(inert, own)] = 0.0
        self.learner = PriorBounded(learnt.prior, prior, fade)
        self.learner.begin(learnt.theta, learnt.covariance)
        mass, size = TOOL
        body = standard(mass, np.zeros(3), mass * size**2 * np.eye(3))
        self._payload = FadedEvidence(metric(body))
        self._changes = [FadedEvidence(np.diag(1.0 / np.diag(prior)[model.base + terms])) for terms in self._friction]
        self._pending: deque[tuple[Floats, Floats, Floats]] = deque()
        self._rest: tuple[Nanoseconds, Floats, Floats] = (np.zeros(0, np.int64), np.zeros((0, n)), np.zeros((0, n)))
        self._rows = 0  # samples so far
        self._X: list[Floats] = []
        self._Y: list[Floats] = []
        self._r: list[Floats] = []  # against the model without payload
        self._u: list[Floats] = []  # against the model with it
        self._speed: list[float] = []
        self._disturbed = False  # in the current block
        self._start: _Start | None = _Start()
        self._peaks = np.where(np.isfinite(learnt.peaks), learnt.peaks, 0.0)
        known = np.isfinite(learnt.peaks).all()
        self._deviations = learnt.deviations.copy() if known else np.sqrt(learnt.variance)
        self._thresholds = np.full(n, np.nan)
        if known:
            self._thresholds = np.maximum(MARGIN * learnt.peaks, GAUSSIAN * learnt.deviations)
        self._above = np.zeros(n, np.int64)
        self._below = np.zeros(n, np.int64)
        self._contact = np.zeros(n, np.bool_)
        self._carried = np.zeros(PARAMETERS)
        self._told = NO_PAYLOAD
        self._suspicion: tuple[str, int] = ("", 0)  # what explains the residual, and for how many looks
        self._excess = 0.0  # weighted squares beyond the usual, faded
        self._beyond = (0.0, 0.0)  # of the last two looks
        self._moved_rows = 0
        self._moves = False
        self._learnt = 0
        self._time = 0
        self._measured = np.full(n, np.nan)
        self._predicted = np.full(n, np.nan)
        self._events: list[Event] = []
        self.faults = 0
        self._adopt()

    def absorb(self, time: Nanoseconds, q: Floats, tau: Floats) -> None:
        """Equidistant rows: time (rows,) ns, q (rows, n) rad (m), tau (rows, n) N·m (N); NaN where a value is missing."""
        if len(self._rest[0]):
            time, q, tau = (np.concatenate(pair) for pair in zip(self._rest, (time, q, tau), strict=True))
        whole = len(time) // self._chunk * self._chunk
        for first in range(0, whole, self._chunk):
            part = slice(first, first + self._chunk)
            self._absorb(time[part], self._motion.absorb(q[part], tau[part]))
        self._rest = (time[whole:].copy(), q[whole:].copy(), tau[whole:].copy())

    def estimate(self) -> RobotEstimate:
        """Report; never learns."""
        phase, status, reasons = self._state()
        speeds, friction, spread = self.friction_at()
        return RobotEstimate(
            self._time, phase, status, reasons, self._measured, self._predicted, self._deviations, self._thresholds,
            tuple(bool(one) for one in self._contact), self._told, friction, spread, speeds, self.model.names,
            self.learner.theta, np.sqrt(np.diag(self.learner.covariance)), self._progress(), self._learnt,
        )  # fmt: skip

    def residuals(self) -> tuple[int, Floats, Floats, Floats, Floats]:
        """Of the last tick: time ns, measured, predicted, deviations, thresholds, (n,) each."""
        return self._time, self._measured, self._predicted, self._deviations, self._thresholds

    def events(self) -> list[Event]:
        """What happened since the last call."""
        told, self._events = self._events, []
        return told

    def friction_at(self) -> tuple[Floats, Floats, Floats]:
        """Speeds (n, 2), friction torque there, its deviation: two directions, halved; the offset is none of it."""
        theta, P = self.learner.theta, self.learner.covariance
        speeds = np.outer(self.reach, SPEEDS)
        torque, spread = np.zeros_like(speeds), np.zeros_like(speeds)
        for j in range(self._n):
            law = self.model.law_of(j)
            place = self.model.base + self._friction[j][: len(law.parameters)]
            still = np.zeros(2)
            forth, back = (law.columns(still, sign * speeds[j], still, law.start) for sign in (1.0, -1.0))
            columns = 0.5 * (forth - back)
            torque[j] = columns @ theta[place]
            spread[j] = np.sqrt(np.einsum("ka,ab,kb->k", columns, P[np.ix_(place, place)], columns))
        return speeds, torque, spread

    def keep(self) -> Kept:
        """What outlives a restart."""
        return Kept(
            VERSION, self.learner.theta, self.learner.covariance, self.variance, self._thresholds, self._deviations,
            self.reach, self._learnt,
        )  # fmt: skip

    def resume(self, kept: Mapping[str, Any]) -> None:
        """Go on from what `keep` gave, as a map. Raises ValueError where it is of another model or version."""
        shapes = {"theta": self.model.size, "variance": self._n, "thresholds": self._n, "reach": self._n}
        found = {name: np.asarray(kept.get(name), np.float64) for name in shapes}
        P = np.asarray(kept.get("covariance"), np.float64)
        right = kept.get("version") == VERSION and P.shape == (self.model.size,) * 2 and np.isfinite(P).all()
        if not right or any(one.shape != (shapes[name],) for name, one in found.items()):
            raise ValueError("what was kept is of another model or version of the robot: it starts anew")
        self.learner.begin(found["theta"], P)
        self.variance, self.reach = found["variance"].copy(), found["reach"].copy()
        self._deviations = np.asarray(kept["deviations"], np.float64).copy()
        self._learnt = int(kept["learnt"])
        if np.isfinite(found["thresholds"]).all():
            self._thresholds, self._start = found["thresholds"].copy(), None
        self._adopt()

    def _absorb(self, time: Nanoseconds, chunk: Chunk) -> None:
        rigid = self.model.torque(self._standard, chunk.q, chunk.dq, chunk.ddq)
        predicted = rigid + self._motion.friction(chunk, self._coefficients)
        payload = np.zeros_like(predicted)
        if self._told.told:
            payload = self.model.torque(self._payload_only(), chunk.q, chunk.dq, chunk.ddq)
        unexplained = chunk.tau - predicted - payload
        self._time = int(time[-1])
        self._measured, self._predicted = chunk.tau[-1], (predicted + payload)[-1]
        if chunk.usable.all():
            self._judge(np.abs(unexplained).mean(axis=0))
            if self._start is not None and self._moves and not self._contact.any():
                self._start.peaks.append(np.abs(unexplained).max(axis=0))
                self._start.squares.append((unexplained**2).mean(axis=0))
        first = -self._rows % self._stride
        self._rows += len(time)
        for at in range(first, len(time), self._stride):
            if chunk.usable[at]:
                X, Y = self._motion.row(chunk, at)
                self._row(X, Y, chunk.tau[at] - predicted[at], unexplained[at], chunk.dq[at])

    def _row(self, X: Floats, Y: Floats, r: Floats, u: Floats, dq: Floats) -> None:
        """One regression row at 50 Hz."""
        speed = np.abs(dq)
        self._X.append(X)
        self._Y.append(Y)
        self._r.append(r)
        self._u.append(u)
        self._speed.append(float(speed.max()))
        if self._moves:
            self._moved_rows += 1
        self._disturbed |= bool(self._contact.any())
        if len(self._X) % LOOK == 0:
            self._look()
        if len(self._X) == BLOCK:
            self._block()
            for rows in (self._X, self._Y, self._r, self._u):
                rows.clear()
            self._speed.clear()
            self._disturbed = False

    def _judge(self, size: Floats) -> None:
        """Contact: some joint's residual beyond its threshold, for a while. size: (n,) mean |residual| of the chunk."""
        if np.isnan(self._thresholds).any():
            return
        over = size > self._thresholds
        self._above = np.where(over, self._above + 1, 0)
        self._below = np.where(size < RELEASE * self._thresholds, self._below + 1, 0)
        fresh = (self._above >= LASTING) & ~self._contact
        if fresh.any():
            self._contact |= fresh
            self._pending.clear()
            words = (
                f"{name}: {amount:.3g} {joint.axis.effort} that the model does not explain, threshold {limit:.3g}"
                for name, joint, amount, limit, new in zip(
                    self.model.robot.names, self.model.robot.joints, size, self._thresholds, fresh, strict=True
                )
                if new
            )
            self._say("contact", "; ".join(words))
        over_now = self._contact & (self._below * self._chunk * self._period >= QUIET)
        if over_now.any():
            self._contact &= ~over_now
            names = (name for name, one in zip(self.model.robot.names, over_now, strict=True) if one)
            self._say("recovered", f"{', '.join(names)}: the model explains the torque again")

    def _look(self) -> None:
        """Half a second of rows: does a payload, or the friction of one joint, explain what the model does not?"""
        X, Y = np.array(self._X[-LOOK:]), np.array(self._Y[-LOOK:])
        r, u = np.array(self._r[-LOOK:]), np.array(self._u[-LOOK:])
        self._moves = bool(max(self._speed[-LOOK:]) > AT_REST)
        weights = 1.0 / (self.variance * self._correlation)
        self._payload.absorb(Y, r, weights)
        for j, (terms, evidence) in enumerate(zip(self._friction, self._changes, strict=True)):
            evidence.absorb(X[:, j : j + 1, self.model.base + terms], u[:, j : j + 1], weights[j : j + 1])
        usual = float((LOOK / self._correlation).sum())
        beyond = float(weights @ (u**2).sum(axis=0)) - usual
        self._excess, self._beyond = FADE * self._excess + beyond, (self._beyond[1], beyond)
        if not np.isnan(self._thresholds).any():
            self._explain()

    def _explain(self) -> None:
        """Whether the evidence is for a payload, the end of one, or another friction of one joint."""
        found = self._payload.change()
        payload = self._as_payload(found)
        limit = max(CERTAIN * payload.mass_deviation, PAYLOAD)
        if self._told.told:
            self._carried, self._told = found.values, payload._replace(told=True)
            gone = abs(payload.mass) < 0.5 * limit
            self._suspicion = (
                ("gone", self._suspicion[1] + 1)
                if gone and self._suspicion[0] == "gone"
                else (("gone", 1) if gone else ("", 0))
            )
            if self._suspicion == ("gone", 2):
                self._say("payload", "the payload is gone")
                self._carried, self._told = np.zeros(PARAMETERS), NO_PAYLOAD
                self._forget()
            return
        self._told = payload
        changes = [evidence.change() for evidence in self._changes]
        lately = self._payload.lately()
        mass = self._as_payload(lately)
        certain = abs(payload.mass) > limit or abs(mass.mass) > max(CERTAIN * mass.mass_deviation, PAYLOAD)
        best = self._suspect(lately if certain else None, changes)
        again = self._suspicion[1] + 1 if self._suspicion[0] == best else 1
        self._suspicion = (best, again)
        if not best or again < (PAYLOAD_LOOKS if best == "payload" else FRICTION_LOOKS):
            return
        self._pending.clear()
        self._suspicion = ("", 0)
        if best == "payload":
            self._payload.only_lately()
            found = self._payload.change()
            self._carried, self._told = found.values, self._as_payload(found)._replace(told=True)
            self._say("payload", f"a payload of about {self._told.mass:.2g} kg is carried")
        else:
            self._doubt(self.model.robot.names.index(best), changes)

    def _suspect(self, payload: Change | None, changes: list[Change]) -> str:
        """ "payload", the name of a joint, or nothing: what explains at least half of what the model does not.

        payload: what the last looks say of one, where a mass is certain; changes: of each joint's friction, faded.
        """
        if payload is not None:
            alone = max(
                one.lately().explained - len(change.values) for one, change in zip(self._changes, changes, strict=True)
            )
            if payload.explained - PARAMETERS > max(SHARE * sum(self._beyond), alone, 0.0):
                return "payload"
        scores = {
            name: change.explained - len(change.values)
            for j, (name, change) in enumerate(zip(self.model.robot.names, changes, strict=True))
            if self._is_change(j, change)
        }
        best = max(scores, key=lambda name: scores[name], default="")
        return best if best and scores[best] > SHARE * self._excess else ""

    def _is_change(self, j: int, change: Change) -> bool:
        """Whether the friction of joint j, its offset apart, is certainly and visibly another one."""
        own = np.arange(len(self.model.law_of(j).parameters))
        values, P = change.values[own], change.covariance[np.ix_(own, own)]
        certain = float(values @ np.linalg.solve(P, values)) > CHANGED
        S = self._changes[j].S
        rows = S[len(own), len(own)] * self.variance[j]  # the offset's column is 1: rows over their correlation
        return certain and float(values @ S[np.ix_(own, own)] @ values) > rows / self.variance[j]

    def _doubt(self, j: int, changes: list[Change]) -> None:
        law = self.model.law_of(j)
        place = self.model.base + self._friction[j][: len(law.parameters)]
        before, change = self.learner.theta[place], changes[j].values[: len(place)]
        words = ", ".join(
            f"{parameter.name} {old:.3g} → about {old + new:.3g} {parameter.unit}"
            for parameter, old, new in zip(law.parameters, before, change, strict=True)
        )
        self._say("friction", f"the friction of {self.model.robot.names[j]} has changed: {words}")
        self.learner.doubt(self.model.base + self._friction[j])
        self._forget()

    def _block(self) -> None:
        """One second of rows: teach what is three seconds old."""
        if self._start is not None:
            self._finish_start()
        moved = max(self._speed) > AT_REST
        if not moved or self._disturbed or self._told.told or len(self._X) < BLOCK:
            return
        X, r = np.array(self._X), np.array(self._r)
        y = r + X @ self.learner.theta
        self._pending.append((X, y, r))
        if len(self._pending) > AFTER:
            X, y, r = self._pending.popleft()
            if not self.learner.absorb(X, y, 1.0 / (self.variance * self._correlation)):
                self.faults += 1
                return
            squares = np.minimum(r**2, CLIPPED * self.variance).mean(axis=0)
            self.variance += SLOWLY * (squares - self.variance)
            self._learnt += 1
            self._adopt()

    def _finish_start(self) -> None:
        if self._start is None or self._moved_rows < self._start_rows:
            return
        peaks, squares = np.array(self._start.peaks), np.array(self._start.squares)
        typical = np.sqrt(np.median(squares, axis=0)) + 1e-12
        usual = peaks < OUTLIER * typical
        largest = np.where(usual, peaks, 0.0).max(axis=0)
        self._deviations = np.sqrt(np.where(usual, squares, 0.0).sum(axis=0) / np.maximum(usual.sum(axis=0), 1))
        self._thresholds = np.maximum(MARGIN * np.maximum(largest, self._peaks), GAUSSIAN * self._deviations)
        self._start = None
        self._forget()
        self._say("started", "the thresholds of the residuals stand")

    def _forget(self) -> None:
        for evidence in (self._payload, *self._changes):
            evidence.clear()
        self._suspicion, self._excess = ("", 0), 0.0

    def _adopt(self) -> None:
        """The learner's parameters are those of the prediction from here on."""
        theta = self.learner.theta
        self._standard = np.ascontiguousarray(self.model.standard(theta[: self.model.base]))
        self._coefficients = theta[self.model.base :]
        self._motion.parameters = self._standard

    def _payload_only(self) -> Floats:
        parameters = np.zeros((self._n, PARAMETERS))
        parameters[-1] = self._carried
        return parameters

    def _as_payload(self, found: Change) -> Payload:
        mass, deviation = float(found.values[0]), float(np.sqrt(found.covariance[0, 0]))
        if self._motor_side:
            deviation = max(deviation, CURRENT * abs(mass))
        if abs(mass) < deviation:
            return Payload(mass, deviation, (np.nan,) * 3, (np.inf,) * 3, False)
        centre = found.values[1:4] / mass
        jacobian = np.column_stack([-centre / mass, np.eye(3) / mass])
        spread = np.sqrt(np.diag(jacobian @ found.covariance[:4, :4] @ jacobian.T))
        return Payload(mass, deviation, tuple(centre.tolist()), tuple(spread.tolist()), False)

    def _progress(self) -> float:
        return 100.0 if self._start is None else min(99.0, 100.0 * self._moved_rows / max(self._start_rows, 1))

    def _state(self) -> tuple[Phase, Status, tuple[str, ...]]:
        if self._time == 0 or not np.isfinite(self._measured).all():
            return Phase.WAITING, Status.UNESTIMATED, ("no row with every joint in it yet",)
        if self._start is not None:
            words = f"thresholds stand after {self._start_rows / ROWS:.0f} s of motion"
            return Phase.STARTING, Status.LEARNING, (words,)
        if self._contact.any():
            return Phase.TRANSIENT, Status.VALID, ("torque that the model does not explain",)
        if self._told.told or not self._moves:
            return Phase.HELD, Status.HELD, ("a payload is carried" if self._told.told else "at rest",)
        return Phase.NORMAL, Status.VALID, ()

    def _say(self, kind: str, text: str) -> None:
        self._events.append(Event(self._time, kind, text))
