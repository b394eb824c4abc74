"""Which samples of a gear become rows, counted one by one: at 200 Hz, each sample a row, where nothing is said.

A window of 11 samples (± 25 ms) says where it moves; the row is that of its middle, five samples ago. The low pass of
20 Hz remembers for 50 ms: a row is used from the eleventh on of which direction and load's sign are known.
"""

import math
from typing import Any

import numpy as np
import pytest

from estimators.models.joints.lost_motion import COLUMNS, LOAD, NEAR, LostMotionSettings
from estimators.online.gear.lost_motion import LostMotion
from estimators.online.gear.rows import unbroken
from estimators.quantities import Floats
from tests.support.signals.layouts import packed

pytestmark = pytest.mark.interpreted

STEP = 5_000_000  # ns
ROWS = 100
FIRST = 20  # the first sample with a row: eleven fill the window, of ten more the filter forgets its beginning


def watch(**changes: Any) -> LostMotion:
    known = {"inertia_motor": 0.5, "inertia_link": 2.0, "gravity": 60.0, "ratio": 7.0, "small": 5.0}
    told = {"band": 1.0, "still": 0.05, "blocks": 10, "block": 30.0, "rows": 200.0, "load": True}
    return LostMotion(LostMotionSettings.model_validate(known | told | changes), 1e-9 * STEP)


def steady(rows: int = ROWS, load: float = 20.0, speed: float = 0.5) -> Floats:
    """A joint that moves on at one speed under one load: motor's and link's angle, torque, load."""
    place = speed * 1e-9 * STEP * np.arange(rows)
    return np.column_stack([place, place - 1e-3, np.full(rows, load + 6.0), np.full(rows, load)])


def seen(values: Floats, begin: int = 1, **changes: Any) -> LostMotion:
    found = watch(**changes)
    found.absorb(STEP * (begin + np.arange(len(values))), values if found.settings.load else values[:, :3])
    return found


def test_every_sample_is_a_row_once_the_window_is_full_and_the_filter_has_forgotten_its_beginning() -> None:
    state = seen(steady()).block_state
    assert (state.used, state.positive, state.turns) == (ROWS - FIRST, ROWS - FIRST, 0)
    state = seen(steady(load=-20.0, speed=-0.5)).block_state
    assert (state.used, state.positive, state.turns) == (ROWS - FIRST, 0, 0)


@pytest.mark.parametrize(("cutoff", "remembers"), [(10.0, 20), (20.0, 10), (40.0, 5), (100.0, 2)])
def test_a_slower_low_pass_remembers_for_longer(cutoff: float, remembers: int) -> None:
    assert seen(steady(), cutoff=cutoff).block_state.used == ROWS - 10 - remembers


@pytest.mark.parametrize(("rows", "apart"), [(100.0, 2), (66.0, 3), (50.0, 4), (20.0, 10)])
def test_a_row_leaves_with_every_so_many_samples(rows: float, apart: int) -> None:
    last = (ROWS - 10) // apart * apart + 9  # counted from the sample that fills the window
    assert seen(steady(), rows=rows).block_state.used == (last - FIRST) // apart + 1


@pytest.mark.parametrize("lost", [0, 1, 2, 3])
def test_a_missing_sample_leaves_rows_out_until_it_is_out_of_the_window_and_forgotten(lost: int) -> None:
    values = steady()
    values[50, lost] = np.nan
    assert seen(values).block_state.used == ROWS - FIRST - 21, "ten samples in the window after it, ten in the filter"
    values[52, 3 - lost] = np.inf
    assert seen(values).block_state.used == ROWS - FIRST - 23, "the last one counts"


def test_in_the_place_of_a_missing_sample_the_one_before_it_stands_in_the_filters() -> None:
    """No jump to what was eleven samples ago: the filters hold what they would if a sensor had stood still."""
    missing, held = steady(), steady()
    missing[50:52, 1] = np.nan
    held[50:52] = held[49]
    one, other = seen(missing).block_state, seen(held).block_state
    assert np.array_equal(one.filters, other.filters)
    assert np.array_equal(one.samples, other.samples)
    assert one.used < other.used


def test_missing_samples_before_the_first_are_as_if_nothing_had_come() -> None:
    values = steady()
    late = seen(values[7:], 8)
    values[:7, 2] = np.nan
    assert packed(seen(values).block_state) == packed(late.block_state)


@pytest.mark.parametrize("load", [0.999, -0.999, 0.0])
def test_a_load_within_its_band_leaves_rows_out_while_it_lasts_and_while_the_filter_remembers(load: float) -> None:
    values = steady()
    values[40:45, 3] = load
    assert seen(values).block_state.used == ROWS - FIRST - 14, "the five, and until ten samples after the last"
    values[40:45, 3] = 1.0
    assert seen(values).block_state.used == ROWS - FIRST, "a load as large as its band has a sign"


