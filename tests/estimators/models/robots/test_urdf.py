"""URDF: the same robot as Pinocchio's, and every mistake in one sentence."""

from pathlib import Path

import numpy as np
import pytest

from estimators.models.robots.description import RobotError
from estimators.models.robots.files.urdf import read_urdf
from estimators.models.robots.newton_euler import newton_euler
from estimators.quantities import Axis

BODY = '<inertial><origin xyz="{x} 0.02 0.1" rpy="0.3 -0.2 0.5"/><mass value="{m}"/>{inertia}</inertial>'
INERTIA = '<inertia ixx="0.05" iyy="0.04" izz="0.03" ixy="0.002" ixz="-0.001" iyz="0.003"/>'


def link(name: str, mass: float = 2.0, inertia: str = INERTIA) -> str:
    return f'<link name="{name}">{BODY.format(x=0.1, m=mass, inertia=inertia)}</link>'


def joint(name: str, parent: str, child: str, kind: str = "revolute", more: str = "") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 -0.6"/><axis xyz="1 2 -0.5"/>'
        f'<limit lower="-1" upper="2" velocity="3" effort="40"/>{more}</joint>'
    )


BRANCHING = (
    link("base") + link("upper") + link("plate", 0.7) + link("slide", 1.5) + link("left") + link("right", 0.4)
    + '<link name="flange"/>'
    + joint("turn", "base", "upper", "continuous")
    + joint("weld", "upper", "plate", "fixed")
    + joint("push", "plate", "slide", "prismatic")
    + joint("a", "slide", "left")
    + joint("b", "slide", "right")
    + joint("tool", "right", "flange", "fixed")
)  # fmt: skip


def written(folder: Path, inside: str) -> Path:
    file = folder / "robot.urdf"
    file.write_text(f'<robot name="branching">{inside}</robot>')
    return file


def test_a_branching_robot_with_welded_links_is_that_of_pinocchio(tmp_path: Path) -> None:
    pinocchio = pytest.importorskip("pinocchio", reason="needs Pinocchio: pip install 'jointwatch[test]'")
    file = written(tmp_path, BRANCHING)
    ours, theirs = read_urdf(file).robot, pinocchio.buildModelFromUrdf(str(file))
    assert ours.names == ("turn", "push", "a", "b")
    assert [one.axis for one in ours.joints] == [Axis.ROTARY, Axis.PRISMATIC, Axis.ROTARY, Axis.ROTARY]
    random, n = np.random.default_rng(0), 4
    q, dq, ddq = random.uniform(-1, 1, (3, 5, n))
    tau, wrench = np.empty((5, n)), np.empty((5, n, 6))
    newton_euler(*ours.tree(), q, dq, ddq, ours.parameters, np.zeros((0, n, 6)), tau, wrench)
    data = theirs.createData()
    for row in range(5):
        where = pinocchio.neutral(theirs)
        speed, second = np.zeros(n), np.zeros(n)
        for i, name in enumerate(ours.names):
            one = theirs.joints[theirs.getJointId(name)]
            turn = q[row, i]
            where[one.idx_q : one.idx_q + one.nq] = (np.cos(turn), np.sin(turn)) if one.nq == 2 else turn
            speed[one.idx_v], second[one.idx_v] = dq[row, i], ddq[row, i]
        expected = pinocchio.rnea(theirs, data, where, speed, second)
        for i, name in enumerate(ours.names):
            place = theirs.joints[theirs.getJointId(name)].idx_v
            assert tau[row, i] == pytest.approx(expected[place], abs=1e-12 * np.abs(expected).max())


