"""Rows whose encoder beats, against weighted least squares."""

import numpy as np

from estimators.quantisation.quantisation_weights import SURE, temper
from estimators.rows import MOST, ROUNDING, WEIGHT, Rows, moved

OWNERS = np.array([0])


def rows(beat: float) -> Rows:
    rng = np.random.default_rng(4)
    motion = moved(np.zeros((400, 1)), np.ones((400, 1)))
    motion[::2, 0, ROUNDING] = motion[::2, 0, MOST] = beat
    phi = rng.standard_normal((400, 1, 2))
    noise = rng.standard_normal(400) * np.sqrt(1.0 + 0.5 * (motion[:, 0, ROUNDING] - 1.0))
    return Rows(np.arange(400), phi, (phi[:, 0] @ (2.0, -1.0) + noise)[:, None], np.ones((400, 1)), motion=motion)


def test_least_squares_over_them_are_those_of_known_variances() -> None:
    given = rows(41.0)
    tempered = temper(given, np.array([0.5 / SURE]), np.ones(1), OWNERS)
    weight = 1.0 / np.sqrt(1.0 + 0.5 * (given.motion[:, 0, ROUNDING] - 1.0))
    wanted = np.linalg.lstsq(given.phi[:, 0] * weight[:, None], given.y[:, 0] * weight)[0]
    found = np.linalg.lstsq(tempered.phi[:, 0], tempered.y[:, 0])[0]
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    residual = tempered.y[:, 0] - tempered.phi[:, 0] @ (2.0, -1.0)
    assert 0.85 < np.std(residual[::2]) / np.std(residual[1::2]) < 1.15  # one variance
    np.testing.assert_allclose(tempered.motion[::2, 0, ROUNDING], 41.0 * weight[0] ** 2)


def test_a_row_by_its_weight_is_the_row_as_it_was() -> None:
    given = rows(41.0)
    tempered = temper(given, np.array([0.5 / SURE]), np.ones(1), OWNERS)
    assert tempered.motion[0, 0, WEIGHT] < 0.25
    weight = tempered.motion[0, OWNERS, WEIGHT]
    phi, y = tempered.phi[0] / weight[:, None], tempered.y[0] / weight
    np.testing.assert_allclose(phi, given.phi[0], rtol=1e-12)
    np.testing.assert_allclose(y, given.y[0], rtol=1e-12)


def test_white_rounding_and_an_encoder_whose_steps_do_not_matter_change_nothing() -> None:
    assert temper(white := rows(1.0), np.array([0.5 / SURE]), np.ones(1), OWNERS) is white
    assert temper(beat := rows(41.0), np.array([0.0]), np.ones(1), OWNERS) is beat


def test_a_beat_that_may_be_larger_than_it_is_found_weighs_by_what_it_may_be() -> None:
    given = rows(41.0)
    given.motion[:, 0, ROUNDING] = 1.0
    tempered = temper(given, np.array([0.5]), np.ones(1), OWNERS)
    np.testing.assert_allclose(tempered.y[::2] * np.sqrt(1.0 + 0.5 * 40.0), given.y[::2], rtol=1e-12)
    np.testing.assert_array_equal(tempered.y[1::2], given.y[1::2])


def test_each_joints_encoder_weighs_its_own_outputs() -> None:
    """The first two of three outputs weigh less because the encoder of joint 0 beats; the third is of joint 1."""
    one, owners = rows(41.0), np.array([0, 0, 1])
    motion = np.concatenate([one.motion, moved(np.zeros((400, 1)), np.ones((400, 1)))], axis=1)
    given = Rows(one.time, np.repeat(one.phi, 3, axis=1), np.repeat(one.y, 3, axis=1), np.ones((400, 2)), motion=motion)
    tempered = temper(given, np.array([0.25, 0.5, 9.0]) / SURE, np.ones(3), owners)
    weight = np.array([1.0 / np.sqrt(1.0 + 0.5 * 40.0)] * 2 + [1.0])  # a joint's by the worst of its outputs
    np.testing.assert_allclose(tempered.y[::2], given.y[::2] * weight, rtol=1e-12)
    np.testing.assert_array_equal(tempered.y[1::2], given.y[1::2])
    weight = tempered.motion[0, owners, WEIGHT]
    phi, y = tempered.phi[0] / weight[:, None], tempered.y[0] / weight
    np.testing.assert_allclose(phi, given.phi[0], rtol=1e-12)
    np.testing.assert_allclose(y, given.y[0], rtol=1e-12)
