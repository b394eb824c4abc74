"""Declares a refit that is under way, and one that has ended."""

from concurrent.futures import Future
from typing import NamedTuple

from estimators.refit.outcome import RefitOutcome


class Pending(NamedTuple):
    """Declares a refit that is under way."""

    future: "Future[RefitOutcome]"
    purpose: str  # start, change, confirmation, drift
    first: int  # numbers of the window's first row, and behind its last
    last: int
    epoch: int
    text: str  # the window in words
    window: tuple[int, int] | None  # ns, likewise


class EndedRefit(NamedTuple):
    """Declares a refit that has ended: its outcome, or the reason why there is none."""

    outcome: RefitOutcome | None
    reason: str
    pending: Pending
