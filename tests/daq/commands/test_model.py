"""jointwatch model: what simulators are given is what was identified, judged by MuJoCo; shown and compared in words."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from daq.__main__ import main
from daq.commands.model.compare import differences
from daq.commands.model.mjcf import document
from daq.commands.model.simulated import simulated
from daq.state.robot_model import save
from estimators.models.friction.load_dependent import LoadDependentSettings
from estimators.models.friction.viscous_coulomb import ViscousCoulombSettings
from estimators.models.robots.description import JointLimits, RobotDescription, RobotJoint
from estimators.models.robots.files.identified import IdentifiedRobot
from estimators.models.robots.files.urdf import read_urdf
from estimators.models.robots.inertia import standard, tensor
from estimators.models.robots.maxwell_slip import MaxwellSlipSettings
from estimators.models.robots.torque_lag import TorqueLag
from estimators.models.robots.whole_robot import WholeRobot
from estimators.quantities import Axis, Floats

pytestmark = pytest.mark.compiled
N = 4


def robot(laws: tuple[ViscousCoulombSettings | LoadDependentSettings, ...] | None = None) -> IdentifiedRobot:
    """A tree of three hinges and a slide, with rotors, friction and offsets; every link a body that can be."""
    draw = np.random.default_rng(4)
    from scipy.spatial.transform import Rotation

    joints, links = [], []
    for j, (axis, parent) in enumerate(zip((*[Axis.ROTARY] * 3, Axis.PRISMATIC), (-1, 0, 1, 0), strict=True)):
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = Rotation.random(random_state=j).as_matrix(), draw.uniform(-0.3, 0.3, 3)
        direction = draw.normal(size=3)
        limits = JointLimits(lower=-2.0, upper=2.0, velocity=3.0, effort=200.0)
        rotor = float(draw.uniform(0.1, 0.5))
        joints.append(RobotJoint(f"j{j}", axis, parent, pose, direction / np.linalg.norm(direction), limits, rotor))
        half = Rotation.random(random_state=10 + j).as_matrix()
        inertia = half @ np.diag([0.05, 0.06, 0.03]) @ half.T
        links.append(standard(float(draw.uniform(1.0, 4.0)), draw.uniform(-0.1, 0.1, 3), inertia))
    described = RobotDescription("tree", tuple(joints), np.array(links))
    chosen = laws or (ViscousCoulombSettings(transition=0.001),) * N
    model = WholeRobot(described, chosen)
    theta = np.concatenate([model.projection.G @ np.ravel(links), draw.uniform(0.2, 1.5, len(model.terms))])
    each, p = np.ones(N), model.size
    return IdentifiedRobot(
        described, chosen, theta, np.diag(np.full(p, 0.01**2)), theta, np.eye(p), each, each, 1.5 * each, -1.5 * each,
        1.5 * each, np.array(links), np.array(links), np.array(links), {"files": ["a.npz"]},
    )  # fmt: skip


def states(rows: int) -> tuple[Floats, Floats, Floats]:
    """Positions in the limits, speeds well away from zero, accelerations."""
    draw = np.random.default_rng(5)
    speed = draw.uniform(0.2, 1.4, (rows, N)) * draw.choice([-1.0, 1.0], (rows, N))
    return draw.uniform(-1.4, 1.4, (rows, N)), speed, draw.uniform(-5.0, 5.0, (rows, N))


def needed(text: str, q: Floats, dq: Floats, ddq: Floats) -> Floats:
    """The torque that MuJoCo's motors have to give for a motion."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    found = np.empty_like(q)
    for row in range(len(q)):
        data.qpos[:], data.qvel[:], data.qacc[:] = q[row], dq[row], ddq[row]
        mujoco.mj_inverse(model, data)
        forces = data.qfrc_inverse.copy()
        mujoco.mj_fwdActuation(model, data)
        found[row] = forces - data.qfrc_actuator
    return found


