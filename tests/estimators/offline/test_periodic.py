"""Periodic motions: smoothing against its published formulas, derivatives against the exact ones."""

import numpy as np
import pytest

from estimators.offline.excitation.periodic import averaged, differentiated, smoothed


def test_five_point_cubic_smoothing_is_the_published_one() -> None:
    y = np.random.default_rng(0).normal(size=40)
    middle = (-3 * y[:-4] + 12 * y[1:-3] + 17 * y[2:-2] + 12 * y[3:-1] - 3 * y[4:]) / 35
    first = (69 * y[0] + 4 * y[1] - 6 * y[2] + 4 * y[3] - y[4]) / 70
    second = (2 * y[0] + 27 * y[1] + 12 * y[2] - 8 * y[3] + 2 * y[4]) / 35
    found = smoothed(y, 1)
    assert found[2:-2] == pytest.approx(middle, abs=1e-12)
    assert found[:2] == pytest.approx([first, second], abs=1e-12)
    assert smoothed(y[::-1], 1)[:2] == pytest.approx(found[:-3:-1], abs=1e-12)


def test_derivatives_of_a_noisy_period() -> None:
    rng, t, w = np.random.default_rng(1), np.arange(2000) / 100.0, 2 * np.pi / 20.0 * np.arange(1, 6)
    a, b = rng.normal(size=(2, 5)) * 0.1
    s, c = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    q, dq, ddq = s @ a + c @ b, c @ (w * a) - s @ (w * b), -s @ (w**2 * a) - c @ (w**2 * b)
    found = differentiated((q + 1e-4 * rng.normal(size=2000))[:, np.newaxis], 20.0, 5)
    assert np.sqrt(np.mean((found.dq[:, 0] - dq) ** 2)) < 1e-4
    assert np.sqrt(np.mean((found.ddq[:, 0] - ddq) ** 2)) < 1e-4
    assert found.discarded[0] < 1e-4


def test_what_is_discarded_is_reported() -> None:
    t = np.arange(1000) / 50.0
    q = np.sin(2 * np.pi / 20.0 * t) + 0.3 * np.sin(2 * np.pi / 20.0 * 30 * t)
    assert differentiated(q[:, np.newaxis], 20.0, 25).discarded[0] == pytest.approx(0.09 / 1.09, rel=1e-6)


def test_only_whole_periods_count() -> None:
    q = np.tile(np.arange(10.0), 4)[:35].reshape(-1, 1)
    assert averaged(q, 10)[:, 0] == pytest.approx(np.arange(10.0))
    with pytest.raises(ValueError, match="expected at least one period of 100 samples, found 35"):
        averaged(q, 100)
