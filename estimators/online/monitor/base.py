"""Base of all monitors. A monitor gets numbers and returns a decision; it changes only its own memory.

At the end of a block it gets a Moment, and answers with a decision, or with a request for a window. The Evidence of
that window then gives the decision. Decisions are carried out in change_handling.py.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import Any, Final, NamedTuple

from estimators.quantities import Floats

#: deviations, argued: Least deviations of a significant step of η or residual; it is tested once a second, for days.
SIGNIFICANT: Final = 4.0


class Moment(NamedTuple):
    """State of the estimator at the end of a block of rows. Counts and lengths are in rows unless a unit is given."""

    row: float  # s between rows
    block: int
    now: int  # number of the next row
    span: int  # rows of one period of the motion
    needed: float  # rows that a start takes at least
    capacity: int  # past rows that are kept to look back at
    searching: bool  # whether a refit is under way
    suspicious: bool  # whether the squared error has begun to add up, as it does before an alarm
    basis: int  # rows from which η in force was found
    moved: int  # rows of motion since the present phase began
    elapsed: float  # s of motion since the last alarm
    variance: float  # residual variance of the last rows, over that of the noise
    level: float  # the same over more rows
    covered: bool  # every value that was valid before the alarm is valid again
    error: float = 0.0  # N·m (N), recent rms error of prediction of the output that holds the friction
    same: bool = False  # every value is what it was before the alarm, as far as both are known


class Purpose(StrEnum):
    """Purpose of a requested window."""

    CHANGE = "change"
    SHARPEN = "sharpen"
    DRIFT = "drift"


class Before(StrEnum):
    """Prior knowledge of θ, except for the friction, when a window is examined or searched."""

    NOTHING = "nothing"
    CHANGE = "change"  # that from before the change under examination
    NOW = "now"


class WindowRequest(NamedTuple):
    """A window that a monitor requests."""

    purpose: Purpose
    first: int  # number of its first row
    before: Before
    place: int = 0  # rows on either side within which the change's most likely place is looked for; 0: `first` is exact


class Evidence(NamedTuple):
    """Results of a window's rows with η in force."""

    purpose: Purpose
    first: int  # number of its first row
    now: int  # number after its last
    rows: int  # rows since the change
    needed: float  # rows that a start takes at least
    span: int  # rows of one period of the motion
    usual: float  # residual variance of the start, over that of the noise
    overlap: float  # number of rows that share the same samples and so count as one
    variance: float  # residual variance of the window, over that of the noise
    signal: float  # mean square of the torque, over the variance of the noise
    unchanged: float  # by how much χ² is worse with θ from before than with the window's own
    gain: float  # by how much χ² would fall with another η; NaN where it is not needed
    reach: float  # uncertainty (variance) of the torque of the whole motion, over that of a row's noise; NaN as `gain`
    step: Floats  # (nonlinear,) to the η that would explain most, of s
    sigma: Floats  # (nonlinear,) its deviations, of the window alone, for `noise`
    known: Floats  # (nonlinear,) deviations of s in force
    parameters: int


class Wait(NamedTuple):
    """Decision: do nothing."""


class Recover(NamedTuple):
    """Decision: use the learner's present values from now on."""

    text: str
    usual: bool = False  # whether the present residual is the usual one from now on
    own: bool = False  # whether nothing has changed: the joint's usual residual raised the alarm


class Restore(NamedTuple):
    """Decision: nothing has changed, so go on from before the alarm."""


class LearnTheta(NamedTuple):
    """Decision: θ has changed, η has not, so learn θ from the window."""


class SearchEta(NamedTuple):
    """Decision: search η."""

    purpose: str
    first: int  # number of the window's first row
    before: Before = Before.CHANGE
    drifted: tuple[int, ...] = ()  # which of η a drift is seen in


class GiveUp(NamedTuple):
    """Decision: nothing explains the change, so its residual is the new usual one."""

    first: int  # number of the row from which θ is learnt


class Sharpen(NamedTuple):
    """Decision: move η by the step of the window."""


Decision = Wait | Recover | Restore | LearnTheta | SearchEta | GiveUp | Sharpen


class Rejection(NamedTuple):
    """A refit that is rejected."""

    first: int  # numbers of its window's first row, and after its last
    last: int
    explains: bool  # whether its residual was fine, or there was none
    needed: float  # rows that a start takes


class Monitor:
    """Examines alarms and checks the values in force. By default a method decides nothing."""

    state: Any  # what outlives a restart of the program, a dataclass

    @property
    def settled(self) -> bool:
        """Whether no change waits for confirmation."""
        return True

    @property
    def onset(self) -> int:
        """Number of the row from which on the values in force, or under examination, hold."""
        return 0

    def started(self, noise: float, first: int, now: int) -> None:
        """Begin normal mode. noise: residual variance; first: number of the first row that it rests on."""

    def alarmed(self, began: int, moment: Moment) -> bool:
        """Take an alarm; began: number of the row of its cause. Returns whether it is a separate change."""
        return True

    def due(self, searching: bool) -> int | None:
        """Number of the row from which a review in normal mode may decide something; None: every one may.

        searching: whether a refit is under way.
        """
        return None

    def period_due(self, now: int) -> bool:
        """Whether the motion's period may be looked for, where it is not known."""
        return False

    def transient(self, moment: Moment) -> WindowRequest | Decision:
        """Decide while an alarm stands."""
        return Wait()

    def routine(self, moment: Moment) -> Iterator[WindowRequest | Decision]:
        """Decide in motion, while no alarm stands."""
        return iter(())

    def review(self, evidence: Evidence) -> Decision:
        """Decide from a window that it has requested."""
        return Wait()

    def learnt(self, now: int, first: int | None = None) -> None:
        """Note that θ was learnt anew; first: number of the row from which on it holds, if that is new."""

    def accepted(self, purpose: str, first: int, moment: Moment) -> None:
        """Note that a refit is accepted; first: number of its window's first row."""

    def rejected(self, rejection: Rejection, alarmed: bool) -> Decision:
        """Decide what follows from a rejected refit; alarmed: whether an alarm stands."""
        return Wait()

    def resume(self, now: int) -> None:
        """Go on after a restart of the program; now: number of the next row."""