def test_mujoco_needs_the_torque_of_the_model() -> None:
    found = robot()
    whole = simulated(found)
    assert whole.cannot == ()
    q, dq, ddq = states(200)
    np.testing.assert_allclose(needed(document(whole), q, dq, ddq), found.predicted(q, dq, ddq), rtol=1e-6, atol=1e-6)


def test_a_law_that_simulators_do_not_have_is_replaced_and_said() -> None:
    found = robot((LoadDependentSettings(stribeck=False), *(ViscousCoulombSettings(transition=0.001),) * (N - 1)))
    whole = simulated(found)
    assert any(one.startswith("j0: its friction law load_dependent is replaced") for one in whole.cannot)
    assert any("its torque differs from the model's by" in one for one in whole.cannot)
    q, dq, ddq = states(50)
    text = document(whole)
    np.testing.assert_allclose(needed(text, q, dq, ddq), whole.torque(found, q, dq, ddq), rtol=1e-6, atol=1e-6)


def test_a_urdf_comes_back_as_it_was_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = robot()
    save(found, tmp_path / "arm.model.toml")
    assert main(["model", "export", str(tmp_path / "arm.model.toml"), "--to", "urdf"]) == 0
    said = capsys.readouterr()
    assert said.out.strip() == str(tmp_path / "arm.urdf")
    assert "URDF has no place for the inertia of the rotors (armature): j0 " in said.err
    again = read_urdf(tmp_path / "arm.urdf").robot
    assert again.names == found.robot.names
    np.testing.assert_allclose(again.parameters, found.physical, rtol=1e-9, atol=1e-12)
    for one, other in zip(again.joints, found.robot.joints, strict=True):
        np.testing.assert_allclose(one.placement, other.placement, atol=1e-12)
        assert one.limits == other.limits


def test_the_json_for_isaac_has_principal_inertia_and_ranges(tmp_path: Path) -> None:
    from scipy.spatial.transform import Rotation

    found = robot()
    save(found, tmp_path / "arm.model.toml")
    out = tmp_path / "arm.json"
    assert main(["model", "export", str(tmp_path / "arm.model.toml"), "--to", "usd-isaac-json", "--out", str(out)]) == 0
    told = json.loads(out.read_text())
    for j, (name, one) in enumerate(told["joints"].items()):
        link, ten = one["link"], found.physical[j]
        w, x, y, z = link["physics:principalAxes"]
        turn = Rotation.from_quat([x, y, z, w]).as_matrix()
        c = ten[1:4] / ten[0]
        about = tensor(ten) - ten[0] * (c @ c * np.eye(3) - np.outer(c, c))
        np.testing.assert_allclose(turn @ np.diag(link["physics:diagonalInertia"]) @ turn.T, about, atol=1e-12)
        low, high = one["ranges"]["viscous_friction"]
        value = found.theta[found.model().names.index(f"viscous.{name}")]
        assert (low, high) == pytest.approx((value - 0.02, value + 0.02)), "two standard deviations of 0.01"
    assert told["joints"]["j3"]["type"] == "PhysicsPrismaticJoint"
    assert told["joints"]["j0"]["physics:upperLimit"] == pytest.approx(np.rad2deg(2.0))


