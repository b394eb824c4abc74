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
STEADY: Final = (
    8  # bursts in a row at one pace, from which the next is foreseen; more off it than on it, until it is learnt anew
)
ALIKE: Final = 0.1  # largest deviation of a burst from its expected time, as a share of the period
LONGEST: Final = 2_000_000  # longest delay of a frame that comes between bursts, ns


class Burst(Layout):
    """The state of the prediction of a bus's bursts. Instants are monotonic ns."""

    read: int = 0  # time of the last read
    left: int = 0  # number of coming reads that wait for the rest of their burst
    first: int = 0  # arrival of the first frame of the last burst
    next: int = 0  # expected arrival of the first frame of the next burst
    pace: int = 0  # period of the bursts, ns
    alike: int = 0  # number of consecutive bursts with this period
    odd: int = 0  # counts up by two for each burst off the grid, and down by one for each on it
    grace: int = REST  # margin for a burst, ns
    foreseen: bool = False  # whether the last burst was predicted
    so_far: int = 0  # number of frames read of the last burst
    usual: int = 0  # number of frames of the burst before it


@inline
def foreseen(burst: Burst, now: int) -> int:
    """Return the time (ns) until which to sleep, when the next burst will have arrived; 0: unknown. To be called
    first."""
    if burst.left == 0 or burst.alike < STEADY or burst.so_far < burst.usual:
        return 0
    until = burst.next + burst.grace
    return until if 0 < until - now <= LONGEST else 0


@inline
def met(burst: Burst, now: int, whole: bool) -> int:
    """Note the arrival of a first frame; whole: whether the rest is there as predicted. Returns the time to sleep,
    ns."""
    pieces = now - burst.read < CLOSE
    if burst.foreseen:
        grace = burst.grace + (LONGER if pieces else -SHORTER)
        burst.grace = min(max(grace, LEAST), REST)
    burst.foreseen = whole
    if pieces:
        burst.left = LASTING
    if burst.left == 0:
        return 0
    burst.left -= 1
    if whole:
        return 0
    return burst.grace if burst.alike >= STEADY else REST


@inline
def missed(burst: Burst) -> None:
    """Note that a predicted burst did not come."""
    burst.grace, burst.foreseen = min(burst.grace + LONGER, REST), False


@inline
def note(burst: Burst, times: NDArray[np.int64]) -> None:
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
    if burst.alike < STEADY:
        _learn(burst, first, since)
        return
    pace = burst.pace
    expected = burst.next + pace * int(np.rint((first - burst.next) / pace))  # some bursts may have been lost
    off = first - expected
    if abs(off) > ALIKE * pace:
        off = 0
        burst.odd += 2
        if burst.odd >= 2 * STEADY:  # a third of the bursts is off this grid
            burst.alike = 0
    else:
        burst.odd = max(burst.odd - 1, 0)
    burst.pace = pace + off // 64
    burst.next = expected + burst.pace + off // 4


@inline
def _learn(burst: Burst, first: int, since: int) -> None:
    """Estimate the period as the mean of consecutive similar periods."""
    if abs(since - burst.pace) > ALIKE * burst.pace:
        burst.alike, burst.pace = 0, since
    else:
        burst.alike += 1
        burst.pace += (since - burst.pace) // (burst.alike + 1)
    burst.odd = 0
    burst.next = first + burst.pace
