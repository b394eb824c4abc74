"""Frames that come one after the other are taken together: read in pieces, each piece costs a batch all the way.

Where bursts come in pieces lately, and at a steady pace, the reader sleeps until the next one is there as a whole: it
wakes once a burst, not for its first frame and then for the rest. The kernel's stamps tell all the same when each came.
"""

import time
from typing import Final

CLOSE: Final = 250_000  # ns between two reads that could have been one
REST: Final = 200_000  # ns that the rest of a burst gets
LASTING: Final = 100  # reads after which it is tried whether bursts still come in pieces
STEADY: Final = 8  # bursts in a row at one pace, from which the next is foreseen
ALIKE: Final = 0.1  # of a pace, by which it may differ from the one before
LONGEST: Final = 2_000_000  # ns that a frame may be slept through which comes out of turn


class Burst:
    """Whether to let the rest of a burst come in before it is read, and when the next one is there."""

    def __init__(self) -> None:
        self._read = 0  # monotonic ns, when it was read last
        self._left = 0  # reads that wait
        self._first = 0  # monotonic ns, the first frame of the last burst
        self._pace = 0  # ns between the last two
        self._alike = 0  # bursts in a row that came at this pace

    def foresee(self) -> bool:
        """To be called before anything: sleeps until the next burst is there, and says whether it was foreseen."""
        if not self._left or self._alike < STEADY:
            return False
        ahead = self._first + self._pace + REST - time.monotonic_ns()
        if not 0 < ahead <= LONGEST:
            return False
        time.sleep(ahead / 1e9)
        return True

    def gather(self, whole: bool = False) -> None:
        """To be called when the first frame is there, before reading; whole: so is the rest, as foreseen."""
        if time.monotonic_ns() - self._read < CLOSE:
            self._left = LASTING
        if self._left:
            self._left -= 1
            if not whole:
                time.sleep(REST / 1e9)
        self._read = time.monotonic_ns()

    def note(self, first: int) -> None:
        """To be called after reading: when the first frame came, monotonic ns."""
        pace = first - self._first
        if pace < CLOSE:  # the rest of the one before
            return
        self._alike = self._alike + 1 if abs(pace - self._pace) <= ALIKE * self._pace else 0
        self._first, self._pace = first, pace
