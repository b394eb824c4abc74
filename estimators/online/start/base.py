"""What a start is: rows in motion go in, and out comes, sooner or later, everything that normal mode begins with."""

from typing import NamedTuple, Protocol

from estimators.base import Spectrum
from estimators.online.eta.found import EndedRefit
from estimators.reasons import Reason
from estimators.recursive.forgetting import Threshold
from estimators.rows import Rows


class StartWait(NamedTuple):
    """More motion is wanted."""


class Started(NamedTuple):
    """The learner has θ, P and noise; normal mode may begin."""

    threshold: Threshold  # of the alarm
    first: int  # number of the first row that what is in force rests on
    text: str  # from what it was learnt, and what is weak, in words
    window: tuple[int, int] | None  # ns


class Failed(NamedTuple):
    """There is no end in sight: begin anew."""

    cause: str


Verdict = StartWait | Started | Failed


class Start(Protocol):
    """Gathers a window; changes the learner on the way, so that something can be shown, and for good at its end."""

    @property
    def spectrum(self) -> Spectrum:
        """What the window tells apart, so far."""
        ...

    @property
    def unsure(self) -> tuple[Reason, ...]:
        """What the start is not certain of beside the learner's parameters."""
        ...

    def absorb(self, rows: Rows) -> int:
        """Take rows that taught; returns how many had no finite output."""
        ...

    def begin(self) -> bool:
        """The first look at the scale of things; whether there was enough that is finite."""
        ...

    def verdict(self, resting: bool) -> Verdict:
        """What is to come next, at the end of a block; may ask for a refit."""
        ...

    def found(self, found: EndedRefit) -> Verdict:
        """What follows from a refit that the start asked for."""
        ...

    def restart(self) -> None:
        """Forget everything."""
        ...
