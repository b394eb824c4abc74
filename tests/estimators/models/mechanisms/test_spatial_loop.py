"""Seven hinges in a loop in space, about axes that meet nowhere: the same mechanism, wherever it is cut open."""

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from estimators.models.mechanisms.dynamics import ALL, IDEAL
from estimators.models.mechanisms.joint_load import RUB
from estimators.models.mechanisms.mechanism import Mechanism, MechanismMotion, build
from estimators.quantities import Floats

pytestmark = pytest.mark.interpreted
JOINTS = 7  # joint i lies between body i − 1 and body i; the base is body −1 and body 6
RANDOM = np.random.default_rng(12)
TURN = 2.0 * np.pi * np.arange(JOINTS) / JOINTS
PLACES = np.column_stack([np.cos(TURN), np.sin(TURN), np.zeros(JOINTS)]) + RANDOM.uniform(-0.3, 0.3, (JOINTS, 3))
AXES = RANDOM.normal(size=(JOINTS, 3))
AXES /= np.linalg.norm(AXES, axis=1)[:, np.newaxis]
MASSES, CENTRES = RANDOM.uniform(0.5, 2.0, JOINTS - 1), 0.5 * (PLACES[:-1] + PLACES[1:])
H = 1e-5


def bearing(i: int) -> dict[str, float]:
    return {"coulomb": 0.02 + 0.004 * i, "viscous": 0.1 * i, "pin": 0.01 + 0.004 * i, "arm": 0.03, "bending": 0.05}


def body(i: int, joint: int, parent: str) -> dict[str, Any]:
    """Body i, carried by a joint from the one or from the other side."""
    return {
        "name": f"j{joint}",
        "parent": parent,
        "axis": tuple(AXES[joint]),
        "origin": tuple(PLACES[joint] - (PLACES[int(parent[1:])] if parent else 0.0)),
        "mass": MASSES[i],
        "centre": tuple(CENTRES[i] - PLACES[joint]),
        "inertia": (0.02, 0.03, 0.025, 0.004, -0.003, 0.002),
        "drive": joint == 0,
        "bearing": bearing(joint),
    }


def cut_at(joint: int, turned: bool = False) -> Mechanism:
    """Bodies below the cut hang on one another from joint 0 on, those behind it from joint 6 on."""
    below = [body(i, i, f"j{i - 1}" if i else "") for i in range(joint)]
    behind = [body(i - 1, i, f"j{i + 1}" if i < JOINTS - 1 else "") for i in range(JOINTS - 1, joint, -1)]
    ends = []
    for links, name in ((below, f"j{joint - 1}"), (behind, f"j{joint + 1}")):
        origin = PLACES[int(name[1:])] if links else np.zeros(3)
        ends.append((name if links else "", tuple(PLACES[joint] - origin)))
    (one, here), (other, there) = reversed(ends) if turned else ends
    cut = {"name": f"j{joint}", "link": one, "point": here, "other": other, "other_point": there}
    cut |= {"axis": tuple(AXES[joint]), "kind": "revolute", "bearing": bearing(joint)}
    return build({"links": [*below, *behind], "cuts": [cut], "gravity": (1.0, -2.0, -9.0)})


ANGLE, SPEED, SECOND = np.linspace(0.05, 0.3, 4), 0.7, -0.4


def moved(mechanism: Mechanism, after: float = 0.0) -> MechanismMotion:
    """A few places of the drive, `after` seconds later, at constant acceleration."""
    q, dq, ddq = np.zeros((3, len(ANGLE), JOINTS - 1))
    drive = mechanism.names.index("j0")
    q[:, drive] = ANGLE + SPEED * after + 0.5 * SECOND * after**2
    dq[:, drive], ddq[:, drive] = SPEED + SECOND * after, SECOND
    return mechanism.fit(q, dq, ddq)


def poses(mechanism: Mechanism, q: Floats) -> dict[str, tuple[Rotation, Floats]]:
    """Rotation and origin of every link, base axes; those of the base are under ""."""
    found = {"": (Rotation.identity(), np.zeros(3))}
    for link, angle in zip(mechanism.description.links, q, strict=True):
        turn, origin = found[link.parent]
        axis = np.array(link.axis) / np.linalg.norm(link.axis)
        found[link.name] = (turn * Rotation.from_rotvec(angle * axis), origin + turn.apply(np.array(link.origin)))
    return found


@pytest.fixture(scope="module")
def serial() -> Mechanism:
    return cut_at(6)


CUTS = [(3, False), (3, True), (1, False), (6, True)]  # not at 0, which is driven


