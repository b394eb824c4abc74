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
SMALL = '<inertia ixx="-1e-8" iyy="1e-5" izz="1e-5"/>'  # of a part of ten grams


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
        (link("a") + link("b", 0.01, SMALL) + joint("j", "a", "b"), "kg·m² is negative"),
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


def test_an_inertia_that_no_body_has_is_used_but_reported(tmp_path: Path) -> None:
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


def hinge(inside: str, kind: str = "revolute", name: str = "j", ends: tuple[str, str] = ("a", "b")) -> str:
    parent, child = ends
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'


@pytest.mark.parametrize(
    ("kind", "limit", "expected"),
    [
        ("revolute", 'lower="-1" upper="2" velocity="3" effort="40"', (-1.0, 2.0, 3.0, 40.0)),
        ("prismatic", 'lower="-1" upper="2"', (-1.0, 2.0, np.inf, np.inf)),
        ("revolute", 'upper="2" velocity="0" effort="0"', (-np.inf, 2.0, np.inf, np.inf)),  # 0: exporters for unknown
        ("revolute", 'lower="0" upper="0" velocity="1"', (-np.inf, np.inf, 1.0, np.inf)),
        ("revolute", 'lower="2" upper="-1" effort="5"', (-np.inf, np.inf, np.inf, 5.0)),
        ("continuous", 'lower="-1" upper="2" velocity="3"', (-np.inf, np.inf, 3.0, np.inf)),
    ],
)
def test_a_limit_that_says_nothing_is_none(tmp_path: Path, kind: str, limit: str, expected: tuple[float, ...]) -> None:
    [joint_] = read_urdf(written(tmp_path, link("a") + link("b") + hinge(f"<limit {limit}/>", kind))).robot.joints
    limits = joint_.limits
    assert (limits.lower, limits.upper, limits.velocity, limits.effort) == expected


def test_what_a_file_leaves_out_is_what_urdf_says(tmp_path: Path) -> None:
    """No axis: x; no origin, or a part of one: none; no products of inertia: 0; no name: the file's."""
    plain = '<inertia ixx="0.05" iyy="0.04" izz="0.03"/>'
    inside = f'{link("a")}<link name="b"><inertial><mass value="2"/>{plain}</inertial></link>'
    file = tmp_path / "arm.urdf"
    file.write_text(f"<robot>{inside}{hinge('')}</robot>")
    robot = read_urdf(file).robot
    assert robot.name == "arm"
    [one] = robot.joints
    assert one.direction.tolist() == [1.0, 0.0, 0.0]
    assert one.placement.tolist() == np.eye(4).tolist()
    assert robot.parameters[0] == pytest.approx([2.0, 0.0, 0.0, 0.0, 0.05, 0.0, 0.04, 0.0, 0.0, 0.03], rel=1e-12)
    assert robot.gravity.tolist() == [0.0, 0.0, -9.81]
    assert (robot.guessed, one.rotor, one.motor_side) == (False, 0.0, False)
    more = hinge('<origin xyz="1 2 3"/><axis xyz="0 0 2"/>')
    file.write_text(f"<robot>{inside}{more}</robot>")
    [other] = read_urdf(file).robot.joints
    assert other.direction.tolist() == [0.0, 0.0, 1.0]
    assert other.placement[:3, 3].tolist() == [1.0, 2.0, 3.0]


def test_frames_of_all_links_are_pinocchios_at_zero(tmp_path: Path) -> None:
    pinocchio = pytest.importorskip("pinocchio", reason="needs Pinocchio: pip install 'jointwatch[test]'")
    file = written(tmp_path, BRANCHING)
    robot, model = read_urdf(file).robot, pinocchio.buildModelFromUrdf(str(file))
    data = model.createData()
    pinocchio.framesForwardKinematics(model, data, pinocchio.neutral(model))
    assert set(robot.frames) == {"base", "upper", "plate", "slide", "left", "right", "flange"}
    poses = {-1: np.eye(4)}
    for i, one in enumerate(robot.joints):
        poses[i] = poses[one.parent] @ one.placement
    for name, frame in robot.frames.items():
        theirs = data.oMf[model.getFrameId(name)].homogeneous
        assert poses[frame.link] @ frame.placement == pytest.approx(theirs, abs=1e-12), name


