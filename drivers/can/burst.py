"""Frames that come one after the other are taken together: read in pieces, each piece costs a batch all the way.

Where bursts come in pieces lately, and at a steady pace, the reader sleeps until the next one is there as a whole: it
wakes once a burst, not for its first frame and then for the rest. The kernel's stamps tell all the same when each came.

A sender keeps to a grid. Where burst k is expected at tₖ and its first frame comes e later,

    tₖ₊₁ = tₖ + P + e/4      P ← P + e/64      (critically damped)

and a burst that is off by more than a tenth of P moves nothing: a sender that was held up goes on on its grid. The
reader wakes at tₖ + g. The grace g grows by 20 µs with each burst that was not there as a whole, and shrinks by 1 µs
with each that was: one in twenty is cut, whatever the bus, the number of its frames and the load of the machine.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from drivers.jit import inline
from jointwatch_numba.layout import Layout

CLOSE: Final = 250_000  # ns between two reads that could have been one
REST: Final = 200_000  # ns that the rest of a burst gets at first, and where no pace is known
LEAST: Final = 20_000  # ns of grace: some frames on their way through the kernel
LONGER, SHORTER = 20_000, 1_000  # ns by which the grace changes
LASTING: Final = 100  # reads after which it is tried whether bursts still come in pieces
STEADY: Final = (
    8  # bursts in a row at one pace, from which the next is foreseen; more off it than on it, until it is learnt anew
)
ALIKE: Final = 0.1  # of a pace, by which a burst may be off
LONGEST: Final = 2_000_000  # ns that a frame may be slept through which comes out of turn


class Burst(Layout):
    """What is known of a bus: how its bursts come, and when the next one is expected. Instants are monotonic ns."""

    read: int = 0  # when it was read last
    left: int = 0  # reads that wait for the rest of their burst, from now on
    first: int = 0  # when the first frame of the last burst came …
    next: int = 0  # … and that of the next one is expected
    pace: int = 0  # ns between two bursts
    alike: int = 0  # bursts in a row that came at this pace
    odd: int = 0  # two for each burst off the pace, less one for each on it
    grace: int = REST  # ns that a burst gets
    foreseen: bool = False  # whether the last one was
    so_far: int = 0  # frames read of the last burst …
    usual: int = 0  # … and of the one before


@inline
def foreseen(burst: Burst, now: int) -> int:
    """To be asked before anything: ns until which to sleep, since the next burst is there then; 0: it is not known."""
    if burst.left == 0 or burst.alike < STEADY or burst.so_far < burst.usual:
        return 0
    until = burst.next + burst.grace
    return until if 0 < until - now <= LONGEST else 0


@inline
def met(burst: Burst, now: int, whole: bool) -> int:
    """Call when a first frame is there; whole: the rest is, too, as foreseen. Returns ns to sleep for the rest."""
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
    """Call where a foreseen burst did not come."""
    burst.grace, burst.foreseen = min(burst.grace + LONGER, REST), False


@inline
def note(burst: Burst, times: NDArray[np.int64]) -> None:
    """Call after reading: when each frame came, monotonic ns ascending."""
    for i in range(len(times)):
        if times[i] - burst.first >= CLOSE:
            _begin(burst, times[i])
        burst.so_far += 1


@inline
def _begin(burst: Burst, first: int) -> None:
    """Another burst, whose first frame came then."""
    since = first - burst.first
    burst.first = first
    burst.usual, burst.so_far = burst.so_far, 0
    if burst.alike < STEADY:
        _learn(burst, first, since)
        return
    pace = burst.pace
    expected = burst.next + pace * int(np.rint((first - burst.next) / pace))  # some may have been lost
    off = first - expected
    if abs(off) > ALIKE * pace:
        off = 0
        burst.odd += 2
        if burst.odd >= 2 * STEADY:  # a third of them is not on this grid
            burst.alike = 0
    else:
        burst.odd = max(burst.odd - 1, 0)
    burst.pace = pace + off // 64
    burst.next = expected + burst.pace + off // 4


@inline
def _learn(burst: Burst, first: int, since: int) -> None:
    """The pace, as the mean of those in a row that are alike."""
    if abs(since - burst.pace) > ALIKE * burst.pace:
        burst.alike, burst.pace = 0, since
    else:
        burst.alike += 1
        burst.pace += (since - burst.pace) // (burst.alike + 1)
    burst.odd = 0
    burst.next = first + burst.pace