def test_limits_frames_and_a_chosen_part_of_the_joints(tmp_path: Path) -> None:
    robot = read_urdf(written(tmp_path, BRANCHING)).robot
    limits = robot.joints[2].limits
    assert (limits.lower, limits.upper, limits.velocity, limits.effort) == (-1.0, 2.0, 3.0, 40.0)
    assert robot.joints[0].limits.upper == np.inf  # continuous
    assert robot.frames["flange"].link == 3
    part = robot.selected(("turn", "b"))
    assert part.names == ("turn", "b")
    assert part.parameters[:, 0].sum() == pytest.approx(robot.parameters[:, 0].sum())
    q = np.array([[0.3, 0.0, 0.0, -0.4]])
    rest = np.zeros((1, 4))
    tau, short = np.empty((1, 4)), np.empty((1, 2))
    newton_euler(*robot.tree(), q, rest, rest, robot.parameters, np.zeros((0, 4, 6)), tau, np.empty((1, 4, 6)))
    newton_euler(
        *part.tree(), q[:, [0, 3]].copy(), rest[:, :2].copy(), rest[:, :2].copy(), part.parameters,
        np.zeros((0, 2, 6)), short, np.empty((1, 2, 6)),
    )  # fmt: skip
    assert short[0] == pytest.approx(tau[0, [0, 3]], rel=1e-12)


NEGATIVE = '<inertia ixx="-0.05" iyy="0.04" izz="0.03"/>'


@pytest.mark.parametrize(
    ("inside", "words"),
    [
        (link("a") + '<link name="b"/>' + joint("j", "a", "b"), 'link "b" (moved by joint "j"): expected an inertia'),
        (link("a") + link("b", 0.0) + joint("j", "a", "b"), "expected a mass above zero, found 0 kg"),
        (link("a") + link("b", -1.0) + joint("j", "a", "b"), "expected a mass above zero, found -1 kg"),
        (
            link("a") + link("b", inertia='<inertia ixx="0" iyy="0" izz="0"/>') + joint("j", "a", "b"),
            "expected an inertia above zero, found a point mass",
        ),
        (link("a") + link("b", inertia=NEGATIVE) + joint("j", "a", "b"), "non-physical inertia"),
        (link("a") + link("b", inertia="") + joint("j", "a", "b"), "expected <inertia> in its <inertial>, found none"),
        (link("a") + link("b") + joint("j", "a", "b") + joint("k", "b", "a"), "the joints form a loop"),
        (
            link("a") + link("b") + link("c") + joint("j", "a", "b") + joint("k", "a", "c") + joint("l", "b", "c"),
            'found a loop: the link "c" is the child of both "k" and "l"',
        ),
        (link("a") + link("b") + joint("j", "a", "b", more='<mimic joint="x"/>'), 'joint "j": found a mimic joint'),
        (link("a") + link("b") + joint("j", "a", "b", "floating"), 'joint "j": found a floating joint'),
        (link("a") + link("b") + joint("j", "a", "b", "planar"), 'joint "j": found a planar joint'),
        (link("a") + joint("j", "a", "b"), 'joint "j": found no link "b"'),
        (link("a"), "found no joint that moves"),
        ("", "found no link"),
    ],
)
def test_a_mistake_is_said_in_words(tmp_path: Path, inside: str, words: str) -> None:
    with pytest.raises(RobotError) as error:
        read_urdf(written(tmp_path, inside))
    assert words in str(error.value)
    assert "\n" not in words


def test_all_mistakes_are_said_at_once(tmp_path: Path) -> None:
    inside = (
        link("a") + link("b", 0.0) + '<link name="c"/>' + link("d")
        + joint("j", "a", "b") + joint("k", "b", "c", more='<mimic joint="j"/>') + joint("l", "c", "d", "floating")
    )  # fmt: skip
    with pytest.raises(RobotError) as error:
        read_urdf(written(tmp_path, inside))
    assert len(error.value.problems) >= 4


def test_an_inertia_that_no_body_has_is_used_but_told(tmp_path: Path) -> None:
    long = '<inertia ixx="1" iyy="0.1" izz="0.1"/>'
    found = read_urdf(written(tmp_path, link("a") + link("b", inertia=long) + joint("j", "a", "b")))
    assert len(found.warnings) == 1
    assert "non-physical inertia" in found.warnings[0]


@pytest.mark.parametrize("text", ["", "<robot", "<mujoco/>", "\0"])
def test_a_file_that_is_none_is_said(tmp_path: Path, text: str) -> None:
    file = tmp_path / "robot.urdf"
    file.write_text(text)
    with pytest.raises(RobotError, match=r"robot\.urdf"):
        read_urdf(file)
