"""Normal mode of a joint with nonlinear parameters η: alarms are followed up, η is searched anew only when it moved.

    alarm      CUSUM on the squared prediction error (alarm.py); the change began about where the CUSUM was last zero,
               at the row that its likelihood says (onset.py)
    transient  the last good values are published, flagged, while a window grows from there until it is covered: the
               predicted deviations of η and of the torque in it are good enough to tell a change of η from one of θ
    verdict    with η frozen, least squares explain the window, and no other η would explain more: θ has changed (or
               nothing has), recursive least squares begin again from the window; otherwise η is searched (refit.py)
    refit      in a worker; accepted when it explains the window, is certain and plausible; confirmed a period later
    drift      every second one Gauss–Newton step of η over the last period; twice significant, η is searched

Design and figures: irj-joint design, section 3; docs/decisions/006-monitor.md. All decisions fall at fixed row counts;
with a refit executor that works inline, results do not depend on how rows are cut into batches.
"""

import math
from typing import Final

import numpy as np

from estimators.base import Phase
from estimators.online.monitor.drift import Watching
from estimators.online.monitor.refits import Pending
from estimators.recursive import state as at
from estimators.recursive.forgetting import ONSET
from estimators.recursive.prior import Prior, nothing
from estimators.refit.acceptance import CERTAIN, delta, implausible
from estimators.refit.job import Outcome
from estimators.window.change_point import onset
from estimators.window.score_test import Explanation

TELLING: Final = 0.06  # of ln η, up to which "η did not move" is believed
COVERED: Final = 2.5  # of a row's noise variance: how uncertain a covered window's torque may be over the whole motion
KNOWN: Final = 0.01  # or of the rms of y
HEAD: Final = 0.2  # s by which the alarm may place a change too early or too late
SHORTEST: Final = 1.0  # s of motion before a transient is judged
SIGNIFICANT: Final = 4.0  # σ
BENT: Final = 20.0  # χ² that another η must promise for η to have moved …
STRAIGHT: Final = 9.0  # … and at most may promise for it not to have
CONFIRM: Final = 1.6  # motion periods from a refit to its confirmation
LONGER: Final = 1.5  # times the window of an unconfirmed refit before an alarm during it is judged, CONFIRM at most
GROWTH: Final = 1.2  # times the window of a rejected refit, before the next
LEFT: Final = 0.15  # of a window that no η explains, left out of the next


