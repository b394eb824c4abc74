"""Signs of life: two numbers of memory a process, which the supervisor shares with those it forks.

A sign costs its process a store and no system call, and is seen even when every socket is stuck.
"""

import mmap
import time
from typing import Final

BYTES: Final = 8  # of a number


class Heartbeats:
    """Signs of life of all processes, by their number."""

    def __init__(self, processes: int) -> None:
        shared = memoryview(mmap.mmap(-1, 2 * max(1, processes) * BYTES)).cast("q")
        self._last = shared[: len(shared) // 2]  # monotonic ns of the last sign
        self._ready = shared[len(shared) // 2 :]  # 1 where it does its work

    def begin(self, number: int) -> None:
        """Another life: not ready, and the clock of its silence starts now."""
        self._ready[number] = 0
        self.beat(number)

    def beat(self, number: int) -> None:
        """A sign of life."""
        self._last[number] = time.monotonic_ns()

    def be_ready(self, number: int) -> None:
        """It does its work from now on."""
        self.beat(number)
        self._ready[number] = 1

    def ready(self, number: int) -> bool:
        """Whether it does its work."""
        return bool(self._ready[number])

    def last(self, number: int) -> float:
        """Monotonic s of its last sign of life."""
        return self._last[number] / 1e9


class Life:
    """A process's own signs of life."""

    def __init__(self, heartbeats: Heartbeats, number: int) -> None:
        self._heartbeats, self._number = heartbeats, number

    def ready(self) -> None:
        """Everything is open: the work is done from now on."""
        self._heartbeats.be_ready(self._number)

    def beat(self) -> None:
        """I am alive and go on: to be called at least every second."""
        self._heartbeats.beat(self._number)


def alone() -> Life:
    """Signs of life of a process that nobody watches."""
    return Life(Heartbeats(1), 0)
