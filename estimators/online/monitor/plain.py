"""The monitor of a model without nonlinear parameters.

New values count when they are covered and the residual is quiet; a residual that stays becomes the new usual one. An
alarm that follows soon upon another and has changed no value is of the joint's own, as where friction that has grown
makes it stick longer at each reversal: its like raises none again.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Final

from estimators.online.monitor.base import Decision, Evidence, Look, Moment, Recover, Rejection, Wait
from estimators.thresholds import ENDLESS

#: 1, argued: Times the usual variance below which the residual is quiet again.
QUIET: Final = 2.0
#: s, argued: Motion that a transient lasts at least.
RECOVERY: Final = 0.3
#: 1, argued: Times what a start takes within which a second alarm is of the same motion, which has then shown all of
#: itself (decision 006, point 10).
SOON: Final = 2.0


@dataclass(slots=True)
class PlainKept:
    """What a PlainMonitor keeps."""

    VERSION: ClassVar[int] = 2

    quiet: float = 0.0  # residual variance below which a transient may end
    ended: int = -ENDLESS  # number of the row at which the last transient did
    soon: bool = False  # whether an alarm followed soon upon it


class PlainMonitor:
    """Ends transients, and decides nothing else."""

    onset = 0
    settled = True

    def __init__(self) -> None:
        self.kept = PlainKept()

    def started(self, noise: float, _first: int, _now: int) -> None:
        """Normal mode begins."""
        self.kept.quiet = QUIET * noise

    def alarmed(self, _began: int, moment: Moment) -> bool:
        """An alarm is always of a change of its own."""
        self.kept.soon = moment.now - self.kept.ended <= SOON * moment.needed
        return True

    def due(self, searching: bool) -> int | None:
        """Alarms apart, there is nothing to decide."""
        return None if searching else ENDLESS

    def period_due(self, _now: int) -> bool:
        """Nobody asks."""
        return False

    def transient(self, moment: Moment) -> Look | Decision:
        """Wait until new values are there, or as long as a start takes."""
        quiet, own = moment.variance <= self.kept.quiet, self.kept.soon and moment.same
        if moment.elapsed >= RECOVERY and quiet and moment.covered:
            self.kept.ended = moment.now
            return Recover(f"new values after {moment.moved * moment.row:.1f} s of motion", own=own)
        if moment.moved < moment.needed:
            return Wait()
        self.kept.ended = moment.now
        self.kept.quiet = max(self.kept.quiet, QUIET * moment.level)
        why = "some lack excitation" if quiet else "the residual stays larger than before"
        return Recover(f"new values; {why}", usual=True, own=own)

    def always(self, _moment: Moment) -> Look | Decision:
        """Nothing."""
        return Wait()

    def routine(self, _moment: Moment) -> Iterator[Look | Decision]:
        """Nothing."""
        return iter(())

    def review(self, _evidence: Evidence) -> Decision:
        """No window was wanted."""
        return Wait()

    def learnt(self, now: int, first: int | None = None) -> None:
        """Nothing follows."""

    def accepted(self, purpose: str, first: int, moment: Moment) -> None:
        """There are no refits."""

    def rejected(self, _rejection: Rejection, _alarmed: bool) -> Decision:
        """There are no refits."""
        return Wait()

    def resume(self, now: int) -> None:
        """Nothing to do."""
