"""Rows with a reversal weigh by their own variance where a joint sticks, and as ever where it hardly does."""

import numpy as np
import pytest

from estimators.recursive import reversals
from estimators.rows import Rows, moved


def test_they_weigh_by_their_own_variance_beyond_what_is_believed_of_a_residual() -> None:
    assert reversals.weight(400.0, 100, 400.0 * 100.0, 100) == pytest.approx(0.1)
    assert reversals.weight(400.0, 100, 4.0 * 24.0 * 20, 20) == 1.0, (
        "4.9 deviations: as EMPS, whose values rest on them"
    )
    assert reversals.weight(400.0, 100, 4.0 * 26.0 * 20, 20) == pytest.approx(26.0**-0.5)
    assert reversals.weight(400.0, 100, 1e9, 9) == 1.0, "too few to know"


def test_only_outputs_whose_joint_turns_round_are_weighed() -> None:
    speed = np.array([[0.5, 0.5], [0.02, 0.5], [0.02, 0.5]])
    mean = np.array([[0.5, -0.5], [0.01, -0.5], [-0.0195, -0.5]])
    rows = Rows(np.arange(3), np.ones((3, 3, 2)), np.ones((3, 3)), speed, motion=moved(np.zeros((3, 2)), mean))
    seen = reversals.turning(rows, np.array([0, 1, 0]), 0.005)
    np.testing.assert_array_equal(seen, [[False] * 3, [True, False, True], [False] * 3])
    weighed = reversals.discount(rows, seen, np.array([0.25, 0.5, 1.0]))
    np.testing.assert_array_equal(weighed.y, [[1.0] * 3, [0.25, 1.0, 1.0], [1.0] * 3])
    np.testing.assert_array_equal(weighed.phi[1, :, 0], [0.25, 1.0, 1.0])
    np.testing.assert_array_equal(rows.y, np.ones((3, 3)), err_msg="what is published is not weighed")
