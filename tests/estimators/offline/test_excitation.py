"""Excitation: candidates keep their limits, criteria agree with their definitions, the search betters random ones."""

import numpy as np
import pytest

from estimators.models.robots.base_parameters import base_projection
from estimators.models.robots.description import RobotDescription, RobotJoint, pose
from estimators.models.robots.files.dh_table import DhRow, DhTable
from estimators.models.robots.inertia import standard
from estimators.models.robots.regressor import regressor
from estimators.models.robots.tree import PARAMETERS, Tree
from estimators.offline.excitation.criteria import Judge
from estimators.offline.excitation.search import search
from estimators.offline.excitation.space import Mode, Space
from estimators.offline.excitation.trajectory import (
    FINER,
    Fourier,
    TrajectoryLimits,
    TrajectoryMotion,
    joined,
    judge,
    sampled,
)
from estimators.quantities import Axis

pytestmark = pytest.mark.compiled
LIMITS = TrajectoryLimits(
    np.array([-1.0, -0.5, -2.0]), np.array([2.0, 0.7, 1.0]), np.array([1.0, 0.8, 1.2]), np.array([0.9, 0.7, 1.1])
)
HOME = np.array([0.5, 0.0, -0.3])


@pytest.fixture(scope="module")
def arm() -> Tree:
    rows = {"a": DhRow(d=0.5), "b": DhRow(alpha=-np.pi / 2, a=0.15), "c": DhRow(a=0.6)}
    return DhTable(convention="modified", angles="rad", total_mass=50.0, joints=rows).robot().tree()


@pytest.mark.parametrize("mode", ["peak", "bound"])
def test_every_candidate_begins_at_rest_at_home_and_keeps_its_limits(mode: Mode) -> None:
    space = Space(LIMITS, HOME, 0.05, 5, mode)
    for seed in range(20):
        x = np.random.default_rng(seed).normal(size=3 * space.numbers)
        fourier = space.fourier(x)
        assert all(one.kept for one in judge(fourier.grid(FINER), LIMITS))
        start = fourier.at(np.zeros(1))
        assert start.q[0] == pytest.approx(HOME, abs=1e-9)
        assert np.abs([start.dq, start.ddq]).max() < 1e-9
        if mode == "bound":
            reach = np.hypot(fourier.a, fourier.b).sum(axis=1) / LIMITS.velocity
            assert (reach <= 1.0 + 1e-9).all()


def test_peaks_touch_a_limit_of_every_joint() -> None:
    space = Space(LIMITS, HOME, 0.05, 5, "peak")
    verdicts = judge(space.fourier(np.random.default_rng(1).normal(size=3 * space.numbers)).grid(FINER), LIMITS)
    for j in range(3):
        share = max(abs(one.excess) < 0.05 * abs(one.limit) for one in verdicts if one.joint == j)
        assert share, "no joint moves less than it may"


def test_criteria_are_what_they_are_called(arm: Tree) -> None:
    space, noise = Space(LIMITS, HOME, 0.05, 5, "peak"), np.array([1.0, 2.0, 0.5])
    motion = space.motion(np.random.default_rng(2).normal(size=3 * space.numbers))
    Y = np.empty((len(motion.q), 3, PARAMETERS * 3))
    regressor(*arm, *motion, Y)
    G = (Y[:, :, base_projection(arm).columns] / noise[:, np.newaxis]).reshape(len(motion.q) * 3, -1)
    critic = Judge(arm, noise)
    assert G.shape[1] == 15
    assert critic.cond(motion) == pytest.approx(np.linalg.cond(G), rel=1e-6)
    assert critic.dopt(motion) == pytest.approx(-2 * np.log(np.linalg.svd(G)[1]).sum(), rel=1e-9)
    assert critic.block(motion) > critic.cond(motion)
    assert critic.weights.sum() == pytest.approx(1.0)


def test_search_betters_random_trajectories(arm: Tree) -> None:
    space = Space(LIMITS, HOME, 0.05, 5, "peak")
    critic = Judge(arm)
    few, many = (search(critic, space, "cond", 60.0, count) for count in (300, 1200))
    assert many.criteria.cond < 0.9 * few.criteria.cond
    assert many.evaluations >= 1200
    assert all(one.kept for one in judge(many.fourier.grid(FINER), LIMITS))


def test_limits_exceeded_are_reported_each() -> None:
    fourier = Fourier(0.05, np.zeros(3), np.tile([0.9, 0.0], (3, 1)), np.zeros((3, 2)))
    verdicts = judge(fourier.grid(FINER), LIMITS)
    told = {(one.joint, one.quantity) for one in verdicts if not one.kept}
    # 0.9 rad/s at 0.05 Hz: 2.86 rad, 0.28 rad/s²
    assert told == {(0, "position"), (1, "position"), (2, "position"), (1, "velocity")}


def test_samples_alone_are_judged_between_them() -> None:
    t = np.linspace(0.0, 10.0, 41)
    q = np.column_stack([np.sin(t)] * 3)
    motion = sampled(t, q)
    assert np.abs(motion.dq[:, 0]).max() == pytest.approx(1.0, abs=2e-3)
    assert np.abs(motion.q[:, 0]).max() == pytest.approx(1.0, abs=1e-3)


def test_a_controller_s_samples_go_in_and_out_without_a_step() -> None:
    fourier = Fourier(0.1, np.array([0.2]), np.array([[0.3, 0.1]]), np.array([[0.2, -0.3]]))  # moves at t = 0
    t, motion = joined(fourier, 200.0, 2.0, 2, np.array([0.1]))
    assert len(t) == 200 * (2 + 20 + 2) + 1
    assert motion.q[[0, -1], 0] == pytest.approx(0.1, abs=1e-3)
    assert np.abs(motion.dq[[0, -1], 0]).max() < 1e-2
    assert np.gradient(motion.q[:, 0], t)[1:-1] == pytest.approx(motion.dq[1:-1, 0], abs=2e-4)
    assert np.gradient(motion.dq[:, 0], t)[1:-1] == pytest.approx(motion.ddq[1:-1, 0], abs=1e-2)


@pytest.mark.parametrize("joints", [1, 2])
def test_upright_axes_and_a_single_joint_have_criteria_although_a_part_tells_nothing(joints: int) -> None:
    """Gravity tells nothing of upright axes; of a single joint the speed tells nothing either."""
    place, z = pose((0.0, 0.0, 0.0), (0.4, 0.0, 0.0)), np.array([0.0, 0.0, 1.0])
    body = standard(4.0, np.array((0.2, 0.0, 0.0)), np.diag((0.02, 0.06, 0.06)))
    upright = (
        RobotJoint("shoulder", Axis.ROTARY, -1, np.eye(4), z),
        RobotJoint("elbow", Axis.ROTARY, 0, place, z),
    )
    judge = Judge(RobotDescription("arm", upright[:joints], np.array([body] * joints)).tree())
    q = np.linspace(0.0, 1.0, 100)[:, np.newaxis] * np.arange(1.0, 1.0 + joints)
    found = judge.all(TrajectoryMotion(q, np.cos(3.0 * q), np.sin(5.0 * q)))
    assert judge.weights == pytest.approx(np.nan_to_num(judge.weights))
    assert judge.weights.sum() == pytest.approx(1.0)
    assert np.isfinite(found).all()
    assert found.block >= found.cond
