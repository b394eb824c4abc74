"""Learned compensation of each joint's residual, live: it is used only while it helps.

Twice a second the mean squares of the last ten seconds of motion are compared, with and without it. It begins switched
off. It is switched on when it reduces the residual by a twentieth, and off when the residual is larger with it: no
offline test was found that predicts on which motion a learned compensation does harm (docs/identify.md). Rows beyond a
contact threshold count, too, so that a compensation that looks like a contact is switched off as well.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.models.compensation.learned import Learned, inputs
from estimators.models.robots.description import RobotDescription
from estimators.models.robots.whole_robot import WholeRobot
from estimators.quantities import Floats

#: looks, argued: Looks in which the joint moved, over which a learnt compensation is compared with none: ten seconds.
LOOKS: Final = 20
#: 1, derived: Ratio of the residual's rms with and without a compensation from which it does harm.
WORSE: Final = 1.0
#: 1, argued: The same ratio below which a compensation is switched on (hysteresis).
BETTER: Final = 0.95
NOT_YET: Final = -1.0


class Switched(NamedTuple):
    """Reports that the compensation of one joint has been switched."""

    joint: int
    on: bool
    without: float  # N·m (N), rms of the residual over the last looks
    compensated: float

    def words(self, robot: RobotDescription) -> str:
        """Sentence for a person."""
        unit, now = robot.joints[self.joint].axis.effort, "" if self.on else "no longer "
        left = f"it leaves {self.compensated:.3g} {unit} rms, without it {self.without:.3g}"
        return f"{robot.names[self.joint]}: what was learnt of its residual is {now}used: {left}"


class Compensation:
    """Compensations of all joints; a joint without one is never on."""

    def __init__(self, model: WholeRobot, learned: Sequence[Learned | None]) -> None:
        """learned: of each joint; empty where nothing was."""
        n = model.tree.size()
        self._learned = tuple(learned) or (None,) * n
        self._twists = model.twists
        self.joints = [j for j, one in enumerate(self._learned) if one is not None]
        self.on: NDArray[np.bool_] = np.zeros(n, np.bool_)
        self._squares = np.full((LOOKS, 2, n), np.nan)  # of the last looks, oldest first: without, with
        self._look = np.zeros((2, n))
        self._rows = np.zeros(n)

    def torque(self, twist: Floats, rate: Floats, dq: Floats, ddq: Floats) -> Floats:
        """Torque of the compensation, used or not: (rows, n) N·m (N).

        twist, rate: (rows, n) difference of the encoders and its rate; dq, ddq: (rows, n).
        """
        found = np.zeros_like(dq)
        for j in self.joints:
            learned, gear = self._learned[j], self._twists[j]
            assert learned is not None
            assert gear is not None
            seen = gear.of(twist[:, j], dq[:, j]), rate[:, j] - gear.lag * ddq[:, j]
            found[:, j] = learned.predict(inputs(*seen, dq[:, j]))
        return found

    def absorb(self, residual: Floats, learnt: Floats, counts: NDArray[np.bool_]) -> None:
        """Take one row at 50 Hz: residual without the compensation, its torque, and which joints count, (n,) each."""
        self._look[0, counts] += residual[counts] ** 2
        self._look[1, counts] += (residual - learnt)[counts] ** 2
        self._rows[counts] += 1

    def compare(self) -> list[Switched]:
        """Compare after half a second; returns the compensations that are switched now."""
        switched = []
        for j in self.joints:
            if self._rows[j] > 0:
                self._squares[:-1, :, j] = self._squares[1:, :, j].copy()
                self._squares[-1, :, j] = self._look[:, j] / self._rows[j]
            without, compensated = np.sqrt(self._squares[:, :, j].mean(axis=0)).tolist()
            on = bool(compensated < (WORSE if self.on[j] else BETTER) * without)  # NaN until there are enough: off
            if on != self.on[j]:
                self.on[j] = on
                switched.append(Switched(j, on, without, compensated))
        self._look[:], self._rows[:] = 0.0, 0.0
        return switched

    def ratio(self, j: int) -> float:
        """Rms of the residual with it over that without, in the last windows; NaN until there are enough."""
        without, compensated = np.sqrt(self._squares[:, :, j].mean(axis=0))
        return float(compensated / without) if without > 0 else float("nan")

    def keep(self) -> Floats:
        """State that outlives a restart: mean squares of the last windows (LOOKS, 2, joints with one), −1: none."""
        return np.where(np.isnan(self._squares), NOT_YET, self._squares)[:, :, self.joints]

    def resume(self, squares: Floats) -> None:
        """Go on from the state that `keep` returned. Raises ValueError."""
        if squares.shape != (LOOKS, 2, len(self.joints)):
            raise ValueError("what was kept of the robot is of another model or version: it starts anew")
        self._squares[:, :, self.joints] = np.where(squares < 0.0, np.nan, squares)
        self.on[:] = False
        self.compare()
