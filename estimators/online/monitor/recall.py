"""Recall: after a push, or whatever else has passed, the values from before it are trusted again.

What was known before an alarm is kept. As soon as it explains the rows of AGAIN blocks of motion, one after the other,
as well as it usually did, it stands: the rows in between were of something else. This holds while the alarm stands,
and for SOON times a start's length behind it, for new values may have explained a push. An alarm that follows another
so soon is of the same event, and leaves what is kept as it is; but what was recalled once and raises an alarm is given
up.
"""

from typing import Final

import numpy as np

from estimators.misfit.regressors import BlockSums
from estimators.online.judgement.fit_state import FitState
from estimators.online.monitor.plain import QUIET, SOON
from estimators.quantities import Floats
from estimators.recursive.learner import Learner
from estimators.recursive.state import RecursiveState
from estimators.recursive.weights import reversals
from jointwatch_layout import copy

#: blocks, argued: Seconds of motion that what was known before must explain, one after the other.
AGAIN: Final = 3
#: 1, argued: Share of a block's rows that must be there, not seen at a reversal, for it to be judged.
ENOUGH: Final = 0.25


class Recall:
    """What was known before an alarm, until it holds again or is of the past."""

    def __init__(self, learner: Learner, fit: FitState) -> None:
        self._learner, self._fit = learner, fit
        self._before = learner.rls.state.copied(), learner.kept.copied(), fit.copied()
        self._until = -1  # number of the row up to which it may hold again
        self._explained, self._recalled, self._open = 0, False, False

    def alarmed(self, good: RecursiveState, now: int, needed: float) -> None:
        """Keep what was known before an alarm; good: the state then; now: row; needed: rows that a start takes."""
        self._explained = 0
        if now <= self._until:
            self._until = -1 if self._recalled else round(now + SOON * needed)
            return
        self._until, self._recalled = round(now + SOON * needed), False
        self._open = self._learner.unexcited.open
        for source, target in zip((good, self._learner.kept, self._fit), self._before, strict=True):
            copy(source, target)

    def holds(self, sums: BlockSums, rows: float, now: int) -> bool:
        """Whether what was known before holds again; sums: of a block that ends; rows: that a full one has."""
        if now > self._until or self._recalled:
            return False
        state = self._before[0]
        count = float(sums.count.sum())
        if count < ENOUGH * rows:
            return False
        left = sum(reversals.left(sums.products[o], state.theta) / state.noise[o] for o in range(len(state.noise)))
        usual = max(float(np.mean(state.long)), state.alarm_noise)
        self._explained = self._explained + 1 if left <= QUIET * usual * count else 0
        return self._explained >= AGAIN

    def restore(self) -> Floats:
        """Go back to what was known; returns its values."""
        rls, alarms = self._learner.rls, self._learner.rls.state.alarms
        state, learnt, fit = self._before
        copy(learnt, self._learner.kept)
        copy(fit, self._fit)
        copy(state, rls.state)
        rls.state.alarms, rls.state.cusum, rls.state.since = alarms, 0.0, 0
        self._learner.unexcited.kept.open = self._open
        self._recalled = True
        return np.asarray(rls.theta)
