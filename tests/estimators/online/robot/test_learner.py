"""What a whole robot's learner takes for known from the beginning, and what becomes of it while nothing is taught."""

from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest

from estimators.models.robots.files.identified import IdentifiedRobot
from estimators.models.robots.torque_lag import TorqueLag
from estimators.online.robot.block import BLOCK
from estimators.online.robot.estimator import RobotEstimator
from estimators.online.robot.findings.causes.base import Cause, Fitted
from estimators.online.robot.findings.causes.friction import JointFriction
from estimators.online.robot.findings.causes.steady_torque import Offset
from estimators.online.robot.findings.friction_discrepancy import KNOTS
from estimators.online.robot.findings.friction_terms import own_terms
from estimators.online.robot.learner import AFTER, FOLLOWED, FRICTION_MEMORY, _bayesian
from estimators.online.robot.prediction import Prediction
from estimators.quantities import Floats
from estimators.recursive.kernel import LONG_CLIP
from estimators.recursive.prior_bounded import PriorBounded
from estimators.recursive.process_noise_correction import Belief
from estimators.thresholds import LAG_SPREAD
from tests.benchmarks.robots.robot_recorded import ignorant
from tests.support.signals.crane import COULOMB, RATE, VISCOUS, motion, taught, torque


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
    learner, own = begun(replace(learnt, prior=3.0 * theta), 600.0)
    inert = np.setdiff1d(np.arange(len(theta)), own)
    assert learner.theta == pytest.approx(np.append(theta, [0.0, 0.0]))
    moved, lags = 1.5 * theta, np.array([2e-4, -3e-4])
    learner.begin(np.append(moved, lags), learner.covariance)
    pass_blocks(learner, 1)
    assert learner.theta[own] == pytest.approx((1.0 + 0.5 / np.e) * theta[own]), "by 1/e in ten minutes"
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
    """Blocks of a second teach after three others; a covariance that is not definite takes none."""
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


def test_what_rests_is_known_as_well_as_before_and_nothing_is_less_certain_than_its_prior() -> None:
    """Begun from the description alone, as far as it says anything; then twenty seconds of motion and of rest."""
    learnt, moves = taught(), motion(20.0)
    rms = np.sqrt((torque(moves) ** 2).mean(axis=0))
    robot = RobotEstimator(ignorant(replace(learnt, lag=identified_lag(learnt)), rms), 1.0 / RATE, start=20.0)
    bayesian = robot._learner.bayesian
    np.testing.assert_allclose(bayesian.covariance, bayesian.prior_covariance, rtol=1e-9)
    tau, q = torque(moves), moves.q
    held = np.random.default_rng(8).uniform(-0.3, 0.3, (20, 2)).repeat(round(RATE), axis=0)  # stiction
    q, tau = np.vstack([q, np.tile(q[-1], (len(held), 1))]), np.vstack([tau, tau[-1] + held])
    ticks = np.round(np.arange(len(q)) / RATE * 1e9).astype(np.int64)
    at = [0, round(24.0 * RATE), len(q)]  # three blocks wait after the motion
    after = []
    for first, last in pairwise(at):
        robot.absorb(ticks[first:last], q[first:last], tau[first:last])
        after.append((robot.learnt, bayesian.covariance))
    assert after[0][0] > 10
    assert after[1][0] == after[0][0]
    np.testing.assert_array_equal(after[1][1], after[0][1])
    scale = np.sqrt(np.diag(bayesian.prior_covariance))
    less = (bayesian.prior_covariance - bayesian.covariance) / np.outer(scale, scale)
    assert np.linalg.eigvalsh(less).min() > -1e-9


