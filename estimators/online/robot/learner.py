"""Learns the parameters of a whole robot, [θ δ], starting from an identification; δ is the lag of each joint's torque.

Without δ a torque that is 0.7 ms early (held for a sample and logged as it begins) puts a joint's friction 4 to 5 of
its deviations off at one point of each period. That residual comes back with the motion, and no variance shows it.
"""

from collections import deque
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.misfit.long_run import LongRun
from estimators.models.robots.files.identified import IdentifiedRobot
from estimators.models.robots.torque_lag import unknown
from estimators.models.robots.tree import PARAMETERS
from estimators.models.robots.whole_robot import WholeRobot
from estimators.online.robot.block import BLOCK, ROWS, Block
from estimators.online.robot.estimate import Friction
from estimators.online.robot.findings.causes.base import Fitted
from estimators.online.robot.findings.friction_discrepancy import FrictionDiscrepancy
from estimators.online.robot.findings.friction_terms import friction_columns, own_terms
from estimators.online.robot.motion import Chunk, RobotMotion
from estimators.online.robot.prediction import Prediction
from estimators.online.robot.residual_attribution import ResidualAttribution
from estimators.quantisation.robot_errors_in_variables import EVERY, Encoders, shares
from estimators.quantisation.robot_shifted_quantiser import RobotShiftedQuantiser, torque
from estimators.quantisation.shifted_quantiser import PLACES
from estimators.quantities import Floats, Nanoseconds
from estimators.recursive.kernel import LONG_CLIP
from estimators.recursive.prior_bounded import PriorBounded
from estimators.recursive.process_noise_correction import Belief, ProcessNoiseCorrection
from estimators.thresholds import LAG_SPREAD

#: s, argued: Time after which friction may have changed by FRICTION_CHANGE (decision 018, point 6).
FRICTION_MEMORY: Final = 600.0
#: 1, argued: One deviation of a friction coefficient's change by temperature and wear, relative.
FRICTION_CHANGE: Final = 0.3
#: deviations, argued: So many of its own deviations the identification may be wrong by at the beginning.
CERTAIN: Final = 2.0

#: blocks, argued: Blocks that a block waits before it teaches: a disturbance must be explained before it is learnt.
AFTER: Final = 3
#: 1, argued: Share of a block in the running variance: 50 blocks count.
SLOWLY: Final = 0.02
#: rows, argued: Rows after which residuals count as independent: 2 s at 50 Hz.
LONGEST: Final = 100
#: 1, argued: Share of a change to which it is learnt at once, where one number was found for several.
LEARNT_TO: Final = 0.1
#: blocks, argued: Blocks that have taught, over which a friction's rate of change is found.
FOLLOWED: Final = 10
#: s, argued: Time after which a change has slowed down to a third: a minute, the time constant of a gear's oil.
SLOWS: Final = 60.0
#: blocks, argued: Delay with which a friction that keeps changing is followed: AFTER, its own block, and one for θ.
LATE: Final = 5.0
#: deviations, argued: Part of such a change that is taken for noise.
NOISE: Final = 2.0
#: deviations, argued: The same of a change that is remembered: one in 400 by chance.
SURELY: Final = 3.0
#: deviations, derived: The same of a change that is reported: of two speeds of seven joints every FOLLOWED blocks, 4e7
#: in a year, less than one is by chance.
REPORTED: Final = 5.7
NOTHING: Final = np.zeros((0, 0))
#: 1, argued: Shares of the highest speed seen at which friction torque is reported.
SPEEDS: Final = (0.1, 0.5)


class WaitingBlock(NamedTuple):
    """A block that teaches later, unless something happens meanwhile."""

    number: int
    X: Floats  # (rows, n, q)
    y: Floats  # (rows, n) torque
    r: Floats  # (rows, n) residual when it was closed, 0 where a row says nothing
    q: Floats  # (rows, n)
    e: Floats  # (rows, PLACES, n) of the shifted quantiser
    dq: Floats  # (rows, n) speeds, 0 where friction is any torque


