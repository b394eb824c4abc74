"""What the last rows say that a parameter has changed by, against least squares of rows whose parameters do change."""

import numpy as np
import pytest

from estimators.misfit.recent_change import recent_change
from estimators.quantities import Floats

ROWS, RECENT = 6000, 200
NOISE = 0.2  # N·m
THETA = np.array([1.0, 2.0, -0.5])


def found(change: Floats, seed: int) -> Floats:
    """Deviations of θ, of which each of the last rows has changed by so much."""
    rng = np.random.default_rng(seed)
    t = 0.01 * np.arange(ROWS + RECENT)
    phi = np.column_stack([np.cos(1.3 * t), np.sign(np.cos(1.3 * t)), np.sin(0.37 * t)])
    y = phi @ THETA + NOISE * rng.standard_normal(len(t))
    y[ROWS:] += phi[ROWS:] @ change
    before, covariance = phi[:ROWS], NOISE**2 * np.linalg.inv(phi[:ROWS].T @ phi[:ROWS])
    last = np.column_stack([phi, y])[ROWS:]
    theta = np.linalg.lstsq(before, y[:ROWS])[0]
    return np.sqrt(recent_change(last.T @ last, theta, covariance, np.full(3, NOISE**2)))


@pytest.mark.parametrize("which", [0, 2])
def test_a_change_of_one_parameter_is_in_its_deviation(which: int) -> None:
    change = np.zeros(3)
    change[which] = 0.3
    deviations = found(change, 1)
    assert deviations[which] == pytest.approx(0.3, rel=0.2)
    assert deviations[2 - which] == 0.0


@pytest.mark.parametrize(("alike", "both"), [(0.97, True), (0.8, False)])
def test_where_columns_are_alike_either_may_have_changed(alike: float, both: bool) -> None:
    gram = 100.0 * np.array([[1.0, alike], [alike, 1.0]])
    score = gram @ np.array([0.3, 0.0])
    recent = np.block([[gram, score[:, None]], [score[None], np.ones((1, 1))]])
    deviations = np.sqrt(recent_change(recent, np.zeros(2), np.zeros((2, 2)), np.full(2, 1e-4)))
    np.testing.assert_allclose(deviations, [0.3, 0.3 * alike * both])


def test_noise_is_a_change_in_one_block_of_a_hundred_at_most() -> None:
    """Three columns, each beyond three deviations once in 370."""
    seen = [bool(found(np.zeros(3), seed).any()) for seed in range(300)]
    assert np.mean(seen) < 0.02


def test_what_was_not_known_before_is_no_change() -> None:
    recent = np.diag([100.0, 100.0, 100.0, 1.0])
    recent[:3, 3] = recent[3, :3] = [50.0, 0.0, 0.0]  # 0.5 off
    still = recent_change(recent, np.zeros(3), np.diag([0.04, 0.0, 0.0]), np.full(3, 1e-4))
    assert not still.any()
    assert recent_change(recent, np.zeros(3), np.zeros((3, 3)), np.full(3, 1e-4))[0] == pytest.approx(0.25)