def test_friction_may_change_of_a_joint_that_had_none_as_it_never_moved() -> None:
    learnt = taught()
    swing = [k for k, name in enumerate(learnt.model().names) if name in ("viscous.swing", "coulomb.swing")]
    theta = learnt.theta.copy()
    theta[swing] = 0.0
    robot = RobotEstimator(replace(learnt, theta=theta), 1.0 / RATE)
    prior = JointFriction((1,)).prior(robot._watch.attribution.known())
    assert np.linalg.eigvalsh(prior).min() > 0.0


def identified_lag(learnt: IdentifiedRobot) -> TorqueLag:
    """A lag that a motion has told to 1 ms; θ without it hangs on it."""
    p = len(learnt.theta)
    return TorqueLag(np.zeros(2), 1e-6 * np.eye(2), 100.0 * np.outer(learnt.theta, np.ones(2)).reshape(p, 2))


def found(cause: Cause, robot: RobotEstimator, values: Floats, covariance: Floats) -> Fitted:
    return Fitted(cause, values, covariance, 20.0, cause.moves(robot._watch.attribution.known()))


def test_what_was_found_is_moved_and_known_to_so_many_deviations_and_to_a_tenth() -> None:
    """A tenth of the change; of a friction, which goes on changing, a tenth of what it was where that is more."""
    robot = RobotEstimator(taught(), 1.0 / RATE)
    learner, before = robot._learner, taught().theta
    known, others = robot._watch.attribution.known(), np.array([[0.04, 0.01], [0.01, 0.09]])
    learner.discrepancy.moved[:], learner.quantiser._moved[:] = 1.0, 2.0
    learner.move(found(JointFriction((0,)), robot, np.array([-2.0, 5.0]), others), 3.0)
    learner.move(found(Offset((1,)), robot, np.array([2.0]), np.array([[0.01]])), 3.0)
    friction, offset = known.friction_terms(0), known.offset_term(1)
    wanted = np.append(before, [0.0, 0.0])
    wanted[friction] += -2.0, 5.0
    wanted[offset] += 2.0
    assert learner.bayesian.theta == pytest.approx(wanted)
    P = learner.bayesian.covariance
    np.testing.assert_allclose(P[np.ix_(friction, friction)], 9.0 * others + np.diag([0.8**2, 0.5**2]), rtol=1e-9)
    assert P[offset, offset] == pytest.approx(9.0 * 0.01 + 0.2**2)
    assert np.count_nonzero(P[offset]) == 1
    moved = np.append(friction, offset)
    for errors in (learner.discrepancy.moved, learner.quantiser._moved.T):
        assert (errors.reshape(len(wanted), -1) == 0.0).all(axis=1).nonzero()[0].tolist() == sorted(moved)
    assert learner.stiction == pytest.approx([0.02 * 6.0 + 9.0, 0.02 * VISCOUS[1] + COULOMB[1]])
    assert robot._watch.attribution.theta == pytest.approx(wanted), "what is found next is beside it"
    assert robot.parameters()[1][offset] == pytest.approx(np.sqrt(0.13))


def test_what_was_taught_since_a_law_was_wrong_is_taken_back_but_for_its_own() -> None:
    robot = RobotEstimator(taught(), 1.0 / RATE)
    learner = robot._learner
    now, then = np.arange(1.0, len(learner.bayesian.theta) + 1.0), learner.bayesian.theta.copy()
    learner.bayesian.begin(now, learner.bayesian.covariance)
    own = np.array([1, 4])
    for number in range(AFTER):
        assert not learner.close(robot._block, number)
    learner.restore(own, then)
    then[own] = now[own]
    assert learner.bayesian.theta == pytest.approx(then)
    assert [learner.close(robot._block, number) for number in range(AFTER)] == [False] * AFTER, "what waited is dropped"


