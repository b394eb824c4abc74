"""A procedure around a joint with nonlinear parameters η: rows kept for looking back, η searched in a worker."""

import math
from collections.abc import Mapping
from concurrent.futures import Executor, Future
from dataclasses import replace
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

from estimators.base import UNKNOWN, Estimate, Phase
from estimators.models.base import JointModel
from estimators.models.nonlinear_block import Shape
from estimators.online import normal_loop as course
from estimators.online.checkpoint import NotTheSameError
from estimators.online.phases import LOOK_BACK, PERIODS, Procedure
from estimators.quantities import Floats
from estimators.recursive import state as at
from estimators.recursive.forgetting import Forgetting, Threshold
from estimators.recursive.prior import Prior, nothing
from estimators.recursive.restart import COUNTERS, relearn
from estimators.refit.inline import Inline
from estimators.refit.job import Outcome, job, run
from estimators.refit.settings import Monitor
from estimators.rows import Rows
from estimators.window.row_history import History
from estimators.window.score_test import Explanation, Slopes, explain
from estimators.window.spectrum import spectrum
from estimators.window.wrong_constants import Suspect

START_PERIODS: Final = 1.5  # motion periods that a start takes at least
DRIFT_EVERY: Final = 1.0  # s
STALE: Final = 30.0  # s of rows after which a refit's result is too old
NOISE_PLACES: Final = slice(at.CONSTANT + 8, at.CONSTANT + 11)  # v₀, k and h of the alarm in a state


class Pending(NamedTuple):
    """A refit on its way."""

    future: "Future[Outcome]"
    purpose: str  # start, change, confirmation, drift
    first: int  # numbers of the window's first row, and behind its last
    last: int
    epoch: int
    text: str  # the window in words
    window: tuple[int, int] | None  # ns, likewise


