"""Writes the history file: an interval is one transaction, which is on the disk when `write` returns.

A power cut loses the interval that is not written yet, and nothing else (write-ahead log, synchronous=FULL). A file
that SQLite finds damaged is renamed and a new one begun, with the use counts that can still be read.
"""

import contextlib
import json
import math
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from daq.state.history.interval import Interval, SeenUse
from daq.state.history.tables import (
    ADD_TOTAL,
    APPLICATION,
    DAY,
    GRAINS,
    MINUTE,
    SCHEMA,
    VERSION,
    add_use,
    add_values,
)
from estimators.wear.use_counts import UseCounts

FILE: Final = "history.sqlite"
WAIT: Final = 5.0  # s for which a reader may hold up a write
DAY_SECONDS: Final = 86_400.0
PRUNED_AT_ONCE: Final = 2  # days of minutes: a clock that is wrong for a moment deletes no more
DAMAGED: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class HistoryError(Exception):
    """The file cannot be used or written; the text is shown to the user as it is."""


class HistoryFile:
    """The history file of one robot, open for writing by one process."""

    def __init__(self, path: Path, minutes: float) -> None:
        """minutes: days for which minutes are kept. Raises HistoryError; a damaged file is set aside."""
        self.path, self._minutes = path, minutes
        self.remarks: list[str] = []  # remarks about the file, to be logged
        self._joints: dict[str, int] = {}
        self._quantities: dict[tuple[str, str, str], int] = {}
        self._opened = self._open()
        self._remark_on_clock()

    def write(self, interval: Interval) -> None:
        """Add an interval. Raises HistoryError where it cannot be written; then nothing of it is in the file."""
        try:
            self._write(interval)
        except sqlite3.DatabaseError as error:
            if not _damaged(error):
                raise HistoryError(f"{self.path}: cannot be written: {error}") from error
            self._opened.close()
            self._opened = self._begin_anew(str(error))
            try:
                self._write(interval)
            except sqlite3.DatabaseError as again:
                raise HistoryError(f"{self.path}: cannot be written: {again}") from again

    def close(self) -> None:
        """Close the file."""
        self._opened.close()

    def _open(self) -> sqlite3.Connection:
        try:
            return self._connect()
        except sqlite3.DatabaseError as error:
            if not _damaged(error):
                raise HistoryError(f"{self.path}: cannot be opened: {error}") from error
            return self._begin_anew(str(error))

    def _connect(self) -> sqlite3.Connection:
        """Open, check and if necessary make the file. Raises HistoryError for a file of another kind or version."""
        db = sqlite3.connect(self.path, timeout=WAIT, isolation_level=None, check_same_thread=False)
        try:
            db.create_function("root", 1, math.sqrt, deterministic=True)
            db.execute("PRAGMA synchronous=FULL")
            kind, version = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
            tables = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if tables and kind != APPLICATION:
                raise HistoryError(f"{self.path}: expected a history, found another program's file: move it away")
            if version > VERSION:
                raise HistoryError(
                    f"{self.path}: written by a newer jointwatch (tables {version}, expected {VERSION}): "
                    "install that version, or move the file away"
                )
            db.execute("PRAGMA journal_mode=WAL")
            found = db.execute("PRAGMA quick_check(1)").fetchone()[0]
            if found != "ok":
                error = sqlite3.DatabaseError(str(found))
                error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
                raise error
            if not tables:
                db.executescript(
                    f"BEGIN; {SCHEMA} PRAGMA application_id={APPLICATION}; PRAGMA user_version={VERSION}; COMMIT;"
                )
            return db
        except BaseException:
            db.close()
            raise

    def _begin_anew(self, why: str) -> sqlite3.Connection:
        """Rename the damaged file and begin another one, with the use counts of the damaged one if they can be read."""
        totals = _totals_of(self.path)
        aside = self.path.with_name(f"{self.path.name}.damaged-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}")
        try:
            for end in ("", "-wal", "-shm"):
                with contextlib.suppress(FileNotFoundError):
                    self.path.with_name(self.path.name + end).rename(aside.with_name(aside.name + end))
            self._joints, self._quantities = {}, {}
            db = self._connect()
        except OSError as error:
            raise HistoryError(f"{self.path}: damaged ({why}), and cannot be renamed: {error.strerror}") from error
        except sqlite3.DatabaseError as error:
            raise HistoryError(f"{self.path}: cannot be begun anew: {error}") from error
        kept = f"the use counts of {len(totals)} joints were read from it" if totals else "use counts begin anew"
        text = f"{self.path} is damaged ({why}): it is kept as {aside.name}, and a new one begins; {kept}"
        self.remarks.append(text)
        with _transaction(db):
            db.execute("INSERT INTO note VALUES (?, ?)", (time.time(), text))
            for name, *total in totals:
                db.execute(ADD_TOTAL, (self._joint(db, name), *total))
        return db

    def _remark_on_clock(self) -> None:
        newest = self._opened.execute(f"SELECT max(start) FROM {DAY.table}").fetchone()[0]
        if newest is not None and newest > time.time() + DAY_SECONDS:
            when = time.strftime("%Y-%m-%d", time.gmtime(newest))
            self.remarks.append(f"{self.path} has values up to {when}, later than now: the clock was or is wrong")

    def _write(self, interval: Interval) -> None:
        db = self._opened
        with self._adding(db):
            rows = [
                (self._quantity(db, *quantity), *figures.row())
                for quantity, figures in interval.figures.items()
                if figures.n
            ]
            for grain in GRAINS:
                start = interval.start // grain.seconds * grain.seconds
                db.executemany(add_values(grain), [(start, *row) for row in rows])
            for seen in interval.use.values():
                self._add_use(db, interval.start, seen)
            for joint, records in interval.changes.items():
                number = self._joint(db, joint)
                db.executemany(
                    "INSERT OR REPLACE INTO change VALUES (?, ?, ?, ?)",
                    [(number, one["parameter"], one["told"], json.dumps(one, ensure_ascii=False)) for one in records],
                )
            self._prune(db, interval.start)

    def _add_use(self, db: sqlite3.Connection, start: int, seen: SeenUse) -> None:
        """Add what was counted since the counts that went in last; another boot has counted from zero."""
        joint, counts = self._joint(db, seen.joint), seen.counts
        last = db.execute(
            "SELECT boot, seen_seconds, seen_travel, seen_reversals, seen_starts FROM use_total WHERE joint = ?",
            (joint,),
        ).fetchone()
        before = UseCounts(*last[1:]) if last is not None and last[0] == seen.boot else UseCounts()
        more = tuple(max(0, now - then) for now, then in zip(counts, before, strict=True))
        if last is not None and last[0] == seen.boot and not any(more):
            return
        db.execute(ADD_TOTAL, (joint, seen.unit, start, *more, seen.boot, *counts))
        if any(more):
            for grain in GRAINS:
                db.execute(add_use(grain), (start // grain.seconds * grain.seconds, joint, *more))

    def _prune(self, db: sqlite3.Connection, now: int) -> None:
        """Delete minutes that are older than is kept; hours and days stay."""
        limit = now - self._minutes * DAY_SECONDS
        for table in (MINUTE.table, f"use_{MINUTE.table}"):
            oldest = db.execute(f"SELECT min(start) FROM {table}").fetchone()[0]
            if oldest is not None and oldest < limit:
                most = oldest + PRUNED_AT_ONCE * DAY_SECONDS
                db.execute(f"DELETE FROM {table} WHERE start < ?", (min(limit, most),))

    @contextlib.contextmanager
    def _adding(self, db: sqlite3.Connection) -> Iterator[None]:
        """A transaction; where it fails, the numbers of joints and quantities that it gave are forgotten."""
        try:
            with _transaction(db):
                yield
        except BaseException:
            self._joints, self._quantities = {}, {}
            raise

    def _joint(self, db: sqlite3.Connection, name: str) -> int:
        if name not in self._joints:
            db.execute("INSERT OR IGNORE INTO joint (name) VALUES (?)", (name,))
            self._joints[name] = db.execute("SELECT id FROM joint WHERE name = ?", (name,)).fetchone()[0]
        return self._joints[name]

    def _quantity(self, db: sqlite3.Connection, joint: str, name: str, unit: str) -> int:
        key = joint, name, unit
        if key not in self._quantities:
            given = self._joint(db, joint), name, unit
            db.execute("INSERT OR IGNORE INTO quantity (joint, name, unit) VALUES (?, ?, ?)", given)
            found = db.execute("SELECT id FROM quantity WHERE joint = ? AND name = ? AND unit = ?", given).fetchone()
            self._quantities[key] = found[0]
        return self._quantities[key]


@contextlib.contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    """A transaction that is rolled back where anything in it fails."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):  # SQLite has rolled back by itself after some errors
            db.execute("ROLLBACK")
        raise


def _damaged(error: sqlite3.DatabaseError) -> bool:
    """Whether SQLite says that the file's content is wrong, and not that it cannot be written just now."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in DAMAGED


def _totals_of(path: Path) -> list[tuple[Any, ...]]:
    """Joint and use counts of a damaged file, as far as they can be read."""
    try:
        with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
            return db.execute(
                """SELECT name, unit, since, seconds, travel, reversals, starts,
                boot, seen_seconds, seen_travel, seen_reversals, seen_starts
                FROM use_total JOIN joint ON joint.id = use_total.joint"""
            ).fetchall()
    except sqlite3.Error:
        return []
