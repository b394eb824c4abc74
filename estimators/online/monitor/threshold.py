"""The threshold δ on the error of prediction, in its own units, and for how long it must be exceeded."""

from typing import Final

from estimators.online.monitor.base import Moment

#: s, argued: Motion for which the error must exceed δ where nothing else is set: shorter ones are single disturbances.
HOLD: Final = 1.0


class ErrorThreshold:
    """Counts for how long the error exceeds δ; N_err > δ of da Silva, de Souza, Schäfer 2007, section 6, step 11."""

    def __init__(self, delta: float, hold: float | None, row: float) -> None:
        """delta: N·m (N); hold: s of motion, None: HOLD; row: s between rows."""
        self._delta = delta
        self._rows = round((HOLD if hold is None else hold) / row)
        self._since: int | None = None  # number of the row from which on the error exceeds δ

    def exceeded(self, moment: Moment) -> bool:
        """Whether the error has exceeded δ for long enough, and no search is under way; begins anew after True."""
        if not moment.error > self._delta or moment.searching:
            self._since = None
            return False
        if self._since is None:
            self._since = moment.now
        if moment.now - self._since < self._rows:
            return False
        self._since = None
        return True
