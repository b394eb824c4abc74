"""Gradual changes: values that keep moving would raise alarm after alarm; they are followed instead.

After an alarm that rose slowly (on average its rows were no worse than QUIET times the CUSUM's allowance), or that
moved θ in the same direction as the one before, the change may go on. The fewest parameters that account for it, by

    χ² = (Δ − Es)ᵀ V⁻¹ (Δ − Es)        Δ: θ since before the alarm    V: its covariance    E: columns of the identity

are taken as the changing ones, and earlier knowledge of the others is used again. In each block θ moves by the change w
of these in one block, with a deviation of the same size: θ += w, P += w wᵀ/v, v the residual variance. So earlier rows
do not pull θ back, and its deviation contains what it may have moved. The change is reported where θ, within the length
of a start, has moved by another half of its change up to the alarm. It has ended where θ has moved by less than half of
its rate. A jump may raise an alarm that rises slowly, too; so a change that has not been reported ends as soon as θ
certainly no longer moves.
"""

from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from estimators.online.monitor.plain import QUIET, SOON
from estimators.quantities import Floats
from estimators.recursive.learner import Learner
from estimators.recursive.state import RecursiveState

#: 1, argued: Least cosine between the moves of θ at two alarms of one change: 60°, since a short motion shows little
#: along some directions. It is also the least share of its rate at which the change still goes on.
ALIKE: Final = 0.5
#: 1, argued: Least share of the rate of an alarm at which a change goes on: before its first row it may have moved
#: unseen for ten times as long as the alarm lasted.
UNSEEN: Final = 0.1
#: deviations, argued: Half of that share must be so many deviations from zero before a slower move shows an end.
SURE: Final = 3.0
#: deviations, argued: A set of parameters accounts for a change where χ² is not larger than by chance: its mean and
#: three deviations.
CHANCE: Final = 3.0
#: 1, argued: Share of χ² that may be left beyond that: while θ moves, rows of several truths give the other parameters
#: a part of it.
LEFT: Final = 0.2
#: 1, argued: Parameters that may change together; more are no wear, and earlier knowledge is not used again.
TOGETHER: Final = 2


@dataclass(slots=True)
class GradualState:
    """State of a GradualChange."""

    VERSION: ClassVar[int] = 2

    way: Floats  # of θ over the last alarm, of the parameters that account for it
    values: Floats  # θ from which its rate is measured
    rate: Floats  # a row
    row: int = 0  # number of the row at which θ had these values
    alarm: int = 0  # number of the row at which it began to move from what is known of before
    began: int = 0  # ns, since when
    slow: bool = False  # whether the last alarm rose slowly
    going: bool = False  # whether it is followed
    reported: bool = False  # whether it has been reported


