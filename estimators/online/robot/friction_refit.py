"""Re-fits the nonlinear parameters η of a joint's friction in a whole robot, when the friction leaves its law.

Of every joint whose law has η the last rows of motion are kept: speed, position, and the torque that is left to its
friction. Every few seconds one Gauss–Newton step of η is tried (no search): when it would explain significantly more,
twice running, η is searched in the worker, like that of a single joint (multilevel coordinate search, decision 024).
The result counts when it explains the window as well as the law explained the motion at the start, explains it much
better than η in force, and is certain, clear and plausible. So a push, a payload or a window that is half from before
the change moves nothing.
"""

from collections.abc import Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import Final

import numpy as np

from estimators.models.friction.base import FrictionLaw
from estimators.models.friction.structure import RefitModel, look
from estimators.models.robots.whole_robot import WholeRobot
from estimators.online.robot.block import ROWS, Block
from estimators.online.robot.findings.competition import EXPLAINS
from estimators.quantities import Floats, Parameter
from estimators.refit.inline import Inline
from estimators.refit.outcome import SearchReport
from estimators.refit.refit import RefitRows, refit
from estimators.refit.report import Refit
from estimators.refit.settings import AcceptanceSettings, RefitSettings
from estimators.thresholds import LEAST_DIVISOR

#: s, argued: Motion that a window holds: two periods of an excitation of ten seconds.
WINDOW: Final = 20.0
#: blocks, argued: Blocks of one second between two looks.
EVERY: Final = 2
#: looks, argued: Looks in a row that must see η moved.
TWICE: Final = 2
#: 1, derived: Relative step of η for its tangent, as of ln η.
STEP: Final = 1e-4

Integers = np.ndarray[tuple[int], np.dtype[np.int64]]


@dataclass(slots=True)
class RefittedFriction:
    """Declares a re-fit that has ended: what is in force from here on, or why nothing is."""

    joint: int
    reason: str  # "" where it is accepted
    words: str  # by how much η moved, or the window
    search: SearchReport | None
    place: Integers  # in θ
    theta: Floats  # the friction's coefficients and the offset
    covariance: Floats


class _Joint:
    """The rows of one joint, and what its law looks like."""

    def __init__(self, model: WholeRobot, joint: int, reach: float) -> None:
        self.reach = reach  # rad/s (m/s)
        self.joint, self.law, self.settings = joint, model.law_of(joint), model.laws[joint]
        self.axis = model.robot.joints[joint].axis
        first = sum(model.count_of(i) for i in range(joint))
        count = len(self.law.parameters)
        self.place = model.base + first + np.arange(count + 1)  # the offset last
        self.moving = look(self.settings, self.axis).moving
        self.still = np.setdiff1d(np.arange(count + 1), self.moving)
        room = round(WINDOW * ROWS)
        self.fixed, self.signals = np.zeros((room, len(self.still))), np.zeros((room, 3))  # q, dq, torque
        self.count = self.seen = 0
        self.left = False  # whether the window is unlike what the law has left before
        self._usual = (np.nan, np.nan)  # residual variance that η in force left, and power of the friction, by then
        self.pending: Future[Refit] | None = None

    def absorb(self, block: Block, theta: Floats, rest: Floats) -> None:
        """Take the rows of a block in which the joint moved; theta: of the prediction; rest: what else is known.

        Rows beyond the speeds that the law may be used at say nothing of it.
        """
        j, speed = self.joint, np.abs(block.dq[: block.count, self.joint])
        rows = np.flatnonzero((speed > 0.0) & (speed <= self.reach))
        X = block.X[rows, j]
        own, others = X[:, self.place], np.delete(np.arange(len(theta)), self.place)
        torque = block.r[rows, j] + X @ theta - X[:, others] @ rest[others]
        new = np.column_stack([block.q[rows, j], block.dq[rows, j], torque])
        self.fixed = np.concatenate([self.fixed, own[:, self.still]])[len(rows) :]
        self.signals = np.concatenate([self.signals, new])[len(rows) :]
        self.count += len(rows)

    @property
    def full(self) -> bool:
        """Whether the window is."""
        return self.count >= len(self.signals)

    def parameters(self) -> tuple[Parameter, ...]:
        """The coefficients that η does not move, the offset last."""
        whole = (*self.law.parameters, Parameter("offset", self.axis.effort, -np.inf, np.inf, ""))
        return tuple(whole[i] for i in self.still)

    def columns(self, eta: Floats) -> Floats:
        """All columns of the window, moving ones last."""
        q, dq, _ = self.signals.T
        return np.column_stack([self.fixed, self.law.columns(q, dq, np.zeros(len(q)), eta)[:, self.moving]])

    def residual(self, eta: Floats) -> float:
        """Residual variance of least squares with this η."""
        A, y = self.columns(eta), self.signals[:, 2]
        return float(np.mean((y - A @ np.linalg.lstsq(A, y)[0]) ** 2))

    @property
    def knows_usual(self) -> bool:
        """Whether the motion of the start has told what η in force leaves."""
        return bool(np.isfinite(self._usual[0]))

    @property
    def usual(self) -> float:
        """Residual variance that a right η leaves now: the start's, and more where the friction's power is larger.

        What low-passes and a law's own simplifications leave of a friction grows with it.
        """
        variance, power = self._usual
        return variance * max(1.0, self._power() / power) if power > 0.0 else variance

    def keep_usual(self) -> None:
        """Take what η in force leaves of this window for usual."""
        self._usual = self.residual(self.law.start), self._power()

    def _power(self) -> float:
        return float(np.mean(self.signals[:, 2] ** 2))

    def gain(self, correlation: float) -> float:
        """χ² that one Gauss–Newton step of ln η explains more than η in force does."""
        eta, y = self.law.start, self.signals[:, 2]
        A = self.columns(eta)
        theta = np.linalg.lstsq(A, y)[0]
        steps = [eta * (1.0 + STEP * one) for one in np.eye(len(eta))]
        tangents = [(self.columns(one) - A) @ theta / STEP for one in steps]
        both = np.column_stack([A, *tangents])
        before, after = (float(np.sum((y - X @ np.linalg.lstsq(X, y)[0]) ** 2)) for X in (A, both))
        noise = after / (len(y) - both.shape[1])
        return (before - after) / (noise * correlation) if noise > 0.0 else 0.0


