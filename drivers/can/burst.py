"""Reads bursts of frames as a whole, since a burst that is read in pieces costs one batch for each piece.

If bursts have lately been read in pieces, and come at a steady period, the reader sleeps until the whole next burst has
arrived: it wakes up once a burst instead of for its first frame and then for the rest. The kernel's time stamps still
give the arrival of each frame.

A sender keeps to a time grid. If burst k is expected at tₖ and its first frame comes e later,

    tₖ₊₁ = tₖ + P + e/4      P ← P + e/64      (critically damped)

and a burst that is off by more than a tenth of P changes nothing, since a delayed sender returns to its grid. The
reader wakes up at tₖ + g. The margin g grows by 20 µs with each burst that was incomplete, and shrinks by 1 µs with
each complete one. So one burst in twenty is cut, for any bus, number of frames and load of the machine.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from drivers.jit import inline
from jointwatch_numba.layout import Layout

CLOSE: Final = 250_000  # largest time between two reads that could have been one, ns
REST: Final = 200_000  # initial margin for the rest of a burst, ns, also used while the period is unknown
LEAST: Final = 20_000  # smallest margin, ns: some frames on their way through the kernel
LONGER, SHORTER = 20_000, 1_000  # changes of the margin, ns
LASTING: Final = 100  # reads after which it is tested whether bursts still come in pieces
# bursts of one period after which the next is predicted; at twice this irregularity the period is estimated anew
STEADY: Final = 8
ALIKE: Final = 0.1  # largest deviation of a burst from its expected time, as a share of the period
LONGEST: Final = 2_000_000  # longest delay of a frame that comes between bursts, ns


class Burst(Layout):
    """The state of the prediction of a bus's bursts. Instants are monotonic ns."""

    read: int = 0  # time of the last read
    left: int = 0  # number of coming reads that wait for the rest of their burst
    first: int = 0  # arrival of the first frame of the last burst
    next: int = 0  # expected arrival of the first frame of the next burst
    period: int = 0  # period of the bursts, ns
    regular: int = 0  # number of consecutive bursts with this period
    irregularity: int = 0  # counts up by two for each burst off the grid, and down by one for each on it
    margin: int = REST  # margin for a burst, ns
    predicted: bool = False  # whether the last burst was predicted
    so_far: int = 0  # number of frames read of the last burst
    usual: int = 0  # number of frames of the burst before it


@inline
def time_of_burst(burst: Burst, now: int) -> int:
    """Return the time (ns) until which to sleep for the next burst; 0: unknown. It is called before each read."""
    if burst.left == 0 or burst.regular < STEADY or burst.so_far < burst.usual:
        return 0
    until = burst.next + burst.margin
    return until if 0 < until - now <= LONGEST else 0


@inline
def first_frame_came(burst: Burst, now: int, whole: bool) -> int:
    """Note a first frame; whole: whether the rest is there as predicted. Returns the time to sleep, ns."""
    pieces = now - burst.read < CLOSE
    if burst.predicted:
        margin = burst.margin + (LONGER if pieces else -SHORTER)
        burst.margin = min(max(margin, LEAST), REST)
    burst.predicted = whole
    if pieces:
        burst.left = LASTING
    if burst.left == 0:
        return 0
    burst.left -= 1
    if whole:
        return 0
    return burst.margin if burst.regular >= STEADY else REST


@inline
def burst_missed(burst: Burst) -> None:
    """Note that a predicted burst did not come."""
    burst.margin, burst.predicted = min(burst.margin + LONGER, REST), False


@inline
def note_frames(burst: Burst, times: NDArray[np.int64]) -> None:
    """Note the arrival times of the frames after a read, monotonic ns, ascending."""
    for i in range(len(times)):
        if times[i] - burst.first >= CLOSE:
            _begin(burst, times[i])
        burst.so_far += 1


@inline
def _begin(burst: Burst, first: int) -> None:
    """Begin a new burst whose first frame came at this time."""
    since = first - burst.first
    burst.first = first
    burst.usual, burst.so_far = burst.so_far, 0
    if burst.regular < STEADY:
        _learn(burst, first, since)
        return
    period = burst.period
    expected = burst.next + period * int(np.rint((first - burst.next) / period))  # some bursts may have been lost
    off = first - expected
    if abs(off) > ALIKE * period:
        off = 0
        burst.irregularity += 2
        if burst.irregularity >= 2 * STEADY:  # a third of the bursts is off this grid
            burst.regular = 0
    else:
        burst.irregularity = max(burst.irregularity - 1, 0)
    burst.period = period + off // 64
    burst.next = expected + burst.period + off // 4


@inline
def _learn(burst: Burst, first: int, since: int) -> None:
    """Estimate the period as the mean of consecutive similar periods."""
    if abs(since - burst.period) > ALIKE * burst.period:
        burst.regular, burst.period = 0, since
    else:
        burst.regular += 1
        burst.period += (since - burst.period) // (burst.regular + 1)
    burst.irregularity = 0
    burst.next = first + burst.period
