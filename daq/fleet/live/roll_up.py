"""Makes minutes of a lake's raw rows, hours of minutes, and days of hours.

Every file of these tables is one interval of one collector and depends on nothing but the finer files, so it can be
made again at any time: after a restart, or because rows came late. Its rows are, for each series and start of the core,

    value      median of the values that count            deviation  median of their standard deviations
    low, high  of the values that count                   known      how many count
    n          messages                                   lost       messages that are missing
    status     the last                                   left       the last value that a change has left, or NaN

A value counts by the offline fleet's own rule (daq/fleet/verdict.py), or where it is a use count or a temperature.
"""

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from daq.fleet.live.lake import RAW, Lake, database

BY: Final = "robot, joint, model, quantity, unit, boot"


class IntervalTable(NamedTuple):
    """A table of intervals."""

    table: str
    seconds: int
    finer: str  # the table that it is made of


MINUTES: Final = IntervalTable("minutes", 60, RAW)
HOURS: Final = IntervalTable("hours", 3_600, "minutes")
DAYS: Final = IntervalTable("days", 86_400, "hours")
GRAINS: Final = (MINUTES, HOURS, DAYS)

OF_RAW: Final = f"""
    SELECT make_timestamp($start::BIGINT * 1000000) AS start, {BY}, count(*) AS n, count(*) FILTER (counted) AS known,
        median(value) FILTER (counted) AS value,
        median(deviation) FILTER (counted AND isfinite(deviation)) AS deviation,
        min(value) FILTER (counted) AS low, max(value) FILTER (counted) AS high, sum(lost)::BIGINT AS lost,
        arg_max(status, time) AS status, arg_max("left", time) AS "left"
    FROM finer
    WHERE time >= make_timestamp($start::BIGINT * 1000000) AND time < make_timestamp($stop::BIGINT * 1000000)
    GROUP BY {BY} ORDER BY robot, joint, quantity, boot"""
OF_INTERVALS: Final = f"""
    SELECT make_timestamp($start::BIGINT * 1000000) AS start, {BY}, sum(n)::BIGINT AS n, sum(known)::BIGINT AS known,
        median(value) AS value, median(deviation) AS deviation, min(low) AS low, max(high) AS high,
        sum(lost)::BIGINT AS lost, arg_max(status, began) AS status, arg_max("left", began) AS "left"
    FROM (SELECT *, start AS began FROM finer)
    WHERE began >= make_timestamp($start::BIGINT * 1000000) AND began < make_timestamp($stop::BIGINT * 1000000)
    GROUP BY {BY} ORDER BY robot, joint, quantity, boot"""


class RollUp:
    """Rolls up what one collector has written."""

    def __init__(self, lake: Lake, collector: str) -> None:
        """Raises LakeError."""
        self._lake, self._collector = lake, collector
        self._database = database(threads=1)
        self._waiting: dict[IntervalTable, set[int]] = {grain: set() for grain in GRAINS}  # starts of intervals, Unix s

    def find_unfinished(self) -> None:
        """Let everything wait that may not be up to date after another process has ended. Raises LakeError."""
        minutes = self._lake.files(MINUTES.table, 0, float("inf"), self._collector)
        newest = minutes[-1].first if minutes else 0
        for raw in self._lake.files(RAW, newest, float("inf"), self._collector):
            self.add(range(raw.first // MINUTES.seconds, -(-raw.end // MINUTES.seconds)))
        for grain in (HOURS, DAYS) if minutes else ():
            self._waiting[grain].add(newest // grain.seconds * grain.seconds)

    def add(self, minutes: Iterable[int]) -> None:
        """Raw rows of these minutes (Unix s / 60) have been written."""
        self._waiting[MINUTES] |= {minute * MINUTES.seconds for minute in minutes}

    def run(self, complete: float, partial: bool) -> int:
        """Write every waiting interval that has ended; returns how many files. Raises LakeError, OSError.

        complete: Unix s up to which raw rows are written; partial: also hours and days that have not ended, and with
        complete = inf minutes.
        """
        written = 0
        for grain, coarser in zip(GRAINS, (*GRAINS[1:], None), strict=True):
            whole = grain is MINUTES or not partial
            for start in sorted(self._waiting[grain]):
                if whole and start + grain.seconds > complete:
                    continue
                written += self._write(grain, start)
                self._waiting[grain].discard(start)
                if coarser is not None:
                    self._waiting[coarser].add(start // coarser.seconds * coarser.seconds)
        return written

    def oldest_waiting(self) -> float:
        """Unix s of the earliest minute that has to be rolled up yet."""
        return min(self._waiting[MINUTES], default=float("inf"))

    def _write(self, grain: IntervalTable, start: int) -> int:
        stop = start + grain.seconds
        files = self._lake.files(grain.finer, start, stop, self._collector)
        if not files:
            return 0
        self._lake.view(self._database, "finer", files)
        query = OF_RAW if grain.finer == RAW else OF_INTERVALS
        rows: Any = self._database.sql(query, params={"start": start, "stop": stop}).to_arrow_table()
        if rows.num_rows:
            self._lake.write(grain.table, self._collector, start, stop, encoded(rows))
        return int(rows.num_rows > 0)


def encoded(rows: Any) -> Any:
    """A table whose texts are kept as dictionaries, so that other readers get dictionaries, too."""
    import pyarrow

    for name in (*BY.split(", ")[:-1], "status"):
        at = rows.schema.get_field_index(name)
        rows = rows.set_column(at, name, rows[name].cast(pyarrow.string()).dictionary_encode())
    return rows
