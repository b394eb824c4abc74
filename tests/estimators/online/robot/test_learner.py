"""What a whole robot's learner takes for known from the beginning, and what becomes of it while nothing is taught."""

from dataclasses import replace

import numpy as np
import pytest

from estimators.models.robots.files.identified import IdentifiedRobot
from estimators.online.robot.estimator import RobotEstimator
from estimators.online.robot.findings.friction_terms import own_terms
from estimators.online.robot.learner import FRICTION_MEMORY, _bayesian
from estimators.recursive.prior_bounded import PriorBounded
from estimators.thresholds import LAG_SPREAD
from tests.support.crane import RATE, motion, taught, torque


def begun(learnt: IdentifiedRobot, block: float) -> tuple[PriorBounded, np.ndarray]:
    """A learner and where friction stands in θ; block: s."""
    model = learnt.model()
    own = np.sort(np.concatenate([own_terms(model, j) for j in range(2)]))
    return _bayesian(learnt, own, block), own


def pass_blocks(learner: PriorBounded, count: int) -> None:
    """Blocks in which nothing was measured."""
    for _ in range(count):
        assert learner.absorb(np.zeros((1, 2, len(learner.theta))), np.zeros((1, 2)), np.ones(2))


def test_friction_that_is_not_seen_goes_back_to_what_was_identified_and_links_and_lags_stay() -> None:
    learnt = taught()
    theta = learnt.theta
    learner, own = begun(replace(learnt, prior=3.0 * theta), FRICTION_MEMORY)
    inert = np.setdiff1d(np.arange(len(theta)), own)
    assert learner.theta == pytest.approx(np.append(theta, [0.0, 0.0]))
    moved, lags = 1.5 * theta, np.array([2e-4, -3e-4])
    learner.begin(np.append(moved, lags), learner.covariance)
    pass_blocks(learner, 1)
    assert learner.theta[own] == pytest.approx((1.0 + 0.5 / np.e) * theta[own]), "by 1/e in its memory"
    assert learner.theta[inert] == pytest.approx(moved[inert])
    assert learner.theta[-2:] == pytest.approx(lags)
    pass_blocks(learner, 20)
    assert learner.theta[own] == pytest.approx(theta[own], rel=1e-6)


def test_friction_may_wander_by_a_third_or_two_deviations_within_its_prior_and_nothing_else_does() -> None:
    learnt = taught()
    size, p = np.abs(learnt.theta), len(learnt.theta)
    _, own = begun(learnt, 1.0)
    inert = np.setdiff1d(np.arange(p), own)
    prior, known = 10.0 * size, 0.01 * size
    certain, narrow, badly = own[:3]
    prior[narrow], known[badly] = 0.1 * size[narrow], 0.4 * size[badly]
    coupled = np.diag(prior**2)
    coupled[own[0], inert[0]] = coupled[inert[0], own[0]] = 0.5 * prior[own[0]] * prior[inert[0]]
    learner, _ = begun(replace(learnt, prior_covariance=coupled, covariance=np.diag(known**2)), FRICTION_MEMORY)
    pass_blocks(learner, 20)
    deviations = np.sqrt(np.diag(learner.covariance))
    assert deviations[certain] == pytest.approx(0.3 * size[certain], rel=1e-6)
    assert deviations[narrow] == pytest.approx(0.1 * size[narrow], rel=1e-6)
    assert deviations[badly] == pytest.approx(0.8 * size[badly], rel=1e-6)
    assert deviations[inert] == pytest.approx(known[inert], rel=1e-6)
    most = np.sqrt(np.diag(learner.prior_covariance))
    assert most[inert] == pytest.approx(prior[inert])
    assert most[p:] == pytest.approx(LAG_SPREAD)
    assert not learner.prior_covariance[np.ix_(own, inert)].any(), "what forgets is not coupled to what does not"


def test_what_is_distrusted_teaches_nothing_and_a_block_that_cannot_teach_is_counted() -> None:
    """Blocks of a second teach behind three others; a covariance that is not definite takes none."""
    robot, moves = RobotEstimator(taught(), 1.0 / RATE, start=1.0), motion(13.0)
    ticks, tau = np.round(moves.t * 1e9).astype(np.int64), torque(moves)
    counts = []
    for second in range(13):
        part = slice(round(second * RATE), round((second + 1) * RATE))
        robot.absorb(ticks[part], moves.q[part], tau[part])
        counts.append((robot.learnt, robot.faults))
        if second == 6:
            robot.distrust()
        if second == 10:
            robot._learner.bayesian._P *= -1.0
    learnt = [count for count, _ in counts]
    assert learnt[6] > 0
    assert learnt[7:10] == [learnt[6]] * 3, "three blocks wait again"
    assert learnt[10] == learnt[6] + 1
    assert counts[11:] == [(learnt[10], 1), (learnt[10], 2)]
