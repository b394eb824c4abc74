"""DH tables: both conventions, the numbers of base parameters that are known, guesses without CAD."""

import tomllib
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

from estimators.models.robots.base_parameters import base_projection
from estimators.models.robots.description import pose
from estimators.models.robots.files.dh_table import DhTable
from estimators.models.robots.inertia import floored, metric, parameters_of, pseudo_inertia
from estimators.models.robots.kinematics import forward_kinematics
from estimators.models.robots.newton_euler import newton_euler
from estimators.quantities import Floats

DOCS = Path(__file__).parents[4] / "docs"
LINK = {"mass": 2.0, "centre": (0.1, 0.02, -0.03), "inertia": (0.02, 0.03, 0.025, 0.001, 0.002, -0.001)}
# alpha, a, d of MDH tables
PUMA = ((0, 0, 0), (-90, 0, 0), (0, 0.4318, 0.15), (-90, 0.0203, 0.4318), (90, 0, 0), (-90, 0, 0))
UR10 = ((0, 0, 0.1273), (90, 0, 0), (0, -0.612, 0), (0, -0.5723, 0.163941), (90, 0, 0.1157), (-90, 0, 0.0922))


def table(rows: tuple[tuple[float, float, float], ...], convention: str) -> DhTable:
    joints = {f"j{i}": {"alpha": r[0], "a": r[1], "d": r[2], **LINK} for i, r in enumerate(rows)}
    return DhTable.model_validate({"convention": convention, "angles": "deg", "joints": joints})


def poses(of: DhTable, q: Floats) -> tuple[Floats, Floats]:
    tree = of.robot().tree()
    rotation, origin = np.empty((1, tree.size(), 3, 3)), np.empty((1, tree.size(), 3))
    forward_kinematics(*tree, q[np.newaxis].copy(), rotation, origin)
    return rotation[0], origin[0]


def turn(angle: float) -> Floats:
    return pose((0.0, 0.0, angle), (0.0, 0.0, 0.0))


def test_modified_is_craigs_chain_of_transforms() -> None:
    q = np.random.default_rng(1).uniform(-2, 2, 6)
    rotation, origin = poses(table(UR10, "modified"), q)
    T = np.eye(4)
    for i, (alpha, a, d) in enumerate(UR10):
        T = T @ pose((np.deg2rad(alpha), 0, 0), (a, 0, 0)) @ turn(q[i]) @ pose((0, 0, 0), (0, 0, d))
        assert origin[i] == pytest.approx(T[:3, 3], abs=1e-12)
        assert rotation[i] == pytest.approx(T[:3, :3], abs=1e-12)


def test_standard_puts_the_link_behind_the_joint() -> None:
    q = np.random.default_rng(2).uniform(-2, 2, 6)
    described = table(PUMA, "standard")
    rotation, origin = poses(described, q)
    robot = described.robot()
    T = np.eye(4)
    for i, (alpha, a, d) in enumerate(PUMA):
        turned = T @ turn(q[i])  # the joint's own frame
        assert origin[i] == pytest.approx(turned[:3, 3], abs=1e-12)
        assert rotation[i] == pytest.approx(turned[:3, :3], abs=1e-12)
        T = turned @ pose((0, 0, 0), (0, 0, d)) @ pose((np.deg2rad(alpha), 0, 0), (a, 0, 0))
        centre = turned @ np.array([*(robot.parameters[i, 1:4] / robot.parameters[i, 0]), 1.0])
        assert centre[:3] == pytest.approx((T @ np.array([*LINK["centre"], 1.0]))[:3], abs=1e-12)


@pytest.mark.parametrize("rows", [PUMA, UR10])
def test_six_axes_have_36_base_parameters(rows: tuple[tuple[float, float, float], ...]) -> None:
    assert len(base_projection(table(rows, "modified").robot().tree()).columns) == 36


def test_three_axes_have_the_15_of_the_er16() -> None:
    rows = ((0, 0, 0.5), (-90, 0.15, 0), (0, 0.6, 0))
    columns, _ = base_projection(table(rows, "modified").robot().tree())
    names = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
    told = {f"{names[column % 10]}{column // 10 + 1}" for column in columns}
    expected = "Izz1 Ixx2 Ixy2 Ixz2 Iyz2 Izz2 mx2 my2 Ixx3 Ixy3 Ixz3 Iyz3 Izz3 mx3 my3"
    assert told == set(expected.split())


