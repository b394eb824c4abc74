"""Computes when the readings of a joint should be processed again: when its next update or review has all it needs."""

from typing import Final

from estimators.numerics.jit import inline, kernel
from estimators.online.joint_pass import JointPassState, samples_to_review
from jointwatch_numba.direct import direct
from jointwatch_numba.layout import Layout

#: ns, argued: Longest time for which readings may wait.
LONGEST_WAIT: Final = 20_000_000
#: 1, argued: The same time as a share of the silence after which a channel is stale.
WAIT_OF_STALE: Final = 0.1
#: ns, derived: Later than every row.
NEVER: Final = 1 << 62


class NextDue(Layout):
    """The arrival times (ns) for which one joint waits."""

    period: int  # ns from sample to sample
    longest: int  # ns, longest time that readings may wait
    update: int = 0  # arrival from which the next update can be made; earlier readings may wait
    review: int = NEVER  # arrival from which a review can be made that is due before this update


def next_due_of(rate: float, stale: float) -> NextDue:
    """Return the initial state of a joint. rate: Hz; stale: silence after which a channel is stale, s."""
    return NextDue(period=round(1e9 / rate), longest=min(LONGEST_WAIT, round(WAIT_OF_STALE * stale * 1e9)))


@inline
def _arrival_of(samples: int, period: int) -> int:
    """Return the time (ns) until this number of samples has come: after all readings before the last of them."""
    return (samples - 1) * period + period // 4 if samples > 1 else 0


@inline
def foresee(last: int, joint: JointPassState, due: NextDue) -> None:
    """Compute when the next update is due: just before the row that ends the interval, and after all rows before it.

    last: ns, time of the last sample; 0: the last readings gave no sample.
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
