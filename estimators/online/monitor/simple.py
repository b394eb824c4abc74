"""Design S: least squares over the last motion period, η frozen; off for more than a period, η is searched."""

from collections.abc import Iterator
from typing import ClassVar, Final

from estimators.online.monitor.base import (
    Before,
    Decision,
    Evidence,
    Look,
    Moment,
    Purpose,
    Rejection,
    Search,
    Wait,
)
from estimators.online.monitor.change import Change
from estimators.online.monitor.drift import DriftWatch
from estimators.online.monitor.plain import PlainMonitor
from estimators.refit.acceptance import delta

EVERY: Final = 0.25  # s
HOLD: Final = 1.05  # motion periods for which it waits


class SimpleMonitor:
    """Transients end as without η; a search needs a whole period of too large errors."""

    WORKING: ClassVar[frozenset[str]] = frozenset({"above"})

    def __init__(self, row: float) -> None:
        """row: s between rows."""
        self.plain = PlainMonitor()
        self.kept = self.plain.kept
        self.change = Change()
        self.drift = DriftWatch(self.change)
        self.above: int | None = None  # number of the row since which the error is too large
        self._row = row

    @property
    def onset(self) -> int:
        """Number of the row from which on what is in force, or looked into, has been so."""
        return self.change.onset

    @property
    def settled(self) -> bool:
        """Whether nothing is to be confirmed."""
        return self.change.confirm is None

    def started(self, noise: float, first: int, now: int) -> None:
        """Normal mode begins."""
        self.plain.started(noise, first, now)
        self.change.begin(first)
        self.drift.due = now

    def alarmed(self, began: int, moment: Moment) -> bool:
        """An alarm; returns whether it is of a change of its own."""
        self.drift.drifts = 0
        return self.change.alarmed(began, moment)

    def due(self, _searching: bool) -> int | None:
        """Every block."""
        return None

    def period_due(self, now: int) -> bool:
        """Whenever drift is looked for."""
        return now >= self.drift.due

    def transient(self, moment: Moment) -> Look | Decision:
        """As without η."""
        return self.plain.transient(moment)

    def always(self, moment: Moment) -> Look | Decision:
        """A look at the last period, four times a second."""
        every = max(moment.block, round(EVERY / moment.row))
        if moment.searching or moment.now % every >= moment.block:
            return Wait()
        return Look(Purpose.PERIOD, moment.now - moment.span, Before.NOTHING)

    def routine(self, moment: Moment) -> Iterator[Look | Decision]:
        """Drift."""
        return self.drift.looks(moment)

    def review(self, evidence: Evidence) -> Decision:
        """What a window says that it wanted to be shown."""
        if evidence.purpose is not Purpose.PERIOD:
            return self.drift.review(evidence)
        if evidence.variance <= delta(evidence.usual, evidence.signal):
            self.above = None
        elif self.above is None:
            self.above = evidence.now
        elif evidence.now - self.above > HOLD * evidence.span:
            self.above = None
            return Search("change", evidence.first, Before.NOTHING)
        return Wait()

    def learnt(self, now: int, first: int | None = None) -> None:
        """θ was learnt anew, from row `first` on where that is news."""
        self.drift.put_off(now, self._row)
        if first is not None:
            self.change.begin(max(self.change.onset, first))

    def accepted(self, purpose: str, first: int, moment: Moment) -> None:
        """A refit counts."""
        self.change.accepted(purpose, first, moment)

    def rejected(self, rejection: Rejection, alarmed: bool) -> Decision:
        """A refit does not."""
        return self.change.rejected(rejection, alarmed)

    def resume(self, now: int) -> None:
        """Rows of before are not there."""
        self.change.resume(now)
        self.drift.due, self.drift.drifts, self.above = now, 0, None
