"""Robots as rigs: what Pinocchio says of the same links, energy, friction both ways, payloads, pushes and jumps."""

from pathlib import Path

import numpy as np
import pytest

from hil_rig.plants.base import Jump, RigError
from hil_rig.plants.joints.rigid import RigidPlantSettings
from hil_rig.plants.robots import double_encoder_robot as elastic
from hil_rig.plants.robots import er16
from hil_rig.plants.robots.double_encoder_robot import DoubleEncoderRobot, DoubleEncoderRobotSettings
from hil_rig.plants.robots.dynamics import GRAVITY, body, geometry, inverse_dynamics, mass_matrices
from hil_rig.plants.robots.er16 import Er16, Er16Settings
from hil_rig.plants.robots.fourier import FourierMotion

pytestmark = pytest.mark.compiled
JOINTS = 6


def test_dynamics_are_those_of_pinocchio() -> None:
    pinocchio = pytest.importorskip("pinocchio", reason="needs Pinocchio to compare with: pip install pin")
    rng = np.random.default_rng(1)
    model, parent, links = pinocchio.Model(), 0, []
    for alpha, a, d, offset in elastic.ROWS:
        mass, centre, A = rng.uniform(0.5, 5.0), 0.2 * rng.normal(size=3), 0.1 * rng.normal(size=(3, 3))
        about = A @ A.T + 0.01 * np.eye(3)
        links.append(body(mass, centre, about))
        place = pinocchio.SE3(pinocchio.rpy.rpyToMatrix(alpha, 0.0, 0.0), np.array([a, 0.0, 0.0]))
        place *= pinocchio.SE3(pinocchio.rpy.rpyToMatrix(0.0, 0.0, offset), np.array([0.0, 0.0, d]))
        parent = model.addJoint(parent, pinocchio.JointModelRZ(), place, f"joint{len(links)}")
        model.appendBodyToJoint(parent, pinocchio.Inertia(mass, centre, about), pinocchio.SE3.Identity())
    data = model.createData()
    q, dq, ddq = rng.uniform(-3.0, 3.0, (3, 20, JOINTS))
    arm, torque, M = geometry(elastic.ROWS), np.empty((20, JOINTS)), np.empty((20, JOINTS, JOINTS))
    inverse_dynamics(arm, np.array(links), 9.81, q, dq, ddq, torque)
    mass_matrices(arm, np.array(links), q, M)
    for row in range(20):
        assert torque[row] == pytest.approx(pinocchio.rnea(model, data, q[row], dq[row], ddq[row]), abs=1e-11)
        upper = np.triu(pinocchio.crba(model, data, q[row]))
        assert M[row] == pytest.approx(upper + np.triu(upper, 1).T, abs=1e-11)


def test_the_published_parameters_are_those_of_a_body_that_can_be() -> None:
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (200, er16.JOINTS))
    M = np.empty((200, er16.JOINTS, er16.JOINTS))
    mass_matrices(geometry(er16.ROWS), er16.links(), q, M)
    assert np.linalg.eigvalsh(M).min() > 1.0


def test_the_equation_of_motion_holds_on_what_it_plays() -> None:
    """Motor side: J θ̈ = τ_m − τ_f − τ_w, the mean over a sample in which τ_m is held."""
    arm = DoubleEncoderRobot(DoubleEncoderRobotSettings(), 1, [])
    exact = arm.exact(4000)[2000:]
    speed, torque, friction, joint = (exact[:, :, k] for k in (2, 3, 4, 5))
    inertia = np.array(elastic.DRIVE["inertia"])
    change = np.diff(speed, axis=0) * arm.rate * inertia
    mean = torque[:-1] - (friction[1:] + friction[:-1] + joint[1:] + joint[:-1]) / 2
    assert np.sqrt(np.mean((change - mean) ** 2, axis=0)) == pytest.approx(np.zeros(JOINTS), abs=0.15)


