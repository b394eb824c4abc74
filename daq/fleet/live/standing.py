"""How each robot of a lake stands against its siblings: same joint, model, quantity and unit, at like conditions.

The time that is looked at is cut into minutes, hours or days; each counts as a recording counts for the offline fleet:
a robot's value is their median, its change the median of the later half less that of the earlier half: of its days, or
of the time where that is cut into minutes or hours. Days are taken for independent of each other, as recordings are.
Minutes and hours share the rows that an estimate remembers, so the deviation of their median is that of one.
"""

import itertools
import math
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from daq.fleet.comparison import MEDIAN, JudgedQuantity, SiblingKind, Siblings, judged
from daq.fleet.live.batch import TEMPERATURE, USE
from daq.fleet.live.lake import RAW, Lake, database
from daq.fleet.live.roll_up import DAYS, HOURS, MINUTES, IntervalTable
from daq.fleet.live.series_medians import medians_of_halves
from estimators.quantities import Floats

#: s, argued: Time up to which minutes are compared, up to which hours; of more, days: up to 120 rows of a series.
FINEST: Final = ((7_200.0, MINUTES), (3 * 86_400.0, HOURS), (math.inf, DAYS))
#: s, argued: Time without a summary after which a robot is called silent: its minute, and the collector's.
SILENT: Final = 180.0
NOTHING: Final = (math.nan, math.nan)  # temperature and travel where neither is known
SERIES: Final = "joint, model, quantity, unit, robot"

# of each series one row: how many intervals, median and σ of all, of the earlier and of the later half of them
OF_DAYS: Final = f"""
    WITH per_start AS (
        SELECT {SERIES}, start, median(value) AS value, median(deviation) AS deviation
        FROM finer WHERE start >= make_timestamp($first::BIGINT * 1000000)
            AND start < make_timestamp($end::BIGINT * 1000000) AND known > 0
            AND quantity NOT IN ({", ".join(f"'{one}'" for one in USE)})
        GROUP BY {SERIES}, start
    ), numbered AS (
        SELECT *, row_number() OVER (PARTITION BY {SERIES} ORDER BY start) AS place,
            count(*) OVER (PARTITION BY {SERIES}) AS intervals
        FROM per_start
    )
    SELECT {SERIES}, any_value(intervals) AS intervals,
        median(value), sqrt(avg(deviation * deviation) FILTER (isfinite(deviation))),
        median(value) FILTER (place <= intervals // 2),
        sqrt(avg(deviation * deviation) FILTER (isfinite(deviation) AND place <= intervals // 2)),
        median(value) FILTER (place > intervals // 2),
        sqrt(avg(deviation * deviation) FILTER (isfinite(deviation) AND place > intervals // 2))
    FROM numbered GROUP BY {SERIES} ORDER BY {SERIES}"""
# the same of raw rows, which are one interval: a second more or less tells no change
OF_RAW: Final = f"""
    SELECT {SERIES}, 1 AS intervals, median(value), median(deviation) FILTER (isfinite(deviation)), NULL, NULL, NULL, NULL
    FROM finer WHERE counted AND quantity NOT IN ({", ".join(f"'{one}'" for one in USE)})
        AND time >= make_timestamp($first::BIGINT * 1000000) AND time < make_timestamp($end::BIGINT * 1000000)
    GROUP BY {SERIES} ORDER BY {SERIES}"""  # noqa: E501
QUERIES: Final = {RAW: OF_RAW, DAYS.table: OF_DAYS}  # of minutes and hours: medians_of_halves
CONDITIONS: Final = f"""
    WITH per_boot AS (
        SELECT robot, joint, boot,
            max(high) FILTER (quantity = 'use.travel') - min(low) FILTER (quantity = 'use.travel') AS travel,
            median(value) FILTER (quantity = '{TEMPERATURE}') AS temperature
        FROM finer WHERE start >= make_timestamp($first::BIGINT * 1000000)
            AND start < make_timestamp($end::BIGINT * 1000000) AND quantity IN ('use.travel', '{TEMPERATURE}')
        GROUP BY robot, joint, boot
    )
    SELECT robot, joint, median(temperature), sum(travel) FROM per_boot GROUP BY robot, joint"""
JOINTS: Final = """
    SELECT robot, joint, arg_max(status, start), epoch(max(start)), max(lost_messages), max(messages) FROM (
        SELECT robot, joint, quantity, arg_max(status, start) AS status, max(start) AS start,
            sum(lost) AS lost_messages, sum(n) AS messages
        FROM finer WHERE start >= make_timestamp($first::BIGINT * 1000000)
            AND start < make_timestamp($end::BIGINT * 1000000)
        GROUP BY robot, joint, quantity)
    GROUP BY robot, joint ORDER BY robot, joint"""


class JointStanding(NamedTuple):
    """One joint of one robot in the time that was looked at."""

    robot: str
    joint: str
    status: str  # the last
    last: float  # Unix s, beginning of the last interval that has a summary
    lost: int  # summaries that are missing
    messages: int  # summaries that are there
    temperature: float  # °C, median; NaN: not known
    travel: float  # rad (m) in that time; NaN: not known


