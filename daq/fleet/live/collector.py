"""Collects the summaries of many services into a lake: `jointwatch fleet collect`.

This thread only receives: it gathers messages in a batch, and hands batches over to the writer's thread once a minute,
or when they are large. What comes while the writer is busy waits in memory; see daq/fleet/live/writer.py.
"""

import logging
import resource
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import msgpack

from daq.fleet.live.batch import Catalogue, SummaryBatch
from daq.fleet.live.lake import Lake
from daq.fleet.live.settings import CollectorSettings
from daq.fleet.live.subscription import Subscription
from daq.fleet.live.writer import LakeWriter, Retention

#: 1, argued: Rows of a batch at most: 16 MB of memory, 4 MB of a file.
ROWS: Final = 1_000_000
#: s, argued: After the end of a minute, time in which its last messages arrive.
GRACE: Final = 2.0
#: 1, argued: Messages taken between two looks at the clock: 50 ms of work.
TURN: Final = 2_000
#: s, argued: Messages are taken this often: many at once cost less than each by itself.
EVERY: Final = 0.1
FILES: Final = 64  # open files in addition to one for each service

log = logging.getLogger("jointwatch")


class Collector:
    """One collector."""

    def __init__(self, settings: CollectorSettings) -> None:
        """Raises LakeError, KeyFileError, ValueError."""
        allow_files(len(settings.robots) + FILES)
        self._settings = settings
        lake = Lake(settings.lake.place)
        self.writer = LakeWriter(lake, settings.lake.collector, Retention(settings.lake.raw, settings.lake.minutes))
        self.subscription = Subscription(settings.robots, settings.lake.key)
        self._catalogue = Catalogue()
        self._batch = SummaryBatch(self._catalogue)
        self._robots = frozenset(settings.robots)
        self.seen: dict[str, float] = {}  # robot → Unix s of its last summary
        self.received = self.malformed = 0
        self.strangers = Counter[str]()  # name of a robot that is not in the file → messages
        self.clocks = Counter[str]()  # robot → messages whose time stamp could not be used

    def run(self, stopped: Callable[[], bool], report: Callable[["Collector"], None]) -> None:
        """Collect until stopped. report: called once a minute."""
        self.writer.start()
        try:
            due = self._next_minute(time.time())
            while not stopped():
                self.subscription.wait(EVERY)
                if self._take(time.time()) < TURN:
                    time.sleep(EVERY)
                now = time.time()
                if now >= due:
                    due = self._next_minute(now)
                    self._hand_over(now)
                    report(self)
                elif self._batch.rows >= ROWS:
                    self._hand_over(0.0)
            self._take(time.time())
            self._hand_over(time.time())
        finally:
            self.subscription.close()
            self.writer.stop()
            report(self)

    def _take(self, now: float) -> int:
        """Take messages that are there; returns how many."""
        taken = 0
        for payload in self.subscription.messages(TURN):
            taken += 1
            try:
                update: dict[str, Any] = msgpack.unpackb(payload)
                robot = update["robot"]
                if robot not in self._robots:
                    self._refuse(str(robot))
                    continue
                if not self._batch.add(update, now):
                    self._doubt_clock(robot, update["timestamp"] - now)
                self.seen[robot] = now
            except (KeyError, TypeError, ValueError, AttributeError, OverflowError, msgpack.UnpackException) as error:
                self.malformed += 1
                if self.malformed == 1:  # only the first is logged; the rest are counted
                    log.warning("a summary cannot be read: %r", error)
        self.received += taken
        return taken

    def _hand_over(self, complete: float) -> None:
        """Let the batch be written. complete: Unix s up to which everything is in it; 0: its minute goes on."""
        batch, self._batch = self._batch, SummaryBatch(self._catalogue)
        self.writer.put(batch, complete)

    def _next_minute(self, now: float) -> float:
        return (now - GRACE) // 60 * 60 + 60 + GRACE

    def _refuse(self, robot: str) -> None:
        if robot not in self.strangers and len(self.strangers) < len(self._robots):
            log.warning("robot %r is not in the table [robots]: its summaries are not written", robot)
            self.strangers[robot] = 0
        if robot in self.strangers:
            self.strangers[robot] += 1

    def _doubt_clock(self, robot: str, off: float) -> None:
        if robot not in self.clocks:
            log.warning("the clock of %s is off by %+.0f s: its summaries get the time at which they came", robot, off)
        self.clocks[robot] += 1


def allow_files(wanted: int) -> None:
    """Let this process open so many files. Raises ValueError where it may not."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return
    if hard != resource.RLIM_INFINITY and hard < wanted:
        raise ValueError(f"a process may open {hard} files here, and this needs {wanted}: `ulimit -n {wanted}`")
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
