"""What goes wrong for long is said once, and then once a minute: a log is for reading."""

import time
from collections.abc import Callable
from typing import Final

from daq.processes.logs import log

EVERY: Final = 60.0  # s


class RateLimitedLog:
    """About one thing that may be wrong again and again."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._cause = ""
        self._since: float | None = None  # when it went wrong, while it is
        self._due = 0.0
        self._told = False  # whether this time was said
        self._kept = 0  # times it was not said since it was

    def problem(self, cause: str) -> None:
        """It is wrong (still, or again)."""
        now = self._clock()
        fresh = self._since is None
        if fresh:
            self._since, self._told = now, False
        if cause == self._cause and now < self._due:
            self._kept += 1
            return
        again = f" ({self._kept} times more in the last minute)" if self._kept else ""
        log.warning("%s; trying again%s", cause, again)
        self._cause, self._due, self._told, self._kept = cause, now + EVERY, True, 0

    def recovered(self, words: str) -> None:
        """It is right (still, or again)."""
        if self._since is not None:
            if self._told:
                log.info("%s after %.1f s", words, self._clock() - self._since)
            self._since = None