def test_a_gap_shows_between_the_encoders_when_the_load_changes_sides() -> None:
    """δ = θ_m − q_l less what the spring gives is ±b; a jump of one joint's gap is of that joint."""
    b, axis = 2e-3, 0  # about the vertical, loaded from both sides
    exact = DoubleEncoderRobot(DoubleEncoderRobotSettings(gap=b), 1, [Jump(3.0, "joint1.gap", 2.0)]).exact(6000)
    motor, link, torque = (exact[:, axis, quantity] for quantity in (0, 1, 5))
    K, give = (elastic.DRIVE[key][axis] for key in ("stiffness", "hysteresis"))
    between = motor - link - torque / K
    slack = give / K + elastic.DRIVE["ripple"][axis] + 2e-4  # bristle, ripple; damping and the cubic spring
    for rows, half in ((slice(500, 3000), b), (slice(3100, 6000), 2 * b)):
        for side in (-1.0, 1.0):
            loaded = side * torque[rows] > 5.0
            assert loaded.sum() > 100
            assert between[rows][loaded] == pytest.approx(np.full(loaded.sum(), side * half), abs=slack)
    assert (torque == 0.0).sum() > 100, "inside the gap nothing touches"
    assert DoubleEncoderRobotSettings().robot(6, 1, [])["joint1"].parameters()["gap"] == 0.0


def test_springs_carry_the_weight_at_the_beginning() -> None:
    arm = DoubleEncoderRobot(DoubleEncoderRobotSettings(), 1, [])
    first = arm.exact(1)[0]
    weight, none = np.empty((1, JOINTS)), np.zeros((1, JOINTS))
    inverse_dynamics(arm.geometry, elastic.links(), GRAVITY, first[np.newaxis, :, 1].copy(), none, none, weight)
    ripple = np.array(elastic.DRIVE["ripple"]) * np.array(elastic.DRIVE["stiffness"])
    assert (np.abs(first[:, 5] - weight[0]) <= ripple + 1e-6).all()


@pytest.mark.parametrize("settings", [DoubleEncoderRobotSettings(), Er16Settings()])
def test_axes_are_of_one_simulation_in_whatever_order_they_are_asked(settings: Er16Settings) -> None:
    joints = _count(settings)
    one, other = (settings.robot(joints, 3, []) for _ in range(2))
    together = {name: axis.rows(300) for name, axis in one.items()}
    parts: dict[str, list[np.ndarray]] = {name: [] for name in other}
    for counts in ((100, 7, 193), (50, 250)):
        for name in reversed(other) if len(counts) == 2 else other:
            if (len(counts) == 2) == (int(name[-1]) % 2 == 0):
                parts[name] = [other[name].rows(count) for count in counts]
    for name, rows in together.items():
        assert np.array_equal(np.concatenate(parts[name]), rows)


def _count(settings: object) -> int:
    return JOINTS if isinstance(settings, DoubleEncoderRobotSettings) else er16.JOINTS


def test_a_jump_of_one_joint_is_of_that_joint() -> None:
    for robot, name in ((DoubleEncoderRobotSettings().robot, "coulomb_forward"), (Er16Settings().robot, "coulomb")):
        joints = JOINTS if name == "coulomb_forward" else er16.JOINTS
        axes = robot(joints, 1, [Jump(0.05, "joint3.coulomb", 1.5)])
        before = {joint: axis.parameters()[name] for joint, axis in axes.items()}
        for axis in axes.values():
            axis.rows(60)
        after = {joint: axis.parameters()[name] / before[joint] for joint, axis in axes.items()}
        assert after == pytest.approx({joint: 1.5 if joint == "joint3" else 1.0 for joint in after})


def test_joints_that_feel_no_other_take_jumps_by_name_too() -> None:
    axes = RigidPlantSettings().robot(3, 1, [Jump(0.05, "joint2.coulomb", 1.5), Jump(0.05, "viscous", 2.0)])
    before = {name: dict(axis.truth()) for name, axis in axes.items()}
    for axis in axes.values():
        axis.rows(60)
    factor = {name: axis.truth()["coulomb"] / before[name]["coulomb"] for name, axis in axes.items()}
    assert factor == pytest.approx({"joint1": 1.0, "joint2": 1.5, "joint3": 1.0})
    assert all(axis.truth()["viscous"] == pytest.approx(2 * before[name]["viscous"]) for name, axis in axes.items())
    with pytest.raises(RigError, match=r'unknown joint "joint9" in joint9\.coulomb, expected one of joint1, joint2'):
        RigidPlantSettings().robot(2, 1, [Jump(1.0, "joint9.coulomb", 1.5)])


