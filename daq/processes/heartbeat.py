"""Heartbeats: two numbers per process, and one about kernels, in memory that forked processes share.

A heartbeat costs one store and no system call, and the supervisor sees it even when every socket is stuck. A process
without a heartbeat may hang, or wait for a processor on a busy machine: Linux counts that time (/proc/PID/schedstat).
"""

import mmap
import time
from pathlib import Path
from typing import Final

BYTES: Final = 8  # bytes of one number
COMPILED: Final = 2  # all kernels are compiled
#: s, argued: Silence from which on it is counted how long a process waits for a processor; no process beats less often.
QUIET: Final = 0.5


class Heartbeats:
    """The heartbeats of all processes, by their number."""

    def __init__(self, processes: int) -> None:
        count = max(1, processes)
        shared = memoryview(mmap.mmap(-1, (2 * count + 1) * BYTES)).cast("q")
        self._last = shared[:count]  # monotonic ns of the last heartbeat
        self._ready = shared[count : 2 * count]  # 1 where the process is ready
        self._compiled = shared[2 * count :]
        self.compiled = COMPILED

    @property
    def compiled(self) -> int:
        """How far the kernels are compiled: 0, 1 where a joint may learn, COMPILED where its start may end, too."""
        return self._compiled[0]

    @compiled.setter
    def compiled(self, stage: int) -> None:
        self._compiled[0] = stage

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

    @property
    def compiled(self) -> int:
        """How far the kernels are compiled, see Heartbeats."""
        return self._heartbeats.compiled

    def ready(self) -> None:
        """Say that everything is open and the work begins."""
        self._heartbeats.be_ready(self._number)

    def beat(self) -> None:
        """Say that the process is alive; call it at least every second."""
        self._heartbeats.beat(self._number)


def alone() -> Life:
    """Heartbeats of a process without a supervisor."""
    return Life(Heartbeats(1), 0)


class Silence:
    """The silence of one process: how long it is, and how much of it is the process's own."""

    def __init__(self) -> None:
        self.length = self.own = 0.0
        """Seconds since the last heartbeat; those of them for which the process did not wait for a processor."""
        self._before: float | None = None  # s that it had waited for a processor when its silence began

    def look(self, length: float, pid: int) -> None:
        """Note how long the silence of this process is. length: s."""
        self.length = self.own = length
        if length < QUIET:
            self._before = None
            return
        total = waited(pid)
        if self._before is None:
            self._before = total
        self.own = max(0.0, length - (total - self._before))

    @property
    def starved(self) -> bool:
        """Whether it lasts for lack of a processor more than for any other cause."""
        return self.own < self.length / 2

    @property
    def words(self) -> str:
        """The cause that is reported."""
        sentence = f"no sign of life for {self.length:.1f} s"
        lost = self.length - self.own
        return f"{sentence}, in {lost:.1f} s of it no processor: the machine is too busy" if self.starved else sentence


def waited(pid: int) -> float:
    """Seconds for which the main thread of a process was ready to run and had no processor, since its start.

    0 where there is no such process, or where the kernel does not count.
    """
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text("ascii").split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0
