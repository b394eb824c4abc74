"""A lag of the torque with θ: by blocks the same as least squares of both together."""

import numpy as np
import pytest

from estimators.models.robots.gear_twist import GearTwist, friction
from estimators.models.robots.torque_lag import TorqueLag, unknown
from estimators.thresholds import LAG_SPREAD

pytestmark = pytest.mark.interpreted


def test_theta_and_lags_by_blocks_are_those_of_one_fit() -> None:
    random = np.random.default_rng(4)
    X, rate = random.normal(size=(60, 4)), random.normal(size=(60, 2)) * 100.0
    weight = random.uniform(0.5, 2.0, 60)
    y = X @ [1.0, -2.0, 0.5, 3.0] + rate @ [1.5e-3, -0.8e-3] + 0.1 * random.normal(size=60)
    both = np.hstack([X, rate])
    prior = np.diag([0.0] * 4 + [LAG_SPREAD**-2] * 2)
    covariance = np.linalg.inv(both.T * weight @ both + prior)
    joint = covariance @ (both.T * weight @ y)
    alone = np.linalg.inv(X.T * weight @ X)
    lag = TorqueLag(joint[4:], covariance[4:, 4:], alone @ (X.T * weight @ rate))
    found, sigma = lag.with_theta(alone @ (X.T * weight @ y), alone)
    np.testing.assert_allclose(found, joint, rtol=1e-9)
    np.testing.assert_allclose(sigma, covariance, rtol=1e-7, atol=1e-12)


def test_before_any_motion_a_lag_changes_nothing() -> None:
    lag, theta, covariance = unknown(3, 2), np.array([1.0, 2.0, 3.0]), np.diag([1.0, 4.0, 9.0])
    found, sigma = lag.with_theta(theta, covariance)
    np.testing.assert_array_equal(found, [1.0, 2.0, 3.0, 0.0, 0.0])
    np.testing.assert_array_equal(sigma, np.diag([1.0, 4.0, 9.0, 4e-6, 4e-6]))


def test_a_gears_twist_is_what_zeros_and_lags_of_its_encoders_leave() -> None:
    """A second encoder that reads 1 ms late shows 1 mrad at 1 rad/s, beside 2 mrad of zero and 0.5 mrad of load."""
    gear = GearTwist(zero=2e-3, lag=1e-3, stiffness=1e4)
    dq = np.array([1.0, -1.0, 0.0])
    read = 2e-3 + 1e-3 * dq + np.array([0.5e-3, -0.5e-3, 0.5e-3])
    load = gear.of(read, dq)
    np.testing.assert_allclose(load, [0.5e-3, -0.5e-3, 0.5e-3], atol=1e-15)
    np.testing.assert_allclose(friction(load, dq), [0.5e-3, -0.5e-3, 0.0], atol=1e-15)  # against the motion, |twist|
    slow = np.array([0.005, -0.005])  # half of the speed at which its direction counts
    half = (np.e - 1.0) / (np.e + 1.0)  # tanh ½
    np.testing.assert_allclose(friction(np.array([-2.0, 2.0]), slow), [2.0 * half, -2.0 * half], rtol=1e-12)
