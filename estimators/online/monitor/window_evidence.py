"""Computes the evidence of a window, from which a monitor decides."""

import math
from typing import NamedTuple

from estimators.online.eta.in_force import EtaInForce
from estimators.online.eta.lookback import Lookback
from estimators.online.monitor.base import Before, Evidence, Moment, Purpose, WindowRequest
from estimators.recursive.learner import Learner
from estimators.recursive.prior import Prior
from estimators.window.change_point import onset
from estimators.window.row_history import RowHistory
from estimators.window.score_test import Score


class Shown(NamedTuple):
    """Declares the evidence of a window, and the score test behind it."""

    evidence: Evidence
    score: Score


class Windows:
    """Computes the evidence of windows of the history."""

    def __init__(self, learner: Learner, history: RowHistory, eta: EtaInForce, lookback: Lookback) -> None:
        self._learner, self._history, self._eta, self._lookback = learner, history, eta, lookback

    def before(self, which: Before) -> Prior:
        """Return the prior of a window."""
        if which is Before.CHANGE:
            return self._lookback.before
        return self._lookback.around if which is Before.NOW else self._lookback.nothing

    def show(self, request: WindowRequest, moment: Moment) -> Shown:
        """Compute the evidence of a requested window."""
        lookback, eta, before = self._lookback, self._eta, self.before(request.before)
        first = self._placed(request, before) if request.place else request.first
        score = lookback.explain(first, before)
        noise = lookback.noise(score, least=request.purpose is not Purpose.CHANGE)
        reach = lookback.reach(score) if request.purpose is Purpose.CHANGE else math.nan
        asked = request.purpose in (Purpose.CHANGE, Purpose.DRIFT)  # whether η moved
        gain = lookback.gain(score, noise) if asked else math.nan
        evidence = Evidence(
            request.purpose,
            first,
            moment.now,
            moment.now - request.first,
            moment.needed,
            moment.span,
            lookback.state.usual,
            eta.overlap,
            score.variance,
            score.signal,
            score.unchanged,
            gain,
            reach,
            score.step,
            score.sigma * math.sqrt(noise),
            eta.state.sigma,
            self._learner.rls.p,
        )
        return Shown(evidence, score)

    def _placed(self, request: WindowRequest, before: Prior) -> int:
        """Number of the row from which on a window is of the change alone, at its most likely place."""
        first = max(request.first - request.place, self._history.oldest)
        row = onset(self._history.since(first), self._learner.rls.noise, before, 2 * request.place)
        return first + row + math.ceil(self._eta.overlap) - 1  # without rows whose kernel sees both sides
