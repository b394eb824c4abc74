"""Rows of a second while what they are compared with moves."""

import numpy as np

from estimators.online.robot.block import Block


def test_the_torque_of_rows_is_the_same_by_the_residual_that_follows_theta() -> None:
    """What has moved θ in the middle of a second was learnt twice: residuals by the old one, torque by the new."""
    random = np.random.default_rng(3)
    block, theta, moved = Block(4, np.full(2, 0.02)), random.standard_normal(4), np.array([0.0, 1.5, -0.2, 0.0])
    torque = random.standard_normal((6, 2))
    for k in range(6):
        block.X[k], block.Y[k] = random.standard_normal((2, 4)), 0.0
        block.X[k, 1] *= k != 2  # a joint at rest says nothing
        now = theta if k < 4 else theta + moved
        r = torque[k] - block.X[k] @ now
        block.close(np.zeros(2), np.ones(2), np.zeros(2), r, r, np.array([True, k != 2]))
        if k == 3:
            block.follow(moved)
    found = block.r[:6] + block.X[:6] @ (theta + moved)
    torque[2, 1] = 0.0
    np.testing.assert_allclose(found, torque, atol=1e-12)
    before = block.r.copy()
    block.follow(np.zeros(4))
    np.testing.assert_array_equal(block.r, before)
