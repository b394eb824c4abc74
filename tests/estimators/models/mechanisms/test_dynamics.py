"""Mechanisms against Pinocchio and MuJoCo, against themselves turned round, and against the power that goes in."""

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from estimators.models.mechanisms.description import MechanismError
from estimators.models.mechanisms.dynamics import ACTIVE, ALL, IDEAL
from estimators.models.mechanisms.mechanism import Mechanism, MechanismMotion, build, load

pytestmark = pytest.mark.interpreted
DOCS = Path(__file__).parents[4] / "docs"
CRANK = 6


@pytest.fixture(scope="module")
def leg() -> Mechanism:
    return load(DOCS / "leg.toml")


def branching() -> Mechanism:
    """Skew axes, a prismatic joint in the middle of a branch."""
    links = []
    rng = np.random.default_rng(3)
    for i, (parent, kind) in enumerate([("", "revolute"), ("0", "prismatic"), ("1", "revolute"), ("0", "revolute")]):
        size = rng.uniform(0.5, 2.0)
        inertia = (0.02 * size, 0.03 * size, 0.04 * size, 0.001, -0.002, 0.003)
        bearing = {"coulomb": 0.01, "viscous": 0.2}
        one = {"name": str(i), "parent": parent, "kind": kind, "axis": tuple(rng.normal(size=3)), "mass": size}
        one |= {"origin": tuple(rng.normal(size=3)), "centre": tuple(0.2 * rng.normal(size=3)), "inertia": inertia}
        links.append(one | {"bearing": bearing})
    return build({"links": links, "gravity": (0.3, -1.0, -9.0)})


def in_pinocchio(mechanism: Mechanism) -> tuple[pin.Model, pin.Data]:
    model = pin.Model()
    model.gravity.linear = np.array(mechanism.description.gravity)
    numbers = {"": 0}
    for link in mechanism.description.links:
        axis = np.array(link.axis) / np.linalg.norm(link.axis)
        kind = pin.JointModelRevoluteUnaligned if link.kind == "revolute" else pin.JointModelPrismaticUnaligned
        place = pin.SE3(np.eye(3), np.array(link.origin))
        numbers[link.name] = model.addJoint(numbers[link.parent], kind(axis), place, link.name)
        xx, yy, zz, xy, xz, yz = link.inertia
        about = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        model.appendBodyToJoint(
            numbers[link.name], pin.Inertia(link.mass, np.array(link.centre), about), pin.SE3.Identity()
        )
    return model, model.createData()


def in_motion(mechanism: Mechanism, rows: int, seed: int = 0) -> MechanismMotion:
    rng = np.random.default_rng(seed)
    return MechanismMotion(*(rng.uniform(-1.0, 1.0, (rows, mechanism.size())) for _ in range(3)))


@pytest.mark.parametrize("name", ["tree5", "branching"])
def test_torque_and_bearing_loads_are_pinocchios(name: str) -> None:
    mechanism = branching() if name == "branching" else load(DOCS / "tree5.toml")
    model, data = in_pinocchio(mechanism)
    moved = in_motion(mechanism, 20)
    found = mechanism.inverse(moved, IDEAL)
    for row, (q, dq, ddq) in enumerate(zip(*moved, strict=True)):
        tau = pin.rnea(model, data, q, dq, ddq)
        assert found.tau[row] == pytest.approx(tau, abs=1e-9)
        for i, link in enumerate(mechanism.description.links):
            axis = np.array(link.axis) / np.linalg.norm(link.axis)
            force, moment = data.f[i + 1].linear, data.f[i + 1].angular
            across, bent = force - axis * (axis @ force), moment - axis * (axis @ moment)
            along = abs(axis @ force) if link.kind == "revolute" else abs(axis @ moment)
            expected = [np.linalg.norm(across), along, np.linalg.norm(bent)]
            assert found.loads[row, i, :3] == pytest.approx(expected, abs=1e-9)


