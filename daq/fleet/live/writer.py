"""A thread that writes batches into the lake and rolls them up, so that a slow disk does not stop the subscription.

Batches wait in memory, MOST of them. Of more than that the oldest is given up; it shows as lost in the next rows of its
joints, and in the log.
"""

import logging
import threading
import time
from collections import deque
from typing import Final, NamedTuple

import numpy as np

from daq.fleet.live.batch import SummaryBatch
from daq.fleet.live.continuity import WrittenContinuity
from daq.fleet.live.lake import RAW, Lake, LakeError
from daq.fleet.live.roll_up import MINUTES, RollUp

#: 1, argued: Batches that wait at most: of a million rows and 16 MB each, or of a minute.
MOST: Final = 8
#: s, argued: Time between two attempts to write after one has failed.
AGAIN: Final = 5.0
#: s, argued: Time between two roll-ups of the hour and day that have not ended.
PARTIAL: Final = 600.0
#: s, argued: Time between two looks for files that are too old.
CLEAN: Final = 3_600.0
DAY: Final = 86_400.0

log = logging.getLogger("jointwatch")


class Retention(NamedTuple):
    """Days for which a table's files are kept."""

    raw: float
    minutes: float


class LakeWriter:
    """Writes into the lake of one collector."""

    def __init__(self, lake: Lake, collector: str, retention: Retention) -> None:
        """Read up to where an earlier collector of this name has written. Raises LakeError."""
        self._lake, self._collector, self._retention = lake, collector, retention
        self.continuity = WrittenContinuity()
        self._roll_up = RollUp(lake, collector)
        try:
            lake.remove_drafts(collector)
        except OSError as error:
            raise LakeError(f"{lake.place}: cannot be written: {error}") from error
        self._resume()
        self._roll_up.find_unfinished()
        self._waiting: deque[tuple[SummaryBatch, float]] = deque()
        self._news = threading.Condition()
        self._stop = False
        self._partial_due = self._clean_due = 0.0  # monotonic s
        self.rows = self.messages = self.files = 0  # written
        self.lost = 0  # messages that are missing in what is written
        self.repeated = 0  # messages that were there already
        self.given_up = 0  # messages for which there was no room
        self.causes: dict[str, str] = {}  # what cannot be done (write, roll up, remove) → why; empty while all is well
        self._thread = threading.Thread(target=self._run, name="lake")

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def put(self, batch: SummaryBatch, now: float) -> None:
        """Let a batch wait for the thread. now: Unix s up to which it has everything that was received."""
        with self._news:
            self._waiting.append((batch, now))
            if len(self._waiting) > MOST:
                oldest, _ = self._waiting.popleft()
                self.given_up += len(oldest)
                log.warning("%s is too slow: %d messages are given up, %d so far", self._lake.place, len(oldest),
                            self.given_up)  # fmt: skip
            self._news.notify()

    def stop(self) -> None:
        """Write what waits, roll up what has not ended, and end; gives up what cannot be written at once."""
        with self._news:
            self._stop = True
            self._news.notify()
        self._thread.join()

    @property
    def waiting(self) -> int:
        """Batches that wait."""
        return len(self._waiting)

    def _resume(self) -> None:
        """Continue from the newest raw file. Raises LakeError."""
        earlier = self._lake.files(RAW, 0, float("inf"), self._collector)
        newest = max(earlier, key=lambda one: one.written, default=None)
        if newest is None:
            return
        try:
            self.continuity = WrittenContinuity.of(self._lake.metadata(newest))
        except (KeyError, ValueError) as error:
            raise LakeError(f"{newest.path}: is not of a collector ({error}): move it elsewhere") from error

    def _run(self) -> None:
        while True:
            with self._news:
                self._news.wait_for(lambda: self._stop or bool(self._waiting))
                if not self._waiting:
                    break
                (batch, now), last = self._waiting[0], self._stop
            failed = not self._write(batch, now)
            with self._news:
                if not failed and self._waiting and self._waiting[0][0] is batch:
                    self._waiting.popleft()
                if failed and last:
                    log.warning("%d batches could not be written", len(self._waiting))
                    break
                if failed:
                    self._news.wait_for(lambda: self._stop, AGAIN)
        self._roll(float("inf"), partial=True)

    def _write(self, batch: SummaryBatch, now: float) -> bool:
        """Write a batch and roll up what it completes; returns whether its rows are in the lake."""
        try:
            if len(batch):
                self._write_rows(batch)
        except (OSError, LakeError) as error:
            self._tell("write", str(error))
            return False
        self._tell("write", "")
        clock = time.monotonic()
        partial = clock >= self._partial_due
        self._partial_due = clock + PARTIAL if partial else self._partial_due
        self._roll(now, partial)
        if clock >= self._clean_due:
            self._clean_due = clock + CLEAN
            self._clean(time.time())
        return True

    def _write_rows(self, batch: SummaryBatch) -> None:
        boots, seqs = (np.asarray(one, np.int64) for one in (batch.boots, batch.seqs))
        continuity = self.continuity.copy()  # what cannot be written is followed again
        found = continuity.follow(batch.keys(), list(batch.catalogue.keys), boots, seqs)
        if not found.kept.any():
            self.continuity, self.repeated = continuity, self.repeated + len(batch)
            return
        times = np.asarray(batch.times)[found.kept]
        table = batch.table(found.lost, found.kept)
        first, end = int(times.min()), int(times.max()) + 1
        self._lake.write(RAW, self._collector, first, end, table, continuity.keep())
        self.continuity = continuity
        self.repeated += int((~found.kept).sum())
        self._roll_up.add(set((times // MINUTES.seconds).astype(np.int64).tolist()))
        self.rows, self.messages = self.rows + table.num_rows, self.messages + len(times)
        self.lost, self.files = self.lost + int(found.lost.sum()), self.files + 1

    def _roll(self, complete: float, partial: bool) -> None:
        """Roll up; what fails is tried again with the next batch."""
        try:
            self._roll_up.run(complete, partial)
            self._tell("roll up", "")
        except Exception as error:  # OSError, LakeError and DuckDB's own
            self._tell("roll up", str(error))

    def _clean(self, now: float) -> None:
        """Remove files that are too old; raw ones only once they are rolled up."""
        try:
            for table, days in self._retention._asdict().items():
                end = min(now - days * DAY, self._roll_up.oldest_waiting())
                old = self._lake.files(table, 0, end, self._collector)
                self._lake.remove(one for one in old if one.end <= end)
            self._tell("remove old files", "")
        except (OSError, LakeError) as error:
            self._tell("remove old files", str(error))

    def _tell(self, what: str, cause: str) -> None:
        """Log that something cannot be done, and why, or that it can be again; nothing that was said already."""
        if not cause and self.causes.pop(what, ""):
            log.info("%s: can %s again", self._lake.place, what)
        elif cause and cause != self.causes.get(what):
            log.warning("%s: cannot %s: %s; %d batches can wait", self._lake.place, what, cause, MOST)
            self.causes[what] = cause
