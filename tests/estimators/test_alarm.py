"""Calibration of the alarm: thresholds, motion period, honest deviations."""

import numpy as np
import pytest

from estimators.numerics.robust import honesty, robust_mean
from estimators.recursive.cusum import calibrate
from estimators.window.motion_period import motion_period


def cusum(squared: np.ndarray, noise: float, allowance: float) -> float:
    """The largest value of the recursion, step by step."""
    g = largest = 0.0
    for s in squared:
        g = max(0.0, g + min(s / noise, 12.0) - allowance)
        largest = max(largest, g)
    return largest


def test_white_noise_gets_the_least_threshold() -> None:
    squared = np.random.default_rng(0).standard_normal(5000) ** 2
    threshold = calibrate(squared)
    assert threshold.noise == pytest.approx(1.0, abs=0.1)
    assert threshold.limit == 60.0


def test_a_residual_that_swells_raises_the_threshold_to_2_5_times_its_excursion() -> None:
    rng = np.random.default_rng(1)
    squared = rng.standard_normal(5000) ** 2 * np.where(np.arange(5000) % 500 < 40, 15.0, 0.3)
    threshold = calibrate(squared)
    expected = 2.5 * cusum(squared, threshold.noise, threshold.allowance)
    assert threshold.limit == pytest.approx(expected)
    assert threshold.limit > 100.0


def test_outliers_do_not_raise_the_noise() -> None:
    squared = np.random.default_rng(2).standard_normal(5000) ** 2
    squared[::500] = 2500.0
    assert robust_mean(squared) == pytest.approx(1.0, abs=0.1)


def test_a_noiseless_start_still_gives_a_usable_threshold() -> None:
    assert calibrate(np.zeros(100)).noise > 0


@pytest.mark.parametrize("period", [130, 400, 777])
def test_the_period_of_a_motion_is_found(period: int) -> None:
    t = np.arange(1400)
    y = np.sign(np.sin(2 * np.pi * t / period)) + 0.5 * np.sin(4 * np.pi * t / period)
    y = y + 0.2 * np.random.default_rng(3).standard_normal(len(t))
    assert motion_period(y) == pytest.approx(period, abs=2)


@pytest.mark.parametrize("y", [np.zeros(500), np.arange(500.0), np.ones(3)], ids=["zero", "ramp", "short"])
def test_no_period_where_there_is_none(y: np.ndarray) -> None:
    assert motion_period(y) == 0


def test_no_period_in_noise() -> None:
    assert motion_period(np.random.default_rng(4).standard_normal(1000)) == 0


@pytest.mark.parametrize(("correlation", "low", "high"), [(0.0, 1.0, 1.35), (0.95, 4.0, 9.0)])
def test_honesty_finds_the_correlation_of_a_residual(correlation: float, low: float, high: float) -> None:
    # an AR(1) residual on a constant column: the deviation of its mean is √((1 + a)/(1 − a)) times the white one
    rng = np.random.default_rng(5)
    e = np.zeros(4000)
    for i in range(1, len(e)):
        e[i] = correlation * e[i - 1] + np.sqrt(1.0 - correlation**2) * rng.standard_normal()
    e -= e.mean()
    phi = np.ones((len(e), 1))
    factor = honesty(phi, e, np.array([[1.0 / len(e)]]), 1.0, 100)
    assert low <= factor[0] <= high
