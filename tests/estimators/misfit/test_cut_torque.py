"""What a torque that is cut toward zero did to θ, against least squares of such torques."""

import numpy as np
import pytest

from estimators.misfit.cut_torque import CUTS, cut_torque
from estimators.misfit.unmodelled_torque import Floor
from estimators.quantities import Floats

ROWS = 6000
NOISE = 0.2  # N·m
STEP = 0.3  # N·m
WHITE = Floor(1.0, 1.0, 1.0)
THETA = np.array([1.0, 2.0])  # Coulomb friction, gravity


def motion(gravity: bool) -> tuple[Floats, Floats]:
    """Columns of the model (Coulomb friction and, where there is some, gravity), and the torque without noise."""
    t = np.linspace(0.0, 60.0, ROWS)
    phi = np.column_stack([np.sign(np.cos(t)), np.sin(0.37 * t)])
    phi[:, 1] *= gravity
    return phi[:, : 1 + gravity], phi @ THETA


def found(phi: Floats, torque: Floats, y: Floats) -> Floats:
    w = np.clip(torque / (0.5 * STEP), -1.0, 1.0)
    inverse, whole = np.linalg.inv(phi.T @ phi), np.column_stack([phi, w, y])
    scores = NOISE**2 * whole[:, :-1].T @ whole[:, :-1]
    return cut_torque(inverse, whole.T @ whole, scores, inverse @ phi.T @ y, NOISE**2, WHITE, 0.5 * STEP)


@pytest.mark.parametrize(("read", "cut"), [(np.trunc, True), (np.round, False)])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_rows_tell_where_the_torque_passes_zero_apart_from_the_speed(read: np.ufunc, cut: bool, seed: int) -> None:
    phi, torque = motion(gravity=True)
    noisy = torque + NOISE * np.random.default_rng(seed).standard_normal(ROWS)
    y = STEP * read(noisy / STEP)
    moved = np.linalg.lstsq(phi, y - noisy)[0]
    covariance = found(phi, torque, y)
    if cut:
        assert abs(moved[0]) > 0.05, "N·m"
        np.testing.assert_allclose(np.sqrt(np.diag(covariance)), np.abs(moved), rtol=0.1, atol=0.01)
    else:
        assert np.sqrt(np.diag(covariance)).max() < 1e-6


@pytest.mark.parametrize("read", [np.trunc, np.round])
def test_where_no_row_tells_half_of_it_is_held(read: np.ufunc) -> None:
    """A torque with the sign of the speed all the time: the cut is Coulomb friction."""
    phi, torque = motion(gravity=False)
    y = STEP * read((torque + NOISE * np.random.default_rng(0).standard_normal(ROWS)) / STEP)
    assert np.sqrt(found(phi, torque, y)[0, 0]) == pytest.approx(np.sqrt(CUTS) * 0.5 * STEP)
