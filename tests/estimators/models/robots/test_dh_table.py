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
