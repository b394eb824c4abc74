"""The rows of one joint's friction in a whole robot, from which its nonlinear parameters η are searched.

Speed, position, and the torque that is left to the friction; and what is found of them without a search: the residual
that η in force leaves, and the χ² that one Gauss–Newton step of η would explain.
"""

from concurrent.futures import Future
from typing import Final

import numpy as np

from estimators.models.friction.structure import look
from estimators.models.robots.whole_robot import WholeRobot
from estimators.online.robot.block import ROWS, Block
from estimators.quantities import Floats, Parameter
from estimators.refit.report import Refit

#: s, argued: Motion that a window holds: two periods of an excitation of ten seconds.
WINDOW: Final = 20.0
#: 1, argued: Windows that are searched at most: beyond a minute and a half a friction may have gone on changing.
LONGEST: Final = 4
#: 1, derived: Relative step of η for its tangent, as of ln η.
STEP: Final = 1e-4


class FrictionWindow:
    """The latest rows of one joint's friction, and what its law leaves of them."""

    def __init__(self, model: WholeRobot, joint: int, reach: float) -> None:
        self.reach = reach  # rad/s (m/s)
        self.joint, self.law, self.settings = joint, model.law_of(joint), model.laws[joint]
        self.axis = model.robot.joints[joint].axis
        first = sum(model.count_of(i) for i in range(joint))
        count = len(self.law.parameters)
        self.place = model.base + first + np.arange(count + 1)  # the offset last
        self.moving = look(self.settings, self.axis).moving
        self.still = np.setdiff1d(np.arange(count + 1), self.moving)
        self.room = self.due = round(WINDOW * ROWS)  # rows of the window; rows after which it is looked at
        self._fixed = np.zeros((LONGEST * self.room, len(self.still)))
        self._signals = np.zeros((LONGEST * self.room, 3))  # q, dq, torque
        self.count = self.seen = 0
        self.left = False  # whether the window is unlike what the law has left before
        self.refused, self.cause = 0, ""  # searches in a row that were refused, and why the last one was
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
        self._fixed = np.concatenate([self._fixed, own[:, self.still]])[len(rows) :]
        self._signals = np.concatenate([self._signals, new])[len(rows) :]
        self.count += len(rows)

    @property
    def fixed(self) -> Floats:
        """Columns of the window that η does not move."""
        return self._fixed[-self.room :]

    @property
    def signals(self) -> Floats:
        """The window: q, dq and the friction's torque."""
        return self._signals[-self.room :]

    @property
    def full(self) -> bool:
        """Whether the window is, with new rows in half of it."""
        return self.count >= self.due

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

    def settle(self) -> None:
        """Forget what was refused: η in force explains the motion."""
        self.left, self.refused, self.cause, self.room = False, 0, "", round(WINDOW * ROWS)

    def refuse(self, cause: str, explained: bool) -> None:
        """Wait for other rows; explained: a window that also has the rows of this one may tell more."""
        self.refused, self.cause = self.refused + 1, cause
        base = round(WINDOW * ROWS)
        if explained:
            self.room = min(self.room + self.room // 2, LONGEST * base)
        else:
            self.due, self.room = self.due - (self.room - base) // 2, base

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