def test_what_changed_between_two_models_is_said_with_its_deviation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = robot()
    theta = before.theta.copy()
    place = before.model().names.index("coulomb.j1")
    theta[place] += 0.1
    theta[place - 1] += 0.02  # a deviation and a half of the difference
    after = replace(before, theta=theta)
    changes, alone = differences(before, after)
    assert ([one.name for one in changes if one.changed], alone) == (["coulomb.j1"], [])
    for name, one in (("a", before), ("b", after)):
        save(one, tmp_path / f"{name}.toml")
    assert main(["model", "diff", str(tmp_path / "a.toml"), str(tmp_path / "b.toml")]) == 0
    said = capsys.readouterr().out
    assert "coulomb.j1" in said
    assert "+0.1 ± 0.014" in said
    assert f"1 of {len(theta)} parameters changed" in said
    assert main(["model", "show", str(tmp_path / "a.toml")]) == 0
    assert "coulomb.j1" in capsys.readouterr().out
    assert main(["model", "diff", str(tmp_path / "a.toml"), str(tmp_path / "b.toml"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in told["parameters"] if one["changed"]] == ["coulomb.j1"]
    assert main(["model", "show", str(tmp_path / "a.toml"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["value"] for one in told["parameters"]] == pytest.approx(before.theta)


def with_memory(before: IdentifiedRobot, factor: float = 1.0) -> IdentifiedRobot:
    """A copy of the robot under a law with memory that has as much friction, for joint j1 `factor` times as much."""
    law = MaxwellSlipSettings(thresholds=(0.01,), spread=1.0)
    laws = (law,) * N
    model, theta = WholeRobot(before.robot, laws), []
    values = dict(zip(before.model().names, before.theta, strict=True))
    for name in model.names:
        what, _, joint = name.partition(".")
        more = factor if joint == "j1" and what in ("viscous", "coulomb") else 1.0
        part = {
            "coulomb": 0.4 * values.get(f"coulomb.{joint}", 0.0),
            "stop1": 0.6 * values.get(f"coulomb.{joint}", 0.0),
        }
        more = factor if joint == "j1" and what == "stop1" else more
        theta.append(more * part.get(what, values.get(name, 0.0)))
    p = model.size
    return replace(
        before, laws=laws, theta=np.array(theta), covariance=np.diag(np.full(p, 0.01**2)), prior=np.array(theta),
        prior_covariance=np.eye(p),
    )  # fmt: skip


def test_joints_whose_laws_differ_are_compared_by_their_friction_torque() -> None:
    """0.4 of the Coulomb friction in one model is all of it in the other: as coefficients they would differ."""
    before = robot()
    changes, said = differences(before, with_memory(before))
    assert not [one.name for one in changes if one.changed]
    assert any(
        one.startswith("j0, j1, j2, j3: friction is viscous_coulomb in the first and maxwell_slip in the second")
        for one in said
    )
    names = {one.name for one in changes}
    assert {"offset.j1", "friction.j1 at 0.6 rad/s", "friction.j3 at 0.15 m/s"} <= names
    assert not [one for one in names if one.startswith(("coulomb", "viscous", "stop1"))]
    changes, _ = differences(before, with_memory(before, 1.2))
    assert {one.name.partition(" ")[0] for one in changes if one.changed} == {"friction.j1"}
    wide = replace(before, beyond=np.full(N, 1.0), beyond_covariance=np.zeros((len(before.theta),) * 2))
    changes, _ = differences(wide, with_memory(before, 1.2))
    assert not [one.name for one in changes if one.changed], "friction beyond the law is as large as the change"


def test_deviations_of_a_model_have_what_friction_beyond_its_law_does_to_it() -> None:
    before = robot()
    place = before.model().names.index("coulomb.j1")
    theta = before.theta.copy()
    theta[place] += 0.1
    beyond = np.zeros((len(theta),) * 2)
    beyond[place, place] = 0.05**2
    after = replace(before, theta=theta, beyond=np.full(N, 0.05), beyond_covariance=beyond)
    changes, _ = differences(before, after)
    [one] = [one for one in changes if one.name == "coulomb.j1"]
    assert one.deviation == pytest.approx(np.sqrt(2 * 0.01**2 + 0.05**2))
    assert not one.changed


def test_a_torque_that_is_read_later_than_before_is_a_change() -> None:
    before, p = robot(), len(robot().theta)
    lag = TorqueLag(np.zeros(N), 1e-8 * np.eye(N), np.zeros((p, N)))
    after = replace(before, lag=lag._replace(values=np.array([0.0, -2e-3, 0.0, 0.0])))
    changes, _ = differences(replace(before, lag=lag), after)
    assert [(one.name, one.after) for one in changes if one.changed] == [("lead.j1", -2e-3)]


def test_a_file_that_is_no_model_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.toml").write_text("a = 1\n")
    assert main(["model", "show", str(tmp_path / "x.toml")]) == 78
    assert "x.toml" in capsys.readouterr().err
