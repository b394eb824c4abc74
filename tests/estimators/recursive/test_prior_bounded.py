"""Learning towards a prior, against the same in one go by NumPy, and that it never forgets more than the prior."""

import numpy as np
import pytest

from estimators.quantities import Floats
from estimators.recursive.prior_bounded import PriorBounded

pytestmark = pytest.mark.interpreted


def rows(random: np.random.Generator, p: int) -> tuple[Floats, Floats]:
    X = random.normal(size=(20, 2, p))
    return X, X @ np.arange(1.0, p + 1.0) + 0.1 * random.normal(size=(20, 2))


def test_without_forgetting_it_is_bayesian_least_squares_over_all_blocks() -> None:
    random, p, weights = np.random.default_rng(3), 5, np.array([4.0, 0.5])
    root = random.normal(size=(p, p))
    prior, spread = random.normal(size=p), root @ root.T + np.eye(p)
    learner = PriorBounded(prior, spread, np.ones(p))
    J, b = np.linalg.inv(spread), np.linalg.solve(spread, prior)
    for _ in range(4):
        X, y = rows(random, p)
        assert learner.absorb(X, y, weights)
        J = J + np.einsum("tni,n,tnj->ij", X, weights, X)
        b = b + np.einsum("tni,n,tn->i", X, weights, y)
    assert np.allclose(learner.theta, np.linalg.solve(J, b), rtol=1e-9)
    assert np.allclose(learner.covariance, np.linalg.inv(J), rtol=1e-8, atol=1e-14)


def test_a_day_of_empty_blocks_leads_back_to_the_prior_and_not_beyond() -> None:
    random, p = np.random.default_rng(4), 4
    prior, spread = np.ones(p), np.diag([1.0, 4.0, 0.1, 9.0])
    learner = PriorBounded(prior, spread, np.array([1.0, 1.0, 0.99, 0.99]))
    X, y = rows(random, p)
    learner.absorb(X, y, np.ones(2))
    certain = learner.covariance[:2, :2].copy()
    for _ in range(3000):
        learner.absorb(np.zeros((1, 2, p)), np.zeros((1, 2)), np.ones(2))
    assert np.linalg.eigvalsh(spread - learner.covariance).min() >= -1e-9
    assert np.allclose(np.diag(learner.covariance)[2:], [0.1, 9.0], rtol=1e-6)  # forgotten
    assert np.allclose(learner.theta[2:], 1.0, rtol=1e-6)
    assert np.allclose(learner.covariance[:2, :2], certain, rtol=1e-6)  # not forgotten


def test_what_is_not_finite_teaches_nothing() -> None:
    learner = PriorBounded(np.zeros(2), np.eye(2), np.ones(2))
    assert not learner.absorb(np.full((1, 1, 2), np.nan), np.ones((1, 1)), np.ones(1))
    assert np.array_equal(learner.theta, np.zeros(2))


def test_what_has_changed_at_once_is_moved_and_as_uncertain_as_said() -> None:
    random, p = np.random.default_rng(5), 3
    learner = PriorBounded(np.zeros(p), np.diag([1.0, 2.0, 3.0]), np.ones(p))
    X, y = rows(random, p)
    learner.absorb(X, y, np.ones(2))
    before = learner.theta[1]
    learner.move(np.array([1]), np.array([0.7]), np.array([[0.3]]))
    assert learner.theta[1] == pytest.approx(before + 0.7)
    assert learner.covariance[1, 1] == pytest.approx(0.3)
    assert learner.covariance[0, 1] == 0.0
    assert learner.covariance[0, 0] < 0.1


def test_what_has_moved_is_forgotten_towards_where_it_is_now() -> None:
    learner = PriorBounded(np.array([1.0, 2.0]), np.diag([4.0, 0.25]), np.array([1.0, 0.9]))
    learner.move(np.array([1]), np.array([0.7]), np.array([[0.1]]))
    for _ in range(300):
        learner.absorb(np.zeros((1, 1, 2)), np.zeros((1, 1)), np.ones(1))
    assert learner.theta == pytest.approx([1.0, 2.7])
    assert np.diag(learner.covariance) == pytest.approx([4.0, 0.25])


def test_one_that_begins_with_what_another_knows_goes_on_as_that_one() -> None:
    random, p, fade = np.random.default_rng(6), 3, np.array([1.0, 0.9, 0.8])
    first, second = (PriorBounded(np.ones(p), np.diag([1.0, 20.0, 0.3]), fade) for _ in range(2))
    assert first.unknown == pytest.approx(p)
    first.absorb(*rows(random, p), np.ones(2))
    assert 0.0 < first.unknown < 0.5
    second.begin(first.theta, first.covariance)
    assert second.unknown == pytest.approx(first.unknown)
    X, y = rows(random, p)
    for one in (first, second):
        one.absorb(X, y, np.ones(2))
    assert second.theta == pytest.approx(first.theta, rel=1e-9)
    assert second.covariance == pytest.approx(first.covariance, rel=1e-9)
