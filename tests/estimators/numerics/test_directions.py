"""Least squares by direction, against NumPy written out."""

import numpy as np
import pytest

from estimators.numerics import directions
from estimators.numerics.directions import Directions, add_unidentifiable
from estimators.quantities import Floats


def beyond_noise(whole: Directions, noise: Floats, *differences: Floats) -> Floats:
    found = np.array(differences)
    directions.beyond_noise(whole, np.ascontiguousarray(noise), found)
    return found


def contrast(whole: Directions, near: Floats, theta: Floats, noise: Floats) -> Floats:
    pulled = np.empty((1, len(theta)))
    directions.contrast(whole, Directions.zeros(p=len(theta)), near, theta, np.ascontiguousarray(noise), pulled)
    return np.asarray(pulled[0])


def _products(phi: Floats, y: Floats) -> Floats:
    rows = np.column_stack([phi, y])
    return np.asarray(rows.T @ rows)


def test_a_direction_that_rows_do_not_tell_has_no_information_and_may_explain_everything() -> None:
    rng = np.random.default_rng(1)
    phi = rng.standard_normal((50, 3)) * (1.0, 100.0, 0.01)
    phi[:, 2] = 1e-4 * phi[:, 1]
    found = Directions.of(phi.T @ phi)
    assert sorted(found.identifiable.tolist()) == [False, True, True]
    identifiable_part = np.eye(3) - found.ways[:, ~found.identifiable] @ found.ways[:, ~found.identifiable].T
    unit = found.scale[:, None] * found.inverse * found.scale
    assert unit @ (found.gram / np.outer(found.scale, found.scale)) == pytest.approx(identifiable_part, abs=1e-6)
    covariance = np.zeros((3, 3))
    add_unidentifiable(found, 2.0, covariance)
    way = np.array([0.0, 1e-2, -1e2])
    assert abs(way @ (phi.T @ phi) @ way) < 1e-6, "it moves no torque"
    assert covariance[0] == pytest.approx(np.zeros(3), abs=1e-12)
    assert covariance[1, 2] < 0.0
    assert covariance[1, 1] * 100.0**2 * 50.0 == pytest.approx(covariance[2, 2] * 0.01**2 * 50.0, rel=0.5)
    assert np.linalg.matrix_rank(covariance) == 1


def test_the_inverse_is_lapacks() -> None:
    phi = np.random.default_rng(2).standard_normal((30, 4)) * (1.0, 1e3, 1e-3, 5.0)
    assert Directions.of(phi.T @ phi).inverse == pytest.approx(np.linalg.inv(phi.T @ phi), rel=1e-9)


def test_noise_along_a_weak_direction_is_no_difference_of_each_parameter() -> None:
    gram = np.array([[1.0, 0.999], [0.999, 1.0]]) * 1e4
    found, noise = Directions.of(gram), np.linalg.inv(gram)
    weak = np.array([1.0, -1.0]) / np.sqrt(2.0) * 0.9 / np.sqrt(1e4 * 0.001)
    assert beyond_noise(found, noise, weak)[0] == pytest.approx(np.zeros(2), abs=1e-12)
    strong = np.array([1.0, 1.0]) / np.sqrt(2.0) * 5.0 / np.sqrt(1e4 * 1.999)
    assert beyond_noise(found, noise, strong)[0] == pytest.approx(strong * np.sqrt(24.0 / 25.0), rel=1e-6)


def test_of_several_differences_each_is_judged_alone() -> None:
    rng = np.random.default_rng(3)
    phi = rng.standard_normal((30, 3))
    found, noise = Directions.of(phi.T @ phi), np.asarray(np.linalg.inv(phi.T @ phi), np.float64)
    first, second = rng.standard_normal((2, 3))
    alone = [*beyond_noise(found, noise, first), *beyond_noise(found, noise, second)]
    np.testing.assert_array_equal(beyond_noise(found, noise, first, second), alone)
    assert np.abs(alone).max() > 0.0


def test_what_some_rows_pull_theta_by_is_seen_beyond_noise() -> None:
    rng = np.random.default_rng(4)
    phi, near = rng.standard_normal((4_000, 3)), np.arange(4_000) % 10 == 0
    ratios = []
    for bent in (0.0, 0.5):
        y = phi @ [1.0, -2.0, 3.0] + 0.1 * rng.standard_normal(4_000) + bent * near * phi[:, 0]
        theta, noise = np.linalg.lstsq(phi, y, rcond=None)[0], 0.01 * np.linalg.inv(phi.T @ phi)
        found = contrast(Directions.of(phi.T @ phi), _products(phi[near], y[near]), theta, noise)
        ratios.append(found / np.sqrt(np.diag(noise)))
    assert np.abs(ratios[0]).max() < 1.0, "a tenth of the rows: their noise moves θ by a third of its deviation"
    assert ratios[1][0] * np.sqrt(noise[0, 0]) == pytest.approx(0.05, abs=0.005), "half of it in a tenth of the rows"
    assert np.abs(ratios[1][1:]).max() < 2.0


def test_the_contrast_is_hausmans() -> None:
    rng = np.random.default_rng(7)
    phi, near = rng.standard_normal((300, 3)) @ (np.eye(3) + 0.5 * rng.standard_normal((3, 3))), np.arange(300) % 3 == 0
    y = phi @ [1.0, -2.0, 3.0] + 0.5 * rng.standard_normal(300) + near * (phi @ [1.0, 0.0, 0.4])
    theta, far = (np.linalg.lstsq(phi[which], y[which], rcond=None)[0] for which in (near | True, ~near))
    whole, rest = (np.linalg.inv(phi[which].T @ phi[which]) for which in (near | True, ~near))
    scale = np.sqrt(np.diag(phi.T @ phi))
    spread, ways = np.linalg.eigh(0.25 * (rest - whole) * np.outer(scale, scale))
    along = ways.T @ (scale * (theta - far))
    wanted = ways @ (np.sign(along) * np.sqrt(np.maximum(along**2 - spread, 0.0))) / scale
    found = contrast(Directions.of(phi.T @ phi), _products(phi[near], y[near]), theta, 0.25 * whole)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_where_no_other_rows_tell_a_direction_nothing_is_said_of_it() -> None:
    rng = np.random.default_rng(4)
    phi, near = rng.standard_normal((1_000, 2)), np.arange(1_000) % 2 == 0
    phi[~near, 1] = 0.0
    y = phi @ [1.0, 2.0] + 0.1 * rng.standard_normal(1_000)
    theta, noise = np.linalg.lstsq(phi, y, rcond=None)[0], 0.01 * np.linalg.inv(phi.T @ phi)
    found = contrast(Directions.of(phi.T @ phi), _products(phi[near], y[near]), theta, noise)
    assert abs(found[1]) < 3.0 * np.sqrt(noise[1, 1])


@pytest.mark.parametrize("sigma", [0.1, 1e-6])
def test_rows_that_are_all_near_a_stop_say_nothing_apart_from_rounding(sigma: float) -> None:
    rng = np.random.default_rng(5)
    phi = rng.standard_normal((1_000, 3)) * (1.0, 1e3, 1e-3)
    y = phi @ [1.0, 2.0, -500.0] + sigma * rng.standard_normal(1_000)
    theta, noise = np.linalg.lstsq(phi, y, rcond=None)[0], sigma**2 * np.linalg.inv(phi.T @ phi)
    for off in (-1e-13, -2e-15, 0.0, 2e-15, 1e-13):
        near = (1.0 + off) * _products(phi, y)
        assert not contrast(Directions.of(phi.T @ phi), near, theta, noise).any()
