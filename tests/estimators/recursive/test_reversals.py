"""Rows with a reversal weigh by their own variance where a joint sticks, and as ever where it hardly does."""

import numpy as np
import pytest

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


def test_squares_that_rounding_has_put_below_zero_are_none() -> None:
    """Data without noise: a sum of squares is the difference of two large numbers there."""
    assert 0.0 < reversals.weight(-1e-18, 100, 1e-3, 100) < 1e-9
    assert reversals.weight(-1e-18, 100, -1e-19, 100) == 1.0
    assert reversals.weight(1e-18, 100, -1e-19, 100) == 1.0


def test_it_is_over_at_half_of_what_it_began_at() -> None:
    """In deviations of the others: from 5 on they weigh less, down to 2.5."""
    for deviations, before, now in ((4.9, 1.0, 1.0), (4.9, 0.1, 1.0 / 4.9), (2.6, 0.1, 1.0 / 2.6), (2.4, 0.1, 1.0)):
        assert reversals.weight(400.0, 100, 4.0 * deviations**2 * 20, 20, before) == pytest.approx(now)


def test_a_joint_that_creeps_below_standstill_hardly_moves() -> None:
    assert [reversals.turns(v, v, 0.005) for v in (0.001, 0.004, 0.006, 0.5)] == [True, True, False, False]


def test_which_way_a_joint_moved_is_known_where_a_row_saw_nothing_else() -> None:
    mean = np.array([[0.5, -0.5], [0.48, 0.0], [-0.5, 0.5]])
    rows = Rows(np.arange(3), np.ones((3, 3, 2)), np.ones((3, 3)), np.full((3, 2), 0.5), motion=moved(0.0 * mean, mean))
    _, found = reversals.turning(rows, np.array([0, 1, 1]), 0.005)
    np.testing.assert_array_equal(found, [[1.0, -1.0, -1.0], [0.0, 0.0, 0.0], [-1.0, 1.0, 1.0]])