def test_the_torque_that_is_unknown_is_that_of_draws_of_the_parameters() -> None:
    robot, moves = RobotEstimator(taught(), 1.0 / RATE), motion(1.3)
    tau = torque(moves)
    robot.absorb(np.round(moves.t * 1e9).astype(np.int64), moves.q, tau)
    chunk = robot._motion.absorb(np.stack([moves.q[-2:], tau[-2:]], axis=1))
    told = robot._learner.unknown(chunk, True)
    theta, P = robot._learner.bayesian.theta, robot._learner.covariance
    draws = np.random.default_rng(2).multivariate_normal(theta, P, 1000)
    each = [Prediction(robot.model, one, robot._motion.shares(one[robot.model.base : -2])) for one in draws]
    spread = np.std([one.of(chunk)[0][-1] for one in each], axis=0)
    assert told == pytest.approx(spread, rel=0.08)  # 1000 draws tell it to 2 %


class Taught(NamedTuple):
    """A learner, and the block that has just taught it."""

    robot: RobotEstimator
    X: Floats
    residual: Floats
    before: Belief  # predicted for the block


def taught_by(residual: float, count: int = 1) -> Taught:
    """Blocks of fifty rows whose columns are drawn and whose torque is this much beyond the prediction."""
    robot, draw = RobotEstimator(taught(), 1.0 / RATE), np.random.default_rng(6)
    learner, block = robot._learner, robot._block
    for number in range(AFTER + count):
        X = draw.standard_normal((BLOCK, 2, len(learner.bayesian.theta)))
        block.X[:], block.r[:], block.q[:], block.dq[:], block.sample[:] = X, residual, 0.1, 1.0, number
        before = learner.bayesian.predicted()
        assert learner.begin_block() is None
        new = learner.close(block, BLOCK * number)
        assert new is (number >= AFTER)
    return Taught(robot, X, block.r.copy(), before)


def test_a_block_teaches_by_its_rows_over_the_residuals_variance_and_how_many_count_as_one() -> None:
    told = taught_by(0.0)
    weights = 1.0 / (4.0 * taught().variance)
    information = np.einsum("tni,tnj,n->ij", *[first_block()] * 2, weights)
    wanted = np.linalg.inv(np.linalg.inv(told.before.covariance) + information)
    np.testing.assert_allclose(told.robot._learner.bayesian.covariance, wanted, rtol=1e-6, atol=1e-12)


def first_block() -> Floats:
    """The columns of the first of `taught_by`."""
    return np.random.default_rng(6).standard_normal((BLOCK, 2, taught().model().size + 2))


def test_where_it_does_not_teach_no_block_makes_new_parameters() -> None:
    robot = RobotEstimator(taught(), 1.0 / RATE, teaches=False)
    robot._block.X[:], robot._block.r[:], robot._block.q[:], robot._block.dq[:] = 1.0, 1.0, 0.1, 1.0
    before = robot._learner.bayesian.theta
    assert not any(robot._learner.close(robot._block, number) for number in range(AFTER + 3))
    np.testing.assert_array_equal(robot._learner.bayesian.theta, before)


@pytest.mark.parametrize("says", [True, False])
def test_what_encoder_steps_do_to_the_parameters_is_that_of_rows_that_say_something(says: bool) -> None:
    robot, draw = RobotEstimator(taught(), 1.0 / RATE), np.random.default_rng(6)
    learner, block = robot._learner, robot._block
    learner.encoders.steps[:], learner.encoders.known = 1e-3, True
    for _ in range(AFTER + 1):
        block.X[:], block.e[:] = draw.standard_normal(block.X.shape), 0.1 * draw.standard_normal(block.e.shape)
        block.r[:], block.q[:], block.dq[:], block.sample[:] = (0.1 if says else 0.0), 0.1, 1.0, -1
        learner.close(block, 0)
    assert bool(learner.quantiser.covariance.any()) is says


def test_the_steps_of_encoders_are_found_in_the_readings_and_what_is_slower_than_they_tell_is_at_rest() -> None:
    robot, moves, step = RobotEstimator(taught(), 1.0 / RATE, start=4.0), motion(8.0), 2.0 * np.pi / 2**10
    q = np.round(moves.q / step) * step
    robot.absorb(np.round(moves.t * 1e9).astype(np.int64), q, torque(moves))
    encoders = robot._learner.encoders
    assert encoders.steps == pytest.approx([step, step], rel=1e-6)
    assert (encoders.speeds > 0.1).all()
    np.testing.assert_array_equal(robot._watch.contact.slow, encoders.speeds)