class RobotLearner:
    """Parameters of a whole robot, their covariance, and the prediction by them.

    A Bayesian update each second (PriorBounded), three seconds late, is corrected for what encoder steps do to θ.
    The covariance contains the steps, friction beyond its law, and a random walk of θ that has not happened.
    """

    def __init__(
        self, model: WholeRobot, learnt: IdentifiedRobot, motion: RobotMotion, attribution: ResidualAttribution,
        period: float, stride: int, teaches: bool, made: Floats = EVERY,
    ) -> None:  # fmt: skip
        """period: s between samples; stride: samples between rows; teaches: False keeps the parameters."""
        n, q, self._reach = model.tree.size(), model.size + model.tree.size(), learnt.reach()
        self._at_rest = learnt.at_rest()
        self._model, self._motion, self._attribution, self._teaches = model, motion, attribution, teaches
        self.correlation, self.variance = learnt.correlation, learnt.variance.copy()
        own = np.sort(np.concatenate([own_terms(model, j) for j in range(n)]))
        self.bayesian = _bayesian(learnt, own, BLOCK / ROWS)
        self.follow_laws()
        self._process_noise = ProcessNoiseCorrection(q, self._reported)
        self._long_run = LongRun(learnt.correlation, self.bayesian.unknown, LONGEST, 1.0 - SLOWLY)
        self.encoders = Encoders(model, (motion.quick, motion.slow), period, made, learnt.steps)
        self.quantiser = RobotShiftedQuantiser(n, q, (motion.quick, motion.slow), period, stride, round(made.sum()))
        self.discrepancy = FrictionDiscrepancy(
            np.where(self._reach > 0.0, self._reach, 1.0), q, learnt.friction_discrepancy, learnt.beyond_covariance
        )
        self._waiting: deque[WaitingBlock] = deque()
        self._readings: list[tuple[Nanoseconds, Floats]] = []  # since the last block
        self._closed = np.zeros(0, np.int64), np.zeros((0, PLACES, n))  # samples and e of the last block that may teach
        self._followed: deque[Floats] = deque(maxlen=FOLLOWED)  # (2, n, k) friction before a block, its variance
        self._changed = np.zeros((n, len(SPEEDS)))  # squares of what it has changed in FOLLOWED blocks, lately
        self._blocks = self.learnt = self.faults = 0  # blocks so far, that have taught, and that could not
        self.adopt()

    def follow_laws(self) -> None:
        """Take the friction's columns from the present laws."""
        self._reported = friction_columns(self._model, np.outer(self._reach, SPEEDS))
        self._resting = friction_columns(self._model, self._at_rest[:, np.newaxis])

    @property
    def theta(self) -> Floats:
        """θ (p,) without the lags."""
        return self.bayesian.theta[: self._model.size]

    @property
    def covariance(self) -> Floats:
        """Covariance (p + n, p + n) of θ and lags: without a walk that has not happened, with the encoders' steps."""
        return np.asarray(self._process_noise.without(self.bayesian.covariance) + self.quantiser.covariance)

    def parameters(self) -> tuple[Floats, Floats]:
        """θ and its deviations, (p,) each, in the order of `model.names`."""
        variances = np.diag(self.covariance) + self.discrepancy.variance
        for j, unit in enumerate(self._attribution.doubted_units):
            own = own_terms(self._model, j)
            variances[own] += (unit * self.bayesian.theta[own]) ** 2
        return self.theta, np.sqrt(variances)[: self._model.size]

    def friction(self) -> Friction:
        """Friction of every joint at SPEEDS of the speed seen, with its deviations.

        They contain the effect of an uncertain torque unit, and of the delay with which a friction that keeps changing
        is followed, by its largest rate of the last minute: oil goes on warming while a joint's motion does not show
        it.
        """
        torque = self._friction_torque()
        variances = self._friction_variances()
        variances += (LATE / FOLLOWED) ** 2 * np.maximum(self._changes(NOISE), self._changed)
        variances += (self._attribution.doubted_units[:, np.newaxis] * torque) ** 2
        return Friction(np.outer(self._reach, SPEEDS), torque, np.sqrt(variances))

    def changes_since(self) -> Floats | None:
        """Friction (n, k) at SPEEDS of FOLLOWED blocks ago, where it has changed since beyond noise; else None."""
        return np.asarray(self._followed[0][0]) if self._changes(REPORTED).any() else None

    def _changes(self, noise: float) -> Floats:
        """Squares of the change of friction in FOLLOWED blocks beyond noise, so many deviations, (n, k).

        An earlier uncertainty that has been learnt since is no change.
        """
        if len(self._followed) < FOLLOWED:
            return np.zeros_like(self._changed)
        then, variances = self._followed[0]
        known = np.maximum(variances, self._friction_variances())
        return np.asarray(np.maximum((self._friction_torque() - then) ** 2 - noise**2 * known, 0.0))

    def _friction_variances(self) -> Floats:
        """Variances (n, k) of the friction at SPEEDS, if it does not change."""
        speeds, P = np.outer(self._reach, SPEEDS), self.covariance
        found = np.array([np.einsum("ka,ab,kb->k", one, P[np.ix_(place, place)], one) for place, one in self._reported])
        return np.asarray(found + self.discrepancy.of_friction(speeds, self._reported))

    def _friction_torque(self) -> Floats:
        """Friction (n, k) at SPEEDS of the speed seen."""
        return np.array([columns @ self.bayesian.theta[place] for place, columns in self._reported])

    def absorb_readings(self, time: Nanoseconds, q: Floats) -> None:
        """Look for the steps of the encoders in raw positions (rows, n) until they are known; time: (rows,) ns."""
        if not self.encoders.settled:
            self._readings.append((time, q))

    def follow(self, q: Floats, samples: int, block: Block) -> None:
        """Give the shifted quantiser a chunk of the motion, q (rows, n); samples: so far; block: the present one."""
        if self.encoders.known and not self.quantiser.hold(q):
            self._read(samples, block)

    def _read(self, samples: int, block: Block) -> None:
        self.quantiser.read(self.encoders.steps, samples, (block.sample, block.e), self._closed)

    def drop_waiting(self) -> None:
        """Drop all blocks that wait: something has happened in them."""
        self._waiting.clear()

    def begin_block(self) -> Floats | None:
        """Count a block, look for the encoders' steps; returns the speeds (n,) that they imitate, if new."""
        self._blocks += 1
        if not self._readings:
            return None
        self.encoders.absorb(*(np.concatenate(both) for both in zip(*self._readings, strict=True)))
        self._readings.clear()
        return self.encoders.speeds

    def close(self, block: Block, samples: int) -> bool:
        """Take a block that may teach later; returns whether an older one has changed the parameters."""
        X, r, dq = block.X.copy(), block.r.copy(), block.dq.copy()
        if self.encoders.known:
            self._read(samples, block)
        e, y = block.e.copy(), r + X @ self.bayesian.theta
        self._closed = block.sample.copy(), e
        self._waiting.append(WaitingBlock(self._blocks, X, y, r, block.q.copy(), e, dq))
        return len(self._waiting) > AFTER and self._teach(self._waiting.popleft())

    def _teach(self, block: WaitingBlock) -> bool:
        number, X, y, r, q, e, dq = block
        bayesian = self.bayesian
        before, slopes, u = y - X @ bayesian.theta, NOTHING, None
        if self.encoders.known:
            slopes = self.encoders.slopes(q)
            u = torque(e, slopes, self.theta)
        variance, most = self._long_run.of(self.variance), np.sqrt(LONG_CLIP * self.variance)
        self.discrepancy.notice(dq, np.clip(before, -most, most), y, variance, u)
        if not self._teaches:
            return False
        weights, friction = 1.0 / variance, np.stack([self._friction_torque(), self._friction_variances()])
        expected = bayesian.predicted()
        if not bayesian.absorb(X, y, weights):
            self.faults += 1
            return False
        self._process_noise.absorb(expected, Belief(bayesian.theta, bayesian.covariance), bayesian.fade, bayesian.walk)
        self.discrepancy.absorb(bayesian, X, dq, weights)
        if self.encoders.known:
            noise = self.encoders.noise(slopes, shares(r), weights)
            self.quantiser.absorb(bayesian, X, e, (r != 0.0) * weights, slopes, noise)
            bayesian.unbias(noise)
        self._long_run.absorb(number, before, y - X @ bayesian.theta, most)
        squares = np.minimum(r**2, LONG_CLIP * self.variance).mean(axis=0)
        self.variance += SLOWLY * (squares - self.variance)
        self.learnt += 1
        self._followed.append(friction)
        self._changed = np.maximum(self._changes(SURELY), np.exp(-2.0 * BLOCK / ROWS / SLOWS) * self._changed)
        self.adopt()
        return True

    def restore(self, place: NDArray[np.int64], theta: Floats) -> None:
        """Go back to an earlier θ (p + n,), except at these places: a wrong law has taught the rest since."""
        restored = theta.copy()
        restored[place] = self.bayesian.theta[place]
        self.bayesian.begin(restored, self.bayesian.covariance)
        self._followed.clear()
        self.drop_waiting()

    def change(self, place: NDArray[np.int64], change: Floats, covariance: Floats) -> None:
        """Move parameters at these places, whose friction has changed, and forget how uncertain they were."""
        before = self._friction_torque()
        self.bayesian.move(place, change, covariance)
        found = self._friction_torque() - before  # known at once, so it is not followed with a delay
        for friction in self._followed:
            friction[0] += found
        self.quantiser.forget(place)
        self.discrepancy.forget(place)
        self._process_noise.known(place)

    def move(self, fitted: Fitted, doubt: float) -> None:
        """Move θ by a cause that was found, and predict with it; doubt: factor of its deviation."""
        q, moved = self._model.size + self._model.tree.size(), fitted.moved
        place = np.flatnonzero(moved[:q])
        floor = LEARNT_TO * np.abs(moved[place])
        if fitted.cause.name == "friction":  # a friction that has changed goes on changing
            floor = np.maximum(floor, LEARNT_TO * np.abs(self.bayesian.theta[place]))
        self.change(place, moved[place], doubt**2 * fitted.spread[np.ix_(place, place)] + np.diag(floor**2))
        self.adopt()

    def unknown(self, chunk: Chunk, changing: bool) -> Floats:
        """Deviation (n,) of the explained torque at the chunk's end: see ResidualAttribution.variance."""
        n = self._model.tree.size()
        X, last = np.empty((1, n, self._model.size + n)), np.empty((1, n, PARAMETERS))
        self._motion.row(chunk, len(chunk.q) - 1, X[0], last[0])
        motion = np.stack([chunk.q[-1:], chunk.dq[-1:], chunk.ddq[-1:]])
        return np.sqrt(self._attribution.variance(X, last, motion, changing))

    def adopt(self) -> None:
        """Predict with the present parameters from now on."""
        theta = self.bayesian.theta
        shares = self._motion.shares(theta[self._model.base : self._model.size])
        self.prediction = Prediction(self._model, theta, shares)
        self.stiction = np.array([abs(float(columns[0] @ theta[place])) for place, columns in self._resting])
        attribution = self._attribution
        attribution.discrepancy, attribution.covariance = self.discrepancy.spread, self.covariance
        attribution.theta, attribution.bodies = theta, self._model.standard(theta[: self._model.base])


