"""Relearning of a model with nonlinear parameters η, after a change: how each decision of the monitor is carried out.

`Windows` computes what a window of past rows says; from that the monitor decides. `Relearning` then learns θ anew from
the window, starts a search of η (a refit), judges the refit when it has ended, and puts its result in force.
"""

import math
from typing import NamedTuple

import numpy as np

from estimators.base import Spectrum
from estimators.online.eta.in_force import EtaInForce
from estimators.online.eta.lookback import Lookback
from estimators.online.eta.refits import EtaRefits
from estimators.online.judgement.events import EventLog
from estimators.online.judgement.motion import MotionCount
from estimators.online.judgement.validity import Validity
from estimators.online.monitor.base import Before, Evidence, Moment, Purpose, SearchEta, WindowRequest
from estimators.online.normal_loop import NormalLoop
from estimators.quantities import Parameter
from estimators.recursive.learner import Learner
from estimators.recursive.prior import Prior
from estimators.refit.acceptance import implausible
from estimators.refit.outcome import EndedRefit, Pending, RefitOutcome
from estimators.window.change_point import onset
from estimators.window.row_history import RowHistory
from estimators.window.score_test import Score


class ExaminedWindow(NamedTuple):
    """The evidence of a window, and the score test of it."""

    evidence: Evidence
    score: Score


class Windows:
    """Computes the evidence of windows of the history, from which a monitor decides."""

    def __init__(self, learner: Learner, history: RowHistory, eta: EtaInForce, lookback: Lookback) -> None:
        self._learner, self._history, self._eta, self._lookback = learner, history, eta, lookback

    def before(self, which: Before) -> Prior:
        """Return the prior of θ with which a window is examined."""
        if which is Before.CHANGE:
            return self._lookback.before
        return self._lookback.around if which is Before.NOW else self._lookback.nothing

    def examine(self, request: WindowRequest, moment: Moment) -> ExaminedWindow:
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
        return ExaminedWindow(evidence, score)

    def _placed(self, request: WindowRequest, before: Prior) -> int:
        """Number of the first row that lies wholly after the change, which is taken to be at its most likely place."""
        first = max(request.first - request.place, self._history.oldest)
        row = onset(self._history.since(first), self._learner.rls.noise, before, 2 * request.place)
        return first + row + math.ceil(self._eta.overlap) - 1  # without rows whose kernel sees both sides


