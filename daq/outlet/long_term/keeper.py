"""A thread of the outlet that writes minutes into the history file, so that a slow or full disk delays nothing else.

While the file cannot be written, minutes wait in memory. Of more than MOST the oldest is lost and counted; its use
counts and changes go with the next one.
"""

import logging
import threading
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from daq.outlet.history import JointLabel
from daq.outlet.long_term.minutes import Minutes
from daq.state.history.file import HistoryError, HistoryFile
from daq.state.history.interval import Interval

#: 1, argued: Minutes that wait at most while the file cannot be written: four hours, 40 kB each for seven joints.
MOST: Final = 240
#: s, argued: Time between two attempts to write after one has failed.
AGAIN: Final = 10.0
#: s, argued: Time for which a stop waits for the last minute: less than a process is given to stop by itself.
LAST: Final = 2.0

log = logging.getLogger("jointwatch")


class Keeper:
    """Keeps the history of one robot."""

    def __init__(self, path: Path, minutes: float, joints: Sequence[JointLabel]) -> None:
        """minutes: days for which minutes are kept."""
        self.path, self._days = path, minutes
        self.minutes = Minutes(joints, self._wait)
        self._waiting: deque[Interval] = deque()
        self._news = threading.Condition()
        self._stop = False
        self._file: HistoryFile | None = None
        self.cause = ""  # why nothing is written; empty while all is well
        self.written = self.lost = 0  # minutes
        self.remarks: list[str] = []  # what was said of the file
        self._thread = threading.Thread(target=self._run, name="history", daemon=True)

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def stop(self) -> None:
        """Write what there is, if that takes no longer than LAST, and end."""
        self.minutes.finish()
        with self._news:
            self._stop = True
            self._news.notify()
        if self._thread.is_alive():
            self._thread.join(LAST)

    def status(self) -> dict[str, Any]:
        """What is written and what is not, for the page and for metrics."""
        size = self.path.stat().st_size if self.path.exists() else 0
        return {
            "file": self.path.name,
            "bytes": size,
            "written": self.written,
            "lost": self.lost,
            "waiting": len(self._waiting),
            "cause": self.cause,
            "remarks": list(self.remarks),
        }

    def _wait(self, interval: Interval) -> None:
        """Let an interval wait for the thread; the oldest is given up where too many do."""
        with self._news:
            self._waiting.append(interval)
            if len(self._waiting) > MOST:
                oldest = self._waiting.popleft()
                self._waiting[0].take_over(oldest)
                self.lost += 1
            self._news.notify()

    def _run(self) -> None:
        while True:
            with self._news:
                self._news.wait_for(lambda: self._stop or bool(self._waiting))
                if not self._waiting:
                    break
                interval, last = self._waiting[0], self._stop
            failed = not self._write(interval)
            with self._news:
                if not failed and self._waiting and self._waiting[0] is interval:
                    self._waiting.popleft()
                if failed and last:
                    break
                if failed:
                    self._news.wait_for(lambda: self._stop, AGAIN)
        if self._file is not None:
            self._file.close()

    def _write(self, interval: Interval) -> bool:
        """Write an interval; returns whether it is in the file."""
        try:
            if self._file is None:
                self._file = HistoryFile(self.path, self._days)
            self._file.write(interval)
        except HistoryError as error:
            self._tell(str(error))
            return False
        if self._file.remarks:
            for text in self._file.remarks:
                log.warning("history: %s", text)
            self.remarks += self._file.remarks
            self._file.remarks = []
        self.written += 1
        if self.cause:
            log.info("history: %s is written again", self.path)
            self.cause = ""
        return True

    def _tell(self, cause: str) -> None:
        if cause != self.cause:
            log.warning("history: %s; %d minutes can wait", cause, MOST)
        self.cause = cause
