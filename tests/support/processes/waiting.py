"""Waiting for what another process or thread does, and how much of that time it had no processor."""

import contextlib
import time
from collections.abc import Callable, Iterable
from pathlib import Path


def wait_until(condition: Callable[[], object], timeout: float = 60.0, look: float = 0.1) -> None:
    """Return once the condition holds, looked at every `look` seconds; AssertionError after `timeout` seconds."""
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(look)


def starved(pids: Iterable[int]) -> float:
    """Seconds that the threads of these processes have waited for a processor since they began, all together."""
    nanoseconds = 0
    for stat in (one for pid in pids for one in Path(f"/proc/{pid}/task").glob("*/schedstat")):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
            nanoseconds += int(stat.read_text().split()[1])
    return nanoseconds / 1e9
