"""Torques and workspace of an excitation: the values of Pinocchio, kept by every candidate, and searches by name."""

from pathlib import Path

import numpy as np
import pytest

from estimators.models.robots.description import RobotDescription
from estimators.models.robots.files.urdf import read_urdf
from estimators.models.robots.whole_robot import WholeRobot
from estimators.offline.excitation.criteria import Judge
from estimators.offline.excitation.search import NAMES, search
from estimators.offline.excitation.shared_limits import SharedLimits, Workspace
from estimators.offline.excitation.space import Space
from estimators.offline.excitation.trajectory import FINER, TrajectoryLimits, TrajectoryMotion, judge

pytestmark = pytest.mark.compiled
LIMITS = TrajectoryLimits(np.full(3, -2.0), np.full(3, 2.0), np.array([2.0, 1.8, 2.2]), np.array([4.0, 3.5, 5.0]))
HOME = np.array([0.3, -1.2, 0.4])
MOST = np.array([6.0, 45.0, 14.0])  # N·m; without a limit such motions take up to 20, 70 and 25
PLACE = np.array([0.35, 0.02, 0.0])


def urdf() -> str:
    bodies = (
        (6.0, "0 0.02 0.1", 0.05, "0 0 0.4", "0 0 1"),
        (4.0, "0.2 0 0.03", 0.03, "0.1 0 0", "0 1 0"),
        (2.0, "0.18 0.01 0", 0.01, "0.45 0 0", "0 1 0"),
    )
    text = '<robot name="arm"><link name="link0"/>'
    for k, (mass, centre, size, at, axis) in enumerate(bodies, 1):
        text += (
            f'<link name="link{k}"><inertial><origin xyz="{centre}"/><mass value="{mass}"/>'
            f'<inertia ixx="{size}" iyy="{1.2 * size}" izz="{0.9 * size}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
            f'<joint name="joint{k}" type="revolute"><parent link="link{k - 1}"/><child link="link{k}"/>'
            f'<origin xyz="{at}"/><axis xyz="{axis}"/><limit lower="-2" upper="2" velocity="2" effort="100"/></joint>'
        )
    return text + "</robot>"


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> RobotDescription:
    file: Path = tmp_path_factory.mktemp("arm") / "arm.urdf"
    file.write_text(urdf())
    return read_urdf(file).robot


def shared(arm: RobotDescription, most: np.ndarray = MOST, reach: float = 0.7) -> SharedLimits:
    model = WholeRobot(arm)
    box = Workspace(2, PLACE, np.array([-0.1, -0.5, 0.3]), np.array([reach, 0.5, 1.3]))
    return SharedLimits(arm.tree(), HOME, lambda q, dq, ddq: model.torque(arm.parameters, q, dq, ddq), most, box)


def random_motion(seed: int) -> TrajectoryMotion:
    rng = np.random.default_rng(seed)
    return TrajectoryMotion(HOME + rng.normal(size=(40, 3)), rng.normal(size=(40, 3)), 2.0 * rng.normal(size=(40, 3)))


def test_torques_and_places_are_those_of_pinocchio(arm: RobotDescription) -> None:
    pinocchio = pytest.importorskip("pinocchio", reason="needs Pinocchio: pip install 'jointwatch[test]'")
    model = pinocchio.buildModelFromXML(urdf())
    data, moved, ours = model.createData(), random_motion(1), shared(arm)
    torques, places = ours.torques(moved), ours.places(moved)
    for row, (q, dq, ddq) in enumerate(zip(*moved, strict=True)):
        assert torques[row] == pytest.approx(pinocchio.rnea(model, data, q, dq, ddq), abs=1e-9)
        pinocchio.forwardKinematics(model, data, q)
        assert places[row] == pytest.approx(data.oMi[3].act(PLACE), abs=1e-12)


def test_every_candidate_keeps_torques_and_workspace_and_some_need_less_motion_for_it(arm: RobotDescription) -> None:
    bound, free = (Space(LIMITS, HOME, 0.1, 5, "peak", one) for one in (shared(arm), None))
    beyond = 0
    for seed in range(20):
        x = np.random.default_rng(seed).normal(size=3 * bound.numbers)
        fine = bound.fourier(x).grid(FINER)
        verdicts = shared(arm).judge(fine)
        assert [one for one in [*verdicts, *judge(fine, LIMITS)] if not one.kept] == []
        nearest = max(one.excess / max(1.0, abs(one.limit)) for one in [*verdicts, *judge(fine, LIMITS)])
        assert nearest > -0.05, "it moves no less than it must"
        beyond += any(not one.kept for one in shared(arm).judge(free.fourier(x).grid(FINER)))
    assert beyond > 10, "limits that no motion would exceed test nothing"


def test_a_home_beyond_its_limits_is_refused(arm: RobotDescription) -> None:
    with pytest.raises(ValueError, match=r"at home the torque of joint 2 is .*, its limit 5: choose another home"):
        shared(arm, np.array([6.0, 5.0, 14.0]))
    with pytest.raises(ValueError, match=r"at home the workspace x is .*, its limit 0.1: choose another home"):
        shared(arm, reach=0.1)


@pytest.mark.parametrize("name", NAMES)
def test_every_search_betters_the_random_trajectories_it_begins_with(arm: RobotDescription, name: str) -> None:
    space, critic = Space(LIMITS, HOME, 0.1, 5, "peak"), Judge(arm.tree())
    few, again = (search(critic, space, "cond", 60.0, 300, method=name) for _ in range(2))
    many = search(critic, space, "cond", 60.0, 1500, method=name)
    assert many.criteria.cond < 0.97 * few.criteria.cond
    assert 1500 <= many.evaluations < 1600
    assert few.fourier.a == pytest.approx(again.fourier.a, abs=0.0)


def test_a_search_that_is_not_there_is_refused_with_those_that_are(arm: RobotDescription) -> None:
    with pytest.raises(KeyError, match="no search is called 'anneal'; there are mcs, cuckoo"):
        search(Judge(arm.tree()), Space(LIMITS, HOME, 0.1, 5, "peak"), method="anneal")
