"""A thread of the outlet that writes minutes into the history file, so that a slow or full disk delays nothing else.

While the file cannot be written, minutes wait in memory. Of more than MOST the oldest is lost and counted; its use
counts and changes go with the next one.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgpack

from daq.outlet.history import JointLabel
from daq.outlet.long_term.minutes import Minutes
from daq.state.history.file import HistoryError, HistoryFile
from daq.state.history.interval import Interval
from daq.state.history.reading import reading
from daq.state.history.tables import DAY
from daq.state.history.wear import JointWear, judge

#: 1, argued: Minutes that wait at most while the file cannot be written: four hours, 40 kB each for seven joints.
MOST: Final = 240
#: s, argued: Time between two attempts to write after one has failed.
AGAIN: Final = 10.0
#: s, argued: Time for which a stop waits for the last minute: less than a process is given to stop by itself.
LAST: Final = 2.0


class WearSettings(NamedTuple):
    """What the keeper needs to judge the wear of a joint."""

    limit: float  # share of dry friction
    parameters: tuple[str, ...]  # of its friction


log = logging.getLogger("jointwatch")


class Keeper:
    """Keeps the history of one robot."""

    def __init__(
        self,
        path: Path,
        minutes: float,
        joints: Sequence[JointLabel],
        wears: Mapping[str, WearSettings] | None = None,
        since: Callable[[str], float] = lambda _: 0.0,
    ) -> None:
        """minutes: days for which minutes are kept; wears: joints whose wear is judged once a day; since: Unix s of a
        joint's baseline, 0: none."""
        self.path, self._days = path, minutes
        self.minutes = Minutes(joints, self._wait)
        self._waiting: deque[Interval] = deque()
        self._news = threading.Condition()
        self._stop = False
        self._wears, self._since = wears or {}, since
        self._day = -1  # days since 1970 up to which wear has been judged
        self.worn = b""  # the wear of the joints, as the core takes it; empty: not judged yet
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
            if not failed and not last:
                self._judge()
            with self._news:
                if not failed and self._waiting and self._waiting[0] is interval:
                    self._waiting.popleft()
                if failed and last:
                    break
                if failed:
                    self._news.wait_for(lambda: self._stop, AGAIN)
        if self._file is not None:
            self._file.close()

    def _judge(self) -> None:
        """Judge the wear of each joint, once a day."""
        now = time.time()
        if now // DAY.seconds == self._day:
            return
        self._day = int(now // DAY.seconds)
        found: dict[str, JointWear] = {}
        try:
            with reading(self.path, now) as history:
                for name, one in self._wears.items():
                    judged = judge(history, name, self._since(name), now, one.limit, one.parameters)
                    found |= {} if judged is None else {name: judged}
        except (HistoryError, ArithmeticError, ValueError) as error:
            log.warning("wear: not judged today: %s", error)
        self.worn = (
            msgpack.packb({name: one.plain() | {"timestamp": now} for name, one in found.items()}) if found else b""
        )

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
