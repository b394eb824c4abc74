"""Recall: after a push, or whatever else has passed, the values from before it are trusted again.

What was known before an alarm is kept. As soon as it explains the rows of AGAIN blocks of motion, one after the other,
as well as it usually did, it stands: the rows in between were of something else. This holds while the alarm stands,
and for SOON times a start's length after it, for new values may have explained a push. An alarm that follows another
so soon is of the same event, and leaves what is kept as it is; but what was recalled once and raises an alarm is given
up.
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

#: blocks, argued: Seconds of motion that what was known before must explain, one after the other.
AGAIN: Final = 3
#: 1, argued: Share of a block's rows that must be there, not seen at a reversal, for it to be judged.
ENOUGH: Final = 0.25


class RecallState(Layout, version=2):
    """State of a Recall."""

    learnt: Learnt  # what was known before the alarm
    fit: FitState
    until: int = -1  # number of the row up to which it may hold again
    explained: int = 0  # blocks, one after the other, that it has explained
    recalled: bool = False  # whether it was trusted again
    trusted: bool = False  # whether its prediction was trusted before the alarm
    open: bool = False  # whether directions had never been excited


class Recall:
    """What was known before an alarm, until it holds again or is of the past."""

    def __init__(self, learner: Learner, fit: FitState) -> None:
        self._learner, self._fit = learner, fit
        learnt = learner.state.copied()
        learnt.state = learner.rls.state.copied()
        self.state = RecallState(learnt=learnt, fit=fit.copied())  # whose sums begin anew, and so may be shared

    def alarmed(self, good: RecursiveState, now: int, needed: float, trusted: bool) -> bool:
        """Keep what was known before an alarm; returns whether it is of an event of its own.

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
        """Whether what was known before holds again; sums: of a block that ends; rows: that a full one has."""
        own, before, count = self.state, self.state.learnt.state, float(sums.count.sum())
        if now > own.until or own.recalled or count < ENOUGH * rows:
            return False
        left = sum(reversals.left(sums.products[o], before.theta) / before.noise[o] for o in range(len(before.noise)))
        usual = max(float(np.mean(before.long)), before.alarm_noise)
        own.explained = own.explained + 1 if left <= QUIET * usual * count else 0
        return own.explained >= AGAIN

    def give_up(self) -> None:
        """Give up what was known before: the change goes on."""
        self.state.until = -1

    def restore(self) -> Floats:
        """Go back to what was known; returns its values."""
        state = self._learner.rls.state
        alarms = state.alarms
        copy(self.state.learnt, self._learner.state)
        copy(self.state.learnt.state, state)
        copy(self.state.fit, self._fit)
        state.alarms, state.cusum, state.since = alarms, 0.0, 0
        self._learner.unexcited.state.open, self.state.recalled = self.state.open, True
        return np.asarray(state.theta)