def test_a_closed_chain_is_pinocchios_with_the_cut_forces_as_external_ones(leg: Mechanism) -> None:
    model, data = in_pinocchio(leg)
    moved = crank(leg, np.linspace(-0.5, 0.5, 7), 0.7, 1.3)
    found = leg.inverse(moved, IDEAL)
    J, _ = leg.loops(moved.q)
    for row, (q, dq, ddq) in enumerate(zip(*moved, strict=True)):
        tau = pin.rnea(model, data, q, dq, ddq)
        assert found.tau[row] + J[row].T @ found.cut_forces[row] == pytest.approx(tau, abs=1e-9)
        assert not found.tau[row, :CRANK].any()
        for joint in range(leg.rows // 2):  # the two points of every cut are one, move and speed up as one
            cut = leg.description.cuts[joint]
            ends = []
            pin.forwardKinematics(model, data, q, dq, ddq)
            for name, own in ((cut.link, cut.point), (cut.other, cut.other_point)):
                number = model.getJointId(name)
                place = pin.SE3(np.eye(3), np.array(own))
                frame = data.oMi[number] * place
                v, a = place.actInv(data.v[number]), place.actInv(data.a[number])
                ends.append(
                    (
                        frame.translation,
                        frame.rotation @ v.linear,
                        frame.rotation @ (a.linear + np.cross(v.angular, v.linear)),
                    )
                )
            for one, other in zip(*ends, strict=True):
                assert one == pytest.approx(other, abs=1e-12)


def test_cut_forces_are_mujocos(leg: Mechanism) -> None:
    import mujoco

    text = ['<mujoco><option gravity="0 -9.8 0"/><compiler angle="radian"/><worldbody>']
    links = leg.description.links

    def body(name: str) -> None:
        link = next(one for one in links if one.name == name)
        place, centre = (" ".join(map(str, one)) for one in (link.origin, link.centre))
        inertia = " ".join(map(str, link.inertia[:3]))
        text.append(f'<body name="{name}" pos="{place}"><joint type="hinge" axis="0 0 1"/>')
        text.append(f'<inertial pos="{centre}" mass="{link.mass}" diaginertia="{inertia}"/>')
        for child in links:
            if child.parent == name:
                body(child.name)
        text.append("</body>")

    for link in links:
        if not link.parent:
            body(link.name)
    text.append("</worldbody><equality>")
    hard = 'solref="-100 -20" solimp="0.9999 0.9999 0.001"'
    for cut in leg.description.cuts:
        anchor = " ".join(map(str, cut.point))
        text.append(f'<connect body1="{cut.link}" body2="{cut.other}" anchor="{anchor}" {hard}/>')
    text.append("</equality></mujoco>")
    model = mujoco.MjModel.from_xml_string("".join(text))
    data = mujoco.MjData(model)
    for number, cut in enumerate(leg.description.cuts):  # the second anchor, which MuJoCo takes from its own start
        model.eq_data[number, 3:6] = cut.other_point
    order = [model.body(link.name).jntadr[0] for link in links]
    moved = crank(leg, np.linspace(-0.4, 0.4, 5), 0.5, 0.3)
    found = leg.inverse(moved, IDEAL)
    for row in range(5):
        data.qpos[order], data.qvel[order] = moved.q[row], moved.dq[row]
        data.qfrc_applied[order] = found.tau[row]
        mujoco.mj_forward(model, data)
        forces = data.efc_force.reshape(3, 3)[:, :2].ravel()
        theirs = forces * np.sign(forces @ found.cut_forces[row])
        size = np.abs(found.cut_forces[row]).max()
        assert theirs == pytest.approx(found.cut_forces[row], abs=0.005 * size)
        assert data.qacc[order] == pytest.approx(moved.ddq[row], abs=0.05), "its constraints are soft"


def crank(leg: Mechanism, angle: np.ndarray, speed: float, acceleration: float) -> MechanismMotion:
    q, dq, ddq = np.zeros((3, len(angle), 7))
    q[:, CRANK], dq[:, CRANK], ddq[:, CRANK] = angle, speed, acceleration
    return leg.fit(q, dq, ddq)


@pytest.mark.parametrize("mode", [IDEAL, ACTIVE, ALL])
def test_forward_is_inverse_turned_round(leg: Mechanism, mode: int) -> None:
    for mechanism, moved in (
        (leg, crank(leg, np.linspace(-0.5, 0.5, 9), 0.4, -0.6)),
        (branching(), in_motion(branching(), 9)),
    ):
        tau = mechanism.inverse(moved, mode, 1e-3).tau
        found = mechanism.forward(moved.q, moved.dq, tau, mode, 1e-3)
        assert found.ddq == pytest.approx(moved.ddq, abs=1e-7)


def test_a_tree_of_unit_arms_and_little_friction_settles_and_one_that_locks_is_reported() -> None:
    content = load(DOCS / "tree5.toml").description.model_dump()
    for mu, settles in ((0.05, True), (2.0, False)):
        for link in content["links"]:
            link["bearing"] |= {"pin": 1.0, "arm": 1.0, "bending": 1.0, "coulomb": mu}
        mechanism = build(content)
        q, dq = np.full((1, 5), 0.4), np.full((1, 5), 0.3)
        if settles:
            assert mechanism.forward(q, dq, np.full((1, 5), 1.0)).iterations[0] <= 30
        else:
            with pytest.raises(MechanismError, match="self-locking"):
                mechanism.forward(q, dq, np.full((1, 5), 1.0))


def test_loops_close_and_stay_closed(leg: Mechanism) -> None:
    moved = crank(leg, np.linspace(-1.0, 1.0, 41), 0.1, 0.0)
    J, _ = leg.loops(moved.q)
    assert np.einsum("rcn,rn->rc", J, moved.dq) == pytest.approx(0.0, abs=1e-12)
    assert moved.q[20] == pytest.approx([0.00176, -0.00284, 0.00332, -0.0024, 0.00036, 0.00162, 0.0], abs=1e-5)


def test_a_revolute_cut_in_space_holds_what_a_planar_one_holds() -> None:
    """A four-bar linkage, whose spatial cut carries a redundant load, is refused; with a ball-like tree it is not."""
    four = {
        "links": [
            {"name": "a", "mass": 1.0, "inertia": (0.01, 0.01, 0.01, 0, 0, 0)},
            {"name": "b", "parent": "a", "origin": (0, 1, 0), "mass": 1.0, "drive": False},
            {"name": "c", "origin": (1, 0, 0), "mass": 1.0, "drive": False},
        ],
        "cuts": [{"name": "bc", "link": "b", "point": (1, 0, 0), "other": "c", "other_point": (0, 1, 0)}],
    }
    assert build(four).rows == 2
    four["cuts"][0]["kind"] = "revolute"  # type: ignore[index]
    with pytest.raises(MechanismError, match="conditions are not independent"):
        build(four)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda d: d["links"][0].update(drive=True),
            "as the mechanism can move; found 2 (thigh, crank)",
        ),
        (lambda d: d["links"][6].update(drive=False), "found 0 (none)"),
        (lambda d: d["links"][2]["bearing"].update(pin=0.0), '"coupler" bearing pin: Input should be greater than 0'),
        (lambda d: d["links"][2].pop("name"), "links 3 name: Field required"),
        (lambda d: d["links"][2].update(name="thigh"), 'link "thigh": there are two of this name'),
        (lambda d: d["cuts"][1].update(other="hand"), 'there is no link "hand"'),
        (lambda d: d["cuts"][1]["bearing"].update(arm=-1.0), "bearing arm: Input should be greater than 0"),
        (lambda d: d.update(gravity=(0.0, 1.0)), "gravity 3: Field required"),
        (lambda d: d["cuts"][0].update(point=(5.0, 0.0, 0.0)), "the loops cannot close"),
        (lambda d: d["links"][1].update(parent="knee"), 'its parent "knee" is not among the links before it'),
        (lambda d: d["links"][1].update(axis=(0.0, 0.0, 0.0)), "expected an axis with a direction"),
    ],
)
def test_what_cannot_be_is_one_clear_sentence(leg: Mechanism, change: object, words: str) -> None:
    content = leg.description.model_dump()
    change(content)  # type: ignore[operator]
    with pytest.raises(MechanismError) as caught:
        build(content)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
