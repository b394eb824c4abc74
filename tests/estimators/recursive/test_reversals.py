"""Rows with a reversal weigh by their own variance where a joint sticks, and as ever where it hardly does."""

import numpy as np
import pytest

from estimators.quantities import Floats
from estimators.recursive.weights import reversals
from estimators.rows import Rows, moved


def test_they_weigh_by_their_own_variance_beyond_what_is_believed_of_a_residual() -> None:
    assert reversals.weight(400.0, 100, 400.0 * 100.0, 100) == pytest.approx(0.1)
    assert reversals.weight(400.0, 100, 4.0 * 24.0 * 20, 20) == 1.0, (
        "4.9 deviations: as EMPS, whose values rest on them"
    )
    assert reversals.weight(400.0, 100, 4.0 * 26.0 * 20, 20) == pytest.approx(26.0**-0.5)
    assert reversals.weight(400.0, 100, 4.0 * 1e4, 1) == pytest.approx(0.01), "one is enough"
    assert reversals.weight(400.0, 100, 0.0, 0.5) == 1.0, "what is all but forgotten proves nothing"
    assert reversals.weight(36.0, 9, 1e9, 100) == 1.0, "too few to know the others by"


def test_it_is_over_at_half_of_what_it_began_at() -> None:
    """In deviations of the others: from 5 on they weigh less, down to 2.5."""
    for deviations, before, now in ((4.9, 1.0, 1.0), (4.9, 0.1, 1.0 / 4.9), (2.6, 0.1, 1.0 / 2.6), (2.4, 0.1, 1.0)):
        assert reversals.weight(400.0, 100, 4.0 * deviations**2 * 20, 20, before) == pytest.approx(now)


def test_a_joint_that_creeps_below_standstill_hardly_moves() -> None:
    assert [reversals.turns(v, v, 0.005) for v in (0.001, 0.004, 0.006, 0.5)] == [True, True, False, False]


def test_which_way_a_joint_moved_is_told_where_a_row_saw_nothing_else() -> None:
    mean = np.array([[0.5, -0.5], [0.48, 0.0], [-0.5, 0.5]])
    rows = Rows(np.arange(3), np.ones((3, 3, 2)), np.ones((3, 3)), np.full((3, 2), 0.5), motion=moved(0.0 * mean, mean))
    found = reversals.directions(rows, np.array([0, 1, 1]), 0.005)
    np.testing.assert_array_equal(found, [[1.0, -1.0, -1.0], [0.0, 0.0, 0.0], [-1.0, 1.0, 1.0]])


def _products(phi: Floats, y: Floats) -> Floats:
    rows = np.column_stack([phi, y])
    return rows.T @ rows


def test_what_rows_behind_reversals_pull_theta_by_is_seen_beyond_noise() -> None:
    rng = np.random.default_rng(4)
    phi, near = rng.standard_normal((4_000, 3)), np.arange(4_000) % 10 == 0
    ratios = []
    for bent in (0.0, 0.5):
        y = phi @ [1.0, -2.0, 3.0] + 0.1 * rng.standard_normal(4_000) + bent * near * phi[:, 0]
        theta = np.linalg.lstsq(phi, y, rcond=None)[0]
        known = 0.01 * np.diag(np.linalg.inv(phi.T @ phi))
        found = reversals.contrast(_products(phi, y), _products(phi[near], y[near]), theta, known)
        ratios.append(found / np.sqrt(known))
    assert np.abs(ratios[0]).max() < 1.0, "a tenth of the rows: their noise moves θ by a third of its deviation"
    assert ratios[1][0] * np.sqrt(known[0]) == pytest.approx(0.05, abs=0.005), "half of it in a tenth of the rows"
    assert np.abs(ratios[1][1:]).max() < 1.0


def test_the_contrast_is_hausmans() -> None:
    rng = np.random.default_rng(7)
    phi, near = rng.standard_normal((300, 3)) @ (np.eye(3) + 0.5 * rng.standard_normal((3, 3))), np.arange(300) % 3 == 0
    y = phi @ [1.0, -2.0, 3.0] + 0.5 * rng.standard_normal(300) + near * (phi @ [1.0, 0.0, 0.4])
    theta, far = (np.linalg.lstsq(phi[which], y[which], rcond=None)[0] for which in (near | True, ~near))
    whole, rest = (np.diag(np.linalg.inv(phi[which].T @ phi[which])) for which in (near | True, ~near))
    known = np.array([2e-4, 1e-1, 5e-4])
    wanted = np.maximum((theta - far) ** 2 - known * (rest / whole - 1.0), 0.0)
    assert (wanted > 0.0).sum() == 2
    found = reversals.contrast(_products(phi, y), _products(phi[near], y[near]), theta, known)
    np.testing.assert_allclose(found, np.sign(theta - far) * np.sqrt(wanted), rtol=1e-6)


def test_where_no_other_rows_tell_a_direction_nothing_is_said_of_it() -> None:
    rng = np.random.default_rng(4)
    phi, near = rng.standard_normal((1_000, 2)), np.arange(1_000) % 2 == 0
    phi[~near, 1] = 0.0
    y = phi @ [1.0, 2.0] + 0.1 * rng.standard_normal(1_000)
    theta, known = np.linalg.lstsq(phi, y, rcond=None)[0], 0.01 * np.diag(np.linalg.inv(phi.T @ phi))
    assert reversals.contrast(_products(phi, y), _products(phi[near], y[near]), theta, known)[1] == 0.0
