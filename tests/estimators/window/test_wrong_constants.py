"""What the error of a known constant has done to the parameters, against least squares with and without it."""

import numpy as np
import pytest

from estimators.models.base import Constant
from estimators.window.wrong_constants import suspects

pytestmark = pytest.mark.interpreted


def test_the_shift_is_what_least_squares_do_without_the_constant() -> None:
    rng = np.random.default_rng(3)
    design = rng.normal(size=(400, 3)) * (1.0, 30.0, 0.2)
    column = design @ (0.4, -0.01, 2.0) + rng.normal(size=400)
    theta, error, noise = np.array([2.0, -0.1, 5.0]), 0.08, 0.05
    y = design @ theta + error * column + noise * rng.normal(size=400)
    found = np.linalg.lstsq(design, y, rcond=None)[0]
    constant = Constant("mass", "", column[:, np.newaxis])
    (one,) = suspects([constant], design, y - design @ found, np.ones((400, 1)), noise**2)
    beside = np.linalg.lstsq(np.column_stack((design, column)), y, rcond=None)[0]
    assert one.error == pytest.approx(beside[3], rel=1e-9)
    assert one.shift == pytest.approx(found - beside[:3], rel=1e-6)
    assert one.unsure == pytest.approx(one.shift * one.deviation / one.error, rel=1e-9)
    assert one.grave


def test_what_is_not_significant_is_not_considered() -> None:
    rng = np.random.default_rng(4)
    design, column = rng.normal(size=(400, 3)), rng.normal(size=(400, 1))
    assert not suspects([Constant("mass", "", column)], design, rng.normal(size=400), np.ones((400, 1)), 1.0)