@pytest.mark.parametrize(
    ("inside", "words"),
    [
        (link("a") * 2 + link("b") + hinge(""), 'found the link "a" twice'),
        (
            link("a") + link("b") + link("c") + hinge("") + hinge("", ends=("b", "c")),
            'found the joint "j" twice',
        ),
        (link("a") + link("b") + link("c") + hinge(""), "expected one base link, found 2: a, c"),
        (link("a") + link("b") + hinge("", "screw"), 'joint "j": found the unknown type "screw"'),
        (
            link("a") + link("b") + link("c") + link("d") + hinge("")
            + hinge("", name="k", ends=("c", "d")) + hinge("", name="l", ends=("d", "c")),
            "found a loop: c, d cannot be reached from a",
        ),
        (link("a") + link("b") + hinge('<axis xyz="0 0 0"/>'), "expected an axis with a direction, found '0 0 0'"),
        (link("a") + link("b") + hinge('<axis xyz="0 1"/>'),
         "joint \"j\": axis: expected 3 numbers as xyz, found '0 1'"),
        (link("a") + link("b") + hinge("<axis/>"), 'joint "j": axis: expected 3 numbers as xyz, found none'),
        (link("a") + link("b") + hinge('<limit upper="x"/>'),
         "joint \"j\": limit: expected a number as upper, found 'x'"),
        (link("a") + link("b") + hinge('<limit upper="inf"/>'), "expected a number as upper, found 'inf'"),
        (link("a") + link("b") + hinge('<origin xyz="1 2"/>'),
         "joint \"j\": origin: expected 3 numbers as xyz, found '1 2'"),
        (
            link("a") + '<link name="b"><inertial><inertia ixx="1" iyy="1" izz="1"/></inertial></link>' + hinge(""),
            'link "b": expected <mass> in its <inertial>, found none',
        ),
        (
            link("a") + link("b", inertia='<inertia ixx="1" iyy="1"/>') + hinge(""),
            'link "b": expected a number as izz, found none',
        ),
        (
            link("a") + link("b", inertia='<inertia ixx="1" iyy="1" izz="1" ixy="?"/>') + hinge(""),
            "link \"b\": expected a number as ixy, found '?'",
        ),
    ],
)  # fmt: skip
def test_a_slip_in_a_file_is_said_where_it_is(tmp_path: Path, inside: str, words: str) -> None:
    with pytest.raises(RobotError) as error:
        read_urdf(written(tmp_path, inside))
    assert any(words in one for one in error.value.problems), error.value.problems
    assert all(str(tmp_path) in one for one in error.value.problems)


@pytest.mark.parametrize(("largest", "told"), [(0.19, False), (0.2, False), (0.2001, False), (0.2005, True)])
def test_only_an_inertia_that_no_rounding_explains_is_reported(tmp_path: Path, largest: float, told: bool) -> None:
    """0.1 + 0.1: the largest may exceed the sum of the others by a thousandth of itself."""
    inertia = f'<inertia ixx="{largest}" iyy="0.1" izz="0.1"/>'
    found = read_urdf(written(tmp_path, link("a") + link("b", inertia=inertia) + joint("j", "a", "b")))
    assert bool(found.warnings) is told


def test_a_welded_link_gives_its_weight_to_one_that_has_none(tmp_path: Path) -> None:
    inside = link("a") + '<link name="b"/>' + link("c", 1.2) + hinge("") + hinge("", "fixed", "w", ("b", "c"))
    robot = read_urdf(written(tmp_path, inside)).robot
    assert robot.parameters[0, 0] == 1.2
    assert robot.frames["c"].link == 0
    weightless = link("a") + link("b") + link("c", 0.0, '<inertia ixx="0" iyy="0" izz="0"/>') + hinge("")
    both = read_urdf(written(tmp_path, weightless + hinge("", "fixed", "w", ("b", "c")))).robot
    alone = read_urdf(written(tmp_path, link("a") + link("b") + hinge(""))).robot
    assert both.parameters == pytest.approx(alone.parameters, rel=1e-12)


@pytest.mark.parametrize("axis", ['<axis xyz="0 1"/>', "<axis/>", '<axis xyz="0 0 0"/>'])
def test_an_axis_that_is_none_is_reported_once(tmp_path: Path, axis: str) -> None:
    with pytest.raises(RobotError) as error:
        read_urdf(written(tmp_path, link("a") + link("b") + hinge(axis)))
    assert len([one for one in error.value.problems if "axis" in one]) == 1, error.value.problems