class Relearning:
    """Carries out decisions about a model with nonlinear parameters."""

    def __init__(
        self,
        parameters: tuple[Parameter, ...],
        learner: Learner,
        validity: Validity,
        motion: MotionCount,
        history: RowHistory,
        eta: EtaInForce,
        lookback: Lookback,
        refits: EtaRefits,
        loop: NormalLoop,
        log: EventLog,
        checked: bool = True,
    ) -> None:
        """parameters: θ; checked: False accepts whatever a search of normal mode finds, as the paper does."""
        self._checked = checked
        self._parameters = parameters
        self._learner, self._validity, self._motion, self._history = learner, validity, motion, history
        self._eta, self._lookback, self._refits, self._loop, self._log = eta, lookback, refits, loop, log
        self.windows = Windows(learner, history, eta, lookback)

    def alarmed(self, onset: int, own: bool) -> None:
        """Take note of an alarm; onset: number of the row at which the change begins; own: whether it is a new one."""
        self._refits.drop()
        if own:
            self._lookback.before = self._lookback.prior(self._loop.state.snapshot)
        text = f"values from before the change are reported; it began {self._lookback.ago(onset)} s before"
        self._log.add_event("transient", text, self._history.span(onset))

    def search(self, decision: SearchEta, examined: ExaminedWindow | None) -> None:
        """Start a refit, a search of η in the worker; report a drift if that is its cause."""
        purpose, first, which, drifted = decision
        if drifted and examined is not None:
            names, step = self._eta.block.nonlinear, examined.evidence.step
            words = ", ".join(f"{names[k].name} {100 * step[k]:+.1f} %" for k in drifted)
            self._log.add_event(
                "drift", f"over {self._lookback.ago(first)} s of motion: {words}", self._history.span(first)
            )
        self._refits.ask(purpose, first, self._learner.rls.noise, self.windows.before(which))

    def restore(self) -> str:
        """Go back to the state from before the alarm and learn the rows since; returns the text of the event."""
        missed = self._history.since(self._loop.seen)
        self._learner.restore(self._loop.state.snapshot, missed.phi, missed.y)
        return "nothing changed: values from before the alarm go on"

    def learn_theta(self, evidence: Evidence, score: Score) -> str:
        """Learn θ from the window, with η as before; returns the text of the event."""
        rows = self._history.since(evidence.first)
        self._learner.relearn(self._lookback.before, score.theta, rows.phi, rows.y, self._motion.memory)
        self._validity.judge(self._learner)
        self._check_constants(evidence.first, score)
        self._lookback.inflate(score)
        return f"the linear parameters changed {self._lookback.ago(evidence.first)} s ago; new values, η as before"

    def give_up(self, first: int) -> str:
        """Learn θ from row `first` on, and accept its residual as usual; returns the text of the event."""
        learner, usual = self._learner, self._lookback.state
        rows = self._history.since(first)
        learner.relearn(self._lookback.nothing, learner.rls.theta.copy(), rows.phi, rows.y, self._motion.memory)
        self._validity.judge(learner)
        learner.rls.accept_noise()
        usual.usual = max(usual.usual, learner.rls.variance())
        return "new values; the residual stays larger than before, and no η explains it"

    def sharpen(self, evidence: Evidence, score: Score) -> None:
        """Make one Gauss–Newton step of η over the window; θ moves along, dθ/ds = −(ΦᵀΦ)⁻¹ΦᵀT."""
        first, now, p = evidence.first, evidence.now, self._learner.rls.p
        free = score.inverse[p:, p:]
        self._learner.rls.theta += score.inverse[:p, p:] @ np.linalg.solve(free, score.step)
        noise = self._lookback.noise(score)
        words = self._eta.step(score.step, evidence.sigma, noise * free, now - first)
        self._loop.take_snapshot()
        self._history.outdate(now, self._eta.refill())
        self._check_constants(first, score)
        self._lookback.inflate(score)
        text = f"over {self._lookback.ago(first)} s of motion: {words}"
        self._log.add_event("sharpened", text, self._history.span(first))

    def judge(self, found: EndedRefit) -> tuple[str, bool]:
        """Return why a refit is rejected, "" if it is accepted; and whether its residual is fine, or there is none."""
        outcome, reason, pending = found
        if outcome is None:
            return reason, True
        limit, eta, rows = self._lookback.limit(pending.first), self._eta, pending.last - pending.first
        if not self._checked:
            return "", not outcome.residual > limit
        usual = self._lookback.state.usual
        of_s = eta.of_s(outcome)
        reason = implausible(
            eta.block, outcome, of_s, eta.state.eta, limit, usual, eta.limits, long=rows >= self._motion.needed
        )
        return reason, not outcome.residual > limit

    def take(self, outcome: RefitOutcome, pending: Pending, alarmed: bool) -> Spectrum:
        """Put a refit in force: η, and the θ learnt with it; returns the identifiable directions of its window."""
        lookback = self._lookback
        words = self._eta.accept(outcome, pending.last - pending.first)
        self._refits.accepted(pending, words, outcome.search)
        self._eta.write(outcome.columns, pending.first, pending.last, self._history, outcome.slopes)
        before = self.windows.before(Before.CHANGE if alarmed else Before.NOW)
        rows = self._history.since(pending.last)
        self._learner.take_over(outcome.learnt, rows.phi, rows.y, self._motion.memory)
        self._validity.judge(self._learner)
        score = lookback.explain(pending.first, before)
        lookback.weigh_steps(outcome)
        self._check_constants(pending.first, score, outcome)
        lookback.inflate(score)
        return lookback.window_spectrum(score, self._parameters)

    def _check_constants(self, first: int, score: Score, searched: RefitOutcome | None = None) -> None:
        """Check known constants by the rows since `first`, with the noise of these rows."""
        noise = self._learner.rls.noise * max(self._lookback.state.usual, score.variance)
        self._lookback.suspect(self._history.since(first), self._learner.rls.theta, noise, searched)
