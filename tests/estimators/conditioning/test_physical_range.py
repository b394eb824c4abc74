"""Values that no joint has, and those that it may well have."""

import numpy as np
import pytest

from estimators.conditioning.physical_range import PhysicalRange, clean
from estimators.quantities import Floats
from estimators.reasons import Reason

CHANNELS = ("position", "torque")


def cleaned(ranges: PhysicalRange, values: Floats) -> Floats:
    """Rows (rows, channels) without what is out of range; a copy."""
    values = values.copy()
    for row in values:
        clean(row, ranges.state)
    return values


def usual(count: int, seed: int = 0) -> np.ndarray:
    """Position and torque of a joint."""
    rng = np.random.default_rng(seed)
    return np.column_stack([np.cumsum(rng.normal(0.0, 1e-3, count)), rng.normal(0.0, 5.0, count)])


@pytest.mark.parametrize(("channel", "value"), [(0, 1e30), (0, -1e30), (1, 1e30), (1, -1e30), (1, 5e5)])
def test_nonsense_is_left_out_named_and_counted(channel: int, value: float) -> None:
    ranges = PhysicalRange(CHANNELS, 1e-3)
    cleaned(ranges, usual(2000))
    assert ranges.faults == ()
    wrong = usual(300, 1)
    wrong[:, channel] = value
    found = cleaned(ranges, wrong)
    assert np.isnan(found[:, channel]).all()
    assert np.isfinite(found[:, 1 - channel]).all()
    assert ranges.count == 300
    assert ranges.faults == (Reason("channel_out_of_range", CHANNELS[channel]),)
    for _ in range(30):
        cleaned(ranges, usual(100))
    assert ranges.faults == ()


def test_what_a_joint_may_have_passes_as_it_is() -> None:
    ranges = PhysicalRange(CHANNELS, 1e-3)
    values = usual(3000)
    values[2000:, 1] *= 50.0  # a collision
    values[2500:, 0] += 3000.0  # many turns
    assert np.array_equal(cleaned(ranges, values), values)
    assert ranges.count == 0


@pytest.mark.parametrize("size", [1, 7, 999])
def test_what_is_left_out_does_not_depend_on_how_rows_are_cut(size: int) -> None:
    values = usual(2500)
    values[1000:1100, 1] *= 3e4  # from the very row on before which the usual is known
    values[::3, 0] = np.nan
    whole, parts = PhysicalRange(CHANNELS, 1e-3), PhysicalRange(CHANNELS, 1e-3)
    expected = cleaned(whole, values)
    found = np.concatenate([cleaned(parts, values[i : i + size]) for i in range(0, len(values), size)])
    assert np.array_equal(found, expected, equal_nan=True)
    assert (parts.count, parts.faults) == (whole.count, whole.faults)
    assert whole.count > 0


def test_nonsense_from_the_first_sample_on_does_not_become_the_usual() -> None:
    ranges = PhysicalRange(CHANNELS, 1e-3)
    wrong = usual(500)
    wrong[:, 1] = 1e30
    assert np.isnan(cleaned(ranges, wrong)[:, 1]).all()
    cleaned(ranges, usual(1500))
    wrong[:, 1] = 1e6
    assert np.isnan(cleaned(ranges, wrong)[:, 1]).all()


@pytest.mark.parametrize(("spread", "within", "beyond"), [(0.02, 15.0, 25.0), (4.0, 3500.0, 4500.0)])
def test_a_thousand_spreads_are_the_limit_whatever_the_spread(spread: float, within: float, beyond: float) -> None:
    watch = PhysicalRange(("position", "torque"), 0.01)
    first = np.column_stack((np.zeros(100), spread * np.tile([-0.5, 0.5], 50)))
    cleaned(watch, first)
    found = cleaned(watch, np.array([[0.0, within], [0.0, beyond], [0.0, -beyond], [0.0, -within]]))
    assert np.isfinite(found[:, 1]).tolist() == [True, False, False, True]
    assert watch.count == 2


@pytest.mark.parametrize("size", [1, 7, 30])
def test_it_is_told_for_two_seconds(size: int) -> None:
    watch = PhysicalRange(("position", "torque"), 0.01)
    good = np.column_stack((np.zeros(210), np.tile([-0.5, 0.5], 105)))
    cleaned(watch, good)
    cleaned(watch, np.array([[0.0, 1e9]]))
    told = []
    for first in range(0, 210, size):
        cleaned(watch, good[first : first + size])
        told.append(bool(watch.faults))
    passed = np.minimum(np.arange(1, len(told) + 1) * size, 210)
    assert told == (passed < 200).tolist()


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_torque_that_hardly_varies_has_a_hundred_times_its_level_as_limit(sign: float) -> None:
    """One second of a held load says little about what the joint will carry later."""
    watch = PhysicalRange(("position", "torque"), 0.01)
    cleaned(watch, np.column_stack((np.zeros(100), sign * (10.0 + np.tile([-0.01, 0.01], 50)))))
    found = cleaned(watch, np.column_stack((np.zeros(4), [950.0, 1200.0, -950.0, -1200.0])))
    assert np.isfinite(found[:, 1]).tolist() == [True, False, True, False]


