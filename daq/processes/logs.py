"""The log of every process: lines on stderr, each with the time and the name of the process.

A problem that lasts is logged once, and then at most once a minute.
"""

import logging
import os
import sys
import time
from collections.abc import Callable
from typing import Final

log: Final = logging.getLogger("jointwatch")

EVERY: Final = 60.0  # s between two lines about the same problem


def configure_logging(name: str) -> None:
    """Write logs to stderr, one line each, with the name of the process; stdout is for data."""
    logging.basicConfig(
        stream=sys.stderr,
        level=os.environ.get("JOINTWATCH_LOG", "INFO"),
        format=f"%(asctime)s {name}: %(message)s",
        force=True,  # replaces the supervisor's settings, which were forked with it
    )


class RateLimitedLog:
    """The log of one thing that may fail again and again."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._cause = ""
        self._since: float | None = None  # s, when the problem began; None while there is none
        self._due = 0.0
        self._logged = False  # whether the present problem was logged
        self._suppressed = 0  # lines that were not logged since the last one

    def problem(self, cause: str) -> None:
        """The problem exists (still, or again)."""
        now = self._clock()
        fresh = self._since is None
        if fresh:
            self._since, self._logged = now, False
        if cause == self._cause and now < self._due:
            self._suppressed += 1
            return
        again = f" ({self._suppressed} times more in the last minute)" if self._suppressed else ""
        log.warning("%s; trying again%s", cause, again)
        self._cause, self._due, self._logged, self._suppressed = cause, now + EVERY, True, 0

    def recovered(self, words: str) -> None:
        """The problem is over, or there was none."""
        if self._since is not None:
            if self._logged:
                log.info("%s after %.1f s", words, self._clock() - self._since)
            self._since = None
