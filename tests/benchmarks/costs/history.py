#!/usr/bin/env python3
"""The history file: bytes for a joint and a year, ms of a write, ms of what the page and `jointwatch history` ask for.

Seven joints of eight quantities each, random figures, in motion for 16 h a day. The hours of a year are written as one
interval an hour, the minutes of two days as one interval a minute. Every write waits for the disk.
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from daq.state.history.file import HistoryFile
from daq.state.history.interval import Interval, Quantity, SeenUse
from daq.state.history.reading import reading
from daq.state.history.tables import DAY, GRAINS, HOUR, MINUTE
from estimators.wear.use_counts import UseCounts

JOINTS, QUANTITIES, HOURS_A_DAY = 7, 8, 16
START = 1_767_225_600  # 2026-01-01
DAY_SECONDS, YEAR_DAYS, MINUTE_DAYS = 86_400, 365, 2


def interval(start: int, number: int, random: np.random.Generator) -> Interval:
    """Figures of all joints, with values that do not compress."""
    found = Interval(start)
    for joint in range(JOINTS):
        for quantity in range(QUANTITIES):
            for value in random.normal(2.0, 0.1, 2):
                found.add(Quantity(f"joint{joint}", f"parameter{quantity}", "N·m"), float(value), 0.01)
        counts = UseCounts(60.0 * number, 30.0 * number, 7 * number, number // 5)
        found.see([SeenUse(1, f"joint{joint}", "rad", counts)])
    return found


def written(path: Path, days: int, seconds: int) -> tuple[int, list[float]]:
    """Bytes of a file with so many days of intervals of so many seconds, and the s of each write."""
    random, file, took, number = np.random.default_rng(1), HistoryFile(path, 3660), list[float](), 0
    for day in range(days):
        for start in range(0, HOURS_A_DAY * 3600, seconds):
            number += 1
            one = interval(START + day * DAY_SECONDS + start, number, random)
            began = time.perf_counter()
            file.write(one)
            took.append(time.perf_counter() - began)
    file.close()
    return path.stat().st_size, took


def rows(path: Path) -> dict[str, int]:
    """How many rows of values each grain has."""
    with reading(path) as history:
        joints = history.joints()
        return {
            grain.table: sum(len(one) for joint in joints for one in history.values(grain, 0, 1e11, joint).values())
            for grain in GRAINS
        }


def queries(path: Path, end: float) -> dict[str, float]:
    """ms of the page's questions of one joint; the least of three."""
    asked = {"last day, minutes": (MINUTE, 1), "last month, hours": (HOUR, 30), "last year, days": (DAY, 366)}
    found = {}
    for name, (grain, days) in asked.items():
        took = []
        for _ in range(3):
            began = time.perf_counter()
            with reading(path) as history:
                history.values(grain, end - days * DAY_SECONDS, end, "joint3")
            took.append(time.perf_counter() - began)
        found[name] = 1000 * min(took)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        year, minutes = Path(folder) / "year.sqlite", Path(folder) / "minutes.sqlite"
        year_size, _ = written(year, YEAR_DAYS, 3600)
        minute_size, took = written(minutes, MINUTE_DAYS, 60)
        year_rows, minute_rows = rows(year), rows(minutes)
        # the year's file has an interval an hour in each of its three tables; its minutes are taken off by their rows
        row = minute_size / sum(minute_rows.values())
        hours_and_days = year_size * (year_rows["hour"] + year_rows["day"]) / sum(year_rows.values())
        figures = {
            "bytes a row": row,
            "MB a joint and year, hours and days": hours_and_days / JOINTS / 1e6,
            "MB a joint, 14 days of minutes": minute_size / JOINTS / MINUTE_DAYS * 14 / 1e6,
            "ms a write, median": 1000 * float(np.median(took)),
            "ms a write, slowest hundredth": 1000 * float(np.quantile(took, 0.99)),
            **{f"ms, one joint: {name}": ms for name, ms in queries(year, START + YEAR_DAYS * DAY_SECONDS).items()},
        }
        figures["ms, one joint: last day, minutes"] = queries(minutes, START + MINUTE_DAYS * DAY_SECONDS)[
            "last day, minutes"
        ]
    if options.json:
        print(json.dumps(figures))
    else:
        print(f"{JOINTS} joints, {QUANTITIES} quantities each, {HOURS_A_DAY} h a day in motion")
        print("\n".join(f"{name:42}{value:10.2f}" for name, value in figures.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