class Searching(Procedure):
    """The phases of procedure.py, and refits under way; what a refit is for is the business of those who derive."""

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
        self._history, self._slopes = History(round(LOOK_BACK / period)), Slopes()
        self._sigma = np.full(len(self.eta), np.inf)  # deviations of s, of the last accepted refit
        self._uncertain = np.zeros((len(self.eta), len(self.eta)))  # covariance of s, likewise
        self._basis = 0  # rows that η in force rests on
        self._pending: Pending | None = None
        self._epoch = 0
        self._usual = 1.0  # residual variance of the start, whitened
        self._motions = np.zeros((0, 0))  # [Φ T]ᵀ[Φ T] a row, over the start: all of the motion
        self._overlap = max(1.0, 1.0 / (float(taps @ taps) * max(1.0, decimation)))  # rows that say the same
        self._onset = self._newest = 0  # numbers of the rows where the change looked at, and the last alarm's, began
        self._snapshot, self._seen = self.rls.state.copy(), 0  # before any sign of an alarm, and at which row
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
        self._snapshot, self._seen = self.rls.state.copy(), self._history.total
        self._drifts, self._above, self._try = 0, None, 0

    def recentre(self, rows: Rows) -> None:
        """Take what the encoders' zeros differ by off the spring's twist."""
        self._shape.recentre(rows, self.zero)

    def counters(self) -> dict[str, int]:
        """As Procedure's, and refits by their fate."""
        return super().counters() | {f"refits_{fate}": count for fate, count in self.refits.items()}

    def _learn(self, rows: Rows) -> None:
        super()._learn(self._shaped(rows))

    def _go_on(self, rows: Rows) -> int:
        rows, kept = self._shaped(rows), np.empty(len(rows.time), np.bool_)
        self._counts[course.KEPT], self._counts[course.SEEN] = self._history.total, self._seen
        taken = self._course(rows, self._standstill, self._decision(), kept, self._snapshot)
        self._seen = int(self._counts[course.SEEN])
        self._history.add(rows.part(slice(taken) if kept[:taken].all() else np.flatnonzero(kept[:taken])))
        return taken

    def _shaped(self, rows: Rows) -> Rows:
        """Rows with the friction columns for η, about the encoders' zero."""
        rows = rows._replace(phi=rows.phi.copy())
        self._shape.refill(rows, self.eta)
        self.recentre(rows)
        return rows

    def _teach(self, rows: Rows) -> None:
        rows = rows.part(rows.speed >= self._standstill)  # the gate closes later; what sticks teaches nothing at once
        self._history.add(rows.part(rows.finite()))
        super()._teach(rows)

    def _search(self, purpose: str, first: int, rows: Rows, noise: Floats, before: Prior, again: bool = False) -> None:
        last = self._history.total
        text = f"{purpose}, {(last - max(first, last - len(rows.time))) * self._period:.2f} s of motion"
        window = self._instants.span(last - max(first, last - len(rows.time)))
        self.refits["started"] += 1
        self._say("refit_started", text, window)
        task = job(self._shape, rows, noise, before, again, self._monitor.refit)
        if again:
            task = replace(task, overlap=self._overlap, laws=self._shape.settings.alternatives())
        else:
            task = replace(task, learner=(self.rls.state.copy(), self._leverage.copy()))
        future = self._executor.submit(run, task)
        self._pending = Pending(future, purpose, first, last, self._epoch, text, window)
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
        self._found(outcome, reason, pending)

    def _accept(self, outcome: Outcome, pending: Pending) -> None:
        self.refits["accepted"] += 1
        words = ", ".join(
            f"{parameter.name} {before:.4g} → {after:.4g} {parameter.unit}"
            for parameter, before, after in zip(self._shape.nonlinear, self.eta, outcome.eta, strict=True)
        )
        self._say("refit_accepted", pending.text, pending.window)
        self._say("refit", f"{pending.text}: {words}", pending.window)
        self.eta = outcome.eta.copy()
        # a search counts rows that overlap as if they did not
        self._sigma = self._of_s(outcome) * math.sqrt(self._overlap)
        per_s = self._shape.deviations(self.eta, np.ones(len(self.eta)))
        self._uncertain = outcome.covariance[self.rls.p :, self.rls.p :] * np.outer(per_s, per_s)
        self._uncertain *= self._overlap
        self._basis = pending.last - pending.first
        self._put(outcome.columns, pending)

    def _put(self, columns: Floats, pending: Pending) -> None:
        """Write the moving columns of a window's rows under η, as far as they are still there; others when wanted."""
        place, rows = self._shape.place, self._history.since(pending.first, pending.last)
        rows.phi[:, place.output, self._shape.moving] = columns[len(columns) - len(rows.time) :]
        self._shape.refill(self._history.since(pending.last), self.eta)
        self._history.outdate(pending.first, partial(self._shape.refill, eta=self.eta))

    def _reject(self, pending: Pending, reason: str) -> None:
        self.refits["rejected"] += 1
        self._say("refit_rejected", f"{pending.text}: {reason}", pending.window)

    def _prior(self, state: Floats) -> Prior:
        """Of the columns that are not friction: a change is first looked for in the friction."""
        prior, rest = nothing(self.rls.p)._replace(theta=self.rls.theta_of(state)), self._shape.rest
        if len(rest):
            current = self.rls.state.copy()
            self.rls.state[:] = state
            covariance, variance = self.rls.covariance(), self.rls.variance()
            self.rls.state[:] = current
            factor = self._honesty[rest] * self._inflation[rest]
            spread = covariance[np.ix_(rest, rest)] * np.outer(factor, factor) * max(1.0, variance / self._usual)
            prior.information[np.ix_(rest, rest)] = np.linalg.inv(spread)
        return prior

    def _around(self) -> Prior:
        return self._prior(self.rls.state)

    def _relearn(self, first: int, before: Prior, anchor: Floats) -> None:
        """θ and P from the rows since `first` and what was known before; anchor: θ where no data pull."""
        threshold, rows = Threshold(*self.rls.state[NOISE_PLACES]), self._history.since(first)
        relearn(self.rls, self._leverage, before, anchor, rows.phi, rows.y)
        self._settle(threshold)

    def _take_over(self, learnt: Floats, last: int) -> None:
        """θ and P as a refit's worker has learnt them from its window; last: the number behind its last row."""
        rls, rows = self.rls, self._history.since(last)
        threshold, counters = Threshold(*rls.state[NOISE_PLACES]), rls.state[COUNTERS]
        rls.state[:] = learnt
        rls.state[COUNTERS] += counters
        rls.absorb(np.ascontiguousarray(rows.phi), np.ascontiguousarray(rows.y))
        self._settle(threshold)

    def _settle(self, threshold: Threshold) -> None:
        self.rls.settle(threshold, PERIODS * self._cycle)
        self._judge()
        self._due = self._history.total + round(DRIFT_EVERY / self._period)

    def _explain(self, first: int, before: Prior, noise: Floats | None = None) -> Explanation:
        """The rows since `first` with η frozen; noise: (outputs,) variances, by default those of the learner."""
        rows, noise = self._history.since(first), self.rls.noise if noise is None else noise
        slopes = self._slopes.since(self._history, rows, self._shape, self.eta)
        return explain(rows, slopes, self._history.total - len(rows.time), self._shape, noise, before)

    def _look(self, noise: Floats) -> None:
        try:
            self._tell_apart(self._explain(self._onset, nothing(self.rls.p), noise))
        except np.linalg.LinAlgError:  # values whose products overflow: the start's own tests will say so
            self._spectrum = UNKNOWN

    def _tell_apart(self, explained: Explanation) -> None:
        """What a window tells apart, η included, and what was known before as further rows."""
        names = (parameter.name for parameter in self._shape.nonlinear)
        self._spectrum = spectrum(explained.gram, (*self._names, *names))

    def _inflate(self, explained: Explanation) -> None:
        """How much less certain θ is for η not being known: with the tangent columns, over without."""
        own = np.sqrt(np.diag(self.rls.covariance()))
        self._inflation[:] = np.maximum(explained.spread / np.maximum(own, 1e-300), 1.0)
        self._judge()

    def _of_s(self, outcome: Outcome) -> Floats:
        return self._shape.deviations(outcome.eta, np.sqrt(np.diag(outcome.covariance))[self.rls.p :])

    def _span(self) -> int:
        """Rows of one motion period."""
        return self._cycle or round(self._start / self._period)

    def _needed(self) -> float:
        return max(self._start / self._period, START_PERIODS * self._cycle)

    def _find_cycle(self, found: int) -> None:
        if self._monitor.period is None:
            self._cycle = found

    def _since(self, number: int) -> tuple[int, int] | None:
        """First and last instant, ns, of the rows from this number on."""
        return self._instants.span(self._history.total - number)

    def _ago(self, number: int) -> str:
        return f"{(self._history.total - number) * self._period:.2f}"

    def _decision(self) -> int:
        """Number of the row at which normal mode has something to decide, alarms apart."""
        raise NotImplementedError

    def _found(self, outcome: Outcome | None, reason: str, pending: Pending) -> None:
        """A search has ended: its outcome, or the reason why there is none."""
        raise NotImplementedError
