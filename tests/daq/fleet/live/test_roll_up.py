"""Minutes, hours and days of a lake: each interval is written once, from what is finer, when it has ended."""

import math
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from pyarrow import parquet

from daq.fleet.live.lake import RAW, Lake
from daq.fleet.live.roll_up import DAYS, HOURS, MINUTES, RollUp
from tests.support.processes.summaries import batch, summary

DAY = 1_800_000_000 // 86_400 * 86_400
BEGIN = datetime.fromtimestamp(DAY, UTC)


def written(lake: Lake, *seconds: int) -> None:
    """Raw rows of these seconds after DAY, in one file."""
    rows = batch(*(summary("arm1", second, DAY + second, {"coulomb": float(second)}) for second in seconds))
    table = rows.table(np.zeros(len(rows), np.int64), np.ones(len(rows), np.bool_))
    lake.write(RAW, "hall", DAY + min(seconds), DAY + max(seconds) + 1, table)


def medians(lake: Lake, table: str) -> list[tuple[int, float]]:
    """Beginning in seconds after DAY, and median of the Coulomb friction, of each interval."""
    rows = [row for file in lake.files(table, 0, math.inf, "hall") for row in parquet.read_table(file.path).to_pylist()]
    chosen = [row for row in rows if row["quantity"] == "coulomb"]
    return [((row["start"].replace(tzinfo=UTC) - BEGIN).seconds, row["value"]) for row in chosen]


def test_an_interval_is_written_when_it_has_ended_and_no_second_time(tmp_path: Path) -> None:
    lake, minute = Lake(str(tmp_path)), DAY // 60
    written(lake, 0, 10, 20, 70, 3_650)
    roll_up = RollUp(lake, "hall")
    assert roll_up.oldest_waiting() == math.inf
    roll_up.add([minute, minute + 1, minute + 60])
    assert roll_up.oldest_waiting() == DAY
    assert roll_up.run(DAY + 59, partial=False) == 0, "its minute goes on"
    assert roll_up.run(DAY + 60, partial=False) == 1
    assert roll_up.oldest_waiting() == DAY + 60
    assert roll_up.run(DAY + 120, partial=False) == 1
    assert medians(lake, MINUTES.table) == [(0, 10.0), (60, 70.0)]
    assert lake.files(HOURS.table, 0, math.inf) == [], "the hour goes on"
    assert roll_up.run(DAY + 3_600, partial=False) == 1
    assert medians(lake, HOURS.table) == [(0, 40.0)]
    assert roll_up.run(DAY + 3_600, partial=False) == 0, "all that has ended is written"
    assert roll_up.run(DAY + 86_400, partial=False) == 3, "the last minute, its hour, the day"
    assert medians(lake, DAYS.table) == [(0, (40.0 + 3_650.0) / 2)]
    assert roll_up.oldest_waiting() == math.inf
    assert roll_up.run(math.inf, partial=True) == 0


def test_what_has_not_ended_is_written_at_a_stop_and_again_when_it_has(tmp_path: Path) -> None:
    lake, minute = Lake(str(tmp_path)), DAY // 60
    written(lake, 0, 10)
    roll_up = RollUp(lake, "hall")
    roll_up.add([minute])
    assert roll_up.run(DAY + 60, partial=True) == 3, "minute, hour and day so far"
    assert medians(lake, DAYS.table) == [(0, 5.0)]
    written(lake, 60, 80)
    again = RollUp(lake, "hall")  # another process, after a stop
    again.find_unfinished()
    assert again.run(math.inf, partial=True) >= 3
    assert medians(lake, MINUTES.table) == [(0, 5.0), (60, 70.0)]
    assert medians(lake, HOURS.table) == medians(lake, DAYS.table) == [(0, 37.5)]


def test_a_minute_whose_rows_are_gone_makes_no_file_and_waits_no_longer(tmp_path: Path) -> None:
    lake = Lake(str(tmp_path))
    roll_up = RollUp(lake, "hall")
    roll_up.add([DAY // 60])
    assert roll_up.run(DAY + 60, partial=False) == 0
    assert roll_up.oldest_waiting() == math.inf
    assert lake.files(MINUTES.table, 0, math.inf) == []


def test_hours_and_days_whose_raw_rows_are_gone_are_written_from_their_minutes_by_the_next_process(
    tmp_path: Path,
) -> None:
    lake, minute = Lake(str(tmp_path)), DAY // 60
    written(lake, 0, 10, 70)
    before = RollUp(lake, "hall")
    before.add([minute, minute + 1])
    assert before.run(DAY + 120, partial=False) == 2
    for file in lake.files(RAW, 0, math.inf):
        Path(file.path).unlink()
    again = RollUp(lake, "hall")
    again.find_unfinished()
    assert again.oldest_waiting() == math.inf
    assert again.run(DAY + 86_400, partial=False) == 2
    assert medians(lake, HOURS.table) == medians(lake, DAYS.table) == [(0, 37.5)]
    empty = RollUp(Lake(str(tmp_path / "empty")), "hall")
    empty.find_unfinished()
    assert empty.run(math.inf, partial=True) == 0
