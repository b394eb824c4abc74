"""Medians of a lake's minutes are those of a loop over its rows, whatever robots were silent or started anew."""

import itertools
import statistics
from pathlib import Path

import numpy as np
import pyarrow
import pytest

from daq.fleet.live.lake import Lake
from daq.fleet.live.roll_up import MINUTES, encoded
from daq.fleet.live.standing import Reader

T0 = 1_800_000_000 // 60 * 60
MINUTES_PLAYED = 7


def test_medians_are_those_of_a_loop_over_the_rows(tmp_path: Path) -> None:
    """Robots in another order each minute, some silent, a core that starts anew, unknown values, use counts."""
    random, every, lake = (
        np.random.default_rng(4),
        dict[tuple[str, ...], list[tuple[int, float, float]]](),
        Lake(str(tmp_path)),
    )
    for minute in range(MINUTES_PLAYED):
        rows = []
        for robot, joint, quantity in itertools.product("dbca", ("j2", "j1"), ("p", "b", "use.travel")):
            if random.uniform() < 0.2:
                continue
            for boot in range(1 + (random.uniform() < 0.2)):
                known, value = int(random.uniform() < 0.9), float(random.normal())
                deviation = float(random.choice([0.1, 0.3, np.nan]))
                rows.append((robot, joint, "rigid", quantity, "N", boot, known, value if known else None, deviation))
                if known and quantity != "use.travel":
                    own = every.setdefault((joint, "rigid", quantity, "N", robot), [])
                    own.append((minute, value, deviation))
        random.shuffle(rows)
        names = ("robot", "joint", "model", "quantity", "unit", "boot", "known", "value", "deviation")
        columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)) | {"status": ["valid"] * len(rows)}
        start = T0 + 60 * minute
        lake.write(MINUTES.table, "hall", start, start + 60, encoded(pyarrow.table(columns)))
    found = Reader(str(tmp_path)).columns(T0, T0 + 60 * MINUTES_PLAYED, MINUTES.table)
    assert [*zip(*list(found.values())[:5], strict=True)] == sorted(every)
    for at, series in enumerate(sorted(every)):
        own, nan = every[series], float("nan")
        early = [value for minute, value, _ in own if minute < MINUTES_PLAYED / 2]
        late = [value for minute, value, _ in own if minute >= MINUTES_PLAYED / 2]
        squares = [deviation**2 for *_, deviation in own if np.isfinite(deviation)]
        expected = [len(own), statistics.median(value for _, value, _ in own)]
        expected += [statistics.fmean(squares) ** 0.5 if squares else nan]
        expected += [statistics.median(those) if those else nan for those in (early, late)]
        told = [found[name][at] for name in ("intervals", "value", "deviation", "before", "after")]
        assert told == pytest.approx(expected, rel=1e-12, nan_ok=True), series
