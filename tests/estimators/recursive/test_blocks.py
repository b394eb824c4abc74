"""Least squares over the last blocks of rows, against NumPy's over the rows themselves."""

import numpy as np
import pytest

from estimators.quantities import Floats
from estimators.recursive.blocks import Blocks, spread

pytestmark = pytest.mark.interpreted

COLUMNS, ROWS, BLOCKS = 4, 12, 6


def rows(count: int) -> tuple[Floats, Floats]:
    """φ (blocks, rows, columns), the first the constant, and y (blocks, rows)."""
    rng = np.random.default_rng(7)
    phi = rng.standard_normal((count, ROWS, COLUMNS))
    phi[:, :, 0] = 1.0
    return phi, phi @ (1.0, -2.0, 0.5, 3.0) + 0.3 * rng.standard_normal((count, ROWS))


def filled(phi: Floats, y: Floats) -> Blocks:
    blocks = Blocks(COLUMNS, BLOCKS, ROWS)
    for one, own in zip(phi, y, strict=True):
        blocks.add(one.T @ one, one.T @ own)
    return blocks


def least_squares(phi: Floats, y: Floats) -> Floats:
    return np.asarray(np.linalg.lstsq(phi.reshape(-1, phi.shape[-1]), y.ravel())[0])


def test_a_window_is_solved_as_its_rows_would_be_with_a_jackknife_over_its_blocks() -> None:
    phi, y = rows(9)
    blocks = filled(phi, y)
    assert (blocks.filled, blocks.full()) == (9, True)
    theta, left_out = blocks.solve(blocks.last())
    assert theta == pytest.approx(least_squares(phi[3:], y[3:]), rel=1e-9)
    others = np.array([[one for one in range(3, 9) if one != out] for out in range(3, 9)])
    expected = np.array([least_squares(phi[which], y[which]) for which in others])
    assert left_out == pytest.approx(expected, rel=1e-9)
    deviations = np.sqrt(5.0 / 6.0 * np.sum((expected - expected.mean(axis=0)) ** 2, axis=0))
    assert spread(left_out) == pytest.approx(deviations, rel=1e-9)


def test_fewer_blocks_or_columns_may_be_asked_for() -> None:
    phi, y = rows(9)
    blocks = filled(phi, y)
    some = blocks.last(2)
    assert blocks.solve(some).theta == pytest.approx(least_squares(phi[7:], y[7:]), rel=1e-9)
    theta, left_out = blocks.solve(blocks.last(), (3, 0))
    assert theta == pytest.approx(least_squares(phi[3:, :, [3, 0]], y[3:]), rel=1e-9)
    assert left_out.shape == (BLOCKS, 2)
    assert len(blocks.last(100)) == BLOCKS


def test_before_it_is_full_a_window_is_what_there_is_and_forgotten_it_is_empty() -> None:
    phi, y = rows(4)
    blocks = filled(phi, y)
    assert (blocks.filled, blocks.full()) == (4, False)
    assert blocks.last().tolist() == [0, 1, 2, 3]
    assert blocks.solve(blocks.last()).theta == pytest.approx(least_squares(phi, y), rel=1e-9)
    blocks.forget()
    assert (blocks.filled, blocks.last().tolist()) == (0, [])
    assert np.isnan(blocks.solve(blocks.last()).theta).all()


def test_a_column_that_those_before_it_imitate_gets_no_coefficient_and_changes_no_other() -> None:
    phi, y = rows(6)
    phi[:, :, 2] = 3.0 * phi[:, :, 1] - phi[:, :, 0]
    theta, left_out = filled(phi, y).solve(np.arange(6))
    assert np.isnan(theta[2])
    assert np.isnan(left_out[:, 2]).all()
    own = [0, 1, 3]
    assert theta[own] == pytest.approx(least_squares(phi[:, :, own], y), rel=1e-9)


def test_how_well_others_imitate_a_column_is_r_squared_about_its_mean() -> None:
    phi, y = rows(6)
    phi[:, :, 3] += 0.8 * phi[:, :, 1] + 5.0
    blocks, which = filled(phi, y), np.arange(6)
    flat = phi.reshape(-1, COLUMNS)
    left = flat[:, 3] - flat[:, :2] @ np.linalg.lstsq(flat[:, :2], flat[:, 3])[0]
    about = flat[:, 3] - flat[:, 3].mean()
    assert blocks.imitated(3, which, (0, 1)) == pytest.approx(1.0 - left @ left / (about @ about), rel=1e-9)
    assert blocks.imitated(3, which, (0,)) == pytest.approx(0.0, abs=1e-12)
    assert blocks.imitated(3, which, (0, 1, 1)) == pytest.approx(blocks.imitated(3, which, (0, 1)))
    phi[:, :, 2] = phi[:, :, 1]
    assert filled(phi, y).imitated(2, which, (0, 1)) == pytest.approx(1.0)
    phi[:, :, 2] = 4.0
    assert filled(phi, y).imitated(2, which, (0, 1)) == 1.0, "nothing is left about its mean"
