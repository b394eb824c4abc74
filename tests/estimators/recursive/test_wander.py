"""What a walk that did not happen adds to a covariance, against the errors of many filters that expect one."""

import numpy as np
import pytest

from estimators.recursive.prior_bounded import PriorBounded
from estimators.recursive.wander import Belief, Wander

pytestmark = pytest.mark.compiled

BLOCKS, ROWS, RUNS, FADE = 150, 10, 80, np.array([0.95, 0.95, 1.0])
PRIOR = np.diag([0.3, 0.2, 1.0]) ** 2


def _errors(walks: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Squared errors (3,), what P and P − sD say of them, and s; walks: share of the expected variance that happens."""
    rng = np.random.default_rng(3)
    squares, plain, without, shares = np.zeros(3), np.zeros(3), np.zeros(3), 0.0
    for _ in range(RUNS):
        learner = PriorBounded(np.zeros(3), PRIOR, FADE)
        learner.begin(np.zeros(3), 0.01 * PRIOR)
        theta = 0.1 * np.sqrt(np.diag(PRIOR)) * rng.standard_normal(3)
        wander = Wander(3, [(np.array([0]), np.ones((1, 1))), (np.array([1]), np.ones((1, 1)))])
        for _ in range(BLOCKS):
            step = np.sqrt(walks * (1.0 - FADE**2) * np.diag(PRIOR))
            theta = np.where(walks > 0.0, FADE, 1.0) * theta + step * rng.standard_normal(3)
            X = rng.standard_normal((ROWS, 1, 3))
            expected = learner.predicted()
            assert learner.absorb(X, X @ theta + 0.2 * rng.standard_normal((ROWS, 1)), np.array([25.0]))
            wander.absorb(expected, Belief(learner.theta, learner.covariance), learner.fade, learner.walk)
        squares += (learner.theta - theta) ** 2 / RUNS
        plain += np.diag(learner.covariance) / RUNS
        without += np.diag(wander.without(learner.covariance)) / RUNS
        shares += wander.share / RUNS
    return squares, plain, without, shares


def test_without_a_walk_its_part_of_the_variance_is_taken_off() -> None:
    squares, plain, without, share = _errors(0.0)
    assert share > 0.8
    assert (squares[:2] < 0.8 * plain[:2]).all()  # P is too large by as much
    # 80 runs tell a variance to √(2/80) = 16 %; a walk back towards the prior is a little bias
    assert without == pytest.approx(squares, rel=0.4)


def test_a_walk_that_happens_keeps_its_part() -> None:
    squares, plain, without, share = _errors(1.0)
    assert share < 0.2
    assert plain == pytest.approx(squares, rel=0.4)
    assert (without > 0.85 * plain).all()


def test_one_joint_that_walks_keeps_the_deviations_of_all() -> None:
    wander = Wander(2, [(np.array([0]), np.ones((1, 1))), (np.array([1]), np.ones((1, 1)))])
    before, after, walk = 2.0 * np.eye(2), np.eye(2), np.eye(2)
    for _ in range(100):
        wander.absorb(Belief(np.zeros(2), before), Belief(np.array([1.0, 0.0]), after), np.ones(2), walk)
    assert wander.share == 0.0
    assert wander.without(after) == pytest.approx(after)


def test_no_more_is_taken_off_than_the_walk_has_put_there() -> None:
    """θ does not move at all, though far more than the walk would let it."""
    wander, walk = Wander(1, [(np.array([0]), np.ones((1, 1)))]), np.full((1, 1), 0.01)
    for _ in range(100):
        wander.absorb(Belief(np.zeros(1), 2.0 * np.eye(1)), Belief(np.zeros(1), np.eye(1)), np.ones(1), walk)
    assert wander.share == 1.0
    # F = ½: D ← ¼ (D + Q)
    assert wander.without(np.eye(1)) == pytest.approx(1.0 - 0.01 / 3.0)
