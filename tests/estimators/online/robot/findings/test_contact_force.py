"""Where an arm is touched, and how strongly: against Pinocchio's Jacobian and drawn contacts."""

import numpy as np
import pytest

from estimators.models.robots.description import RobotDescription, RobotJoint, pose
from estimators.models.robots.tree import Tree
from estimators.online.robot.findings.contact_force import (
    HALF,
    SIZES,
    WIDE,
    ContactForce,
    ContactLocation,
    frames,
    jacobian,
    locate,
)
from estimators.quantities import Axis, Floats
from tests.support.signals.three_joints import arm

LAST = np.array(arm().parameters[-1])
Q = np.array([0.4, -0.7, 1.1])
NOISE = np.array([0.3, 0.3, 0.2])


def branched() -> RobotDescription:
    """Axes that are skew, a prismatic joint, and two branches."""
    places = [pose((0.1 * i, -0.4, 0.3 * i), (0.1, 0.2 * i, 0.3)) for i in range(4)]
    axes = [np.array(one, float) for one in ((0, 0, 1), (0, 1, 1), (1, 0, 0), (1, 2, 0))]
    kinds = (Axis.ROTARY, Axis.PRISMATIC, Axis.ROTARY, Axis.ROTARY)
    parents = (-1, 0, 1, 0)
    joints = tuple(
        RobotJoint(f"j{i}", kind, parent, place, axis)
        for i, (kind, parent, place, axis) in enumerate(zip(kinds, parents, places, axes, strict=True))
    )
    return RobotDescription("branched", joints, np.ones((4, 10)))


def test_the_jacobian_is_that_of_pinocchio_of_a_branched_robot() -> None:
    pin = pytest.importorskip("pinocchio", reason="needs Pinocchio: pip install pin")
    model, robot, q = pin.Model(), branched(), np.array([0.3, 0.2, -0.8, 1.2])
    for joint in robot.joints:
        z = joint.direction / np.linalg.norm(joint.direction)
        sliding = joint.axis is Axis.PRISMATIC
        kind = pin.JointModelPrismaticUnaligned(z) if sliding else pin.JointModelRevoluteUnaligned(z)
        place = pin.SE3(joint.placement[:3, :3], joint.placement[:3, 3])
        model.addJoint(joint.parent + 1, kind, place, joint.name)
    data, tree = model.createData(), robot.tree()
    pin.computeJointJacobians(model, data, q)
    rotations, origins = frames(tree, q)
    for link in range(4):
        expected = pin.getJointJacobian(model, data, link + 1, pin.LOCAL_WORLD_ALIGNED)
        turning, moving = jacobian(tree, link, origins[link], rotations, origins)
        np.testing.assert_allclose(moving, expected[:3], atol=1e-12)
        np.testing.assert_allclose(turning, expected[3:], atol=1e-12)
        np.testing.assert_allclose(origins[link], data.oMi[link + 1].translation, atol=1e-12)


def torque_of(tree: Tree, link: int, share: float, force: Floats) -> Floats:
    """Torque (n,) of a force (3,) at that share of the way from the link's origin to its outer end."""
    rotations, origins = frames(tree, Q)
    end = origins[link + 1] if link < 2 else origins[2] + rotations[2] @ (LAST[1:4] / LAST[0])
    point = origins[link] + share * (end - origins[link])
    return np.asarray(force @ jacobian(tree, link, point, rotations, origins)[1])


def test_a_force_on_the_last_link_is_found_within_its_deviation() -> None:
    tree, rng, z = arm().tree(), np.random.default_rng(0), []
    for _ in range(200):
        force = rng.normal(scale=30.0, size=3)
        torque = torque_of(tree, 2, 1.0, force)
        residual = -torque + np.hypot(NOISE, 0.03 * torque) * rng.normal(size=3)
        found = locate(tree, Q, residual, NOISE, LAST)
        if found.link == 2:
            z.append((found.force - force) / found.deviation)
    assert len(z) > 150
    assert 0.7 < float(np.std(z)) < 1.3


def test_the_link_is_named_as_often_as_its_probability_says() -> None:
    tree, rng, right, said = arm().tree(), np.random.default_rng(1), 0, 0.0
    for _ in range(300):
        link = int(rng.integers(3))
        force = rng.normal(scale=float(rng.choice([10.0, 30.0, 100.0])), size=3)
        residual = -torque_of(tree, link, rng.uniform(0.2, 0.9), force) + NOISE * rng.normal(size=3)
        found = locate(tree, Q, residual, NOISE, LAST)
        right, said = right + (found.link == link), said + found.probability
    assert right > 0.8 * 300
    assert abs(right - said) < 0.1 * 300