@pytest.mark.parametrize(("joint", "turned"), [(6, False), *CUTS])
def test_the_loop_closes_in_place_and_axis_and_moves_as_it_closes(joint: int, turned: bool) -> None:
    mechanism = cut_at(joint, turned)
    here, later, sooner = (moved(mechanism, after) for after in (0.0, H, -H))
    cut = mechanism.description.cuts[0]
    for q in here.q:
        (turn_a, at_a), (turn_b, at_b) = (poses(mechanism, q)[end] for end in (cut.link, cut.other))
        point_a, point_b = at_a + turn_a.apply(np.array(cut.point)), at_b + turn_b.apply(np.array(cut.other_point))
        assert point_a == pytest.approx(point_b, abs=1e-11)
        assert turn_a.apply(AXES[joint]) == pytest.approx(turn_b.apply(AXES[joint]), abs=1e-11)
    assert np.ptp(here.q, axis=0).min() > 0.01, "every joint takes part"
    assert here.dq == pytest.approx((later.q - sooner.q) / (2.0 * H), abs=1e-6)
    assert here.ddq == pytest.approx((later.dq - sooner.dq) / (2.0 * H), abs=1e-6)


@pytest.mark.parametrize(("joint", "turned"), CUTS)
def test_torque_energy_and_every_bearings_load_are_the_same_wherever_the_loop_is_cut(
    serial: Mechanism, joint: int, turned: bool
) -> None:
    """But for what friction's fixed point leaves: 1e-10 of the largest torque, or ten times that."""
    other = cut_at(joint, turned)
    theirs, ours = moved(serial), moved(other)
    assert other.energy(ours) - other.energy(ours)[0] == pytest.approx(
        serial.energy(theirs) - serial.energy(theirs)[0], abs=1e-9
    )
    for mode in (IDEAL, ALL):
        expected, found = serial.inverse(theirs, mode, 1e-2), other.inverse(ours, mode, 1e-2)
        drive, place = serial.names.index("j0"), other.names.index("j0")
        assert found.tau[:, place] == pytest.approx(expected.tau[:, drive], abs=1e-8 * np.abs(expected.tau).max())
        size = np.abs(expected.loads).max(axis=(0, 1))
        for name in serial.joints:
            a, b = expected.loads[:, serial.joints.index(name)], found.loads[:, other.joints.index(name)]
            # the direction in which a joint counts is the builder's choice: friction is compared in size
            np.testing.assert_allclose(np.abs(b) / size, np.abs(a) / size, atol=1e-8, err_msg=name)


@pytest.mark.parametrize(("joint", "turned"), [(6, False), (3, True)])
def test_power_goes_into_the_links_or_is_rubbed_off_where_joints_turn(joint: int, turned: bool) -> None:
    mechanism = cut_at(joint, turned)
    here, later, sooner = (moved(mechanism, after) for after in (0.0, H, -H))
    power = (mechanism.energy(later) - mechanism.energy(sooner)) / (2.0 * H)
    ideal, real = mechanism.ideal(here), mechanism.inverse(here, ALL, 1e-2)
    assert np.einsum("rn,rn->r", ideal.tau, here.dq) == pytest.approx(power, rel=1e-6)
    _, turns = mechanism.loops(here.q)
    cut = mechanism.description.cuts[0]
    for row in range(len(ANGLE)):  # how the cut turns, against two poses a moment apart
        relative = []
        for motion in (later, sooner):
            at = poses(mechanism, motion.q[row])
            relative.append(at[cut.other][0].inv() * at[cut.link][0])
        turn = (relative[0] * relative[1].inv()).as_rotvec() / (2.0 * H)
        assert turns[row, 0] @ here.dq[row] == pytest.approx(turn @ AXES[joint], abs=1e-6)
    spin = np.hstack([here.dq, np.einsum("rcn,rn->rc", turns, here.dq)])
    rubbed = np.sum(real.loads[:, :, RUB] * spin, axis=1)
    assert np.einsum("rn,rn->r", real.tau, here.dq) == pytest.approx(power + rubbed, rel=1e-6)
    assert (rubbed > 0.01).all()


def test_forward_is_inverse_turned_round_in_space_too(serial: Mechanism) -> None:
    here = moved(serial)
    for mode in (IDEAL, ALL):
        given = serial.inverse(here, mode, 1e-2)
        found = serial.forward(here.q, here.dq, given.tau, mode, 1e-2)
        assert found.ddq == pytest.approx(here.ddq, abs=1e-6)
        assert found.cut_forces == pytest.approx(given.cut_forces, abs=1e-6)
        assert found.loads == pytest.approx(given.loads, abs=1e-6)


def test_every_row_begins_where_the_one_before_it_ended(serial: Mechanism) -> None:
    """What stands in the passive columns of later rows does not matter."""
    here = moved(serial)
    free = serial.drive == 0
    q, dq, ddq = (one.copy() for one in here)
    for one in (q[1:], dq, ddq):
        one[:, free] = 2.5
    again = serial.fit(q, dq, ddq)
    for one, other in zip(again, here, strict=True):
        assert one == pytest.approx(other, abs=1e-9)
