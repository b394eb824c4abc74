"""Normal mode of a joint with nonlinear parameters η: alarms are followed up, η is searched anew only when it moved.

    alarm      CUSUM on the squared prediction error (alarm.py); the change began where the CUSUM was last zero
    transient  the last good values are published, flagged, while a window grows from there until it is covered: the
               predicted deviation of η in it, and its condition, are good enough to tell a change of η from one of θ
    verdict    with η frozen, least squares explain the window, and no other η would explain more: θ has changed (or
               nothing has), recursive least squares begin again from the window; otherwise η is searched (refit.py)
    refit      in a worker; accepted when it explains the window, is certain and plausible; confirmed a period later
    drift      every second one Gauss–Newton step of η over the last period; twice significant, η is searched

Design and figures: irj-joint design, section 3; docs/decisions/006-monitor.md. All decisions fall at fixed row counts;
with a refit executor that works inline, results do not depend on how rows are cut into batches.
"""

import math
from collections.abc import Mapping
from concurrent.futures import Executor, Future
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np

from estimators import rls_state as at
from estimators.alarm import calibrate, motion_period
from estimators.base import Estimate, Floats, JointModel, Phase, Rows
from estimators.forgetting import ONSET, Forgetting, Threshold
from estimators.friction.base import FrictionSettings
from estimators.history import History
from estimators.keeping import NotTheSameError
from estimators.procedure import PATIENCE, PERIODS, SCALE_WINDOW, Procedure
from estimators.refit_job import Inline, Outcome, job, run
from estimators.refit_settings import Monitor
from estimators.shape import Explanation, Prior, Shape, nothing
from estimators.suspects import Suspect

ALLOWANCE: Final = 2.0  # k of the CUSUM: a false alarm costs little here, a late one more
LIMIT: Final = 25.0  # h, at least
START_PERIODS: Final = 1.5  # motion periods that a start takes at least
CERTAIN: Final = 0.08  # deviation of ln η up to which a window is covered, and a refit accepted
TELLING: Final = 0.06  # of ln η, up to which "η did not move" is believed
COVERED: Final = 2.0  # of a row's noise variance: how uncertain a covered window's torque may be over the whole motion
NOISE: Final = 1.2  # δ: times the usual residual …
SHARE: Final = 0.004  # … or this share of the rms of y
KNOWN: Final = 0.01  # or of the rms of y
TRIMS: Final = (0.03, 0.06, 0.1, 0.15, 0.2)  # s off a window's head: the alarm may place a change too early
BETTER: Final = 0.9  # times the residual variance, from which a trim has cut off rows of before
SHORTEST: Final = 1.0  # s of motion before a transient is judged
SIGNIFICANT: Final = 4.0  # σ
BENT: Final = 20.0  # χ² that another η must promise for η to have moved …
STRAIGHT: Final = 9.0  # … and at most may promise for it not to have
MOVED: Final = 0.03  # of ln η: less is not worth a search
PLAUSIBLE: Final = math.log(2.0)  # |Δ ln η| between two refits
LONGER: Final = 1.5  # times the window of an unconfirmed refit, before an alarm during it is judged
GROWTH: Final = 1.2  # times the window of a rejected refit, before the next
HEAD: Final = 0.15  # of a window that no η explains, left out of the next
DRIFT_EVERY: Final = 1.0  # s
SIMPLE_EVERY: Final = 0.25  # s
HOLD: Final = 1.05  # motion periods that design S waits
RECENTRINGS: Final = 4  # of one start, at most
SMALL_ZERO: Final = 0.25  # of the largest twist, up to which a zero found in the residual is believed
STALE: Final = 30.0  # s of rows after which a refit's result is too old
LOOK_BACK: Final = 64.0  # s of motion


class Pending(NamedTuple):
    """A refit on its way."""

    future: "Future[Outcome]"
    purpose: str  # start, change, confirmation, drift
    first: int  # numbers of the window's first row, and behind its last
    last: int
    epoch: int
    text: str  # the window in words


