"""Rows of several joints on the clock of the first."""

import numpy as np
import pytest

from estimators.alignment.common_clock import ROOM, CommonClock
from estimators.quantities import Floats, Nanoseconds

pytestmark = pytest.mark.interpreted

MS = 1_000_000


def joint(offset: float, rows: int, period: float = 1.0) -> tuple[Nanoseconds, Floats]:
    """Ticks in ns, and a value that is the tick in ms."""
    ticks = np.round((offset + period * np.arange(rows)) * MS).astype(np.int64)
    return ticks, (ticks / MS)[:, None]


def run(clock: CommonClock, parts: list[tuple[int, Nanoseconds, Floats]]) -> tuple[Nanoseconds, Floats]:
    found = []
    for index, ticks, values in parts:
        clock.absorb(index, ticks, values)
        found.append(clock.release())
    ticks, rows = (np.concatenate(column) for column in zip(*found, strict=True))
    return ticks, rows


def test_values_are_interpolated_onto_the_first_joints_ticks() -> None:
    clock = CommonClock([1e-3, 1e-3, 2e-3], 1)
    ticks, rows = run(clock, [(0, *joint(0, 20)), (1, *joint(-0.4, 21)), (2, *joint(-1.3, 12, 2.0))])
    assert np.array_equal(ticks, joint(0, 20)[0])
    assert np.allclose(rows[:, :, 0], (ticks / MS)[:, None], rtol=0, atol=1e-12)


def test_nothing_is_interpolated_across_a_gap() -> None:
    other, values = joint(-0.5, 21)
    keep = np.ones(21, np.bool_)
    keep[8] = False  # 7.5 ms is missing: between 6.5 and 8.5 there is nothing
    ticks, rows = run(CommonClock([1e-3, 1e-3], 1), [(0, *joint(0, 20)), (1, other[keep], values[keep])])
    missing = np.isnan(rows[:, 1, 0])
    assert (ticks[missing] / MS).tolist() == [7.0, 8.0]


def test_a_silent_joint_is_waited_for_and_then_missing() -> None:
    clock = CommonClock([1e-3, 1e-3], 1, patience=0.01)
    clock.absorb(1, *joint(0, 1))
    clock.absorb(0, *joint(0, 10))
    assert len(clock.release()[0]) == 1
    clock.absorb(0, *joint(10, 5))
    ticks, rows = clock.release()
    assert (ticks / MS).tolist() == [1.0, 2.0, 3.0, 4.0]
    assert np.isnan(rows[:, 1, 0]).all()


def test_rows_that_find_no_room_push_the_oldest_out_and_are_counted() -> None:
    clock = CommonClock([1e-3, 1e-3], 1, patience=10.0)
    ticks, values = joint(0, ROOM + 300)
    clock.absorb(0, ticks[:ROOM], values[:ROOM])
    assert clock.dropped == 0
    assert len(clock.release()[0]) == 0, "the other joint is waited for"
    clock.absorb(0, ticks[ROOM:], values[ROOM:])
    assert clock.dropped == 300
    clock.absorb(1, ticks[300:], values[300:])
    released, rows = clock.release()
    assert np.array_equal(released, ticks[300:])
    assert np.allclose(rows[:, :, 0], (released / MS)[:, None], rtol=0, atol=1e-9)
    assert clock.dropped == 300


@pytest.mark.parametrize("seed", range(4))
def test_cuts_of_batches_change_nothing(seed: int) -> None:
    random = np.random.default_rng(seed)
    joints = [joint(0, 300), joint(0.37, 300), joint(-0.2, 300)]
    whole = run(CommonClock([1e-3] * 3, 1), [(index, *one) for index, one in enumerate(joints)])
    parts = []
    done = [0, 0, 0]
    while min(done) < 300:
        index = int(random.integers(3))
        step = int(random.integers(1, 9))
        ticks, values = joints[index]
        parts.append((index, ticks[done[index] : done[index] + step], values[done[index] : done[index] + step]))
        done[index] = min(done[index] + step, 300)
    cut = run(CommonClock([1e-3] * 3, 1, patience=10.0), parts)
    assert np.array_equal(whole[0], cut[0])
    assert np.array_equal(whole[1], cut[1], equal_nan=True)


def test_clocks_that_waver_do_not_pull_the_joints_apart() -> None:
    """Both devices sample evenly; one's recovered clock falls behind by half a millisecond and catches up."""
    clock, rows = CommonClock([1e-3, 1e-3], 1), 3000
    even, values = joint(0, rows)
    wavering = even + np.round(0.5 * MS * np.clip(np.sin(np.arange(rows) / 40.0), 0.0, 1.0)).astype(np.int64)
    _, found = run(clock, [(1, wavering, values), (0, even, values)])
    apart = found[:, 1, 0] - found[:, 0, 0]
    assert np.isfinite(apart[:-10]).all()
    speed = np.diff(apart[:-10])  # of what both measure alike: what the pairing alone makes of it
    assert np.abs(speed).max() < 1e-3
    assert np.abs(np.diff(wavering - even)).max() / MS > 1e-2, "that much it would be without"


def test_a_leap_of_all_clocks_is_taken_as_one() -> None:
    clock = CommonClock([1e-3, 1e-3], 1)
    ticks, values = joint(0, 400)
    ticks[200:] += 700 * MS
    released, rows = run(clock, [(1, ticks, values), (0, ticks, values)])
    assert np.array_equal(released, ticks[: len(released)])
    assert np.allclose(rows[:, 0], rows[:, 1], rtol=0, atol=1e-12)
