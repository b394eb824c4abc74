"""What a walk that did not happen adds to a covariance, against a Kalman filter in NumPy and its exact errors."""

import numpy as np
import pytest

from estimators.quantities import Floats
from estimators.recursive.process_noise_correction import FADE, Belief, ProcessNoiseCorrection

PARAMETERS, ROWS, BLOCKS, RUNS = 8, 10, 150, 20
FADES = np.repeat([0.95, 1.0], PARAMETERS // 2)  # a: half of them fade, all of them walk
WALK = 0.01 * (np.eye(PARAMETERS) + 0.3)  # Q, a block
NOISE = 0.2  # variance of a row


def _filtered(happens: float, seed: int) -> tuple[ProcessNoiseCorrection, Floats, Floats, float]:
    """The correction, P, and the exact covariance of the filter's errors, where θ walks by this share of the variance
    that the filter expects; and the standard deviation of the share that is told."""
    rng, every = np.random.default_rng(seed), np.arange(PARAMETERS)
    wander = ProcessNoiseCorrection(PARAMETERS, [(every, np.eye(PARAMETERS))])
    theta, found = np.zeros(PARAMETERS), np.zeros(PARAMETERS)
    P, errors, walked = np.zeros((3, PARAMETERS, PARAMETERS))
    fourth = possible = 0.0
    for _ in range(BLOCKS):
        theta = FADES * theta + rng.multivariate_normal(np.zeros(PARAMETERS), happens * WALK)
        X = rng.standard_normal((ROWS, PARAMETERS))
        y = X @ theta + np.sqrt(NOISE) * rng.standard_normal(ROWS)
        fades = np.outer(FADES, FADES)
        before, errors, walked = fades * P + WALK, fades * errors + happens * WALK, fades * walked + WALK
        predicted = FADES * found
        K = before @ X.T @ np.linalg.inv(X @ before @ X.T + NOISE * np.eye(ROWS))
        rest = np.eye(PARAMETERS) - K @ X
        move = K @ (X @ errors @ X.T + NOISE * np.eye(ROWS)) @ K.T  # E m mᵀ
        fourth = FADE**2 * fourth + 2.0 * np.trace(move @ move)
        possible = FADE * possible + np.trace(K @ X @ walked @ X.T @ K.T)
        P, walked = rest @ before, rest @ walked @ rest.T
        errors = rest @ errors @ rest.T + NOISE * K @ K.T  # of any gain (Joseph)
        found = predicted + K @ (y - X @ predicted)
        wander.absorb(Belief(predicted, before), Belief(found, P), FADES, WALK)
    return wander, P, errors, np.sqrt(fourth) / possible


@pytest.mark.parametrize("happens", [0.0, 0.4, 0.7])
def test_what_the_walk_put_there_is_what_the_errors_have_less_where_it_does_not_happen(happens: float) -> None:
    wander, P, errors, _ = _filtered(happens, 3)
    share = wander.share
    assert share > 0.0
    put_there = (P - wander.without(P)) / share
    assert P - (1.0 - happens) * put_there == pytest.approx(errors, abs=1e-12)
    assert np.trace(errors) < 0.9 * np.trace(P), "it matters"


@pytest.mark.parametrize("happens", [0.3, 0.5, 0.7])
def test_the_moves_of_theta_tell_which_share_of_the_walk_happens(happens: float) -> None:
    """Far enough from 0 and 1, to which it is cut, for its mean to be told."""
    found = [_filtered(happens, seed) for seed in range(RUNS)]
    mean = np.mean([wander.share for wander, *_ in found])
    deviation = np.mean([one for *_, one in found]) / np.sqrt(RUNS)
    assert deviation < 0.03
    assert mean == pytest.approx(1.0 - happens, abs=4.0 * deviation)


def test_one_joint_that_walks_keeps_the_deviations_of_all() -> None:
    wander = ProcessNoiseCorrection(2, [(np.array([0]), np.ones((1, 1))), (np.array([1]), np.ones((1, 1)))])
    before, after, walk = 2.0 * np.eye(2), np.eye(2), np.eye(2)
    for _ in range(100):
        wander.absorb(Belief(np.zeros(2), before), Belief(np.array([1.0, 0.0]), after), np.ones(2), walk)
    assert wander.share == 0.0
    assert wander.without(after) == pytest.approx(after)


def test_no_more_is_taken_off_than_the_walk_has_put_there() -> None:
    """θ does not move at all, though far more than the walk would let it."""
    wander, walk = ProcessNoiseCorrection(1, [(np.array([0]), np.ones((1, 1)))]), np.full((1, 1), 0.01)
    for _ in range(100):
        wander.absorb(Belief(np.zeros(1), 2.0 * np.eye(1)), Belief(np.zeros(1), np.eye(1)), np.ones(1), walk)
    assert wander.share == 1.0
    # F = ½: D ← ¼ (D + Q)
    assert wander.without(np.eye(1)) == pytest.approx(1.0 - 0.01 / 3.0)
