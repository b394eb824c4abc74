"""`jointwatch history` and `compare` on a file of two joints whose figures are known."""

import csv
import io
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from daq.__main__ import main
from daq.commands.history.source import DAY_SECONDS, SourceError, since, source
from daq.state.history.file import HistoryFile
from daq.state.history.interval import Interval, Quantity, SeenUse
from estimators.wear.use_counts import UseCounts

NOW = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0).timestamp()
FIRST = int(NOW - 5 * 86_400)  # midnight five days ago
SIGMA, STEP = 0.02, 0.2
Told = Callable[..., tuple[int, str, str]]


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Told:
    def run(*words: object) -> tuple[int, str, str]:
        code = main([str(word) for word in words])
        return code, *capsys.readouterr()

    return run


def name(days_ago: int) -> str:
    return f"{datetime.fromtimestamp(NOW - 86_400 * days_ago, UTC):%Y-%m-%d}"


def coulomb(day: int, hour: int) -> float:
    """2 N·m that swings by 0.03 with the hour, and STEP more from the third day on."""
    return 2.0 + 0.03 * float(np.cos(hour)) + (STEP if day >= 2 else 0.0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = HistoryFile(tmp_path / "arm.history.sqlite", 3660)
    for day in range(4):
        for hour in range(8):
            interval = Interval(FIRST + 86_400 * day + 3600 * hour)
            for joint, factor in (("elbow", 1.0), ("wrist", 0.1)):
                for _ in range(3):
                    value = coulomb(day, hour) if joint == "elbow" else 2.0
                    interval.add(Quantity(joint, "coulomb", "N·m"), factor * value, factor * SIGMA)
                interval.add(Quantity(joint, "residual", "N·m"), 0.0, 0.3 + 0.01 * hour)
            interval.add(Quantity("elbow", "temperature", "°C"), 20.0 + 4 * day, 0.0)
            count = 8 * day + hour + 1
            interval.see([SeenUse(5, "elbow", "rad", UseCounts(1800.0 * count, 900.0 * count, 60 * count, count))])
            if (day, hour) == (2, 1):
                record = {"parameter": "coulomb", "told": interval.start + 5.0, "text": "coulomb +10 % since 01:00"}
                interval.changes["elbow"] = (record,)
            file.write(interval)
    file.close()
    return file.path


def test_the_table_has_first_and_last_day_use_and_changes(told: Told, path: Path) -> None:
    code, out, _ = told("history", path, "--joint", "elbow")
    assert code == 0
    lines = out.splitlines()
    assert "in motion 16.0 h, 28,800 rad, 1,920 reversals, 32 starts" in lines[1]
    [row] = [line.split() for line in lines if line.strip().startswith("coulomb N·m")]
    means = [np.mean([coulomb(day, hour) for hour in range(8)]) for day in (0, 3)]
    assert [row[2], row[5]] == [f"{mean:.4g}" for mean in means]
    assert "wrist" not in out
    assert lines[-1].endswith("coulomb +10 % since 01:00")


def test_csv_has_a_line_for_each_quantity_and_interval(told: Told, path: Path) -> None:
    code, out, _ = told("history", path, "--csv", "--grain", "hour")
    rows = [row for row in csv.DictReader(io.StringIO(out)) if (row["joint"], row["quantity"]) == ("elbow", "coulomb")]
    assert code == 0
    assert [float(row["mean"]) for row in rows] == pytest.approx([coulomb(d, h) for d in range(4) for h in range(8)])
    assert {row["n"] for row in rows} == {"3"}
    assert {row["seconds"] for row in rows} == {"3600"}


def test_json_has_values_use_and_changes_from_a_day_on(told: Told, path: Path) -> None:
    code, out, _ = told("history", path, "--json", "--grain", "day", "--since", name(3))
    found = json.loads(out)["joints"]["elbow"]
    assert code == 0
    values = {one["quantity"]: one["rows"] for one in found["values"]}
    assert [row["start"] for row in values["coulomb"]] == [FIRST + 86_400 * day for day in (2, 3)]
    assert [row["seconds"] for row in found["use"]] == [8 * 1800.0] * 2
    assert found["total_use"]["reversals"] == 1920
    assert len(found["changes"]) == 1


def test_two_days_are_compared_with_the_deviations_that_numpy_has(told: Told, path: Path) -> None:
    code, out, _ = told("compare", f"{path}@{name(4)}", f"{path}@{name(2)}", "--json")
    found = {(one["joint"], one["name"]): one for one in json.loads(out)["differences"]}
    assert code == 0
    elbow, wrist = found["elbow", "coulomb"], found["wrist", "coulomb"]
    swing = np.std([coulomb(0, hour) for hour in range(8)])
    deviation = np.hypot(SIGMA, swing)
    assert elbow["a"]["deviation"] == pytest.approx(deviation)
    assert elbow["change"] == pytest.approx(STEP)
    assert elbow["percent"] == pytest.approx(100 * STEP / np.mean([coulomb(0, hour) for hour in range(8)]))
    assert elbow["z"] == pytest.approx(STEP / (np.sqrt(2) * deviation))
    assert (elbow["changed"], wrist["changed"]) == (True, False)
    levels = 0.3 + 0.01 * np.arange(8)
    assert found["elbow", "residual"]["a"]["value"] == pytest.approx(np.sqrt(np.mean(levels**2)))
    assert found["elbow", "temperature"]["change"] == pytest.approx(8.0)


def test_the_comparison_says_what_changed_and_that_it_was_warmer(told: Told, path: Path) -> None:
    code, out, _ = told("compare", f"{path}@{name(5)}..{name(4)}", path)
    assert code == 0
    [row] = [line for line in out.splitlines() if line.strip().startswith("coulomb") and "changed" in line]
    assert "+10.0 %" in row
    assert "elbow: 8.0 h and 4.0 h in motion" in out
    assert "B was 10.0 K warmer: friction follows temperature" in out
    _, out, _ = told("compare", path, f"{path}@{name(5)}..{name(4)}")
    assert "B was 10.0 K colder: friction follows temperature" in out
    [row] = [line for line in out.splitlines() if line.strip().startswith("temperature")]
    assert "-10.0 K" in row
    assert "%" not in row, "a per cent of °C means nothing"


def test_what_cannot_be_compared_is_said_in_one_line(told: Told, path: Path, tmp_path: Path) -> None:
    code, _, error = told("compare", f"{path}@2001-01-01", path)
    assert (code, error.count("\n")) == (1, 1)
    assert f"no valid values; the file has {name(5)} to {name(2)}" in error
    assert told("compare", f"{path}@someday", path)[0] == 2
    assert told("compare", tmp_path / "none.sqlite", path)[0] == 1
    assert told("history", path, "--joint", "knee")[::2] == (
        2,
        "jointwatch: found no joint knee, expected one of elbow, wrist\n",
    )
    assert told("history", path, "--since", "soon")[0] == 2
    assert told("history", tmp_path / "none.toml")[0] == 78


def test_times_are_said_as_spans_or_days() -> None:
    assert since("90m", 1e9) == 1e9 - 5400
    assert since("1y", 1e9) == 1e9 - 365.25 * DAY_SECONDS
    assert since("2026-01-31", 0.0) == datetime(2026, 1, 31, tzinfo=UTC).timestamp()
    found = source("old.sqlite@2026-01-30..2026-02-01")
    assert found.end is not None
    assert found.first is not None
    assert found.end - found.first == 3 * DAY_SECONDS
    with pytest.raises(SourceError, match="expected days in order"):
        source("old.sqlite@2026-02-01..2026-01-30")


def worn(folder: Path, told: bool) -> Path:
    """A joint whose Coulomb friction has risen from 2 N·m by 0.005 a day for 80 days, every other day in use."""
    file = HistoryFile(folder / "worn.sqlite", 3660)
    random = np.random.default_rng(9)
    for day in range(0, 80, 2):
        interval = Interval(int(NOW) - 86_400 * (80 - day))
        interval.add(Quantity("elbow", "coulomb", "N·m"), 2.0 + 0.005 * day + float(random.normal(0, 0.004)), 0.01)
        count = day // 2 + 1
        interval.see([SeenUse(1, "elbow", "rad", UseCounts(3600.0 * count, 500.0 * count, count, count))])
        if told and day == 60:
            record = {
                "parameter": "coulomb",
                "told": float(interval.start),
                "text": "coulomb +15 %",
                "from": 2.0,
                "over": 0.0,
            }
            interval.changes["elbow"] = (record,)
        file.write(interval)
    file.close()
    return file.path


def test_the_time_to_a_limit_is_in_days_in_use_and_has_the_truth_within(told: Told, tmp_path: Path) -> None:
    """2.4 N·m after 80 days, the last value at 78: to 2.6 it takes 42 days, 21 of them in use."""
    path = worn(tmp_path, told=True)
    code, out, _ = told("history", path, "--limit", "coulomb=2.6", "--json")
    [found] = json.loads(out)["joints"]["elbow"]["limits"]
    assert code == 0
    assert found["left"]["low"] <= 21 <= found["left"]["high"]
    assert found["left"]["middle"] == pytest.approx(21, rel=0.2)
    lines = told("history", path, "--limit", "coulomb=2.6", "--limit", "coulomb=1.5", "--limit", "viscous=9")[
        1
    ].splitlines()
    assert "limit coulomb = 2.6: in " in lines[-3]
    assert lines[-3].endswith("at the use of the last 30 days")
    assert lines[-2].endswith("not known: it moves away from its limit")
    assert lines[-1].endswith("not known: the history has no values of this parameter")


def test_a_repair_begins_a_new_life(told: Told, tmp_path: Path) -> None:
    """Ten days more in use, from 2 N·m on again: what was before does not count, and ten days are enough."""
    path = worn(tmp_path, told=True)
    file = HistoryFile(path, 3660)
    for day in range(9):
        interval = Interval(int(NOW) - 86_400 * 17 + 172_800 * day)
        interval.add(Quantity("elbow", "coulomb", "N·m"), 2.02, 0.01)
        interval.see([SeenUse(2, "elbow", "rad", UseCounts(3600.0 * (day + 1), 500.0 * (day + 1), day, day))])
        file.write(interval)
    file.close()
    found = told("history", path, "--limit", "coulomb=2.6")[1].splitlines()[-1]
    assert "days with values since its repair, 10 are needed" in found


def test_before_a_change_has_been_reported_there_is_no_number(told: Told, tmp_path: Path) -> None:
    path = worn(tmp_path, told=False)
    code, out, _ = told("history", path, "--limit", "coulomb=2.6")
    assert code == 0
    assert out.splitlines()[-1] == "  limit coulomb = 2.6: not known: no change has been reported, so there is no trend"
    assert told("history", path, "--limit", "coulomb")[0] == 2
