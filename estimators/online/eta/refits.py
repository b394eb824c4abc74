"""Refits of η in a worker: one at a time, rejected when they come too late."""

from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final

from estimators.online.eta.in_force import EtaInForce
from estimators.online.judgement.events import EventLog
from estimators.quantisation.effect import READ
from estimators.quantities import Floats
from estimators.recursive.learner import Learner
from estimators.recursive.prior import Prior
from estimators.refit.inline import Inline
from estimators.refit.job import job, run, shifted_window
from estimators.refit.outcome import EndedRefit, Pending, SearchReport
from estimators.refit.settings import RefitSettings
from estimators.window.row_history import RowHistory

#: s, argued: A refit whose window ended longer ago is rejected: the joint may have changed since (decision 006, point
#: 7).
STALE: Final = 30.0


@dataclass(slots=True)
class RefitsState:
    """State of EtaRefits."""

    VERSION: ClassVar[int] = 1

    started: int = 0
    accepted: int = 0
    rejected: int = 0
    epoch: int = 0  # counts up by one when the search under way becomes invalid


class EtaRefits:
    """Starts refits of the block in force, and reports whether they are accepted."""

    def __init__(
        self,
        learner: Learner,
        history: RowHistory,
        eta: EtaInForce,
        log: EventLog,
        row: float,
        settings: RefitSettings,
        executor: Executor | None = None,
    ) -> None:
        """row: s between rows; executor: where refits run, by default inline."""
        self._learner, self._history, self._eta, self._log = learner, history, eta, log
        self._row, self._settings, self._executor = row, settings, executor or Inline()
        self.pending: Pending | None = None
        self.state = RefitsState()

    def ask(self, purpose: str, first: int, noise: Floats, before: Prior) -> None:
        """Start a search of η over the rows from number `first` on; noise: (outputs,) variances; before: prior.

        The search of a start tries other laws too, and learns the noise; every other search learns θ and η.
        """
        rows, last, eta = self._history.since(first), self._history.total, self._eta
        count = last - max(first, last - len(rows.time))
        text, window = f"{purpose}, {count * self._row:.2f} s of motion", self._history.instants.span(count)
        self.state.started += 1
        self._log.add_event("refit_started", text, window)
        start = purpose == "start"
        task = job(eta.block, rows, noise, before, start, self._settings)
        if start:
            laws = eta.block.settings.alternatives()
            task = replace(task, overlap=eta.overlap, laws=laws, better=eta.limits.better)
        else:
            task = replace(task, learner=(self._learner.rls.state.as_dict(), self._learner.leverage.copy()))
        law, far = eta.encoders
        last_rows = rows.part(slice(max(0, len(rows.time) - round(READ / self._row)), None))
        again = None if law is None else shifted_window(eta.block, last_rows, law, far)
        future = self._executor.submit(run, replace(task, block=eta.block, shifted_window=again))
        self.pending = Pending(future, purpose, first, last, self.state.epoch, text, window)

    def poll(self) -> EndedRefit | None:
        """Return the refit that was under way, once it has ended."""
        pending = self.pending
        if pending is None or not pending.future.done():
            return None
        self.pending = None
        late = (self._history.total - pending.last) * self._row
        if pending.epoch != self.state.epoch:
            return EndedRefit(None, "stale: another change came meanwhile", pending)
        if late > STALE:
            return EndedRefit(None, f"stale: its window ended {late:.2f} s of motion ago", pending)
        try:
            return EndedRefit(pending.future.result(), "", pending)
        except Exception as error:
            return EndedRefit(None, str(error) or type(error).__name__, pending)

    def drop(self) -> None:
        """Discard the refit that is under way."""
        self.pending = None
        self.state.epoch += 1

    def accepted(self, pending: Pending, words: str, search: SearchReport | None = None) -> None:
        """Note that a result is accepted; words: by how much it moved η; search: how it was found."""
        self.state.accepted += 1
        self._log.add_event("refit_accepted", pending.text, pending.window, _details(search))
        self._log.add_event("refit", f"{pending.text}: {words}", pending.window)

    def rejected(self, pending: Pending, reason: str, search: SearchReport | None = None) -> None:
        """Note that a result is rejected; search: how it was found, where there is one."""
        self.state.rejected += 1
        self._log.add_event("refit_rejected", f"{pending.text}: {reason}", pending.window, _details(search))

    def counters(self) -> dict[str, int]:
        """Totals of started, accepted and rejected refits."""
        return {f"refits_{fate}": getattr(self.state, fate) for fate in ("started", "accepted", "rejected")}


def _details(search: SearchReport | None) -> dict[str, Any] | None:
    return None if search is None else search.plain