class Monitored(Procedure):
    """The phases of procedure.py with η searched at the start and whenever it moved."""

    UNKEPT = Procedure.UNKEPT | {"_shape", "_history", "_executor", "_monitor", "_pending", "_suspects"}

    def __init__(
        self,
        model: JointModel,
        taps: Floats,
        decimation: int,
        period: float,
        forgetting: Forgetting,
        start: float,
        standstill: float,
        monitor: Monitor,
        executor: Executor | None = None,
    ) -> None:
        """taps: of the kernel that smoothed the rows, of which one in `decimation` left.

        period: s between rows; executor: where refits run, by default inline.
        """
        super().__init__(model.parameters, len(model.outputs), period, forgetting, start, standstill)
        self.eta = np.array(model.start, np.float64)
        self.zero = 0.0  # rad, of the spring's twist: what the encoders' zeros differ by
        self.refits = {"started": 0, "accepted": 0, "rejected": 0}
        self._shape = Shape(model, taps)
        self._standstill = standstill
        self._monitor = monitor
        self._executor = executor or Inline()
        self._history = History(round(LOOK_BACK / period))
        self._sigma = np.full(len(self.eta), np.inf)  # deviations of s, of the last accepted refit
        self._uncertain = np.zeros((len(self.eta), len(self.eta)))  # covariance of s, likewise
        self._inflation = np.ones(len(model.parameters))  # of the deviations of θ, because η is not known exactly
        self._pending: Pending | None = None
        self._epoch = 0
        self._usual = 1.0  # residual variance of the start, whitened
        self._motions = np.zeros((0, 0))  # [Φ T]ᵀ[Φ T] a row, over the start: all of the motion
        self._overlap = max(1.0, 1.0 / (float(taps @ taps) * max(1.0, decimation)))  # rows that say the same
        self._onset = self._newest = 0  # numbers of the rows where the change looked at, and the last alarm's, began
        self._snapshot = (self.rls.state.copy(), 0)
        self._before = nothing(len(model.parameters))
        self._try = 0  # rows of history before which no refit is tried
        self._confirm: int | None = None  # number of the row at which a refit is confirmed
        self._drifts = 0  # significant steps in a row
        self._above: int | None = None  # number of the row since which design S sees too large an error
        self._due = 0  # number of the row of the next look at drift
        self._unsure: tuple[str, ...] = ()
        self._recentrings = 0
        self._suspects: list[Suspect] = []
        if monitor.period is not None:
            self._cycle = round(monitor.period / period)

    def estimate(self) -> Estimate:
        """Report; never learns."""
        estimate = super().estimate()
        known = np.isfinite(self._sigma).all()
        waiting = estimate.phase in (Phase.WAITING, Phase.FAULTED)
        return replace(
            estimate,
            names=estimate.names + tuple(parameter.name for parameter in self._shape.nonlinear),
            values=np.concatenate([estimate.values, np.full(len(self.eta), np.nan) if waiting else self.eta]),
            deviations=np.concatenate(
                [
                    estimate.deviations,
                    self._shape.absolute(self.eta, self._sigma) if known else np.full(len(self.eta), np.nan),
                ]
            ),
            reasons=estimate.reasons + (self._unsure if estimate.phase is Phase.STARTING else ()),
        )

    def keep(self) -> dict[str, Any] | None:
        """As Procedure's; None also while a refit is on its way or to be confirmed."""
        kept = super().keep() if self._pending is None and self._confirm is None else None
        law = self._shape.settings.model_dump()
        return None if kept is None else {"own": kept, "rows": self._history.total, "law": law}

    def resume(self, kept: Mapping[str, Any]) -> None:
        """As Procedure's; the rows themselves are not kept, what looks back begins anew."""
        if kept["law"] != self._shape.settings.model_dump():
            raise NotTheSameError("another friction law was found meanwhile: it is searched again")
        super().resume(kept["own"])
        self._history.total = self._onset = self._newest = self._due = int(kept["rows"])
        self._snapshot = (self.rls.state.copy(), self._history.total)
        self._drifts, self._above, self._try = 0, None, 0

    def counters(self) -> dict[str, int]:
        """As Procedure's, and refits by their fate."""
        return super().counters() | {f"refits_{fate}": count for fate, count in self.refits.items()}

    # --- rows

    def _learn(self, rows: Rows) -> None:
        rows = rows._replace(phi=rows.phi.copy())
        self._shape.refill(rows, self.eta)
        self._shape.recentre(rows, self.zero)
        super()._learn(rows)

    def _teach(self, rows: Rows) -> None:
        rows = rows.part(rows.speed >= self._standstill)  # the gate closes later; what sticks teaches nothing at once
        if len(rows.time):
            self._history.add(rows)
        super()._teach(rows)

    def _review(self) -> None:
        self._poll()
        super()._review()
        simple = self._monitor.design == "simple"
        if simple and self.phase in (Phase.NORMAL, Phase.TRANSIENT) and not self._gate.resting:
            self._simple()
        if self.phase is Phase.NORMAL and not self._gate.resting:
            if self.rls.state[at.CUSUM] == 0.0:
                self._snapshot = (self.rls.state.copy(), self._history.total)
            self._watch()

    # --- starting

    def _begin(self) -> None:
        super()._begin()
        self._try = 0
        if self.phase is Phase.STARTING:
            self._onset = self._history.total - self._motion

    def _continue_start(self) -> None:
        if self._motion % max(1, round(SCALE_WINDOW / self._period)) < self._block and not self._gate.resting:
            self._find_cycle(self._window.cycle())
            self._honesty = self._window.honesty(self.rls)
        if self._pending is None and self._motion >= max(self._needed(), self._try):
            rows = self._history.since(self._onset)
            noise = self._window.noise(self.rls.theta)
            self._search("start", self._onset, rows, noise, nothing(self.rls.p), again=True)

    def _needed(self) -> float:
        return max(self._start / self._period, START_PERIODS * self._cycle)

    def _found_start(self, outcome: Outcome | None, reason: str, pending: Pending) -> None:
        """The start ends when its refit is certain of every parameter, or when patience does."""
        patient = self._motion * self._period < PATIENCE * self._start
        if outcome is None:
            self._reject(pending, reason)
            self._try = round(GROWTH * self._motion)
            self._unsure = (reason,)
            if not patient:
                self._restart(f"no η was found in {self._motion * self._period:.0f} s of motion: {reason}")
            return
        if outcome.law is not None:
            self._adopt(outcome.law)
        if self._recentred(outcome, pending):
            return
        sigma = self._of_s(outcome)
        leverage, signal = self._window.scale(outcome.noise)
        theta_sigma = np.sqrt(np.diag(outcome.covariance))[: self.rls.p]
        self._validity.judge(outcome.theta, theta_sigma, leverage, signal)
        self._unsure = self._doubts(outcome, sigma)
        if (self._unsure or self._validity.reasons) and patient:
            self._reject(pending, "; ".join(self._unsure + self._validity.reasons))
            self._try = round(GROWTH * self._motion)
            return
        self._accept(outcome, pending)
        rows = self._history.since(pending.first)
        self._suspects = self._shape.suspected(rows, outcome.eta, outcome.theta, outcome.noise, self._overlap)
        self._window.clear()
        self._window.add(rows.phi.copy(), rows.y.copy())
        self._anchor = outcome.theta
        self._learn_window(outcome.noise)
        self._calibrate()
        explained = self._shape.explain(rows, self.eta, self.rls.noise, nothing(self.rls.p))
        self._motions = explained.mean
        self._inflate(explained)
        self._judge()
        self._onset = pending.first
        self._due = self._history.total

    def _recentred(self, outcome: Outcome, pending: Pending) -> bool:
        """Whether the residual shows the encoders' zero: then it is moved, and the window searched again."""
        spring, rows = self._shape.joint.spring, self._history.since(pending.first)
        if spring is None or self._recentrings >= RECENTRINGS:
            return False
        rows = rows._replace(phi=rows.phi.copy())
        self._shape.refill(rows, outcome.eta)
        found = self._shape.suspected(rows, outcome.eta, outcome.theta, outcome.noise, self._overlap)
        if not found or found[0].unit != "rad":
            return False
        zero, largest = found[0].error, float(np.nanmax(np.abs(rows.phi[:, :, spring.columns[0]])))
        if abs(zero) > SMALL_ZERO * largest:  # the cubic term is not known yet: the offsets know better
            offsets = [i for i, name in enumerate(self._names) if name.endswith("_offset")]
            if len(offsets) != 2:
                return False
            zero = float(outcome.theta[offsets] @ (0.5, -0.5) / outcome.theta[spring.columns[0]])
        if abs(zero) > largest:
            return False
        self._recentrings += 1
        self.zero += zero
        self._reject(pending, f"the encoders' zeros differ by {1e3 * self.zero:.3g} mrad, which is taken off")
        self._shape.recentre(self._history.since(0), zero)
        rows = self._history.since(pending.first)
        self._search("start", pending.first, rows, outcome.noise, nothing(self.rls.p), again=True)
        return True

    def _accused(self) -> tuple[str, ...]:
        if not self._suspects:
            return ()
        return (f"something taken as known is wrong, most likely {' or '.join(map(str, self._suspects))}",)

    def _adopt(self, law: FrictionSettings) -> None:
        """Another friction law with the same columns explains the motion better."""
        ours, theirs = self._shape.settings.model_dump(), law.model_dump()
        words = ", ".join(f"{key} = {value}" for key, value in theirs.items() if value != ours[key])
        self._say("law", f"{words} explains the motion better than what is configured, and is used from here on")
        self._shape = Shape(self._shape.joint, self._shape.taps, law)

    def _threshold(self, squared: Floats) -> Threshold:
        threshold = calibrate(squared, ALLOWANCE, LIMIT * self._overlap)
        self._usual = threshold.noise
        return threshold

    def _judge(self) -> None:
        spring = self._shape.joint.spring
        if spring is not None and self.phase in (Phase.WAITING, Phase.STARTING):
            linear, cubic = self.rls.theta[list(spring.columns)]
            twist = self._history.largest(spring.output, spring.columns[0])
            self._validity.peak = max(self._validity.peak, abs(linear * twist + cubic * twist**3))
        super()._judge()
        self._deviations = self._deviations * self._inflation

    # --- alarm and transient

    def _alarm(self) -> None:
        super()._alarm()
        state, now = self.rls.state, self._history.total
        self._newest = now - int(state[at.SINCE]) - int(state[ONSET])
        self._drifts, self._try = 0, 0
        self._pending = None
        self._epoch += 1
        if self._confirm is None:
            self._onset = self._newest
            self._before = self._prior(self._snapshot[0])
        else:  # the new η came from a short window: look at a longer one first
            self._try = round(LONGER * (now - self._onset))
        self._say("transient", f"values from before stand; the change began {self._ago(self._onset)} s before")

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
        quiet = explained.variance <= self._delta(explained)
        gain = self._gain(explained, noise)
        if gain > BENT or (overdue and not quiet):
            self._search("change", first, self._history.since(first), self.rls.noise, self._before)
        elif quiet and (overdue or (gain < STRAIGHT and sigma.max() <= TELLING)):
            self._theta_changed(first, explained)

    def _explained(self, before: Prior) -> tuple[int, Explanation]:
        """The window since the change, its head trimmed where that explains it, with η frozen."""
        first = self._onset
        best = self._shape.explain(self._history.since(first), self.eta, self.rls.noise, before)
        for trim in TRIMS:
            if best.variance <= NOISE**2 * self._usual:
                break
            later = self._onset + round(trim / self._period)
            shorter = self._shape.explain(self._history.since(later), self.eta, self.rls.noise, before)
            if shorter.variance < BETTER * best.variance:
                first, best = later, shorter
        return first, best

    def _theta_changed(self, first: int, explained: Explanation) -> None:
        """No other η explains the window better: learn θ from it, or go on as before when nothing changed."""
        p = self.rls.p
        if explained.unchanged <= self._usual * self._overlap * (p + SIGNIFICANT * math.sqrt(2.0 * p)):
            state, number = self._snapshot
            alarms = self.rls.state[at.ALARMS]
            self.rls.state[:] = state
            missed = self._history.since(number)
            self.rls.absorb(np.ascontiguousarray(missed.phi), np.ascontiguousarray(missed.y))
            self.rls.state[at.ALARMS] = max(alarms, self.rls.state[at.ALARMS])
            self._recover("nothing changed: values from before the alarm go on")
            return
        self._onset = max(self._onset, first)
        self._relearn(first, self._before, explained.theta)
        self._inflate(explained)
        self._recover(f"the linear parameters changed {self._ago(first)} s ago; new values, η as before")

    def _relearn(self, first: int, before: Prior, anchor: Floats) -> None:
        """θ and P from the rows since `first` and what was known before; anchor: θ where no data pull."""
        rls, rows = self.rls, self._history.since(first)
        threshold = Threshold(*rls.state[NOISE_PLACES])
        rls.begin(rls.noise.copy(), self._leverage)
        rls.theta[:] = anchor
        if before.information.any():
            known = before.root()
            phi, y = np.zeros((len(known), rls.m, rls.p)), np.full((len(known), rls.m), np.nan)
            phi[:, 0] = known
            y[:, 0] = known @ before.theta
            phi[:, 0] *= math.sqrt(rls.noise[0])
            y[:, 0] *= math.sqrt(rls.noise[0])
            rls.absorb(phi, y)
        rls.absorb(np.ascontiguousarray(rows.phi), np.ascontiguousarray(rows.y))
        rls.settle(threshold, PERIODS * self._cycle)
        self._judge()
        self._due = self._history.total + round(DRIFT_EVERY / self._period)

    def _prior(self, state: Floats) -> Prior:
        """Of the columns that are not friction: a change is first looked for in the friction."""
        current = self.rls.state.copy()
        self.rls.state[:] = state
        theta, covariance, variance = self.rls.theta.copy(), self.rls.covariance(), self.rls.variance()
        self.rls.state[:] = current
        prior = nothing(self.rls.p)
        rest = self._shape.rest
        if len(rest):
            factor = self._honesty[rest] * self._inflation[rest]
            spread = covariance[np.ix_(rest, rest)] * np.outer(factor, factor) * max(1.0, variance / self._usual)
            prior.information[np.ix_(rest, rest)] = np.linalg.inv(spread)
        return prior._replace(theta=theta)

    # --- normal

    def _watch(self) -> None:
        now = self._history.total
        if self._pending is not None:
            return
        if not self._cycle and self._monitor.period is None and now >= self._due:
            rows = self._history.since(now - round(LOOK_BACK / self._period))
            self._find_cycle(motion_period(rows.y[:, 0]))
        if self._confirm is not None and now >= self._confirm:
            self._confirm = None
            first = max(self._onset, now - 2 * self._span())
            self._search("confirmation", first, self._history.since(first), self.rls.noise, self._around())
            return
        if now >= self._due:
            self._due = now + round(DRIFT_EVERY / self._period)
            self._drift(now)

    def _simple(self) -> None:
        """Design S: least squares over the last period, η frozen, off by more than δ for more than a period."""
        now, every = self._history.total, max(self._block, round(SIMPLE_EVERY / self._period))
        if self._pending is not None or now % every >= self._block:
            return
        first = now - self._span()
        explained = self._shape.explain(self._history.since(first), self.eta, self.rls.noise, nothing(self.rls.p))
        if explained.variance <= self._delta(explained):
            self._above = None
        elif self._above is None:
            self._above = now
        elif now - self._above > HOLD * self._span():
            self._above = None
            self._search("change", first, self._history.since(first), self.rls.noise, nothing(self.rls.p))

    def _drift(self, now: int) -> None:
        first = max(self._onset, now - self._span())
        if now - first < 0.5 * self._span():
            return
        explained = self._shape.explain(self._history.since(first), self.eta, self.rls.noise, self._around())
        noise = self._overlap * max(self._usual, explained.variance)
        sigma = np.hypot(explained.sigma * math.sqrt(noise), self._sigma)
        quiet = explained.variance <= self._delta(explained) or self._gain(explained, noise) > BENT
        bent = (np.abs(explained.step) > SIGNIFICANT * sigma) & (np.abs(explained.step) > MOVED) & (sigma <= CERTAIN)
        self._drifts = self._drifts + 1 if quiet and bent.any() else 0
        if self._drifts < 2:
            return
        self._drifts = 0
        words = ", ".join(
            f"{parameter.name} {100 * step:+.1f} %"
            for parameter, step, bends in zip(self._shape.nonlinear, explained.step, bent, strict=True)
            if bends
        )
        self._say("drift", f"over {self._ago(first)} s of motion: {words}")
        self._search("drift", first, self._history.since(first), self.rls.noise, self._around())

    def _around(self) -> Prior:
        return self._prior(self.rls.state)

    # --- refits

    def _search(self, purpose: str, first: int, rows: Rows, noise: Floats, before: Prior, again: bool = False) -> None:
        last = self._history.total
        text = f"{purpose}, {(last - max(first, last - len(rows.time))) * self._period:.2f} s of motion"
        self.refits["started"] += 1
        self._say("refit_started", text)
        task = job(self._shape, rows, noise, before, again, self._monitor.refit)
        if again:
            task = replace(task, overlap=self._overlap, laws=self._shape.settings.alternatives())
        future = self._executor.submit(run, task)
        self._pending = Pending(future, purpose, first, last, self._epoch, text)
        self._poll()

    def _poll(self) -> None:
        pending = self._pending
        if pending is None or not pending.future.done():
            return
        self._pending = None
        reason, outcome = "", None
        if pending.epoch != self._epoch:
            reason = "stale: another change came meanwhile"
        elif (self._history.total - pending.last) * self._period > STALE:
            reason = f"stale: its window ended {self._ago(pending.last)} s of motion ago"
        else:
            try:
                outcome = pending.future.result()
            except Exception as error:
                reason = str(error) or type(error).__name__
        if pending.purpose == "start":
            self._found_start(outcome, reason, pending)
        else:
            self._found(outcome, reason, pending)

    def _found(self, outcome: Outcome | None, reason: str, pending: Pending) -> None:
        if outcome is not None:
            reason = self._implausible(outcome, pending)
        if reason or outcome is None:
            self._reject(pending, reason)
            rows = pending.last - pending.first
            if self.phase is Phase.TRANSIENT:
                if outcome is not None and outcome.residual > self._limit(pending.first):
                    self._onset = max(pending.first + round(HEAD * rows), self._newest)
                    self._confirm = None
                self._try = round(GROWTH * (pending.last - self._onset))
                if pending.last - self._onset >= self._needed():
                    self._give_up()
            return
        self._accept(outcome, pending)
        before = self._before if self.phase is Phase.TRANSIENT else self._around()
        self._relearn(pending.first, before, outcome.theta)
        explained = self._shape.explain(self._history.since(pending.first), self.eta, self.rls.noise, before)
        self._inflate(explained)
        if pending.purpose != "confirmation":
            self._confirm = self._history.total + self._span()
            self._onset = pending.first
        if self.phase is Phase.TRANSIENT:
            self._recover("new values and new η")

    def _implausible(self, outcome: Outcome, pending: Pending) -> str:
        doubts = self._doubts(outcome, self._of_s(outcome))
        limit = self._limit(pending.first)
        if outcome.residual > limit:
            ratio = math.sqrt(outcome.residual / self._usual)
            doubts = (f"the residual is {ratio:.2f} times the usual one", *doubts)
        far = np.abs(self._shape.distance(self.eta, outcome.eta)) > PLAUSIBLE
        names = [parameter.name for parameter, is_far in zip(self._shape.nonlinear, far, strict=True) if is_far]
        if names:
            doubts = (*doubts, f"{', '.join(names)} more than twice, or less than half, of before")
        return "; ".join(doubts)

    def _doubts(self, outcome: Outcome, sigma: Floats) -> tuple[str, ...]:
        doubts = tuple(
            f"{parameter.name} = {value:.4g} {parameter.unit} is uncertain by {100 * one:.0f} %"
            for parameter, value, one in zip(self._shape.nonlinear, outcome.eta, sigma, strict=True)
            if not one <= CERTAIN
        )
        doubts += tuple(f"{name} is at the end of its range" for name in outcome.edge)
        doubts += tuple(f"{name} would be negative" for name in outcome.held)
        return doubts + ((outcome.ambiguous,) if outcome.ambiguous else ())

    def _accept(self, outcome: Outcome, pending: Pending) -> None:
        self.refits["accepted"] += 1
        words = ", ".join(
            f"{parameter.name} {before:.4g} → {after:.4g} {parameter.unit}"
            for parameter, before, after in zip(self._shape.nonlinear, self.eta, outcome.eta, strict=True)
        )
        self._say("refit_accepted", pending.text)
        self._say("refit", f"{pending.text}: {words}")
        self.eta = outcome.eta.copy()
        self._sigma = self._of_s(outcome)
        per_s = self._shape.deviations(self.eta, np.ones(len(self.eta)))
        self._uncertain = outcome.covariance[self.rls.p :, self.rls.p :] * np.outer(per_s, per_s)
        self._shape.refill(self._history.since(0), self.eta)

    def _reject(self, pending: Pending, reason: str) -> None:
        self.refits["rejected"] += 1
        self._say("refit_rejected", f"{pending.text}: {reason}")

    def _give_up(self) -> None:
        """A period has passed and nothing explains it: the residual of now is the new usual."""
        self._relearn(self._onset, nothing(self.rls.p), self.rls.theta.copy())
        self.rls.accept_noise()
        self._usual = max(self._usual, self.rls.variance())
        self._recover("new values; the residual stays larger than before, and no η explains it")

    def _restart(self, cause: str) -> None:
        super()._restart(cause)
        self._anchor = np.zeros(self.rls.p)
        self.zero, self._recentrings, self._suspects = 0.0, 0, []
        self._history.clear()
        self._epoch += 1
        self._pending = None

    # --- small things

    def _delta(self, explained: Explanation) -> float:
        """δ²: the residual variance up to which a window is explained."""
        return max(NOISE**2 * self._usual, SHARE**2 * explained.signal)

    def _limit(self, first: int) -> float:
        rows = self._history.since(first)
        usable = np.isfinite(rows.y)
        signal = float(np.mean((rows.y / np.sqrt(self.rls.noise))[usable] ** 2))
        return max(NOISE**2 * self._usual, SHARE**2 * signal)

    def _gain(self, explained: Explanation, noise: float) -> float:
        """χ² of the step that explains a window better than η in force does, which is not known exactly either."""
        free = explained.inverse[self.rls.p :, self.rls.p :]
        return float(explained.step @ np.linalg.solve(noise * free + self._uncertain, explained.step))

    def _of_s(self, outcome: Outcome) -> Floats:
        return self._shape.deviations(outcome.eta, np.sqrt(np.diag(outcome.covariance))[self.rls.p :])

    def _inflate(self, explained: Explanation) -> None:
        """How much less certain θ is for η not being known: with the tangent columns, over without."""
        own = np.sqrt(np.diag(self.rls.covariance()))
        self._inflation = np.maximum(explained.spread / np.maximum(own, 1e-300), 1.0)

    def _span(self) -> int:
        """Rows of one motion period."""
        return self._cycle or round(self._start / self._period)

    def _find_cycle(self, found: int) -> None:
        if self._monitor.period is None:
            self._cycle = found

    def _ago(self, number: int) -> str:
        return f"{(self._history.total - number) * self._period:.2f}"


NOISE_PLACES: Final = slice(at.CONSTANT + 8, at.CONSTANT + 11)  # v₀, k and h of the alarm in a state