def test_the_kr300_of_the_documentation() -> None:
    robot = DhTable.model_validate(tomllib.loads((DOCS / "kr300.toml").read_text(encoding="utf-8"))).robot()
    assert len(base_projection(robot.tree()).columns) == 36
    assert robot.parameters[:, 0].sum() == pytest.approx(395.4 + 339.12 + 105.21 + 35.8 + 31.46 + 167.78)
    assert robot.joints[0].rotor == pytest.approx(0.00923 * 256.857143**2, rel=1e-6)
    # upright at the recorded zero of axis 2: its spring pulls by nothing at 5 deg past the dead centre only
    spring = robot.counterbalances["axis2"]
    assert spring.columns(np.array([-np.deg2rad(5.0)]))[0, 0] == pytest.approx(0.0, abs=1e-9)


def test_without_any_mass_a_guess_of_falling_rods_is_made() -> None:
    joints = {f"j{i}": {"alpha": r[0], "a": r[1], "d": r[2]} for i, r in enumerate(UR10)}
    given = {"convention": "modified", "angles": "deg", "joints": joints, "total_mass": 30.0}
    robot = DhTable.model_validate(given).robot()
    assert robot.guessed
    assert robot.parameters[:, 0].sum() == pytest.approx(30.0)
    assert robot.parameters[0, 0] == pytest.approx(3.0 * robot.parameters[-1, 0])
    assert all(np.linalg.eigvalsh(pseudo_inertia(one))[0] > 0 for one in robot.parameters)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"joints": {"a": {}}}, "or the data sheet's total_mass; found neither"),
        ({"joints": {"a": LINK, "b": {}}}, "found none of b"),
        ({"joints": {"a": {"mass": 1.0}}}, "expected inertia together with mass"),
        ({"joints": {"a": {"mass": 1.0, "inertia": (1, 1, -1, 0, 0, 0)}}}, "positive definite"),
        ({"joints": {"a": LINK | {"parent": "c"}}}, "to stand before it"),
        ({"joints": {"a": LINK}, "couplings": [{"first": "a", "second": "x"}]}, 'unknown joint "x"'),
    ],
)
def test_a_mistake_is_said_in_words(change: dict[str, object], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        DhTable.model_validate({"convention": "modified", "angles": "rad"} | change)


def test_the_metric_is_the_divergences_second_order_and_flooring_leaves_a_good_link_alone() -> None:
    good = parameters_of(np.diag([0.1, 0.2, 0.3, 4.0]))
    assert floored(good) == pytest.approx(good)
    assert np.linalg.eigvalsh(pseudo_inertia(floored(np.zeros(10))))[0] > 0
    H, step = metric(good), 1e-4 * np.random.default_rng(0).normal(size=10)
    P0, P = pseudo_inertia(good), pseudo_inertia(good + step)
    divergence = np.trace(np.linalg.solve(P0, P)) - np.log(np.linalg.det(P) / np.linalg.det(P0)) - 4.0
    assert 0.5 * step @ H @ step == pytest.approx(divergence, rel=1e-3)


DEG = np.pi / 180.0


def test_a_slide_a_branch_a_base_and_a_tool_sit_where_the_table_says() -> None:
    """Both conventions, poses chained by hand: T = base · (Rx Tx Rz Tz) or (Rz Tz Tx Rx), q added where it moves."""
    rows: dict[str, dict[str, object]] = {
        "a": {"alpha": 20.0, "a": 0.1, "d": 0.3, "offset": 30.0, **LINK},
        "s": {"kind": "prismatic", "alpha": -40.0, "a": 0.2, "d": 0.05, "offset": 0.15, "theta": 50.0, **LINK},
        "b": {"parent": "a", "alpha": 60.0, "a": 0.25, "d": -0.1, "offset": -10.0, **LINK},
        "c": {"parent": "base", "alpha": 10.0, "a": 0.5, **LINK},
        "d": {"alpha": -5.0, "a": 0.15, **LINK},
    }
    above = {"a": "", "s": "a", "b": "a", "c": "", "d": "c"}
    base = {"rotation": (5.0, -10.0, 15.0), "position": (0.3, 0.2, 0.1)}
    tool = {"rotation": (0.0, 90.0, 0.0), "position": (0.0, 0.0, 0.2)}
    q = np.array([0.4, 0.07, -0.9, 0.6, 1.1])
    for convention in ("modified", "standard"):
        given = {"convention": convention, "angles": "deg", "joints": rows, "base": base, "tools": {"tip": tool}}
        robot = DhTable.model_validate(given | {"gravity": (1.0, 2.0, -9.0)}).robot()
        tree = robot.tree()
        rotation, origin = np.empty((1, 5, 3, 3)), np.empty((1, 5, 3))
        forward_kinematics(*tree, q[np.newaxis].copy(), rotation, origin)
        frames = {"": pose(np.array(base["rotation"]) * DEG, np.array(base["position"]))}
        for i, (name, row) in enumerate(rows.items()):
            slides = row.get("kind") == "prismatic"
            turned = float(row.get("theta" if slides else "offset", 0.0)) * DEG + (0.0 if slides else q[i])  # type: ignore[arg-type]
            slid = float(row.get("d", 0.0)) + (float(row["offset"]) + q[i] if slides else 0.0)  # type: ignore[arg-type]
            across = pose((float(row["alpha"]) * DEG, 0, 0), (float(row["a"]), 0, 0))  # type: ignore[arg-type]
            along = pose((0, 0, turned), (0, 0, slid))
            before = frames[above[name]]
            frames[name] = before @ (across @ along if convention == "modified" else along @ across)
            # the link's body is given in the table's frame, whatever frame the joint has
            joint = np.eye(4)
            joint[:3, :3], joint[:3, 3] = rotation[0, i], origin[0, i]
            centre = joint @ np.array([*(robot.parameters[i, 1:4] / robot.parameters[i, 0]), 1.0])
            expected = frames[name] @ np.array([*LINK["centre"], 1.0])
            assert centre == pytest.approx(expected, abs=1e-12), (convention, name)
        last = np.eye(4)
        last[:3, :3], last[:3, 3] = rotation[0, 4], origin[0, 4]
        tip = frames["d"] @ pose(np.array(tool["rotation"]) * DEG, np.array(tool["position"]))
        assert last @ robot.frames["tip"].placement == pytest.approx(tip, abs=1e-12)
        assert robot.frames["tip"].link == 4
        assert (robot.frames["base"].link, robot.frames["base"].placement.tolist()) == (-1, np.eye(4).tolist())
        assert [joint.parent for joint in robot.joints] == [-1, 0, 0, -1, 3]
        assert robot.gravity.tolist() == [1.0, 2.0, -9.0]
        assert not robot.guessed


def test_a_body_is_what_the_table_says_in_the_tables_frame() -> None:
    """Order Ixx, Iyy, Izz, Ixy, Iyz, Ixz about the centre of mass, against Steiner by hand."""
    given = {"convention": "modified", "angles": "rad", "joints": {"a": LINK}}
    robot = DhTable.model_validate(given).robot()
    assert robot.gravity.tolist() == [0.0, 0.0, -9.81], "where nothing else is said"
    [found] = robot.parameters
    m, (x, y, z) = 2.0, (0.1, 0.02, -0.03)
    expected = [m, m * x, m * y, m * z]
    expected += [0.02 + m * (y * y + z * z), 0.001 - m * x * y, 0.03 + m * (x * x + z * z)]
    expected += [-0.001 - m * x * z, 0.002 - m * y * z, 0.025 + m * (x * x + y * y)]
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("kind", "unit"), [("revolute", DEG), ("prismatic", 1.0)])
def test_limits_and_rotors_are_in_units_of_the_joint(kind: str, unit: float) -> None:
    row = LINK | {
        "kind": kind,
        "lower": -90.0,
        "upper": 45.0,
        "velocity": 30.0,
        "effort": 7.0,
        "rotor": 2e-4,
        "gear": 50.0,
    }
    given = {"convention": "modified", "angles": "deg", "joints": {"a": row, "b": LINK | {"lower": 0.0}}}
    one, other = DhTable.model_validate(given).robot().joints
    assert one.limits.lower == pytest.approx(-90.0 * unit)
    assert one.limits.upper == pytest.approx(45.0 * unit)
    assert one.limits.velocity == pytest.approx(30.0 * unit)
    assert one.limits.effort == 7.0
    assert one.rotor == pytest.approx(0.5)
    assert one.motor_side
    assert (other.limits.lower, other.limits.upper, other.limits.velocity, other.limits.effort) == (0.0, *[np.inf] * 3)
    assert not other.motor_side


