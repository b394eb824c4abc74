"""Waiting for what another process or thread does, and how much of that time it had no processor."""

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path


def wait_until(condition: Callable[[], object], timeout: float = 60.0, look: float = 0.1) -> None:
    """Return once the condition holds, looked at every `look` seconds; AssertionError after `timeout` seconds."""
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(look)


def undisturbed(attempt: Callable[[], None], most: float = 0.05, times: int = 10) -> None:
    """Call what asserts something of time; again where it failed while this process, in all its threads together, stood
    still or waited for a processor for more than `most` seconds. It fails where it was not disturbed, and at the last.
    """
    for left in reversed(range(times)):
        over, stood, before = threading.Event(), [0.0], starved([os.getpid()])

        def watch(over: threading.Event = over, stood: list[float] = stood) -> None:
            looked = time.monotonic()
            while not over.wait(0.01):
                stood[0] += max(0.0, time.monotonic() - looked - 0.02)
                looked = time.monotonic()
            stood[0] += max(0.0, time.monotonic() - looked - 0.02)

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            attempt()
        except Exception:
            over.set()
            watcher.join()
            if not left or stood[0] + starved([os.getpid()]) - before < most:
                raise
        else:
            return
        finally:
            over.set()
            watcher.join()


def quickest(work: Callable[[], object], enough: float, times: int = 10) -> float:
    """The least processor time of this thread that work took, s: once where that was under `enough`, else again, since
    a virtual processor that is taken away counts as one that works."""
    took = list[float]()
    while not took or (took[-1] >= enough and len(took) < times):
        began = time.thread_time()
        work()
        took.append(time.thread_time() - began)
    return min(took)


def starved(pids: Iterable[int]) -> float:
    """Seconds that the threads of these processes have waited for a processor since they began, all together."""
    nanoseconds = 0
    for stat in (one for pid in pids for one in Path(f"/proc/{pid}/task").glob("*/schedstat")):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
            nanoseconds += int(stat.read_text().split()[1])
    return nanoseconds / 1e9