def test_a_payload_is_carried_and_put_down() -> None:
    events = [Jump(0.5, "payload.mass", 2.0, True), Jump(1.5, "payload.mass", 0.0, True)]
    arm, free = (DoubleEncoderRobot(DoubleEncoderRobotSettings(), 1, jumps) for jumps in (events, []))
    with_, without = arm.exact(2400), free.exact(2400)
    more = (with_ - without)[:, :, 5]
    q = without[1400:1401, :, 1].copy()
    light, heavy, none = np.empty((1, JOINTS)), np.empty((1, JOINTS)), np.zeros((1, JOINTS))
    inverse_dynamics(arm.geometry, elastic.links(), GRAVITY, q, none, none, light)
    carrying = elastic.links()
    carrying[-1] += body(2.0, np.zeros(3), 2.0 * 0.06**2 * np.eye(3))
    inverse_dynamics(arm.geometry, carrying, GRAVITY, q, none, none, heavy)
    assert np.array_equal(with_[:500], without[:500])
    assert more[1300:1500, 1].mean() == pytest.approx((heavy - light)[0, 1], rel=0.05)
    assert np.abs(more[2300:, 1]).max() < 0.05 * np.abs(more[1400, 1]), "put down"


def test_a_push_is_felt_in_the_spring_of_its_joint() -> None:
    events = [Jump(0.5, "joint3.push", 25.0, True), Jump(1.0, "joint3.push", 0.0, True)]
    arm, free = (DoubleEncoderRobot(DoubleEncoderRobotSettings(), 1, jumps) for jumps in (events, []))
    more = (arm.exact(1500) - free.exact(1500))[:, :, 5]
    assert more[900:990, 2].mean() == pytest.approx(-25.0, rel=0.05)
    assert np.abs(more[1400:, 2]).mean() < 1.0


def test_two_buses_and_two_encoders() -> None:
    axes = DoubleEncoderRobotSettings().robot(JOINTS, 1, [])
    for axis in axes.values():
        assert [(one.name, one.bus) for one in axis.messages] == [("MOTOR", 0), ("LINK", 1)]
    rows = axes["joint2"].rows(200)
    assert 1e-3 < np.abs(rows[:, 0] - rows[:, 2]).max() < 1e-2, "the spring is wound by the weight"
    for joints in (1, 5, 7):
        with pytest.raises(RigError, match=f"this robot has 6 axes, found {joints}"):
            DoubleEncoderRobotSettings().robot(joints, 1, [])


def test_a_path_backwards_is_the_path() -> None:
    forward, backward = (FourierMotion(draw=3, backward=one).series(elastic.LIMITS) for one in (False, True))
    t = np.linspace(0.0, 20.0, 101)
    (q, dq, ddq), (p, dp, ddp) = forward.at(t), backward.at(20.0 - t)
    for ours, theirs in ((q, p), (dq, -dp), (ddq, ddp)):
        assert theirs == pytest.approx(ours, abs=1e-9)
    for one, limit in zip((q, dq, ddq), elastic.LIMITS, strict=True):
        assert (np.abs(one).max(axis=0) <= limit).all()


def test_bent_friction_is_what_the_paper_says() -> None:
    exact = Er16(Er16Settings(), 1, []).exact(3000)
    speed, drag = exact[:, :, 1], exact[:, :, 3]
    f = er16.FRICTION
    for j in range(er16.JOINTS):
        dry = f["offset"][j] + f["coulomb"][j] * np.tanh(speed[:, j] / 5e-3)
        bent = f["viscous"][j] * speed[:, j] + f["bend"][j] * np.arctan(f["bend_rate"][j] * speed[:, j])
        assert drag[:, j] == pytest.approx(dry + bent, abs=1e-9)


@pytest.mark.parametrize("text", ["", "joint,frequency\n", "joint,frequency,q0,a1,b1\nx,0.05,0,1,1\n"])
def test_a_trajectory_that_cannot_be_read_is_said(text: str, tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text(text)
    with pytest.raises(RigError, match="expected"):
        DoubleEncoderRobotSettings(trajectory=FourierMotion(file=file)).robot(JOINTS, 1, [])