@pytest.mark.parametrize("size", [0.0, 2.0, 50.0])
def test_the_variance_of_a_residual_follows_that_of_the_blocks_and_no_wild_row_counts_more_than_so_much(
    size: float,
) -> None:
    """Rows of so many deviations of either joint: fifty blocks count, and no square beyond LONG_CLIP usual ones."""
    robot = RobotEstimator(taught(), 1.0 / RATE)
    learner, block, usual = robot._learner, robot._block, taught().variance.copy()
    block.X[:], block.q[:], block.dq[:] = 0.0, 0.1, 1.0
    block.r[:] = size * np.sqrt(usual)
    for _ in range(AFTER + 1):
        learner.begin_block()
        learner.close(block, 0)
    assert learner.variance == pytest.approx((0.98 + 0.02 * min(size**2, LONG_CLIP)) * usual)
    np.testing.assert_array_equal(taught().variance, usual, "what was identified stays as it is")


def test_what_theta_is_said_to_be_off_by_beyond_a_law_is_what_such_a_friction_does_to_it() -> None:
    """θ moves as foretold if the slide has 0.2 N more than its law at half of the speed seen and about it.

    Two estimators learn from ten seconds, one with that friction and one without.
    """
    moves, identified = (
        motion(10.0),
        replace(taught(), speed=np.array([0.7, 3.0]), friction_discrepancy=np.array([0.3, 0.0])),
    )
    share = np.abs(moves.dq[:, 0]) / identified.reach()[0]
    more = 0.2 * np.interp(share, KNOTS, np.eye(len(KNOTS))[3]) * np.sign(moves.dq[:, 0])
    found = []
    for bend in (0.0, 1.0):
        robot, tau = RobotEstimator(identified, 1.0 / RATE, start=2.0), torque(moves)
        tau[:, 0] += bend * more
        robot.absorb(np.round(moves.t * 1e9).astype(np.int64), moves.q, tau)
        assert robot.learnt == 6
        found.append(robot)
    off = found[1]._learner.theta - found[0]._learner.theta
    place = [found[0].model.names.index(name) for name in ("viscous.slide", "coulomb.slide")]
    told = 0.2 * found[0]._learner.discrepancy.moved[place, 0, 3]
    assert off[place] == pytest.approx(told, rel=0.1)
    assert np.abs(told).min() > 0.02
    certain, uncertain = (np.sqrt(np.diag(found[0]._learner.covariance))[place], found[0].parameters()[1][place])
    moved = 0.3 * found[0]._learner.discrepancy.moved[place, 0]
    assert uncertain == pytest.approx(np.sqrt(certain**2 + (moved**2).sum(axis=1)))


def test_what_a_row_weighs_follows_the_residuals_of_the_last_fifty_blocks_within_two_seconds() -> None:
    """A residual that stays as it is: a row counts with the hundred before and after it. Later a tenth of it."""
    robot = RobotEstimator(taught(), 1.0 / RATE)
    learner, block, size = robot._learner, robot._block, np.sqrt(taught().variance)
    block.X[:], block.q[:], block.dq[:] = 0.0, 0.1, 1.0
    found = []
    for share in np.repeat([1.0, 0.1], [150, 100]):
        block.r[:] = share * size
        learner.begin_block()
        learner.close(block, 0)
        found.append(learner._long_run.of(learner.variance) / size**2)
    assert found[8] == pytest.approx([4.0, 4.0], rel=0.01), "as identified: five blocks have taught"
    assert found[149] == pytest.approx([201.0, 201.0], rel=0.02)
    left = 0.98**97  # of the squares before; the last three blocks wait
    assert found[249] == pytest.approx(2 * [201.0 * (left + 0.01 * (1.0 - left))], rel=0.1)


