"""The rows of one joint's friction in a whole robot, from which its nonlinear parameters η are searched.

They have speed and position before the slow low-pass (quick_samples.py), and the torque that is left for the friction.
Without a search they give the residual that η in force leaves, and the χ² that one Gauss–Newton step of η would
explain.
"""

from collections import deque
from concurrent.futures import Future
from typing import Final, NamedTuple

import numpy as np

from estimators.models.friction.structure import law_structure
from estimators.models.robots.whole_robot import WholeRobot
from estimators.models.shared_instants import smooth
from estimators.online.robot.block import ROWS, Block
from estimators.online.robot.findings.quick_samples import QuickSamples, RowSamples, joined
from estimators.quantities import Floats, Parameter
from estimators.refit.refit import RefitRows
from estimators.refit.report import Refit
from estimators.rows import POSITION, VELOCITY
from estimators.thresholds import SHARPENS

#: s, argued: Motion that a window holds: two periods of an excitation of ten seconds.
WINDOW: Final = 20.0
#: 1, argued: Windows that are searched at most: beyond a minute and a half a friction may have gone on changing.
LONGEST: Final = 4
#: 1, derived: Relative step of η for its tangent, as of ln η.
STEP: Final = 1e-4


class _FrictionRows(NamedTuple):
    """Rows of one block in which the joint moved."""

    fixed: Floats  # (rows, still) columns that η does not move
    torque: Floats  # (rows,) that is left for the friction
    samples: RowSamples


class Asked(NamedTuple):
    """A search that is under way."""

    future: Future[Refit]
    rows: int  # of its window
    sharpens: bool  # whether η in force explains the motion, and is to become more certain


