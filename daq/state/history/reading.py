"""Reads the history file while the service writes it, or after: values and use counts by interval, records of changes.

Rows with a time in the future, left by a wrong clock, are not shown.
"""

import contextlib
import json
import math
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from daq.state.history.file import HistoryError
from daq.state.history.interval import Quantity
from daq.state.history.tables import APPLICATION, DAY, HOUR, MINUTE, VERSION, Grain
from estimators.wear.use_counts import UseCounts

#: s, argued: Time up to which each grain is drawn: up to 2,880 minutes, 1,440 hours, then days: what a screen shows.
FINEST: Final = ((2 * 86_400.0, MINUTE), (60 * 86_400.0, HOUR), (math.inf, DAY))
WAIT: Final = 5.0  # s for which the writer may hold up a reader


class ValueRow(NamedTuple):
    """Figures of one quantity in one interval."""

    start: int  # Unix s
    n: int
    mean: float
    deviation: float
    low: float
    high: float


class UseRow(NamedTuple):
    """Use of one joint in one interval."""

    start: int  # Unix s
    counts: UseCounts


class TotalUse(NamedTuple):
    """Use of one joint since the file began."""

    since: float  # Unix s
    unit: str  # of travel
    counts: UseCounts


def grain_of(seconds: float) -> Grain:
    """The grain in which a time of this length is shown."""
    return next(grain for longest, grain in FINEST if seconds <= longest)


class HistoryReader:
    """The history file of one robot, open for reading."""

    def __init__(self, path: Path, now: float | None = None) -> None:
        """now: Unix s after which rows do not count. Raises HistoryError where there is no such file."""
        self.path, self._now = path, time.time() if now is None else now
        if not path.is_file():
            raise HistoryError(f"{path}: no history yet: the service writes it once a minute")
        self._db = self._connect()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def joints(self) -> list[str]:
        """Names of the joints in the file."""
        return [name for (name,) in self._all("SELECT name FROM joint ORDER BY id")]

    def span(self) -> tuple[int, int]:
        """Unix s at which the first and the last day with values begin; (0, 0) where there are none."""
        first, last = self._all(
            """SELECT min(start), max(start) FROM (SELECT start FROM day UNION SELECT start FROM use_day)
            WHERE start <= ?""",
            self._now,
        )[0]
        return first or 0, last or 0

    def values(self, grain: Grain, start: float, end: float, joint: str) -> dict[Quantity, list[ValueRow]]:
        """Figures of each quantity of a joint, of the intervals that begin from start to before end (Unix s).

        Frictions by speed come last, the slowest first.
        """
        found: dict[Quantity, list[ValueRow]] = {}
        for name, unit, *row in self._all(
            f"""SELECT q.name, q.unit, v.start, v.n, v.mean, v.deviation, v.low, v.high
            FROM {grain.table} v JOIN quantity q ON q.id = v.quantity JOIN joint j ON j.id = q.joint
            WHERE v.start >= ? AND v.start < ? AND v.start <= ? AND j.name = ? ORDER BY q.id, v.start""",
            *(start, end, self._now, joint),
        ):
            found.setdefault(Quantity(joint, name, unit), []).append(ValueRow(*row))
        return dict(sorted(found.items(), key=lambda one: one[0].speed))

    def use(self, grain: Grain, start: float, end: float, joint: str) -> list[UseRow]:
        """Use of a joint in the intervals that begin from start to before end (Unix s)."""
        rows = self._all(
            f"""SELECT u.start, u.seconds, u.travel, u.reversals, u.starts
            FROM use_{grain.table} u JOIN joint j ON j.id = u.joint
            WHERE u.start >= ? AND u.start < ? AND u.start <= ? AND j.name = ? ORDER BY u.start""",
            *(start, end, self._now, joint),
        )
        return [UseRow(first, UseCounts(*counts)) for first, *counts in rows]

    def total_use(self, joint: str) -> TotalUse | None:
        """Use of a joint since the file began; None where none was counted."""
        rows = self._all(
            """SELECT since, unit, seconds, travel, reversals, starts
            FROM use_total JOIN joint j ON j.id = joint WHERE j.name = ?""",
            joint,
        )
        return TotalUse(rows[0][0], rows[0][1], UseCounts(*rows[0][2:])) if rows else None

    def changes(self, joint: str, start: float = 0.0) -> list[dict[str, Any]]:
        """Records of changes of a joint that were recorded from start (Unix s) on, the oldest first."""
        rows = self._all(
            "SELECT record FROM change JOIN joint j ON j.id = joint WHERE j.name = ? AND told >= ? ORDER BY told",
            *(joint, start),
        )
        return [json.loads(text) for (text,) in rows]

    def notes(self) -> list[tuple[float, str]]:
        """Notes about the file, such as a repair: Unix s, sentence."""
        return [(when, text) for when, text in self._all("SELECT time, text FROM note ORDER BY time")]

    def _all(self, query: str, *values: object) -> Sequence[Any]:
        try:
            return self._db.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise HistoryError(f"{self.path}: cannot be read: {error}") from error

    def _connect(self) -> sqlite3.Connection:
        """Open the file; one in a folder that cannot be written, and without a log, is opened as it is."""
        place = self.path.absolute().as_uri()
        for how in ("mode=ro", "mode=ro&immutable=1"):
            try:
                db = sqlite3.connect(f"{place}?{how}", uri=True, timeout=WAIT, check_same_thread=False)
                kind, version = (
                    db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
                )
            except sqlite3.Error as error:
                log_beside = self.path.with_name(self.path.name + "-wal").exists()
                if how == "mode=ro" and not log_beside:
                    continue
                raise HistoryError(f"{self.path}: cannot be read: {error}") from error
            if kind != APPLICATION or version > VERSION:
                db.close()
                raise HistoryError(f"{self.path}: expected a history with tables {VERSION} or older")
            return db
        raise HistoryError(f"{self.path}: cannot be read")


@contextlib.contextmanager
def reading(path: Path, now: float | None = None) -> Iterator[HistoryReader]:
    """A reader that is closed at the end. Raises HistoryError."""
    reader = HistoryReader(path, now)
    try:
        yield reader
    finally:
        reader.close()
