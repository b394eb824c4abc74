"""What a quantity was over some hours: the figures of NumPy's weighted moments, and what is not known is said so."""

import math

import numpy as np
import pytest

from daq.state.history.reading import ValueRow
from daq.state.history.summary import Summary, difference, summary

RNG = np.random.default_rng(17)
HOURS = [
    ValueRow(3_600 * hour, int(n), float(mean), float(deviation), float(mean - 0.4), float(mean + 0.7))
    for hour, (n, mean, deviation) in enumerate(
        zip(RNG.integers(50, 900, 9), RNG.normal(2.0, 0.3, 9), RNG.uniform(0.05, 0.4, 9), strict=True)
    )
]
N, MEAN, DEVIATION = (np.array([getattr(one, name) for one in HOURS]) for name in ("n", "mean", "deviation"))


def test_an_estimate_has_the_deviation_of_one_of_its_values_and_that_of_its_hours() -> None:
    found = summary("coulomb", HOURS)
    middle = np.average(MEAN, weights=N)
    within = np.average(DEVIATION**2, weights=N)
    between = np.average((MEAN - middle) ** 2, weights=N)
    assert found == pytest.approx(
        (middle, math.sqrt(within + between), (MEAN - 0.4).min(), (MEAN + 0.7).max(), N.sum())
    )


@pytest.mark.parametrize("name", ["residual", "torque"])
def test_the_level_of_what_has_no_deviation_is_its_rms(name: str) -> None:
    found = summary(name, HOURS)
    level = math.sqrt(np.average(DEVIATION**2, weights=N))
    assert found.value == pytest.approx(level)
    assert found.deviation == pytest.approx(math.sqrt(np.average((DEVIATION - level) ** 2, weights=N)))


@pytest.mark.parametrize("name", ["temperature", "friction@0.39"])
def test_what_is_measured_is_a_mean_and_its_deviation_is_how_its_hours_differ(name: str) -> None:
    found = summary(name, HOURS)
    middle = np.average(MEAN, weights=N)
    assert found.value == pytest.approx(middle)
    assert found.deviation == pytest.approx(math.sqrt(np.average((MEAN - middle) ** 2, weights=N)))


@pytest.mark.parametrize("name", ["residual", "torque", "temperature", "friction@0.39"])
def test_one_hour_does_not_say_how_hours_differ(name: str) -> None:
    assert math.isnan(summary(name, HOURS[:1]).deviation)
    assert summary("coulomb", HOURS[:1]).deviation == pytest.approx(DEVIATION[0])


@pytest.mark.parametrize(
    ("before", "after", "change", "percent", "z"),
    [
        ((2.0, 0.3), (2.6, 0.4), 0.6, 30.0, 1.2),
        ((-2.0, 0.3), (-2.6, 0.4), -0.6, -30.0, -1.2),
        ((-2.0, 0.0), (1.0, 0.5), 3.0, 150.0, 6.0),
        ((0.2, 0.3), (0.8, 0.4), 0.6, math.nan, 1.2),  # a share of what cannot be told from zero says nothing
        ((0.0, 0.0), (0.8, 0.4), 0.8, math.nan, 2.0),
        ((2.0, math.nan), (3.0, 0.4), 1.0, 50.0, math.nan),
        ((2.0, 0.0), (3.0, 0.0), 1.0, 50.0, math.nan),
    ],
)
def test_a_difference_is_reported_in_its_unit_in_percent_and_in_deviations(
    before: tuple[float, float], after: tuple[float, float], change: float, percent: float, z: float
) -> None:
    found = difference(Summary(*before, 0.0, 0.0, 5), Summary(*after, 0.0, 0.0, 5))
    assert found == pytest.approx((change, percent, z), nan_ok=True)
