"""What values of the last seconds explain beyond θ, against least squares by LAPACK."""

import numpy as np
import pytest

from estimators.misfit.recent_values import BY_CHANCE, recent_gain


@pytest.mark.parametrize("dependent", [False, True])
def test_the_gain_is_what_least_squares_explain_beyond_chance(dependent: bool) -> None:
    rng = np.random.default_rng(1)
    rows, overlap = 400, 2.0
    phi = rng.standard_normal((rows, 4)) * (1.0, 30.0, 0.2, 5.0)
    if dependent:  # what one more column of the same says is nothing
        phi[:, 3] = phi[:, 0] - 0.1 * phi[:, 1]
    theta = np.array([2.0, -1.0, 3.0, 0.5])
    y = phi @ (1.2 * theta) + rng.standard_normal(rows)
    whole = np.column_stack([phi, y])
    before, after = y - phi @ theta, y - phi @ np.linalg.lstsq(phi, y)[0]
    expected = before @ before - after @ after - BY_CHANCE * 4 * overlap / rows * (before @ before)
    assert recent_gain(whole.T @ whole, theta, float(rows), overlap) == pytest.approx(expected, rel=1e-6)


def test_a_constant_truth_gains_nothing() -> None:
    theta, gains = np.array([2.0, -1.0, 3.0, 0.5]), []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        phi = rng.standard_normal((300, 4))
        whole = np.column_stack([phi, phi @ theta + rng.standard_normal(300)])
        gains.append(recent_gain(whole.T @ whole, theta, 300.0, 1.0))
    assert np.mean(np.array(gains) > 0.0) <= 0.05


def test_without_rows_there_is_none() -> None:
    assert recent_gain(np.zeros((3, 3)), np.zeros(2), 0.0, 1.0) == 0.0