def test_links_are_compared_by_the_likelihood_of_a_force_anywhere_on_them() -> None:
    """The result is that of SciPy, with a random force of each size in the middle of each link.

    A random moment of half the link's length times that size stands for forces elsewhere on the link.
    """
    from scipy.stats import multivariate_normal

    tree, rng = arm().tree(), np.random.default_rng(3)
    rotations, origins = frames(tree, Q)
    ends = [origins[1], origins[2], origins[2] + rotations[2] @ (LAST[1:4] / LAST[0])]
    for _ in range(10):
        residual = rng.normal(scale=6.0, size=3)
        noise = np.hypot(NOISE, 0.03 * residual)
        chances = np.zeros(3)
        for link, end in enumerate(ends):
            turning, moving = jacobian(tree, link, 0.5 * (origins[link] + end), rotations, origins)
            half = max(0.5 * np.linalg.norm(end - origins[link]), HALF)
            for size in SIZES:
                forces, moments = size**2 * np.eye(3), (size * half) ** 2 * np.eye(3)
                covariance = np.diag(noise**2) + moving.T @ forces @ moving + turning.T @ moments @ turning
                chances[link] += multivariate_normal(np.zeros(3), covariance).pdf(-residual)
        found = locate(tree, Q, residual, NOISE, LAST)
        assert found.link == np.argmax(chances)
        nothing = multivariate_normal(np.zeros(3), np.diag(noise**2)).logpdf(-residual)
        assert found.evidence == pytest.approx(np.log(chances.max() / len(SIZES)) - nothing, rel=1e-6)
        assert found.probability == pytest.approx(chances.max() / chances.sum(), rel=1e-6)
        np.testing.assert_allclose(found.point, ends[found.link], atol=1e-12)


def test_a_contact_is_located_at_once_and_then_every_fifth_chunk_by_what_came_since_it_began() -> None:
    tree, location = arm().tree(), ContactLocation(arm().tree())
    forces = [0.0, 0.0, *np.linspace(30.0, 60.0, 17)]
    push = torque_of(tree, 2, 1.0, np.array([0.0, 0.0, 1.0]))
    told = []
    for number, force in enumerate(forces):
        location.follow(number >= 2, Q, -force * push[None], NOISE, LAST)
        told.append(location.found)
    assert told[:2] == [None, None]
    groups = [told[2:7], told[7:12], told[12:17], told[17:]]
    assert all(one is group[0] for group in groups for one in group)
    since = [[0], range(1, 6), range(1, 11), range(6, 16)]  # the last ten chunks at most, the newest among them
    for group, places in zip(groups, since, strict=True):
        mean = float(np.mean([forces[2 + place] for place in places]))
        expected = locate(tree, Q, -mean * push, NOISE, LAST)
        np.testing.assert_allclose(group[0].force, expected.force, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("residual", [(0.0, 0.0, 0.0), (0.0, 0.0, 4.0), (-1.0, 0.5, 0.0)])
def test_no_link_is_named_while_a_force_is_hardly_likelier_than_none(residual: tuple[float, ...]) -> None:
    """The last joint has just turned around: its friction holds up to 6 N·m, so 4 N·m of it say nothing."""
    location, noise = ContactLocation(arm().tree()), np.array([1.0, 1.0, 6.0])
    location.follow(True, Q, np.array(residual)[None], noise, LAST)
    assert location.found is None
    for _ in range(5):
        location.follow(True, Q, -torque_of(arm().tree(), 2, 1.0, np.array([0.0, 0.0, 60.0]))[None], noise, LAST)
    assert location.found is not None, "now it is likelier than none"


def test_a_direction_that_the_joints_do_not_tell_is_wide_and_said_to_be_so() -> None:
    tree = arm().tree()
    found = locate(tree, Q, np.array([-8.0, 0.0, 0.0]), NOISE, LAST)
    assert found.link == 0
    assert found.deviation.max() > 0.9 * WIDE
    assert "at least" in found.words(("a", "b", "c"))


def test_a_contact_that_is_over_is_forgotten_and_the_next_is_another() -> None:
    tree, location = arm().tree(), ContactLocation(arm().tree())
    pushed = -torque_of(tree, 2, 1.0, np.array([0.0, 0.0, 40.0]))[None]
    for residual, touched in ((np.zeros((1, 3)), False), (pushed, True), (pushed, True)):
        location.follow(touched, Q, residual, NOISE, LAST)
    assert location.found is not None
    np.testing.assert_allclose(location.found.force[2], 40.0, rtol=0.2)
    location.follow(False, Q, np.zeros((1, 3)), NOISE, LAST)
    assert location.found is None


@pytest.mark.parametrize(
    ("deviation", "words"),
    [
        ((2.0, 5.0, 40.0), "50 ± 4 N"),  # of 30 N known to 2 and 40 N to 5: √(60² + 200²)/50, and nothing across
        ((2.0, 5.0, 0.6 * WIDE), "at least 50 N"),
    ],
)
def test_a_force_is_reported_with_what_it_is_certain_to_along_itself(deviation: tuple[float, ...], words: str) -> None:
    found = ContactForce(1, 0.87, np.zeros(3), np.array([30.0, 40.0, 0.0]), np.array(deviation))
    assert found.words(("a", "b", "c")) == f"it acts on the link of b (87 %), {words} at its outer end"


def test_the_very_first_chunk_of_a_robot_may_be_in_contact() -> None:
    location = ContactLocation(arm().tree())
    location.follow(True, Q, -torque_of(arm().tree(), 2, 1.0, np.array([0.0, 0.0, 40.0]))[None], NOISE, LAST)
    assert location.found is not None
    assert location.found.link == 2


@pytest.mark.parametrize(("mass", "counts"), [(0.06, True), (0.04, False)])
def test_a_last_link_of_less_than_fifty_grams_ends_where_it_begins(mass: float, counts: bool) -> None:
    tree = arm().tree()
    rotations, origins = frames(tree, Q)
    centre = np.array([0.2, 0.1, 0.0])
    last = np.zeros(10)
    last[0], last[1:4] = mass, mass * centre
    found = locate(tree, Q, -torque_of(tree, 2, 1.0, np.array([0.0, 0.0, 40.0])), NOISE, last)
    assert found.link == 2
    np.testing.assert_allclose(found.point, origins[2] + rotations[2] @ centre * counts)
