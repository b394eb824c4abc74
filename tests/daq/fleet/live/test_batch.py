"""Summaries become rows: each value with what it is of, whether it counts, and nothing of what is no summary."""

import math
from typing import Any

import numpy as np
import pytest

from daq.fleet.examine import ExaminedRecording, JointFound, RecordedQuantity
from daq.fleet.live.batch import CLOCK, Catalogue, SummaryBatch
from daq.fleet.verdict import judge
from tests.support.processes.summaries import batch, summary

NOW = 1.8e9


def rows(made: SummaryBatch, lost: list[int] | None = None) -> list[dict[str, Any]]:
    count = len(made)
    table = made.table(np.array(lost or [0] * count), np.ones(count, np.bool_))
    found: list[dict[str, Any]] = table.to_pylist()
    return found


def test_a_summary_is_a_row_for_each_parameter_and_for_its_use_and_temperature() -> None:
    one = summary("arm1", 4, NOW, {"coulomb": 2.5, "viscous": 0.5}, changed={"viscous": 0.25}, temperature=31.0)
    found = {row["quantity"]: row for row in rows(batch(one), [3])}
    assert list(found) == ["coulomb", "viscous", "use.seconds", "use.travel", "temperature"]
    same = ("robot", "joint", "model", "boot", "seq", "lost")
    assert {tuple(row[name] for name in same) for row in found.values()} == {("arm1", "elbow", "rigid", 7, 4, 3)}
    assert [row["value"] for row in found.values()] == [2.5, 0.5, 4.0, 8.0, 31.0]
    assert [row["unit"] for row in found.values()] == ["N·m", "N·m·s/rad", "s", "rad", "°C"]
    assert (found["viscous"]["left"], found["viscous"]["deviation"]) == (0.25, 0.02)
    assert math.isnan(found["coulomb"]["left"])
    assert np.datetime64(found["coulomb"]["time"], "us") == np.datetime64(int(NOW * 1e6), "us")


def test_rows_are_in_order_of_series_then_of_time() -> None:
    found = rows(batch(*(summary(robot, seq, NOW + seq) for seq in range(3) for robot in ("b", "a"))))
    assert [(row["robot"], row["quantity"], row["seq"]) for row in found] == [
        (robot, quantity, seq)
        for robot in ("b", "a") for quantity in ("coulomb", "use.seconds", "use.travel") for seq in range(3)
    ]  # fmt: skip


@pytest.mark.parametrize("status", ["valid", "held", "learning", "faulted", "unestimated"])
@pytest.mark.parametrize("deviation", [0.02, math.nan, math.inf])
@pytest.mark.parametrize("value", [5.0, math.nan])
def test_a_value_counts_where_it_counts_for_the_offline_fleet(status: str, deviation: float, value: float) -> None:
    [row] = [
        one
        for one in rows(batch(summary("a", 0, NOW, {"coulomb": value}, status=status, deviation=deviation)))
        if one["quantity"] == "coulomb"
    ]
    told = (RecordedQuantity("coulomb", "N·m", value, deviation),)
    joint = JointFound("elbow", "rigid", "normal", status, "", 1, 0, 0.1, 0, 0, 0, told)
    offline = judge([ExaminedRecording("/x", "a", 0.0, 1.0, (joint,), "")])
    assert row["counted"] is bool(offline)


@pytest.mark.parametrize("off", [-CLOCK - 1.0, CLOCK + 1.0, math.nan])
def test_a_clock_that_is_wrong_is_not_believed(off: float) -> None:
    made = SummaryBatch(Catalogue())
    assert made.add(summary("a", 0, NOW), NOW + CLOCK)
    assert not made.add(summary("a", 1, NOW + off), NOW)
    assert list(made.times) == [NOW, NOW]


@pytest.mark.parametrize(
    "change",
    [
        {"parameters": {"coulomb": "much"}},
        {"deviations": {}},
        {"use": {"unit": "rad", "seconds": 1.0}},
        {"use": None},
        {"boot": -1},
        {"seq": 1 << 63},
        {"status": 3},
        {"timestamp": "now"},
        {"changed": {"coulomb": "before"}},
    ],
)
def test_what_is_no_summary_adds_nothing(change: dict[str, Any]) -> None:
    made = batch(summary("a", 0, NOW))
    before = rows(made)
    with pytest.raises((KeyError, TypeError, ValueError, AttributeError, OverflowError)):
        made.add(summary("a", 1, NOW) | change, NOW)
    assert str(rows(made)) == str(before)
