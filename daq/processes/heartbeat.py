"""Signs of life: one line of memory a process, which the supervisor shares with those it forks.

A sign costs its process a store and no system call, and is seen even when every socket is stuck.
"""

import mmap
import time
from typing import Final

BEAT, READY, FIELDS = range(3)  # monotonic ns of the last sign; whether it does its work
BYTES: Final = 8


class Heartbeats:
    """Of all processes, by their number."""

    def __init__(self, processes: int) -> None:
        self._lines = memoryview(mmap.mmap(-1, max(1, processes) * FIELDS * BYTES)).cast("q")

    def begin(self, number: int) -> None:
        """Another life: not ready, and the clock of its silence starts now."""
        self._lines[number * FIELDS + READY] = 0
        self.beat(number)

    def beat(self, number: int) -> None:
        """A sign of life."""
        self._lines[number * FIELDS + BEAT] = time.monotonic_ns()

    def be_ready(self, number: int) -> None:
        """It does its work from now on."""
        self.beat(number)
        self._lines[number * FIELDS + READY] = 1

    def ready(self, number: int) -> bool:
        """Whether it does its work."""
        return bool(self._lines[number * FIELDS + READY])

    def last(self, number: int) -> float:
        """Monotonic s of its last sign of life."""
        return self._lines[number * FIELDS + BEAT] / 1e9


class Life:
    """A process's own line of it."""

    def __init__(self, heartbeats: Heartbeats, number: int) -> None:
        self._heartbeats, self._number = heartbeats, number

    def ready(self) -> None:
        """Everything is open: the work is done from now on."""
        self._heartbeats.be_ready(self._number)

    def beat(self) -> None:
        """I am alive and go on: to be called at least every second."""
        self._heartbeats.beat(self._number)


def alone() -> Life:
    """That of a process that nobody watches."""
    return Life(Heartbeats(1), 0)
