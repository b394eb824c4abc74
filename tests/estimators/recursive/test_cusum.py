"""Calibration of the alarm: its threshold."""

import numpy as np
import pytest

from estimators.conditioning.conditioner import taps
from estimators.recursive.cusum import LEAST, calibrate, least_of
from estimators.recursive.forgetting import Threshold

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


def test_a_start_without_noise_gives_the_alarm_of_half_the_noise_that_whitening_leaves() -> None:
    assert calibrate(np.zeros(100)) == Threshold(0.5, 3.0, 60.0, 12.0)
    assert calibrate(np.zeros(0)) == Threshold(0.5, 3.0, 60.0, 12.0)
    assert calibrate(np.zeros(100), 2.0, 25.0) == Threshold(0.5, 2.0, 25.0, 12.0)


def test_the_excursion_is_counted_by_hand() -> None:
    """Noise 1, k = 3: g is 0 0 0 2 6 15 12 14 …, where 100 counts as 12, and falls by 3 a row without noise."""
    squared = np.concatenate([np.zeros(3), (5.0, 7.0, 100.0, 0.0, 5.0), np.zeros(10), (4.0,), np.zeros(5)])
    level = np.full(9000, 1.0)  # they set what is usual: what is beyond 5 σ does not count
    found = calibrate(np.concatenate([level, squared]))
    noise = (level.sum() + squared.sum() - 100.0) / (len(level) + len(squared) - 1)
    assert found.noise == pytest.approx(noise, rel=1e-12)
    g = (5.0 + 7.0) / noise - 6.0 + 12.0 - 3.0
    assert max(g, g - 3.0 + 5.0 / noise - 3.0) == g
    assert found.limit == 60.0, "2.5 times 15 is less"
    assert found.worst == pytest.approx(100.0 / noise, rel=1e-12)
    assert calibrate(np.concatenate([level, squared]), least=0.0).limit == pytest.approx(2.5 * g, rel=1e-12)


@pytest.mark.parametrize(("half", "passes"), [(2.0, False), (12.0, True)])
def test_white_noise_under_a_kernel_stays_below_the_least_threshold_of_its_rows(half: float, passes: bool) -> None:
    """Half widths in rows. Half an hour of rows at 100 Hz; a wide kernel makes an excursion last."""
    kernel = taps(half)
    e = np.convolve(np.random.default_rng(2).standard_normal(180_000), kernel / np.sqrt(kernel @ kernel), "valid")
    largest = cusum(e**2, 1.0, 3.0)
    assert (largest > LEAST) == passes
    assert largest < least_of(1.0 / float(kernel @ kernel))


@pytest.mark.parametrize("alike", [0.6, 0.8])
def test_rows_that_swell_together_beyond_their_kernel_raise_the_least_threshold(alike: float) -> None:
    """Squares of a first-order process whose ρ is c²ᵏ: τ = (1 + c²)/(1 − c²), against that of white noise of as many
    rows that say the same."""
    from scipy import signal

    rng, rows, c = np.random.default_rng(5), 40_000, np.sqrt(alike)
    e = signal.lfilter([np.sqrt(1.0 - alike)], [1.0, -c], rng.standard_normal(rows))
    tau = (1.0 + alike) / (1.0 - alike)
    # Bartlett: over M lags τ varies by √(2(2M + 1)/n) of itself, and M is where ρ falls below 2/√n
    lags = np.log(2.0 / np.sqrt(rows)) / np.log(alike)
    within = 4.0 * np.sqrt(2.0 * (2.0 * lags + 1.0) / rows)
    assert within < 0.25
    told = calibrate(e**2, least=600.0, overlap=2.0).limit  # far above 2.5 times the excursion
    assert told == pytest.approx(600.0 * tau / (0.72 * 2.0), rel=within)
    assert calibrate(e**2, least=600.0, overlap=2.0 * tau).limit == 600.0, "as alike as their kernel makes them"
    assert calibrate(e**2, least=600.0).limit == 600.0, "infinite: whatever they are"
