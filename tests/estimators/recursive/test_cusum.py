"""Calibration of the alarm: its threshold."""

import numpy as np
import pytest

from estimators.recursive.cusum import calibrate

pytestmark = pytest.mark.interpreted


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


def test_a_noiseless_start_still_gives_a_usable_threshold() -> None:
    assert calibrate(np.zeros(100)).noise > 0
