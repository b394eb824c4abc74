"""Monitor exactly as in da Silva, de Souza, Schäfer 2007, section 6: only N_err > δ starts the search.

    (9)   recursive least squares with variable forgetting always go on
    (10)  N_err, the rms error of their prediction, is compared with δ
    (11)  above δ, η is searched over the latest window, as long as the start was; what the search finds is in force

There is no examination of a change, no test of a result, no confirmation and no test for drift. So a change of linear
parameters starts the search as well, a window that straddles a change gives wrong values until the change has left it,
and with the noise of a real drive the search may run all the time (docs/decisions/024-search-of-eta.md has figures).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Final

from estimators.online.monitor.base import (
    Before,
    Decision,
    Moment,
    Monitor,
    Recover,
    SearchEta,
    WindowRequest,
)
from estimators.online.monitor.threshold import ErrorThreshold
from estimators.refit.settings import MonitorSettings

#: 1, argued: Times the residual of the start, rms, that is δ where none is set: the paper gives no number.
USUAL: Final = 1.2


@dataclass(slots=True)
class PaperState:
    """State of a PaperMonitor."""

    VERSION: ClassVar[int] = 1

    usual: float = 0.0  # residual variance of the start, whitened


class PaperMonitor(Monitor):
    """Searches η whenever the error exceeds δ."""

    def __init__(self, row: float, settings: MonitorSettings | None = None) -> None:
        """row: s between rows."""
        settings = settings or MonitorSettings()
        self.state = PaperState()
        hold = settings.hold or 0.0
        self._threshold = None if settings.delta is None else ErrorThreshold(settings.delta, hold, row)
        self._relative = ErrorThreshold(USUAL, hold, row)

    def started(self, noise: float, _first: int, _now: int) -> None:
        """Begin normal mode."""
        self.state.usual = noise

    def transient(self, _moment: Moment) -> WindowRequest | Decision:
        """Go on with the values of the least squares."""
        return Recover("the recursive least squares go on")

    def routine(self, moment: Moment) -> Iterator[WindowRequest | Decision]:
        """Compare the error with δ."""
        if self._threshold is None:
            ratio = (moment.variance / self.state.usual) ** 0.5 if self.state.usual > 0.0 else 0.0
            exceeded = self._relative.exceeded(moment._replace(error=ratio))
        else:
            exceeded = self._threshold.exceeded(moment)
        if exceeded:
            yield SearchEta("threshold", moment.now - round(moment.needed), Before.NOTHING)