def test_a_counterbalances_angle_is_in_the_files_unit() -> None:
    spring = {"kind": "coil", "distance": 0.5, "crank": 0.1, "rest": 0.4, "angle": 30.0}
    for unit, factor in (("deg", DEG), ("rad", 1.0)):
        given = {
            "convention": "modified",
            "angles": unit,
            "joints": {"a": LINK | {"counterbalance": spring}, "b": LINK},
        }
        springs = DhTable.model_validate(given).robot().counterbalances
        assert list(springs) == ["a"]
        assert springs["a"].angle == pytest.approx(30.0 * factor)


def test_a_guess_reaches_to_the_next_joint() -> None:
    """Rods 10 cm longer than the way, 6 cm thick; the last, and one whose next joint sits on it, along their axis."""
    rows = {"a": {}, "b": {"a": 0.6, "alpha": 1.0}, "c": {"a": 0.3}, "d": {}}
    given = {"convention": "modified", "angles": "rad", "joints": rows, "total_mass": 8.0}
    robot = DhTable.model_validate(given).robot()
    masses = 8.0 * np.array([1.5, 1.5 - 1.0 / 3.0, 0.5 + 1.0 / 3.0, 0.5]) / 4.0
    assert robot.parameters[:, 0] == pytest.approx(masses)
    halves = [0.5 * np.array(one) for one in ((0.7, 0.0, 0.0), (0.4, 0.0, 0.0), (0.0, 0.0, 0.1), (0.0, 0.0, 0.1))]
    centres = robot.parameters[:, 1:4] / robot.parameters[:, :1]
    assert centres == pytest.approx(np.array(halves), abs=1e-12)
    assert robot.parameters[0, 4] == pytest.approx(0.5 * masses[0] * 0.06**2), "Ixx of a cylinder along x"


