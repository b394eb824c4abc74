"""Monitor of a model without nonlinear parameters.

New values count when all of them are valid again and the residual is quiet; a residual that stays becomes the usual
one. An alarm that follows soon after another and has changed no value belongs to the joint itself, as when increased
friction makes it stick longer at each reversal; such residuals raise no alarm again.
"""

from dataclasses import dataclass
from typing import ClassVar, Final

from estimators.online.monitor.base import Decision, Moment, Monitor, Recover, Wait, WindowRequest
from estimators.thresholds import ENDLESS

#: 1, argued: Times the usual variance below which the residual is quiet again.
QUIET: Final = 2.0
#: s, argued: Least motion of a transient.
RECOVERY: Final = 0.3
#: 1, argued: Lengths of a start within which a second alarm belongs to the same motion, of which all has been seen by
#: then (decision 006, point 10).
SOON: Final = 2.0


@dataclass(slots=True)
class PlainState:
    """State of a PlainMonitor."""

    VERSION: ClassVar[int] = 2

    quiet: float = 0.0  # residual variance below which a transient may end
    ended: int = -ENDLESS  # number of the row at which the last transient did
    soon: bool = False  # whether an alarm followed soon upon it


class PlainMonitor(Monitor):
    """Ends transients, and decides nothing else."""

    def __init__(self) -> None:
        self.state = PlainState()

    def started(self, noise: float, _first: int, _now: int) -> None:
        """Begin normal mode."""
        self.state.quiet = QUIET * noise

    def alarmed(self, _began: int, moment: Moment) -> bool:
        """Take an alarm, which is always a separate change."""
        self.state.soon = moment.now - self.state.ended <= SOON * moment.needed
        return True

    def due(self, searching: bool) -> int | None:
        """Never: without an alarm there is nothing to decide."""
        return None if searching else ENDLESS

    def transient(self, moment: Moment) -> WindowRequest | Decision:
        """Wait for new values, at most as long as a start takes."""
        quiet, own = moment.variance <= self.state.quiet, self.state.soon and moment.same
        if moment.elapsed >= RECOVERY and quiet and moment.covered:
            self.state.ended = moment.now
            return Recover(f"new values after {moment.moved * moment.row:.1f} s of motion", own=own)
        if moment.moved < moment.needed:
            return Wait()
        self.state.ended = moment.now
        self.state.quiet = max(self.state.quiet, QUIET * moment.level)
        why = "some lack excitation" if quiet else "the residual stays larger than before"
        return Recover(f"new values; {why}", usual=True, own=own)