class FrictionWindow:
    """The latest rows of one joint's friction, and the residual of its law on them."""

    def __init__(self, model: WholeRobot, joint: int, reach: float) -> None:
        self.reach = reach  # rad/s (m/s)
        self.joint, self.law, self.settings = joint, model.law_of(joint), model.laws[joint]
        self.axis = model.robot.joints[joint].axis
        first = sum(model.count_of(i) for i in range(joint))
        count = len(self.law.parameters)
        self.place = model.base + first + np.arange(count + 1)  # the offset last
        self.moving = law_structure(self.settings, self.axis).moving
        self.still = np.setdiff1d(np.arange(count + 1), self.moving)
        self.room = self.due = round(WINDOW * ROWS)  # rows of the window; rows after which it is looked at
        self._rows: deque[_FrictionRows] = deque()
        self._taps = np.ones(1)
        self.count = self.seen = 0
        self.left = False  # whether the residual of the window is unlike the law's earlier one
        self.refused, self.cause = 0, ""  # searches refused in a row, and the reason of the last one
        self._usual = (np.nan, np.nan)  # residual variance that η in force left, and power of the friction, by then
        self.asked: Asked | None = None
        self.known = np.zeros(0)  # deviations of ln η in force; empty where it is the identification's
        self._basis = self._since = 0  # rows that η in force was found from, and rows that it holds for

    def absorb(self, block: Block, theta: Floats, rest: Floats, quick: QuickSamples) -> None:
        """Take the rows of a block in which the joint moved; theta: of the prediction; rest: θ for the other torques.

        Rows beyond the speeds at which the law may be used are left out.
        """
        j, speed, count = self.joint, np.abs(block.dq[: block.count, self.joint]), block.count
        whole = np.zeros(count, np.bool_)
        whole[quick.complete(block.sample[:count])] = True
        rows = np.flatnonzero(whole & (speed > 0.0) & (speed <= self.reach))
        X = block.X[rows, j]
        own, others = X[:, self.place], np.delete(np.arange(len(theta)), self.place)
        torque = block.r[rows, j] + X @ theta - X[:, others] @ rest[others]
        samples = quick.of(j, block.sample[rows])
        np.clip(samples.stretch[VELOCITY], -self.reach, self.reach, out=samples.stretch[VELOCITY])
        self._taps = quick.taps
        self._rows.append(_FrictionRows(own[:, self.still], torque, samples))
        self.count += len(rows)
        self._since += len(rows)
        most = LONGEST * round(WINDOW * ROWS)
        while sum(len(one.torque) for one in self._rows) - len(self._rows[0].torque) >= most:
            self._rows.popleft()

    def window(self, rows: int | None = None) -> RefitRows:
        """The latest rows in the form for a search: all of the window, or `rows` of them."""
        wanted, parts, found = self.room if rows is None else rows, list[_FrictionRows](), 0
        for one in reversed(self._rows):
            if found >= wanted:
                break
            parts.append(one)
            found += len(one.torque)
        parts.reverse()
        samples = joined([one.samples for one in parts])
        return RefitRows(
            np.concatenate([one.fixed for one in parts])[-wanted:],
            np.concatenate([one.torque for one in parts])[-wanted:],
            samples.stretch[VELOCITY],
            samples.stretch[POSITION],
            np.zeros(samples.stretch.shape[1]),
            taps=self._taps,
            first=np.ascontiguousarray(samples.first[-wanted:]),
        )

    @property
    def full(self) -> bool:
        """Whether the window is full, and half of its rows are new."""
        return self.count >= self.due

    @property
    def sharpens(self) -> int:
        """Rows of a window that would identify η more exactly than it is known; 0 where no window would yet."""
        most = min(self._since, LONGEST * round(WINDOW * ROWS))
        return most if self._basis and most >= SHARPENS * self._basis else 0

    def rest_on(self, rows: int, known: Floats) -> None:
        """Note how many rows η in force was found from; known: its relative deviations."""
        self.known = known
        self._basis, self._since = rows, max(rows, self._since) if self._basis else rows

    def parameters(self) -> tuple[Parameter, ...]:
        """The coefficients that η does not move, the offset last."""
        whole = (*self.law.parameters, Parameter("offset", self.axis.effort, -np.inf, np.inf, ""))
        return tuple(whole[i] for i in self.still)

    def columns(self, window: RefitRows, eta: Floats) -> Floats:
        """All columns of a window, moving ones last."""
        assert window.position is not None
        assert window.load is not None
        assert window.first is not None
        columns = self.law.columns(window.position, window.velocity, window.load, eta)
        own = np.asarray(self.moving, np.int64)
        found = np.empty((len(window.y), 1, len(own)))
        smooth(columns, window.first, self._taps, own, 1.0, 0, np.arange(len(own)), found)
        return np.column_stack([window.fixed, found[:, 0]])

    def residual(self, eta: Floats, rows: int | None = None) -> float:
        """Residual variance of least squares with this η over the window, or the latest `rows`."""
        window = self.window(rows)
        A, y = self.columns(window, eta), window.y
        return float(np.mean((y - A @ np.linalg.lstsq(A, y)[0]) ** 2))

    @property
    def knows_usual(self) -> bool:
        """Whether the motion of the start has shown the usual residual of η in force."""
        return bool(np.isfinite(self._usual[0]))

    @property
    def usual(self) -> float:
        """Residual variance that a right η leaves now: the start's, and more where the friction's power is larger.

        The residual that low-passes and a law's simplifications leave grows with the friction.
        """
        variance, power = self._usual
        return variance * max(1.0, self._power() / power) if power > 0.0 else variance

    def settle(self) -> None:
        """Forget the refused searches: η in force explains the motion."""
        self.left, self.refused, self.cause, self.room = False, 0, "", round(WINDOW * ROWS)

    def refuse(self, cause: str, explained: bool) -> None:
        """Wait for other rows; explained: a longer window, which contains this one, may show more."""
        self.refused, self.cause = self.refused + 1, cause
        base = round(WINDOW * ROWS)
        if explained:
            self.room = min(self.room + self.room // 2, LONGEST * base)
        else:
            self.due, self.room = self.due - (self.room - base) // 2, base

    def keep_usual(self) -> None:
        """Take the residual of η in force on this window as the usual one."""
        self._usual = self.residual(self.law.start), self._power()

    def _power(self) -> float:
        return float(np.mean(self.window().y ** 2))

    @property
    def stored(self) -> int:
        """Rows that are kept."""
        return sum(len(one.torque) for one in self._rows)

    def gain(self, correlation: float, rows: int | None = None) -> float:
        """χ² that one Gauss–Newton step of ln η explains beyond η in force; rows: as of `residual`."""
        eta, window = self.law.start, self.window(rows)
        A, y = self.columns(window, eta), window.y
        theta = np.linalg.lstsq(A, y)[0]
        steps = [eta * (1.0 + STEP * one) for one in np.eye(len(eta))]
        tangents = [(self.columns(window, one) - A) @ theta / STEP for one in steps]
        both = np.column_stack([A, *tangents])
        before, after = (float(np.sum((y - X @ np.linalg.lstsq(X, y)[0]) ** 2)) for X in (A, both))
        noise = after / (len(y) - both.shape[1])
        return (before - after) / (noise * correlation) if noise > 0.0 else 0.0
