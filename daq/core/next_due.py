"""When readings of a joint are worth taking again: what its next update, or its next review, needs will be there."""

from typing import Final

from estimators.numerics.jit import inline, kernel
from estimators.online.joint_pass import JointPassState, samples_to_review
from jointwatch_numba.direct import direct
from jointwatch_numba.layout import Layout

#: ns, argued: Readings that are worth waiting for, at most.
LONGEST_WAIT: Final = 20_000_000
#: 1, argued: The same as a share of the silence that makes a channel stale.
WAIT_OF_STALE: Final = 0.1
#: ns, derived: Later than every row.
NEVER: Final = 1 << 62


class NextDue(Layout):
    """What one joint waits for, as arrival times in ns."""

    period: int  # ns from sample to sample
    longest: int  # ns that readings may wait
    update: int = 0  # from when the next update can be made: earlier readings may wait
    review: int = NEVER  # from when a review can be made that falls due before this update


def next_due_of(rate: float, stale: float) -> NextDue:
    """What a joint waits for. rate: Hz; stale: s of silence from which a channel is stale."""
    return NextDue(period=round(1e9 / rate), longest=min(LONGEST_WAIT, round(WAIT_OF_STALE * stale * 1e9)))


@inline
def _arrival_of(samples: int, period: int) -> int:
    """ns from now until so many samples are there: after all that come before the last of them."""
    return (samples - 1) * period + period // 4 if samples > 1 else 0


@inline
def foresee(last: int, joint: JointPassState, due: NextDue) -> None:
    """Foresee what is due next: just before the row that ends the interval, and after all rows before it.

    last: ns, of the last sample; 0: none has come with the last readings.
    """
    due.update, due.review = joint.arrival, NEVER
    if last == 0:
        return
    intervals = joint.estimator.intervals
    ahead = (intervals.last + 1) * intervals.length + intervals.offset - last
    due.update += min(due.longest, _arrival_of(-(-ahead // due.period), due.period))
    samples = samples_to_review(joint.estimator)
    if samples > 0:
        due.review = joint.arrival + _arrival_of(samples, due.period)


@kernel(("i8", JointPassState, NextDue))
def _foresee_next(last: int, joint: JointPassState, due: NextDue) -> None:
    foresee(last, joint, due)


foresee_next: Final = direct(_foresee_next)
