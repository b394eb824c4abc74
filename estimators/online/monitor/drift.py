"""Drift: in normal mode refits are confirmed, η becomes more certain, and slow drift of η is looked for."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from estimators.online.monitor.base import (
    SIGNIFICANT,
    Before,
    Decision,
    Evidence,
    Moment,
    Purpose,
    SearchEta,
    Sharpen,
    Wait,
    WindowRequest,
)
from estimators.online.monitor.change import ChangeInquiry
from estimators.refit.acceptance import DEFAULT, delta
from estimators.refit.settings import AcceptanceSettings
from estimators.thresholds import SHARPENS

#: s, argued: Motion between two looks at a slow change of η.
EVERY: Final = 1.0
#: 1, argued: Change of ln η below which a search is not worth it.
MOVED: Final = 0.03


class DriftWatch:
    """Tests the last motion period every second; η is searched after two significant results."""

    def __init__(self, change: ChangeInquiry, accept: AcceptanceSettings = DEFAULT) -> None:
        self._change, self._accept = change, accept
        self.due = 0  # number of the row of the next look
        self.drifts = 0  # significant steps in a row

    @property
    def next(self) -> int:
        """Number of the row at which there is something to decide."""
        confirm = self._change.confirm
        return self.due if confirm is None else min(self.due, confirm)

    def put_off(self, now: int, row: float) -> None:
        """Test again in a second."""
        self.due = now + round(EVERY / row)

    def looks(self, moment: Moment) -> Iterator[WindowRequest | Decision]:
        """Yield the decisions and requests that are due, one after the other."""
        change, now = self._change, moment.now
        if moment.searching:
            return
        if change.confirm is not None and now >= change.confirm:
            change.confirm = None
            yield SearchEta("confirmation", max(change.onset, now - 2 * moment.span), Before.NOW)
            return
        if now < self.due:
            return
        self.put_off(now, moment.row)
        first = max(change.onset, now - moment.capacity)
        if change.confirm is None and now - first >= SHARPENS * moment.basis and not moment.suspicious:
            yield WindowRequest(Purpose.SHARPEN, first, Before.NOTHING)
        first = max(change.onset, now - moment.span)
        if now - first >= 0.5 * moment.span:
            yield WindowRequest(Purpose.DRIFT, first, Before.NOW)

    def review(self, evidence: Evidence) -> Decision:
        """Decide from a window that it has requested."""
        return self._sharpen(evidence) if evidence.purpose is Purpose.SHARPEN else self._drift(evidence)

    def _sharpen(self, evidence: Evidence) -> Decision:
        """One Gauss–Newton step of η over all rows for which it holds, once they are many more than it was found from.

        This needs no search: the minimum is known, only its place becomes more certain.
        """
        moved = np.abs(evidence.step) > SIGNIFICANT * np.hypot(evidence.sigma, evidence.known)
        if moved.any() or evidence.variance > delta(evidence.usual, evidence.signal, self._accept):
            return Wait()
        return Sharpen()

    def _drift(self, evidence: Evidence) -> Decision:
        sigma = np.hypot(evidence.sigma, evidence.known)
        quiet = (
            evidence.variance <= delta(evidence.usual, evidence.signal, self._accept)
            or evidence.gain > self._accept.better
        )
        size = np.abs(evidence.step)
        drifted = (size > SIGNIFICANT * sigma) & (size > MOVED) & (sigma <= self._accept.certain)
        self.drifts = self.drifts + 1 if quiet and drifted.any() else 0
        if self.drifts < 2:
            return Wait()
        self.drifts = 0
        return SearchEta("drift", evidence.first, Before.NOW, tuple(np.flatnonzero(drifted).tolist()))