def _bayesian(learnt: IdentifiedRobot, own: NDArray[np.int64], block: float) -> PriorBounded:
    """A learner whose friction may move by FRICTION_CHANGE about what was identified; links and lags stay constant.

    own: places in θ of what the joints have; block: s.
    """
    p, n = len(learnt.theta), len(learnt.variance)
    lag = unknown(p, n) if learnt.lag is None else learnt.lag
    theta, covariance = lag.with_theta(learnt.theta, learnt.covariance)
    fade = np.ones(p + n)
    fade[own] = np.exp(-block / FRICTION_MEMORY)
    inert = np.setdiff1d(np.arange(p), own)
    mean, prior = np.append(learnt.prior, np.zeros(n)), np.zeros((p + n, p + n))
    mean[own] = theta[own]
    prior[:p, :p] = learnt.prior_covariance
    prior[np.ix_(own, inert)] = prior[np.ix_(inert, own)] = 0.0
    prior[p:, p:] = LAG_SPREAD**2 * np.eye(n)
    change = np.maximum(FRICTION_CHANGE * np.abs(theta), CERTAIN * np.sqrt(np.diag(covariance)))
    ratio = np.where(np.isin(np.arange(p + n), own), np.minimum(change / np.sqrt(np.diag(prior)), 1.0), 1.0)
    found = PriorBounded(mean, prior * np.outer(ratio, ratio), fade)
    found.begin(theta, covariance)
    return found
