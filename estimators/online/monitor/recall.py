"""Recall: after a push, or whatever else has passed, the values from before it are trusted again.

What was known before an alarm is kept. As soon as it explains the rows of AGAIN blocks of motion, one after the other,
as well as it usually did, it stands: the rows in between were of something else. This holds while the alarm stands,
and for SOON times a start's length behind it, for new values may have explained a push. An alarm that follows another
so soon is of the same event, and leaves what is kept as it is; but what was recalled once and raises an alarm is given
up.
"""

from typing import ClassVar, Final

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

    WORKING: ClassVar[frozenset[str]] = frozenset({"_learner", "_fit"})  # parts, which keep their own states

    def __init__(self, learner: Learner, fit: FitState) -> None:
        self._learner, self._fit = learner, fit
        learnt = learner.kept.copied()
        learnt.state = learner.kept.state.copied()
        self.kept = RecallState(learnt=learnt, fit=fit.copied())  # whose sums begin anew, and so may be shared

    def alarmed(self, good: RecursiveState, now: int, needed: float, trusted: bool) -> bool:
        """Keep what was known before an alarm; returns whether it is of an event of its own.

        good: the state before; trusted: whether its prediction was.

        now: number of the row; needed: rows that a start takes.
        """
        kept, until = self.kept, round(now + SOON * needed)
        kept.explained = 0
        if now <= kept.until:
            kept.until = -1 if kept.recalled else until
            return False
        kept.until, kept.recalled, kept.open = until, False, self._learner.unexcited.open
        kept.trusted = trusted
        copy(self._learner.kept, kept.learnt)
        copy(good, kept.learnt.state)
        copy(self._fit, kept.fit)
        return True

    def holds(self, sums: BlockSums, rows: float, now: int) -> bool:
        """Whether what was known before holds again; sums: of a block that ends; rows: that a full one has."""
        kept, state, count = self.kept, self.kept.learnt.state, float(sums.count.sum())
        if now > kept.until or kept.recalled or count < ENOUGH * rows:
            return False
        left = sum(reversals.left(sums.products[o], state.theta) / state.noise[o] for o in range(len(state.noise)))
        usual = max(float(np.mean(state.long)), state.alarm_noise)
        kept.explained = kept.explained + 1 if left <= QUIET * usual * count else 0
        return kept.explained >= AGAIN

    def give_up(self) -> None:
        """Give up what was known before: the change goes on."""
        self.kept.until = -1

    def restore(self) -> Floats:
        """Go back to what was known; returns its values."""
        state = self._learner.rls.state
        alarms = state.alarms
        copy(self.kept.learnt, self._learner.kept)
        copy(self.kept.learnt.state, state)
        copy(self.kept.fit, self._fit)
        state.alarms, state.cusum, state.since = alarms, 0.0, 0
        self._learner.unexcited.kept.open, self.kept.recalled = self.kept.open, True
        return np.asarray(state.theta)
