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

# monotonic ns, when it was read last; reads that wait; the first frame of the last burst, and where the next one's is
# expected; ns between two; bursts in a row that came at this pace; two for each off it, less one for each on it; ns
# that a burst gets; whether the last was foreseen; how many of its frames were read, and how many the one before had
READ, LEFT, FIRST, NEXT, PACE, ALIKE_BURSTS, ODD, GRACE, FORESEEN, SO_FAR, USUAL, BURST = range(12)


def begun() -> NDArray[np.int64]:
    """What is known of a bus before its first frame, (BURST,)."""
    burst = np.zeros(BURST, np.int64)
    burst[GRACE] = REST
    return burst


@inline
def foreseen(burst: NDArray[np.int64], now: int) -> int:
    """To be asked before anything: ns until which to sleep, since the next burst is there then; 0: it is not known."""
    if burst[LEFT] == 0 or burst[ALIKE_BURSTS] < STEADY or burst[SO_FAR] < burst[USUAL]:
        return 0
    until = burst[NEXT] + burst[GRACE]
    return until if 0 < until - now <= LONGEST else 0


@inline
def met(burst: NDArray[np.int64], now: int, whole: bool) -> int:
    """To be told when a first frame is there; whole: so is the rest, as foreseen. Returns ns to sleep for the rest."""
    pieces = now - burst[READ] < CLOSE
    if burst[FORESEEN] != 0:
        grace = burst[GRACE] + (LONGER if pieces else -SHORTER)
        burst[GRACE] = min(max(grace, LEAST), REST)
    burst[FORESEEN] = 1 if whole else 0
    if pieces:
        burst[LEFT] = LASTING
    if burst[LEFT] == 0:
        return 0
    burst[LEFT] -= 1
    if whole:
        return 0
    return burst[GRACE] if burst[ALIKE_BURSTS] >= STEADY else REST


@inline
def missed(burst: NDArray[np.int64]) -> None:
    """To be told where a foreseen burst was not there at all."""
    burst[GRACE], burst[FORESEEN] = min(burst[GRACE] + LONGER, REST), 0


@inline
def note(burst: NDArray[np.int64], times: NDArray[np.int64]) -> None:
    """To be told after reading: when each frame came, monotonic ns ascending."""
    for i in range(len(times)):
        if times[i] - burst[FIRST] >= CLOSE:
            _begin(burst, times[i])
        burst[SO_FAR] += 1


@inline
def _begin(burst: NDArray[np.int64], first: int) -> None:
    """Another burst, whose first frame came then."""
    since = first - burst[FIRST]
    burst[FIRST] = first
    burst[USUAL], burst[SO_FAR] = burst[SO_FAR], 0
    if burst[ALIKE_BURSTS] < STEADY:
        _learn(burst, first, since)
        return
    pace = burst[PACE]
    expected = burst[NEXT] + pace * np.int64(np.rint((first - burst[NEXT]) / pace))  # some may have been lost
    off = first - expected
    if abs(off) > ALIKE * pace:
        off = 0
        burst[ODD] += 2
        if burst[ODD] >= 2 * STEADY:  # a third of them is not on this grid
            burst[ALIKE_BURSTS] = 0
    else:
        burst[ODD] = max(burst[ODD] - 1, 0)
    burst[PACE] = pace + off // 64
    burst[NEXT] = expected + burst[PACE] + off // 4


@inline
def _learn(burst: NDArray[np.int64], first: int, since: int) -> None:
    """The pace, as the mean of those in a row that are alike."""
    if abs(since - burst[PACE]) > ALIKE * burst[PACE]:
        burst[ALIKE_BURSTS], burst[PACE] = 0, since
    else:
        burst[ALIKE_BURSTS] += 1
        burst[PACE] += (since - burst[PACE]) // (burst[ALIKE_BURSTS] + 1)
    burst[ODD] = 0
    burst[NEXT] = first + burst[PACE]
