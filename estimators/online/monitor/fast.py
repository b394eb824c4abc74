"""Monitor of a model with nonlinear parameters η: it follows up alarms, and searches η only when η has moved.

    alarm      CUSUM on the squared prediction error (cusum.py); the change began about where the CUSUM was last zero,
               at the row that its likelihood says (change_point.py)
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
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Final

from estimators.online.judgement.validity import SMALL
from estimators.online.monitor.base import (
    SIGNIFICANT,
    Before,
    Decision,
    Evidence,
    LearnTheta,
    Moment,
    Monitor,
    Purpose,
    Rejection,
    Restore,
    SearchEta,
    Wait,
    WindowRequest,
)
from estimators.online.monitor.change import ChangeInquiry
from estimators.online.monitor.drift import DriftWatch
from estimators.online.monitor.threshold import ErrorThreshold
from estimators.refit.acceptance import delta
from estimators.refit.settings import MonitorSettings

#: 1, tuned: Deviation of ln η up to which "η did not move" is believed; Case 2, 40 seeds at 1 % noise (decision 006,
#: point 3).
BELIEVED: Final = 0.06
#: 1, tuned: Variance of the torque over the whole motion, in noise variances, up to which a window covers it (decision
#: 006, point 2).
COVERED: Final = 2.5
#: s, tuned: Time by which the alarm may place a change too early or too late; 60 seeds at 1 % noise (decision 006,
#: point 1).
HEAD: Final = 0.2
#: χ², tuned: Gain that another η may promise at most for η not to have moved: three deviations; Case 2 (decision 006,
#: point 3).
STRAIGHT: Final = 9.0


@dataclass(slots=True)
class Nothing:
    """State of a FastMonitor that a restart keeps: none, because rows are not kept."""

    VERSION: ClassVar[int] = 1


class FastMonitor(Monitor):
    """Distinguishes a change of θ from one of η as soon as the window allows."""

    def __init__(self, row: float, settings: MonitorSettings | None = None) -> None:
        """row: s between rows."""
        settings = settings or MonitorSettings()
        self.state = Nothing()
        self.change = ChangeInquiry()
        self.drift = DriftWatch(self.change, settings.accept)
        self._row, self._accept = row, settings.accept
        self._threshold = None if settings.delta is None else ErrorThreshold(settings.delta, settings.hold, row)

    @property
    def onset(self) -> int:
        """Number of the row from which on the values in force, or under examination, hold."""
        return self.change.onset

    @property
    def settled(self) -> bool:
        """Whether no refit waits for its confirmation."""
        return self.change.confirm is None

    def started(self, _noise: float, first: int, now: int) -> None:
        """Begin normal mode."""
        self.change.begin(first)
        self.drift.due = now

    def alarmed(self, began: int, moment: Moment) -> bool:
        """Take an alarm; returns whether it is a separate change."""
        self.drift.drifts = 0
        return self.change.alarmed(began, moment)

    def due(self, searching: bool) -> int | None:
        """Number of the row of the next test; None, every block, while a refit is under way or δ is watched."""
        return None if searching or self._threshold is not None else self.drift.next

    def period_due(self, now: int) -> bool:
        """Whether drift is tested now."""
        return now >= self.drift.due

    def transient(self, moment: Moment) -> WindowRequest | Decision:
        """Request all rows since the change, once there are enough."""
        change = self.change
        if not change.ready(moment):
            return Wait()
        place = round(HEAD / moment.row) if change.onset == change.newest else 0  # the alarm's own guess
        return WindowRequest(Purpose.CHANGE, change.onset, Before.CHANGE, place)

    def routine(self, moment: Moment) -> Iterator[WindowRequest | Decision]:
        """Compare the error with δ, where one is set, and test for drift."""
        if self._threshold is not None and self._threshold.exceeded(moment):
            first = max(self.change.onset, moment.now - moment.span)
            return iter((SearchEta("threshold", first, Before.NOW),))
        return self.drift.looks(moment)

    def review(self, evidence: Evidence) -> Decision:
        """Decide from a window that it has requested."""
        return self._verdict(evidence) if evidence.purpose is Purpose.CHANGE else self.drift.review(evidence)

    def learnt(self, now: int, first: int | None = None) -> None:
        """Note that θ was learnt anew, from row `first` on if that is new."""
        self.drift.put_off(now, self._row)
        if first is not None:
            self.change.begin(max(self.change.onset, first))

    def accepted(self, purpose: str, first: int, moment: Moment) -> None:
        """Note that a refit is accepted."""
        self.change.accepted(purpose, first, moment)

    def rejected(self, rejection: Rejection, alarmed: bool) -> Decision:
        """Decide what follows from a rejected refit."""
        return self.change.rejected(rejection, alarmed)

    def resume(self, now: int) -> None:
        """Continue without the earlier rows."""
        self.change.resume(now)
        self.drift.due, self.drift.drifts = now, 0

    def _verdict(self, evidence: Evidence) -> Decision:
        """Decide whether θ, η or nothing has changed, or whether more motion is needed."""
        usual, signal = evidence.usual, evidence.signal
        overdue = evidence.rows >= evidence.needed
        known = evidence.reach <= COVERED or evidence.reach * usual <= SMALL**2 * signal
        if not overdue and not (known and evidence.sigma.max() <= self._accept.certain):
            return Wait()
        quiet = evidence.variance <= delta(usual, signal, self._accept)
        if evidence.gain > self._accept.better or (overdue and not quiet):
            return SearchEta("change", evidence.first, Before.CHANGE)
        if not quiet or not (overdue or (evidence.gain < STRAIGHT and evidence.sigma.max() <= BELIEVED)):
            return Wait()
        p = evidence.parameters
        same = evidence.unchanged <= usual * evidence.overlap * (p + SIGNIFICANT * math.sqrt(2.0 * p))
        return Restore() if same else LearnTheta()
