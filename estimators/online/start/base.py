"""Protocol of a start: it takes rows in motion until it has everything that normal mode needs."""

from typing import NamedTuple, Protocol

from estimators.base import Spectrum
from estimators.reasons import Reason
from estimators.recursive.forgetting import Threshold
from estimators.refit.outcome import EndedRefit
from estimators.rows import Rows


class StartWait(NamedTuple):
    """Verdict: the start needs more motion."""


class Started(NamedTuple):
    """Verdict: the learner has θ, P and noise, and normal mode may begin."""

    threshold: Threshold  # of the alarm
    first: int  # number of the first row that what is in force rests on
    text: str  # from what it was learnt, and what is weak, in words
    window: tuple[int, int] | None  # ns


class Failed(NamedTuple):
    """Verdict: the start has failed and begins anew."""

    cause: str


Verdict = StartWait | Started | Failed


class Start(Protocol):
    """Gathers a window; it changes the learner on the way, for a first report, and finally at its end."""

    @property
    def spectrum(self) -> Spectrum:
        """Identifiable directions of the window so far."""

    @property
    def unsure(self) -> tuple[Reason, ...]:
        """What is uncertain in addition to the learner's parameters."""

    def absorb(self, rows: Rows) -> int:
        """Take rows that taught; returns how many had no finite output."""

    def begin(self) -> bool:
        """Learn the scale of columns and outputs; returns whether enough rows are finite."""

    def verdict(self, resting: bool) -> Verdict:
        """Decide at the end of a block what follows; may start a refit."""

    def found(self, found: EndedRefit) -> Verdict:
        """Decide what follows from a refit that the start has asked for."""

    def restart(self) -> None:
        """Forget everything."""
