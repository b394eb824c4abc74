"""Frames that come one after the other are taken together: read in pieces, each piece costs a batch all the way."""

import time
from typing import Final

CLOSE: Final = 250_000  # ns between two reads that could have been one
REST: Final = 2e-4  # s that the rest of a burst gets; the kernel's stamps tell all the same when each frame came
LASTING: Final = 100  # reads after which it is tried whether bursts still come in pieces


class Burst:
    """Whether to let the rest of a burst come in before it is read: only where one came in pieces lately."""

    def __init__(self) -> None:
        self._read = 0  # monotonic ns, when it was read last
        self._left = 0  # reads that wait

    def gather(self) -> None:
        """To be called when the first frame is there, before reading."""
        if time.monotonic_ns() - self._read < CLOSE:
            self._left = LASTING
        if self._left:
            self._left -= 1
            time.sleep(REST)
        self._read = time.monotonic_ns()
