"""Robots against their siblings by what a lake has: as the offline fleet judges the same values, at like conditions."""

import io
import itertools
import math
import re
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from daq.commands.fleet.live_page import document
from daq.commands.fleet.watch import headline, render
from daq.fleet.comparison import JudgedQuantity
from daq.fleet.examine import ExaminedRecording, JointFound, RecordedQuantity
from daq.fleet.live.lake import Lake
from daq.fleet.live.standing import Reader, grain_of
from daq.fleet.live.time_left import times_left
from daq.fleet.live.writer import LakeWriter, Retention
from daq.fleet.verdict import judge
from daq.state.history.time_left import Limit
from estimators.quantities import Floats
from tests.support.processes.summaries import batch, summary

T0 = 1_800_000_000 // 86_400 * 86_400.0
DAY = 86_400.0


def lake(place: Path, updates: list[dict[str, Any]]) -> Reader:
    writer = LakeWriter(Lake(str(place)), "hall", Retention(3660, 3660))
    writer.start()
    for _, those in itertools.groupby(updates, key=lambda one: one["timestamp"] // DAY):
        mine = list(those)
        while writer.waiting > 4:  # of more than a few, the oldest would be given up
            time.sleep(0.005)
        writer.put(batch(*mine), mine[-1]["timestamp"])
    writer.stop()
    assert writer.causes == {}
    return Reader(str(place))


def both(place: Path, values: Floats, status: dict[int, tuple[str, float]]) -> tuple[list[Any], list[Any]]:
    """The offline fleet's verdict on recordings, one a day, and the live one's on summaries with these values."""
    recordings, updates = [], []
    for day, robots in enumerate(values.T):
        for i, value in enumerate(robots):
            if math.isnan(value):
                continue
            told, deviation = status.get(i, ("valid", 0.02 + 0.01 * (i % 3)))
            quantity = (RecordedQuantity("coulomb", "N·m", float(value), deviation),)
            joint = JointFound("elbow", "rigid", "normal", told, "", 1, 0, 0.1, 0, 0, 0, quantity)
            recordings.append(ExaminedRecording(f"/{i}/{day}", f"r{i:02}", T0 + day * DAY, 20.0, (joint,), ""))
            named, at = {"coulomb": float(value)}, T0 + day * DAY + 60.0
            updates.append(summary(f"r{i:02}", day, at, named, status=told, deviation=deviation))
    live = lake(place, updates).standing(T0, T0 + values.shape[1] * DAY, "days").quantities
    return [tuple(one) for one in judge(recordings)], [tuple(one) for one in live]


@pytest.mark.parametrize("days", [1, 2, 5, 6])
def test_the_verdict_is_the_offline_fleets_on_the_same_values(days: int, tmp_path: Path) -> None:
    """One is odd, one drifts, one still learns, one is faulted, one has fewer days: every number but rounding."""
    random = np.random.default_rng(days)
    values = 5.0 + 0.1 * random.standard_normal((14, 1)) + 0.02 * random.standard_normal((14, days))
    values[3] += 2.0
    values[5, (days + 1) // 2 :] += 1.0
    values[8, : days // 2] = math.nan
    offline, live = both(tmp_path, values, {6: ("learning", 0.3), 7: ("faulted", 0.02), 9: ("learning", math.inf)})
    assert [one[:4] for one in live] == [one[:4] for one in offline]
    np.testing.assert_allclose(
        np.array([one[4:] for one in live], float), np.array([one[4:] for one in offline], float), rtol=1e-12
    )
    judged = [JudgedQuantity(*one) for one in live]
    assert {one.robot for one in judged if one.odd} - {"r05"} == {"r03"}, "one that drifts may be odd by then"
    assert [one.robot for one in judged if one.drifts] == (["r05"] if days > 1 else [])


def test_minutes_raw_rows_and_days_find_the_same_one(tmp_path: Path) -> None:
    random = np.random.default_rng(8)
    own = 5.0 + 0.1 * random.standard_normal(12)
    own[4] += 1.0
    updates = [
        summary(f"r{i:02}", seq, T0 + seq, {"coulomb": own[i] + 0.01 * random.standard_normal()}, travel=3.0 * seq)
        for seq in range(240)
        for i in range(12)
    ]
    reader = lake(tmp_path, updates)
    for table in ("raw", "minutes", "hours", "days"):
        standing = reader.standing(T0, T0 + 86_400.0, table)
        assert [one.robot for one in standing.quantities if one.odd] == ["r04"], table
        assert [one.robot for one in standing.quantities if one.drifts] == []
    minutes = reader.standing(T0, T0 + 240.0)
    assert (minutes.grain, minutes.silent) == ("minutes", [])
    assert {(one.status, one.lost, one.messages, one.travel, one.last) for one in minutes.joints} == {
        ("valid", 0, 240, 3.0 * 239, T0 + 180)
    }
    assert reader.standing(T0, T0 + 3600.0).silent == [f"r{i:02}" for i in range(12)]
    assert reader.standing(T0 - 500.0, T0 - 200.0).quantities == ()


def test_warm_robots_are_compared_as_if_they_were_as_warm_as_the_others(tmp_path: Path) -> None:
    random = np.random.default_rng(9)
    temperature = random.uniform(20.0, 40.0, 20)
    value = 5.0 - 0.08 * (temperature - 30.0) + 0.02 * random.standard_normal(20)
    value[11] += 0.5
    updates = [
        summary(f"r{i:02}", seq, T0 + seq, {"coulomb": float(value[i])}, temperature=float(temperature[i]))
        for seq in range(3)
        for i in range(20)
    ]
    standing = lake(tmp_path, updates).standing(T0, T0 + 60.0)
    assert [(one.robot, one.quantity) for one in standing.quantities if one.odd] == [("r11", "coulomb")]
    assert {one.robot: one.temperature for one in standing.joints}["r03"] == temperature[3]


def test_the_time_to_a_limit_is_that_of_joints_that_have_changed(tmp_path: Path) -> None:
    """Friction grows by 0.01 N·m a day from 5.0: after 40 days 6.0 is 60 days off. The other has not changed."""
    updates = []
    for day in range(40):
        for seq, hour in ((2 * day, 1.0), (2 * day + 1, 20.0)):
            at, travel = T0 + day * DAY + hour * 3600.0, 500.0 * day + 25.0 * hour
            grown, wiggle = 5.0 + 0.01 * day, 0.004 * math.sin(2.1 * day)
            changed = {"coulomb": 5.0} if day > 20 else {}
            updates.append(summary("worn", seq, at, {"coulomb": grown + wiggle}, changed=changed, travel=travel))
            updates.append(summary("sound", seq, at, {"coulomb": 5.0 + wiggle}, travel=travel))
    [found] = times_left(lake(tmp_path, updates), [Limit("coulomb", 6.0)], T0 + 40 * DAY)
    assert (found.robot, found.joint, found.time_left.limit) == ("worn", "elbow", 6.0)
    assert found.time_left.left is not None
    assert found.time_left.left.low < 60.0 < found.time_left.left.high
    assert found.time_left.left.middle == pytest.approx(60.0, rel=0.3)
    assert found.as_map()["left"]["middle"] == found.time_left.left.middle


@pytest.mark.parametrize(("seconds", "table"), [(3600.0, "minutes"), (86_400.0, "hours"), (14 * 86_400.0, "days")])
def test_the_grain_follows_the_time_that_is_looked_at(seconds: float, table: str) -> None:
    assert grain_of(seconds).table == table


def test_what_is_told_of_days_speaks_of_days_and_a_row_fits_a_terminal(tmp_path: Path) -> None:
    """ "days of 1.44e+03 h" was told, of recordings that there are none of, and a value on three lines."""
    random = np.random.default_rng(4)
    updates = [
        summary(f"robot{i:02}", day, T0 + day * DAY, {"coulomb": 5.0 + (i == 3) + 0.02 * random.standard_normal()})
        for day in range(4)
        for i in range(12)
    ]
    standing = lake(tmp_path, updates).standing(T0, T0 + 4 * DAY)
    told = Console(width=80, file=io.StringIO())
    told.print(render(standing, []))
    text = told.file.getvalue()  # type: ignore[attr-defined]
    assert "the last 4 days by days: 12 robots, 1 stand out" in " ".join(text.split())
    [row] = [line for line in text.splitlines() if line.strip().startswith("robot03")]
    assert re.search(r"odd +coulomb +[\d.]+ ± [\d.]+ N·m", row)
    page = document(standing, [], 0.0)
    assert "in all days (up to" in page
    assert "recordings" not in page
    assert f"{time.strftime('%Y-%m-%d %H:%M', time.gmtime(T0 + 4 * DAY))} UTC" in page


def test_an_empty_time_says_that_nothing_has_come(tmp_path: Path) -> None:
    standing = lake(tmp_path, [summary("robot", 0, T0)]).standing(T0 - 9 * DAY, T0 - 5 * DAY)
    page = document(standing, [], 0.0)
    assert "Nothing was received in this time" in page
    assert "Every robot" not in page
    assert headline(standing).endswith("0 robots, nothing was received in this time")