class FleetStanding(NamedTuple):
    """How the robots stand."""

    first: float  # Unix s
    end: float
    grain: str  # table that was read
    quantities: tuple[JudgedQuantity, ...]
    joints: tuple[JointStanding, ...]

    @property
    def silent(self) -> list[str]:
        """Robots of which nothing has come lately."""
        newest: dict[str, float] = {}
        for one in self.joints:
            newest[one.robot] = max(newest.get(one.robot, 0.0), one.last)
        late = {table.table: table.seconds for _, table in FINEST}.get(self.grain, 1) + SILENT
        return sorted(robot for robot, last in newest.items() if last < self.end - late)


def grain_of(seconds: float) -> IntervalTable:
    """The table in which a time of this length is looked at."""
    return next(grain for longest, grain in FINEST if seconds <= longest)


class Reader:
    """Asks a lake; it only reads."""

    def __init__(self, place: str, threads: int = 2) -> None:
        """Raises LakeError."""
        self.lake = Lake(place)
        self._database = database(threads)

    def standing(self, first: float, end: float, table: str = "") -> FleetStanding:
        """How the robots stand from first to before end (Unix s). table: of the lake; else by the length of that time.

        Raises LakeError.
        """
        table = table or grain_of(end - first).table
        if not self._view(table, first, end):
            return FleetStanding(first, end, table, (), ())
        asked = {"first": int(first), "end": math.ceil(end)}
        columns = self.columns(first, end, table)
        if table == RAW:
            return FleetStanding(first, end, table, tuple(judged(_siblings(columns, {}, False))), ())
        known = {
            (robot, joint): (_number(temperature), _number(travel))
            for robot, joint, temperature, travel in self._rows(CONDITIONS, asked)
        }
        found = judged(_siblings(columns, known, table == DAYS.table))
        joints = (
            JointStanding._make((*row, *known.get((row[0], row[1]), NOTHING))) for row in self._rows(JOINTS, asked)
        )
        return FleetStanding(first, end, table, tuple(found), tuple(joints))

    def columns(self, first: float, end: float, table: str) -> dict[str, NDArray[Any]]:
        """Median and deviation of each series, of all and of both halves of that time; empty where there is nothing."""
        asked = {"first": int(first), "end": math.ceil(end)}
        if table not in QUERIES:
            files = [one for one in self.lake.files(table, first, end) if one.first >= asked["first"]]
            return medians_of_halves(self.lake, files, sum(asked.values()) / 2) if files else {}
        if not self._view(table, first, end):
            return {}
        query = self._database.sql(QUERIES[table], params=asked)
        found: dict[str, NDArray[Any]] = query.fetchnumpy()
        return found

    def rows(self, table: str, query: str, first: float, end: float, **asked: Any) -> list[tuple[Any, ...]]:
        """What a query of `finer`, the files of a table with rows from first to end, gives. Raises LakeError."""
        if not self._view(table, first, end):
            return []
        return self._rows(query, asked)

    def _view(self, table: str, first: float, end: float) -> bool:
        """Make the files of that time the view `finer`; returns whether there are any."""
        files = self.lake.files(table, first, end)
        if files:
            self.lake.view(self._database, "finer", files)
        return bool(files)

    def _rows(self, query: str, asked: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = self._database.sql(query, params=dict(asked)).fetchall()
        return rows


def _siblings(
    columns: Mapping[str, NDArray[Any]], known: Mapping[tuple[str, str], tuple[float, float]], independent: bool
) -> list[Siblings]:
    """What `columns` gives as groups of siblings. known: (robot, joint) → temperature, travel; independent: intervals
    are."""
    joint, model, quantity, unit, robot, count, *numbers = columns.values()
    if not len(robot):
        return []
    intervals = np.asarray(count, np.int64)
    whole, spread, before, spread_before, after, spread_after = (
        np.ma.filled(np.ma.asarray(one, np.float64), math.nan) for one in numbers
    )
    half = intervals // 2
    values = np.column_stack([whole, _deviation(spread, intervals, independent)])
    uncertain = np.hypot(_deviation(spread_before, half, independent),
                         _deviation(spread_after, intervals - half, independent))  # fmt: skip
    changes = np.where((intervals > 1)[:, None], np.column_stack([after - before, uncertain]), math.nan)
    other = np.any([one[1:] != one[:-1] for one in (joint, model, quantity, unit)], axis=0)
    starts = [0, *(np.flatnonzero(other) + 1).tolist(), len(robot)]
    found = []
    for begin, end in itertools.pairwise(starts):
        part, robots = slice(begin, end), tuple(str(one) for one in robot[begin:end])
        kind = SiblingKind(*(str(one[begin]) for one in (joint, model, quantity, unit)))
        conditions = _conditions([known.get((one, kind.joint), NOTHING) for one in robots])
        if kind.quantity == TEMPERATURE:
            conditions[:, 0] = math.nan  # it is no condition of itself
        found.append(Siblings(kind, robots, values[part], changes[part], intervals[part], conditions))
    return found


def _deviation(spread: Floats, intervals: NDArray[np.int64], independent: bool) -> Floats:
    """The deviation of a median of so many intervals, whose own deviations have this rms."""
    if not independent:
        return spread
    return np.where(intervals > 2, MEDIAN, 1.0) * spread / np.sqrt(np.maximum(intervals, 1))


def _conditions(known: list[tuple[float, float]]) -> Floats:
    """(robots, 2) temperature and ln of use, NaN where not known."""
    found = np.array(known).reshape(-1, 2)
    found[:, 1] = np.log(np.where(found[:, 1] > 0.0, found[:, 1], math.nan))
    return found


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)
