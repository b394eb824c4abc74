"""Inquiry into a change: where it began, when a refit is tried again, and when a refit is confirmed."""

from typing import Final

from estimators.online.monitor.base import Decision, GiveUp, Moment, Rejection, Wait
from estimators.refit.acceptance import GROWTH

#: s, argued: Least motion from which a transient is judged.
SHORTEST: Final = 1.0
#: periods, tuned: Motion periods from a refit to its confirmation; after one period ω1 was 3.4 instead of 2.2 % off
#: (decision 006, point 5).
CONFIRM: Final = 1.6
#: 1, tuned: Times the window of an unconfirmed refit before an alarm during it is judged (decision 006, point 5).
UNCONFIRMED: Final = 1.5
#: 1, tuned: Share of a window without a fitting η that the next window leaves out: origin not recorded.
LEFT: Final = 0.15
#: starts, argued: Motion after which a change is given up that η explains, but with an uncertain or not unique value:
#: a third start would hardly decide what two have not.
DOUBTED: Final = 2.0


class ChangeInquiry:
    """Follows one change by numbers of rows; begins anew after a restart of the program."""

    def __init__(self) -> None:
        self.onset = 0  # row from which on the values in force, or under examination, hold
        self.newest = 0  # row at which the last alarm's cause began
        self.attempt = 0  # rows since the onset before which no refit is tried
        self.confirm: int | None = None  # at which a refit is confirmed

    def alarmed(self, began: int, moment: Moment) -> bool:
        """Take an alarm; returns whether it is a separate change, and does not belong to an unconfirmed refit."""
        self.newest, self.attempt = began, 0
        if self.confirm is None:
            self.onset = began
            return True
        window = moment.now - self.onset  # the new η came from a short window: look at a longer one first
        enough = max(CONFIRM * moment.span, window + SHORTEST / moment.row)
        self.attempt = round(min(UNCONFIRMED * window, enough))
        return False

    def ready(self, moment: Moment) -> bool:
        """Whether there are enough rows since the change for a verdict."""
        rows = moment.now - self.onset
        return not moment.searching and rows * moment.row >= SHORTEST and rows >= self.attempt

    def accepted(self, purpose: str, first: int, moment: Moment) -> None:
        """Note that a refit is accepted; unless it was a confirmation, it is confirmed later."""
        if purpose != "confirmation":
            self.confirm = moment.now + round(CONFIRM * moment.span)
            self.onset = first

    def rejected(self, rejection: Rejection, alarmed: bool) -> Decision:
        """Decide after a rejected refit: wait for more motion, leave out the beginning, or give up."""
        first, last, explains, needed = rejection
        if not alarmed:
            return Wait()
        if not explains:
            self.onset = max(first + round(LEFT * (last - first)), self.newest)
            self.confirm = None
        self.attempt = round(GROWTH * (last - self.onset))
        return GiveUp(self.onset) if last - self.onset >= (DOUBTED if explains else 1.0) * needed else Wait()

    def begin(self, first: int) -> None:
        """Note that what is in force holds from row `first` on."""
        self.onset = first

    def resume(self, now: int) -> None:
        """Continue without the earlier rows."""
        self.onset = self.newest = now
        self.attempt = 0