class Monitored(Watching):
    """The phases of procedure.py with η searched at the start and whenever it moved."""

    def _review(self) -> None:
        self._poll()
        super()._review()
        simple = self._monitor.design == "simple"
        if simple and self.phase in (Phase.NORMAL, Phase.TRANSIENT) and not self._gate.resting:
            self._simple()
        if self.phase is Phase.NORMAL and not self._gate.resting:
            if self.rls.state[at.CUSUM] == 0.0:
                self._snapshot[:], self._seen = self.rls.state, self._history.total
            self._watch()

    def _alarm(self) -> None:
        super()._alarm()
        state, now = self.rls.state, self._history.total
        self._newest = now - int(state[at.SINCE]) - int(state[ONSET])
        self._drifts, self._try = 0, 0
        self._pending = None
        self._epoch += 1
        if self._confirm is None:
            self._onset = self._newest
            self._before = self._prior(self._snapshot)
        else:  # the new η came from a short window: look at a longer one first
            window = now - self._onset
            enough = max(CONFIRM * self._span(), window + SHORTEST / self._period)
            self._try = round(min(LONGER * window, enough))
        text = f"values from before stand; the change began {self._ago(self._onset)} s before"
        self._say("transient", text, self._since(self._onset))

    def _continue_transient(self) -> None:
        if self._monitor.design == "simple":
            super()._continue_transient()
            return
        rows = self._history.total - self._onset
        if self._pending is not None or rows * self._period < SHORTEST or rows < self._try:
            return
        first, explained = self._explained(self._before)
        noise = self._usual * self._overlap
        sigma = explained.sigma * math.sqrt(noise)
        overdue = rows >= self._needed()
        reach = self._overlap * float(np.sum(explained.inverse * self._motions))
        known = reach <= COVERED or reach * self._usual <= KNOWN**2 * explained.signal
        if not overdue and not (known and sigma.max() <= CERTAIN):
            return
        quiet = explained.variance <= delta(self._usual, explained.signal)
        gain = self._gain(explained, noise)
        if gain > BENT or (overdue and not quiet):
            self._search("change", first, self._history.since(first), self.rls.noise, self._before)
        elif quiet and (overdue or (gain < STRAIGHT and sigma.max() <= TELLING)):
            self._theta_changed(first, explained)

    def _explained(self, before: Prior) -> tuple[int, Explanation]:
        """The window since the change, from the row at which it most likely came, with η frozen."""
        first = self._onset
        if first == self._newest:  # the alarm's own guess
            reach = round(HEAD / self._period)
            first = max(first - reach, self._history.oldest)
            row = onset(self._history.since(first), self.rls.noise, before, 2 * reach)
            first += row + math.ceil(self._overlap) - 1  # without rows whose kernel sees both sides
        return first, self._explain(first, before)

    def _theta_changed(self, first: int, explained: Explanation) -> None:
        """No other η explains the window better: learn θ from it, or go on as before when nothing changed."""
        p = self.rls.p
        if explained.unchanged <= self._usual * self._overlap * (p + SIGNIFICANT * math.sqrt(2.0 * p)):
            alarms = self.rls.state[at.ALARMS]
            self.rls.state[:] = self._snapshot
            missed = self._history.since(self._seen)
            self.rls.absorb(np.ascontiguousarray(missed.phi), np.ascontiguousarray(missed.y))
            self.rls.state[at.ALARMS] = max(alarms, self.rls.state[at.ALARMS])
            self._recover("nothing changed: values from before the alarm go on", self._since(first))
            return
        self._onset = max(self._onset, first)
        self._relearn(first, self._before, explained.theta)
        self._inflate(explained)
        text = f"the linear parameters changed {self._ago(first)} s ago; new values, η as before"
        self._recover(text, self._since(first))

    def _found(self, outcome: Outcome | None, reason: str, pending: Pending) -> None:
        if pending.purpose == "start":
            self._found_start(outcome, reason, pending)
            return
        if outcome is not None:
            reason = implausible(
                self._shape, outcome, self._of_s(outcome), self.eta, self._limit(pending.first), self._usual
            )
        if reason or outcome is None:
            self._reject(pending, reason)
            rows = pending.last - pending.first
            if self.phase is Phase.TRANSIENT:
                if outcome is not None and outcome.residual > self._limit(pending.first):
                    self._onset = max(pending.first + round(LEFT * rows), self._newest)
                    self._confirm = None
                self._try = round(GROWTH * (pending.last - self._onset))
                if pending.last - self._onset >= self._needed():
                    self._give_up()
            return
        self._accept(outcome, pending)
        before = self._before if self.phase is Phase.TRANSIENT else self._around()
        self._take_over(outcome.learnt, pending.last)
        explained = self._explain(pending.first, before)
        self._inflate(explained)
        self._tell_apart(explained)
        if pending.purpose != "confirmation":
            self._confirm = self._history.total + round(CONFIRM * self._span())
            self._onset = pending.first
        if self.phase is Phase.TRANSIENT:
            self._recover("new values and new η", pending.window)

    def _give_up(self) -> None:
        """A period has passed and nothing explains it: the residual of now is the new usual."""
        self._relearn(self._onset, nothing(self.rls.p), self.rls.theta.copy())
        self.rls.accept_noise()
        self._usual = max(self._usual, self.rls.variance())
        text = "new values; the residual stays larger than before, and no η explains it"
        self._recover(text, self._since(self._onset))

    def _restart(self, cause: str) -> None:
        super()._restart(cause)
        self.zero, self._recentrings, self._suspects = 0.0, 0, []
        self._history.clear()
        self._epoch += 1
        self._pending = None

    def _limit(self, first: int) -> float:
        rows = self._history.since(first)
        usable = np.isfinite(rows.y)
        signal = float(np.mean((rows.y / np.sqrt(self.rls.noise))[usable] ** 2))
        return delta(self._usual, signal)
