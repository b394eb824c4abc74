"""Values that no joint has, and those that it may well have."""

import numpy as np
import pytest

from estimators.conditioning.physical_range import PhysicalRange
from estimators.reasons import Reason

CHANNELS = ("position", "torque")


def usual(count: int, seed: int = 0) -> np.ndarray:
    """Position and torque of a joint."""
    rng = np.random.default_rng(seed)
    return np.column_stack([np.cumsum(rng.normal(0.0, 1e-3, count)), rng.normal(0.0, 5.0, count)])


@pytest.mark.parametrize(("channel", "value"), [(0, 1e30), (0, -1e30), (1, 1e30), (1, -1e30), (1, 5e5)])
def test_nonsense_is_left_out_named_and_counted(channel: int, value: float) -> None:
    ranges = PhysicalRange(CHANNELS, 1e-3)
    ranges.absorb(usual(2000))
    assert ranges.faults == ()
    wrong = usual(300, 1)
    wrong[:, channel] = value
    found = ranges.absorb(wrong)
    assert np.isnan(found[:, channel]).all()
    assert np.isfinite(found[:, 1 - channel]).all()
    assert ranges.count == 300
    assert ranges.faults == (Reason("channel_out_of_range", CHANNELS[channel]),)
    for _ in range(30):
        ranges.absorb(usual(100))
    assert ranges.faults == ()


def test_what_a_joint_may_have_passes_as_it_is() -> None:
    ranges = PhysicalRange(CHANNELS, 1e-3)
    values = usual(3000)
    values[2000:, 1] *= 50.0  # a collision
    values[2500:, 0] += 3000.0  # many turns
    assert np.array_equal(ranges.absorb(values), values)
    assert ranges.count == 0


@pytest.mark.parametrize("size", [1, 7, 999])
def test_what_is_left_out_does_not_depend_on_how_rows_are_cut(size: int) -> None:
    values = usual(2500)
    values[1000:1100, 1] *= 3e4  # from the very row on before which the usual is known
    values[::3, 0] = np.nan
    whole, parts = PhysicalRange(CHANNELS, 1e-3), PhysicalRange(CHANNELS, 1e-3)
    expected = whole.absorb(values)
    found = np.concatenate([parts.absorb(values[i : i + size]) for i in range(0, len(values), size)])
    assert np.array_equal(found, expected, equal_nan=True)
    assert (parts.count, parts.faults) == (whole.count, whole.faults)
    assert whole.count > 0


def test_nonsense_from_the_first_sample_on_does_not_become_the_usual() -> None:
    ranges = PhysicalRange(CHANNELS, 1e-3)
    wrong = usual(500)
    wrong[:, 1] = 1e30
    assert np.isnan(ranges.absorb(wrong)[:, 1]).all()
    ranges.absorb(usual(1500))
    wrong[:, 1] = 1e6
    assert np.isnan(ranges.absorb(wrong)[:, 1]).all()


@pytest.mark.parametrize(("spread", "within", "beyond"), [(0.02, 15.0, 25.0), (4.0, 3500.0, 4500.0)])
def test_a_thousand_spreads_are_the_limit_whatever_the_spread(spread: float, within: float, beyond: float) -> None:
    watch = PhysicalRange(("position", "torque"), 0.01)
    first = np.column_stack((np.zeros(100), spread * np.tile([-0.5, 0.5], 50)))
    watch.absorb(first)
    found = watch.absorb(np.array([[0.0, within], [0.0, beyond], [0.0, -beyond], [0.0, -within]]))
    assert np.isfinite(found[:, 1]).tolist() == [True, False, False, True]
    assert watch.count == 2


@pytest.mark.parametrize("size", [1, 7, 30])
def test_it_is_told_for_two_seconds(size: int) -> None:
    watch = PhysicalRange(("position", "torque"), 0.01)
    good = np.column_stack((np.zeros(210), np.tile([-0.5, 0.5], 105)))
    watch.absorb(good)
    watch.absorb(np.array([[0.0, 1e9]]))
    told = []
    for first in range(0, 210, size):
        watch.absorb(good[first : first + size])
        told.append(bool(watch.faults))
    passed = np.minimum(np.arange(1, len(told) + 1) * size, 210)
    assert told == (passed < 200).tolist()


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_torque_that_hardly_varies_has_a_hundred_times_its_level_as_limit(sign: float) -> None:
    """One second of a held load says little about what the joint will carry later."""
    watch = PhysicalRange(("position", "torque"), 0.01)
    watch.absorb(np.column_stack((np.zeros(100), sign * (10.0 + np.tile([-0.01, 0.01], 50)))))
    found = watch.absorb(np.column_stack((np.zeros(4), [950.0, 1200.0, -950.0, -1200.0])))
    assert np.isfinite(found[:, 1]).tolist() == [True, False, True, False]


def test_the_usual_is_that_of_a_whole_second_and_until_then_the_unit_alone_limits() -> None:
    """A joint that was at rest when the service began may move within the first second."""
    watch = PhysicalRange(("position", "torque"), 0.01)
    torque = np.concatenate([np.full(60, 1e-3), np.tile([-4.0, 4.0], 20)])
    first = np.column_stack((np.zeros(100), torque))
    assert np.array_equal(watch.absorb(first), first)
    found = watch.absorb(np.array([[0.0, 7000.0], [0.0, 9000.0]]))
    assert np.isfinite(found[:, 1]).tolist() == [True, False]