def test_only_chosen_joints_turn_and_the_others_stand_at_zero() -> None:
    """Two of four: the same torque as the whole robot's at zero of the others; tools, couplings, springs go along."""
    spring = {"kind": "coil", "distance": 0.5, "crank": 0.1, "rest": 0.4}
    rows = {f"j{i}": {"alpha": r[0], "a": r[1], "d": r[2], **LINK} for i, r in enumerate(UR10[:4])}
    rows["j1"]["counterbalance"] = rows["j2"]["counterbalance"] = spring
    pairs = ({"first": "j1", "second": "j3"}, {"first": "j1", "second": "j2"})
    given = {"convention": "modified", "angles": "deg", "joints": rows, "couplings": pairs, "name": "arm"}
    robot = DhTable.model_validate(given | {"tools": {"tip": {"position": (0.0, 0.1, 0.2)}}}).robot()
    part = robot.selected(("j1", "j3"))
    assert part.names == ("j1", "j3")
    assert [joint.parent for joint in part.joints] == [-1, 0]
    assert [(one.first, one.second) for one in part.couplings] == [("j1", "j3")]
    assert list(part.counterbalances) == ["j1"]
    assert (part.name, part.guessed, part.gravity.tolist()) == ("arm", False, robot.gravity.tolist())
    q, dq, ddq = np.random.default_rng(1).uniform(-1.5, 1.5, (3, 6, 4))
    for one in (q, dq, ddq):
        one[:, [0, 2]] = 0.0
    tau, short = np.empty((6, 4)), np.empty((6, 2))
    newton_euler(*robot.tree(), q, dq, ddq, robot.parameters, np.zeros((0, 4, 6)), tau, np.empty((6, 4, 6)))
    two = [one[:, [1, 3]].copy() for one in (q, dq, ddq)]
    newton_euler(*part.tree(), *two, part.parameters, np.zeros((0, 2, 6)), short, np.empty((6, 2, 6)))
    assert short == pytest.approx(tau[:, [1, 3]], rel=1e-10, abs=1e-12)
    tips = []
    for of, at in ((robot, q), (part, two[0])):
        n = len(of.joints)
        rotation, origin = np.empty((6, n, 3, 3)), np.empty((6, n, 3))
        forward_kinematics(*of.tree(), at, rotation, origin)
        tip = of.frames["tip"]
        tips.append(origin[:, tip.link] + rotation[:, tip.link] @ tip.placement[:3, 3])
    assert tips[1] == pytest.approx(tips[0], abs=1e-12)
    assert part.frames["base"].link == -1