def test_the_usual_is_that_of_a_whole_second_and_until_then_the_unit_alone_limits() -> None:
    """A joint that was at rest when the service began may move within the first second."""
    watch = PhysicalRange(("position", "torque"), 0.01)
    torque = np.concatenate([np.full(60, 1e-3), np.tile([-4.0, 4.0], 20)])
    first = np.column_stack((np.zeros(100), torque))
    assert np.array_equal(cleaned(watch, first), first)
    found = cleaned(watch, np.array([[0.0, 7000.0], [0.0, 9000.0]]))
    assert np.isfinite(found[:, 1]).tolist() == [True, False]


@pytest.mark.parametrize(("role", "most"), [("position", 1e5), ("link_position", 1e5), ("torque", 1e7)])
def test_no_joint_is_farther_than_that_or_pushes_harder(role: str, most: float) -> None:
    watch = PhysicalRange((role,), 1e-3)
    values = np.array([[most], [-most], [1.0001 * most], [-1.0001 * most]])
    assert np.isfinite(cleaned(watch, values)[:, 0]).tolist() == [True, True, False, False]
    assert watch.count == 2


def test_the_limit_is_reckoned_from_the_middle_of_the_first_second() -> None:
    """Between 100 and 300 N·m: 200, and a thousand times 200 either way."""
    watch = PhysicalRange(("torque",), 0.01)
    cleaned(watch, np.concatenate([[300.0], np.full(98, 150.0), [100.0]])[:, np.newaxis])
    found = cleaned(watch, np.array([[200_199.0], [200_201.0], [-199_799.0], [-199_801.0]]))
    assert np.isfinite(found[:, 0]).tolist() == [True, False, True, False]


def test_a_torque_of_nothing_in_the_first_second_limits_nothing_later() -> None:
    watch = PhysicalRange(("torque",), 0.01)
    assert np.isfinite(cleaned(watch, np.zeros((200, 1)))).all()
    found = cleaned(watch, np.array([[0.5], [-9e6], [1.1e7]]))
    assert np.isfinite(found[:, 0]).tolist() == [True, True, False]


def test_where_a_thousand_spreads_are_more_than_the_unit_allows_the_unit_limits() -> None:
    watch = PhysicalRange(("torque",), 0.01)
    cleaned(watch, np.tile([[9000.0], [20_000.0]], (50, 1)))
    found = cleaned(watch, np.array([[9.9e6], [-9.9e6], [1.01e7]]))
    assert np.isfinite(found[:, 0]).tolist() == [True, True, False]


def test_only_finite_samples_count_towards_the_first_second_and_two_at_least() -> None:
    watch = PhysicalRange(("torque",), 0.01)
    values = np.full((150, 1), np.nan)
    values[1::3, 0] = 1.0  # fifty of them
    cleaned(watch, values)
    assert np.isfinite(cleaned(watch, np.array([[900.0]]))).all(), "half a second says nothing"
    slow = PhysicalRange(("torque",), 5.0)
    assert np.isfinite(cleaned(slow, np.array([[1.0], [9000.0], [4.0e6]]))).all()
    slow = PhysicalRange(("torque",), 5.0)
    assert np.isfinite(cleaned(slow, np.array([[1.0], [2.0], [999.0], [1003.0]]))[:, 0]).tolist() == [
        True,
        True,
        True,
        False,
    ]


def test_each_channel_is_named_for_its_own_two_seconds() -> None:
    watch = PhysicalRange(("position", "torque"), 0.01)
    good = np.column_stack((np.zeros(300), np.tile([-0.5, 0.5], 150)))
    cleaned(watch, good)
    cleaned(watch, np.array([[1e9, 0.5], [0.0, 1e9]]))
    assert [one.parameter for one in watch.faults] == ["position", "torque"]
    cleaned(watch, good[:198])
    assert [one.parameter for one in watch.faults] == ["position", "torque"]
    cleaned(watch, good[:1])
    assert [one.parameter for one in watch.faults] == ["torque"]
    cleaned(watch, np.full((1, 2), np.nan))
    assert watch.faults == (), "a missing sample is no such value"
    assert watch.count == 2
