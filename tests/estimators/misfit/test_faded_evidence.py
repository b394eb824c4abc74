"""What evidence says since something has happened."""

import numpy as np
import pytest

from estimators.misfit.faded_evidence import MARKED, FadedEvidence
from estimators.quantities import Floats


def _look(evidence: FadedEvidence, value: float) -> None:
    X: Floats = np.ones((25, 1, 1))
    evidence.absorb(X, np.full((25, 1), value), np.ones(1))


def test_since_a_mark_nothing_of_before_lessens_the_change() -> None:
    evidence = FadedEvidence(np.array([[1e-9]]))
    for _ in range(10):
        _look(evidence, 0.0)
    evidence.mark()
    _look(evidence, 0.5)  # the look under way
    for _ in range(4):
        _look(evidence, 1.0)
    assert evidence.change().values[0] < 0.6
    assert evidence.since().values[0] == pytest.approx(1.0)
    assert evidence.since().covariance[0, 0] == pytest.approx(0.01, rel=1e-3)  # of 4 · 25 rows


def test_a_second_mark_is_of_the_same_event_and_an_old_one_does_not_count() -> None:
    evidence = FadedEvidence(np.array([[1e-9]]))
    evidence.mark()
    for _ in range(3):
        _look(evidence, 1.0)
    evidence.mark()
    _look(evidence, 1.0)
    assert evidence.since().covariance[0, 0] == pytest.approx(1.0 / 75.0, rel=1e-3)  # all but the first
    for _ in range(MARKED):
        _look(evidence, 2.0)
    assert evidence.since().values == evidence.lately().values


def test_what_noise_shares_with_the_residual_is_taken_off_and_stays_in_the_deviation() -> None:
    """y = 2 x, x read with noise e: r = y − 2 (x + e) is nothing but −2 e, and so the column seems to explain it."""
    rng, noise, looks = np.random.default_rng(7), 0.5, 40
    told, plain = FadedEvidence(np.array([[1e-9]])), FadedEvidence(np.array([[1e-9]]))
    wrong = 0
    for _ in range(looks):
        x, e = rng.standard_normal((2, 25, 1))
        e *= np.sqrt(noise)
        X = (x + e)[:, :, None]
        told.absorb(X, -2.0 * e, np.full(1, 0.5), np.full(1, -2.0 * 25 * noise * 0.5))
        plain.absorb(X, -2.0 * e, np.full(1, 0.5))
        assert abs(told.lately().values[0]) < 4.0 * np.sqrt(told.lately().covariance[0, 0])
        wrong += abs(plain.lately().values[0]) > 4.0 * np.sqrt(plain.lately().covariance[0, 0])
    assert plain.change().values[0] == pytest.approx(-2.0 * noise / (1.0 + noise), rel=0.2)
    assert wrong > looks / 4
    assert abs(told.change().values[0]) < 0.15