def test_standstill_leaves_rows_out_as_a_small_load_does() -> None:
    assert seen(steady(speed=0.0501)).block_state.used == ROWS - FIRST
    assert seen(steady(speed=-0.0501)).block_state.used == ROWS - FIRST
    assert seen(steady(speed=0.0499)).block_state.used == 0
    assert seen(steady(speed=-0.0499)).block_state.used == 0


def test_where_nothing_is_said_a_row_leaves_every_10_ms_above_a_degree_a_second_and_150_make_one_of_40_blocks() -> None:
    """0.02 rad/s; a low-pass of 20 Hz remembers for 50 ms, ten samples."""
    said = {"inertia_motor": 0.5, "inertia_link": 2.0, "band": 1.0, "load": True}
    for speed, used in ((0.0201, 40), (-0.0201, 40), (0.0199, 0), (-0.0199, 0)):
        found = LostMotion(LostMotionSettings.model_validate(said), 1e-9 * STEP)
        found.absorb(STEP * (1 + np.arange(ROWS)), steady(speed=speed))
        assert (found.block_state.used, found.block_state.every) == (used, 2)
        assert (found.blocks.rows, found.blocks.blocks) == (150, 40)


def test_only_loads_below_the_small_one_count_as_small() -> None:
    for load, share in ((5.0, 0.0), (4.999, 1.0), (-5.0, 0.0), (-4.999, 1.0)):
        state = seen(steady(load=load)).block_state
        assert state.information[NEAR, NEAR] == pytest.approx(share * state.used, abs=1e-9)


@pytest.mark.parametrize(
    ("values", "turns"),
    [
        ([5.0, -5.0], 1),
        ([-5.0, 5.0, -5.0], 2),
        ([5.0, 0.5, 5.0], 0),  # within the band it has no sign
        ([5.0, -0.5, 5.0], 0),
        ([5.0, 0.0, -5.0], 1),
        ([1.0, -1.0], 1),
        ([0.5, -0.5], 0),
    ],
)
def test_a_reversal_is_a_believed_load_of_the_other_sign_than_the_one_believed_last(
    values: list[float], turns: int
) -> None:
    samples = steady(20 * len(values))
    samples[:, 3] = np.repeat(values, 20)
    assert seen(samples).block_state.turns == turns


def test_the_low_pass_begins_as_if_the_first_row_had_always_been() -> None:
    """The row of the first whole window: that of the sixth sample."""
    from scipy import signal

    values = steady(18)
    values[:, 3] = 20.0 * np.random.default_rng(3).uniform(1.0, 2.0, 18)
    b, a = signal.butter(2, 20.0, fs=200.0)
    rows = values[5:-5, 3]
    wanted, _ = signal.lfilter(b, a, rows, zi=signal.lfilter_zi(b, a) * rows[0])
    filters = seen(values).block_state.filters
    assert filters[LOAD].tolist() == pytest.approx([rows[-1], rows[-2], wanted[-1], wanted[-2]], rel=1e-9)


# --- the load from what the link is


@pytest.mark.parametrize("way", [1.0, -1.0])
@pytest.mark.parametrize(
    ("inertial", "weight", "used"),
    [
        (30.0, 24.0, True),  # 6 N·m, of 54 a tenth may be wrong
        (30.0, 25.0, False),  # 5 of 55
        (30.0, 27.0, False),
        (30.0, -27.0, True),
        (0.0, 12.0, True),
        (4.0, 3.1, False),  # within the band of 1 N·m
        (4.0, 2.9, True),
        (0.0, 0.9, False),
    ],
)
def test_a_loads_sign_is_known_beyond_the_band_and_a_tenth_of_what_it_is_the_difference_of(
    inertial: float, weight: float, used: bool, way: float
) -> None:
    """J q̈ less G sin q; the motor is as fast that no direction is unknown, and drives the link."""
    t = 1e-9 * STEP * np.arange(60)
    acceleration = way * inertial / 2.0
    speed = math.copysign(6.0, acceleration - way * weight / 2.0)
    values = np.zeros((60, 4))
    values[:, 0] = speed * t + 0.5 * acceleration * t**2
    values[:, 1] = math.asin(way * weight / 60.0)
    state = seen(values, load=False).block_state
    assert state.used == (40 if used else 0)
    assert state.positive == (state.used if way * (inertial - weight) > 0.0 else 0)