class GradualChange:
    """Follows a change that goes on, of a model without nonlinear parameters."""

    def __init__(self, learner: Learner) -> None:
        self._learner, p = learner, learner.rls.p
        self.state = GradualState(np.zeros(p), np.zeros(p), np.zeros(p))

    def alarmed(self, now: int, began: int, anew: bool) -> None:
        """Take an alarm; now: number of the row; began: ns, since when; anew: whether none was shortly before."""
        state, learnt = self.state, self._learner.rls.state
        state.slow = learnt.limit <= (QUIET - 1.0) * learnt.allowance * learnt.onset
        state.going = False
        if anew:
            state.alarm = now - learnt.since - learnt.onset
        if anew and not state.reported:
            state.way[:], state.began = 0.0, began

    def recovered(self, before: RecursiveState, now: int, own: bool) -> bool:
        """Take new values after an alarm; returns whether they go on with the change of the alarm before.

        before: the learner's state before the alarm; own: whether nothing has changed; now: as above.
        """
        state, learner, gram = self.state, self._learner, self._learner.state.gram
        way = np.zeros(learner.rls.p) if own else self._way(before)
        if not way.any():
            return False
        size = float(np.sqrt((way @ gram @ way) * (state.way @ gram @ state.way)))
        alike = float(way @ gram @ state.way) > ALIKE * size
        if alike or state.slow:
            self._know_again(before, way)
            state.going, state.rate[:] = True, way / max(now - state.alarm, 1)
        state.way[:], state.values[:], state.row = way, learner.rls.theta, now
        return alike

    def follow(self, now: int, block: int, needed: float) -> bool:
        """End a block of this many rows of a change that is followed; returns whether that reports it for the first
        time."""
        state, learner, news = self.state, self._learner, False
        rows, theta, gram = now - state.row, learner.rls.theta, learner.state.gram
        if rows >= needed:
            changes = state.way != 0.0
            way = np.where(changes, theta - state.values, 0.0)
            expected = (
                rows * state.rate if state.reported else state.way
            )  # before an alarm it may have moved unseen for long
            state.going = float(way @ gram @ expected) > ALIKE * float(expected @ gram @ expected)
            state.rate[:], state.values[:], state.row = way / rows, theta, now
            news = state.going and not state.reported
        elif state.going and not state.reported and self._has_jumped(rows):
            state.going = False
        if state.going:
            learner.rls.shift_theta(block * state.rate)
        return news

    def _has_jumped(self, rows: int) -> bool:
        """Whether θ certainly no longer moves, so many rows after it had new values: it moves by less than half of what
        the slowest change would, and half of that is more than its deviation can be."""
        state, learner = self.state, self._learner
        rls, slowest = learner.rls, UNSEEN * rows * state.rate
        weight = learner.state.gram @ slowest
        moved, half = float(weight @ (rls.theta - state.values)), 0.5 * float(weight @ slowest)
        deviation = float(np.sqrt(rls.variance() * rls.share() * (weight @ rls.covariance() @ weight)))
        return half > SURE * deviation and moved < half

    def widen(self, block: int) -> None:
        """Add to a learner's covariance what θ may move by in the next block."""
        way = block * self.state.rate * self.state.going
        self._learner.misfit += np.outer(way, way)

    def _way(self, before: RecursiveState) -> Floats:
        """Change of θ in the fewest parameters that account for it; 0 where no few do."""
        rls, factor = self._learner.rls, self._learner.deviation_factor
        change, p = rls.theta - before.theta, rls.p
        noise = rls.variance() * rls.share() * (rls.covariance() + _covariance(before)) * np.outer(factor, factor)
        size = np.sqrt(np.diag(noise))
        weight, scaled, taken = np.linalg.inv(noise / np.outer(size, size)), change / size, list[int]()
        way = np.zeros(p)
        most = max(p + CHANCE * np.sqrt(2.0 * p), LEFT * float(scaled @ weight @ scaled))
        for _ in range(TOGETHER):
            left = weight @ (scaled - way)
            taken.append(int(np.argmax(np.where(np.isin(range(p), taken), -1.0, left**2 / np.diag(weight)))))
            way[:] = 0.0
            way[taken] = np.linalg.solve(weight[np.ix_(taken, taken)], (weight @ scaled)[taken])
            if (scaled - way) @ weight @ (scaled - way) <= most:
                return np.asarray(size * way)
        return np.zeros(p)

    def _know_again(self, before: RecursiveState, way: Floats) -> None:
        """Use the knowledge from before an alarm again, except along the move of θ since."""
        rls = self._learner.rls
        old = _covariance(before) + SOON**2 * np.outer(way, way) / rls.variance()
        size = np.sqrt(np.diag(old))
        both = (np.linalg.inv(one / np.outer(size, size)) for one in (rls.covariance(), old))
        new, then = both
        joint = np.linalg.inv(new + then)
        rls.theta[:] = size * (joint @ (new @ (rls.theta / size) + then @ (before.theta / size)))
        rls.set_covariance(joint * np.outer(size, size))


def _covariance(state: RecursiveState) -> Floats:
    """P (p, p) of a state."""
    root = (np.triu(state.u.T, 1) + np.eye(state.parameters)) * np.sqrt(state.d)
    return np.asarray(root @ root.T)
