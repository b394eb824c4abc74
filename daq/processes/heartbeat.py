"""Heartbeats: two numbers per process in memory that the supervisor shares with the processes it forks.

A heartbeat costs one store and no system call, and the supervisor sees it even when every socket is stuck.
"""

import mmap
import time
from typing import Final

BYTES: Final = 8  # bytes of one number


class Heartbeats:
    """The heartbeats of all processes, by their number."""

    def __init__(self, processes: int) -> None:
        shared = memoryview(mmap.mmap(-1, 2 * max(1, processes) * BYTES)).cast("q")
        self._last = shared[: len(shared) // 2]  # monotonic ns of the last heartbeat
        self._ready = shared[len(shared) // 2 :]  # 1 where the process is ready

    def begin(self, number: int) -> None:
        """A process starts: it is not ready yet, and its silence is measured from now."""
        self._ready[number] = 0
        self.beat(number)

    def beat(self, number: int) -> None:
        """Note a heartbeat of a process."""
        self._last[number] = time.monotonic_ns()

    def be_ready(self, number: int) -> None:
        """Note that a process is ready."""
        self.beat(number)
        self._ready[number] = 1

    def ready(self, number: int) -> bool:
        """Whether a process is ready."""
        return bool(self._ready[number])

    def last(self, number: int) -> float:
        """Monotonic s of the last heartbeat of a process."""
        return self._last[number] / 1e9


class Life:
    """The heartbeats of one process, for itself."""

    def __init__(self, heartbeats: Heartbeats, number: int) -> None:
        self._heartbeats, self._number = heartbeats, number

    def ready(self) -> None:
        """Say that everything is open and the work begins."""
        self._heartbeats.be_ready(self._number)

    def beat(self) -> None:
        """Say that the process is alive; call it at least every second."""
        self._heartbeats.beat(self._number)


def alone() -> Life:
    """Heartbeats of a process without a supervisor."""
    return Life(Heartbeats(1), 0)