@pytest.mark.parametrize(("speed", "used"), [(2.8, True), (3.0, False), (-3.0, True)])
def test_where_the_link_drives_the_motor_its_friction_is_to_be_exceeded_too(speed: float, used: bool) -> None:
    """A load of −12 N·m may be wrong by 1.2, by 5 of dry friction, and by 2 for each rad/s: up to 2.9 rad/s."""
    found = watch(load=False)
    found.block_state.dry, found.block_state.viscous = 5.0, 2.0
    values = steady(60, speed=speed)
    values[:, 1] = math.asin(12.0 / 60.0)
    found.absorb(STEP * (1 + np.arange(60)), values[:, :3])
    assert found.block_state.used == (40 if used else 0)
    assert found.block_state.positive == 0


# --- breaks


def test_behind_a_break_it_begins_as_a_new_one_does() -> None:
    """Fifteen samples before a break give no row, but their sign, phase and place in the window must be forgotten."""
    before, after = steady(15), steady(ROWS, load=-20.0, speed=-0.5)
    found, fresh = watch(rows=66.0), watch(rows=66.0)
    found.absorb(STEP * (1 + np.arange(15)), before)
    assert (found.block_state.used, found.block_state.sign) == (0, 1.0)
    found.absorb(STEP * (100 + np.arange(ROWS)), after)
    fresh.absorb(STEP * (100 + np.arange(ROWS)), after)
    # in the ring the same samples, begun at another place of it or not
    assert packed(found.block_state) == packed(fresh.block_state)
    assert found.block_state.turns == 0


@pytest.mark.parametrize("cut", [30, 60, 200])
def test_samples_on_either_side_of_a_break_count_on_their_own(cut: int) -> None:
    """However they are handed over: no sample is taken twice or left out."""
    values, time = steady(ROWS), STEP * (1 + np.arange(ROWS))
    time[45:] += 50 * STEP
    found = watch()
    for first in range(0, ROWS, cut):
        found.absorb(time[first : first + cut], values[first : first + cut])
    assert found.block_state.used == (45 - FIRST) + (55 - FIRST)


def test_a_break_is_a_step_that_is_off_by_more_than_half_of_itself() -> None:
    def behind(*steps: float, before: int = 10 * STEP) -> int:
        time = before + np.round(STEP * np.cumsum(steps)).astype(np.int64)
        return int(unbroken(time, 0, before, STEP))

    assert behind(1.0, 1.0, 1.0) == 3
    assert behind(0.5, 1.5, 1.0) == 3
    assert behind(1.0, 1.51, 1.0) == 1
    assert behind(1.0, 1.0, 0.49) == 2
    assert behind(2.0, 1.0) == 0
    assert behind(1.0, -1.0) == 1
    time = np.array([7, 8, 9]) * STEP
    assert unbroken(time, 0, 0, STEP) == 3, "before the first sample there was none to be apart from"
    assert unbroken(time, 2, 8 * STEP, STEP) == 3


# --- at first


def test_it_begins_with_nothing() -> None:
    state = watch().block_state
    begun = packed(state)
    assert (state.dry, state.viscous, state.good, state.sign) == (0.0, 0.0, 0.0, 0.0)
    assert (state.seen, state.phase, state.used, state.positive, state.turns) == (0, 0, 0, 0, 0)
    assert not state.information.any()
    assert not state.moments.any()
    state.restart()
    state.begin_block()
    assert packed(state) == begun


@pytest.mark.parametrize(("period", "size"), [(0.01, 5), (0.005, 11), (0.001, 51)])
def test_what_decides_a_sign_is_smoothed_over_25_ms_either_way_and_two_samples_at_least(
    period: float, size: int
) -> None:
    known = {"inertia_motor": 0.0, "inertia_link": 2.0, "band": 1.0}
    assert LostMotion(LostMotionSettings.model_validate(known), period).block_state.windows.shape == (3, size)
    slow = LostMotion(LostMotionSettings.model_validate(known | {"rows": 10.0}), 0.1)
    assert slow.block_state.windows.shape == (3, 5)


def test_a_block_has_the_rows_of_its_time_and_no_fewer_than_a_fit_has_columns() -> None:
    assert watch(block=0.5).blocks.rows == 100
    assert watch(block=0.5, rows=66.0).blocks.rows == 33
    assert watch(block=0.01).blocks.rows == COLUMNS
    found = watch(block=0.2)
    values = steady(FIRST + 100)
    found.absorb(STEP * (1 + np.arange(len(values))), values)
    assert (found.blocks.filled, found.block_state.used) == (2, 20)
    assert found.state.tallies[:3].tolist() == [[40.0, 40.0, 0.0], [40.0, 40.0, 0.0], [0.0, 0.0, 0.0]]