class FrictionRefits:
    """Watches the η of all joints, and has it searched where it has moved."""

    def __init__(self, model: WholeRobot, correlation: Floats, reach: Floats, executor: Executor | None = None) -> None:
        """correlation: (n,) rows of 50 Hz that count as one; reach: (n,) speeds up to which the laws may be used.

        executor: where searches run, by default inline.
        """
        self._correlation, self._executor = correlation, executor or Inline()
        self._accept, self._settings = AcceptanceSettings(), RefitSettings()
        self._joints = [
            _Joint(model, j, float(reach[j])) for j in range(model.tree.size()) if _searchable(model.law_of(j))
        ]
        self._blocks = 0
        self._spoilt = False
        self.rest = np.zeros(0)  # θ as it was when the laws held last: what the torque beside a friction is taken from

    def spoil(self) -> None:
        """Leave this block out: θ has changed within it."""
        self._spoilt = True

    @property
    def doubtful(self) -> bool:
        """Whether the motion leaves a law now, so that nothing may be taught by it."""
        return any(joint.left for joint in self._joints)

    def absorb(self, block: Block, theta: Floats, calm: bool) -> list[RefittedFriction]:
        """Take a block of rows; returns the re-fits that have ended. calm: nothing unexplained acts on the robot."""
        if not self._joints:
            return []
        self._blocks += 1
        if not len(self.rest):
            self.rest = theta.copy()
        ended = [one for one in map(self._ended, self._joints) if one is not None]
        if self._spoilt:
            self._spoilt = False
            return ended
        for joint in self._joints:
            joint.absorb(block, theta, self.rest)
        if self._blocks % EVERY == 0:
            for joint in self._joints:
                self._look(joint, calm)
            if calm and not self.doubtful:
                self.rest = theta.copy()
        return ended + [one for one in map(self._ended, self._joints) if one is not None]

    @property
    def etas(self) -> list[float]:
        """η of all joints that have one, in their order: what outlives a restart."""
        return [float(eta) for joint in self._joints for eta in joint.law.start]

    def resume(self, etas: Sequence[float]) -> None:
        """Go on with these; raises ValueError where they are of other laws."""
        if len(etas) != len(self.etas) or not np.isfinite(etas).all():
            raise ValueError("what was kept of the robot's friction is of other laws: it starts anew")
        for joint in self._joints:
            count = len(joint.law.start)
            joint.law.start[:], etas = etas[:count], etas[count:]

    def _look(self, joint: _Joint, calm: bool) -> None:
        if joint.pending is not None or not joint.full:
            return
        if not joint.knows_usual:
            if calm:
                joint.keep_usual()
            return
        joint.left = joint.residual(joint.law.start) > self._accept.noise**2 * joint.usual
        moved = joint.left and joint.gain(self._correlation[joint.joint]) > self._accept.better
        joint.seen = joint.seen + 1 if moved else 0
        if joint.seen >= TWICE:
            joint.seen = 0
            q, dq, torque = (np.ascontiguousarray(one) for one in joint.signals.T)
            window = RefitRows(joint.fixed.copy(), torque, dq, q, np.zeros(len(q)))
            model = RefitModel(joint.parameters(), joint.settings, joint.axis)
            joint.pending = self._executor.submit(refit, window, model, None, None, self._settings)
            joint.count -= len(joint.signals) // 2  # the next search rests on new rows, half of them at least

    def _ended(self, joint: _Joint) -> RefittedFriction | None:
        pending = joint.pending
        if pending is None or not pending.done():
            return None
        joint.pending = None
        window = f"{WINDOW:g} s of motion"
        nothing = np.zeros((0, 0))
        try:
            found = pending.result()
        except Exception as error:
            reason = str(error) or type(error).__name__
            return RefittedFriction(joint.joint, reason, window, None, joint.place, np.zeros(0), nothing)
        names = [one.name for one in joint.law.nonlinear]
        runner_up = {} if found.runner_up is None else dict(zip(names, found.runner_up.tolist(), strict=True))
        search = SearchReport(self._settings.search, found.visits, found.evaluations, runner_up, found.gap)
        reason = self._against(joint, found)
        order = np.concatenate([joint.still, joint.moving])
        theta, covariance = np.empty(len(order)), np.empty((len(order),) * 2)
        theta[order] = found.theta
        factor = self._correlation[joint.joint]
        covariance[np.ix_(order, order)] = factor * found.covariance[: len(order), : len(order)]
        before = joint.law.start.copy()
        words = ", ".join(
            f"{one.name} {old:.4g} → {new:.4g} {one.unit}"
            for one, old, new in zip(joint.law.nonlinear, before, found.eta, strict=True)
        )
        if not reason:
            joint.law.start[:], joint.left, joint.count = found.eta, False, 0
        return RefittedFriction(joint.joint, reason, words, search, joint.place, theta, covariance)

    def _against(self, joint: _Joint, found: Refit) -> str:
        """Why a re-fit is not accepted, in words; "" when it is."""
        accept, factor = self._accept, self._correlation[joint.joint]
        etas = found.deviations[len(found.theta) :] / found.eta * np.sqrt(factor)
        variance, before = found.residual**2, joint.residual(joint.law.start)
        told = []
        if variance > accept.noise**2 * joint.usual:
            told.append(f"the residual is {np.sqrt(variance / joint.usual):.2f} times the usual one")
        if before - variance < EXPLAINS * (before - joint.usual):
            told.append("most of what the law leaves beyond the usual stays unexplained")
        if (before - variance) * found.rows / (max(variance, LEAST_DIVISOR) * factor) <= accept.better:
            told.append("the nonlinear parameters in force explain the motion nearly as well")
        if not (etas <= accept.certain).all():
            told.append(f"{found.names[len(found.theta) + int(np.argmax(etas))]} is uncertain")
        if found.edge:
            told.append(f"{', '.join(found.edge)} at an end of the range")
        if found.ambiguous:
            told.append(found.ambiguous)
        if (np.abs(np.log(found.eta / joint.law.start)) > np.log(accept.plausible)).any():
            told.append(f"a change by more than a factor of {accept.plausible:g}")
        return "; ".join(told)


def _searchable(law: FrictionLaw) -> bool:
    """Whether a law has η, and columns that the present motion alone gives."""
    return bool(law.nonlinear) and not law.stops and not law.loaded() and law.loads == 1