def test_a_joint_that_stood_still_while_it_was_identified_has_deviations_like_any_other() -> None:
    robot, moves = RobotEstimator(replace(taught(), speed=np.array([1.0, 0.0])), 1.0 / RATE, start=2.0), motion(7.0)
    robot.absorb(np.round(moves.t * 1e9).astype(np.int64), moves.q, torque(moves))
    assert robot.learnt > 0
    assert np.isfinite(robot.parameters()[1]).all()
    assert np.isfinite(robot.friction().deviations).all()


def test_a_unit_that_is_in_doubt_is_in_the_deviations_of_what_that_joint_alone_has() -> None:
    robot = RobotEstimator(taught(), 1.0 / RATE)
    model, (theta, deviations), friction = robot.model, robot.parameters(), robot.friction()
    robot._watch.attribution.doubted_units[1] = 0.1
    own = own_terms(model, 1)
    wanted = deviations.copy()
    wanted[own] = np.hypot(wanted[own], 0.1 * theta[own])
    np.testing.assert_allclose(robot.parameters()[1], wanted)
    np.testing.assert_allclose(robot.friction().deviations[0], friction.deviations[0])
    np.testing.assert_allclose(
        robot.friction().deviations[1], np.hypot(friction.deviations[1], 0.1 * friction.torque[1])
    )


def test_friction_that_keeps_changing_is_said_to_be_followed_late_by_half_of_what_it_has_changed() -> None:
    robot = RobotEstimator(taught(), 1.0 / RATE)
    before, followed = robot.friction(), robot._learner._followed
    by = np.array([[1.0], [0.0]])
    variances = before.deviations**2
    followed.extend([np.stack([before.torque - by, variances])] * (FOLLOWED - 1))
    np.testing.assert_array_equal(robot.friction().deviations, before.deviations)
    assert robot._learner.changes_since() is None
    followed.append(np.stack([before.torque, variances]))
    np.testing.assert_array_equal(robot._learner.changes_since(), before.torque - by)
    late = 0.25 * np.maximum(by**2 - 4.0 * before.deviations**2, 0.0)
    assert late[0].min() > 0.0 == late[1].max()
    np.testing.assert_allclose(robot.friction().deviations, np.sqrt(before.deviations**2 + late))
    moves = motion(9.0)
    robot.absorb(np.round(moves.t * 1e9).astype(np.int64), moves.q, torque(moves))
    assert np.any(followed[-1][0] != before.torque), "the last block that taught"


def test_what_was_not_known_of_a_friction_and_is_learnt_is_no_change_of_it() -> None:
    robot = RobotEstimator(taught(), 1.0 / RATE)
    before, followed = robot.friction(), robot._learner._followed
    followed.extend([np.stack([before.torque - 1.0, np.full_like(before.torque, 0.4**2)])] * FOLLOWED)
    assert robot._learner.changes_since() is None
    followed[0][1] = 0.17**2  # 5.9 deviations
    assert robot._learner.changes_since() is not None


def test_a_friction_that_has_changed_lately_may_go_on_unseen_for_a_minute() -> None:
    robot = RobotEstimator(taught(), 1.0 / RATE)
    before, learner = robot.friction(), robot._learner
    learner._changed[0] = 1.0
    np.testing.assert_allclose(robot.friction().deviations[0], np.sqrt(before.deviations[0] ** 2 + 0.25))
    np.testing.assert_allclose(robot.friction().deviations[1], before.deviations[1])
    moves = motion(9.0)
    robot.absorb(np.round(moves.t * 1e9).astype(np.int64), moves.q, torque(moves))
    assert learner.learnt > 1
    np.testing.assert_allclose(learner._changed[0], np.exp(-2.0 * learner.learnt / 60.0))
