"""Recall: after a push, or whatever else has passed, the values from before it are trusted again.

The values from before an alarm are kept. As soon as they explain the rows of AGAIN successive blocks of motion as well
as they usually did, they are in force again: the rows in between were disturbed. This applies while the alarm stands,
and for SOON times a start's length after it, since new values may have explained a push. An alarm that follows another
so soon belongs to the same event, and leaves the kept values as they are; but values that were recalled once and raise
an alarm are given up.
"""

from typing import Final

import numpy as np

from estimators.misfit.regressors import BlockSums
from estimators.online.judgement.fit_state import FitState
from estimators.online.monitor.plain import QUIET, SOON
from estimators.quantities import Floats
from estimators.recursive.learner import Learner, Learnt
from estimators.recursive.state import RecursiveState
from estimators.recursive.weights import reversals
from jointwatch_numba.layout import Layout, copy

#: blocks, argued: Successive seconds of motion that the earlier values must explain.
AGAIN: Final = 3
#: 1, argued: Share of a block's rows that must be there, not seen at a reversal, for it to be judged.
ENOUGH: Final = 0.25


class RecallState(Layout, version=2):
    """State of a Recall."""

    learnt: Learnt  # what was known before the alarm
    fit: FitState
    until: int = -1  # number of the row up to which it may hold again
    explained: int = 0  # successive blocks that it has explained
    recalled: bool = False  # whether it has been put in force again
    trusted: bool = False  # whether its prediction was trusted before the alarm
    open: bool = False  # whether directions had never been excited


class Recall:
    """The values from before an alarm, until they are in force again or given up."""

    def __init__(self, learner: Learner, fit: FitState) -> None:
        self._learner, self._fit = learner, fit
        learnt = learner.state.copied()
        learnt.state = learner.rls.state.copied()
        self.state = RecallState(learnt=learnt, fit=fit.copied())  # its sums begin anew, so they may be shared

    def alarmed(self, good: RecursiveState, now: int, needed: float, trusted: bool) -> bool:
        """Keep the values from before an alarm; returns whether it is of a separate event.

        good: the state before; now: number of the row; needed: rows that a start takes; trusted: whether its prediction
        was.
        """
        state, until = self.state, round(now + SOON * needed)
        state.explained = 0
        if now <= state.until:
            state.until = -1 if state.recalled else until
            return False
        state.until, state.recalled, state.open = until, False, self._learner.unexcited.open
        state.trusted = trusted
        copy(self._learner.state, state.learnt)
        copy(good, state.learnt.state)
        copy(self._fit, state.fit)
        return True

    def holds(self, sums: BlockSums, rows: float, now: int) -> bool:
        """Whether the earlier values hold again; sums: of a block that ends; rows: that a full one has."""
        own, before, count = self.state, self.state.learnt.state, float(sums.count.sum())
        if now > own.until or own.recalled or count < ENOUGH * rows:
            return False
        left = sum(reversals.left(sums.products[o], before.theta) / before.noise[o] for o in range(len(before.noise)))
        usual = max(float(np.mean(before.long)), before.alarm_noise)
        own.explained = own.explained + 1 if left <= QUIET * usual * count else 0
        return own.explained >= AGAIN

    def give_up(self) -> None:
        """Give up the earlier values: the change lasts."""
        self.state.until = -1

    def restore(self) -> Floats:
        """Go back to the earlier state; returns its values."""
        state = self._learner.rls.state
        alarms = state.alarms
        copy(self.state.learnt, self._learner.state)
        copy(self.state.learnt.state, state)
        copy(self.state.fit, self._fit)
        state.alarms, state.cusum, state.since = alarms, 0.0, 0
        self._learner.unexcited.state.open, self.state.recalled = self.state.open, True
        return np.asarray(state.theta)
