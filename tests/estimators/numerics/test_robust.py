"""Means that outliers do not move, deviations that correlation does not flatter."""

import numpy as np
import pytest

from estimators.numerics.robust import deviation_factors, robust_mean

pytestmark = pytest.mark.interpreted


def test_outliers_do_not_raise_the_noise() -> None:
    squared = np.random.default_rng(2).standard_normal(5000) ** 2
    squared[::500] = 2500.0
    assert robust_mean(squared) == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize(("correlation", "low", "high"), [(0.0, 1.0, 1.35), (0.95, 4.0, 9.0)])
def test_a_deviation_factor_finds_the_correlation_of_a_residual(correlation: float, low: float, high: float) -> None:
    # an AR(1) residual on a constant column: the deviation of its mean is √((1 + a)/(1 − a)) times the white one
    rng = np.random.default_rng(5)
    e = np.zeros(4000)
    for i in range(1, len(e)):
        e[i] = correlation * e[i - 1] + np.sqrt(1.0 - correlation**2) * rng.standard_normal()
    e -= e.mean()
    phi = np.ones((len(e), 1))
    factor = deviation_factors(phi, e, np.array([[1.0 / len(e)]]), 1.0, 100)
    assert low <= factor[0] <= high
