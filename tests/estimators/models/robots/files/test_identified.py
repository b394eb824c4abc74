"""A robot's model file: everything that was learnt comes back as it was, and a damaged one is told."""

import json
from collections.abc import Callable
from dataclasses import fields, replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from estimators.models.compensation.bases import RadialBases
from estimators.models.compensation.learned import Learned
from estimators.models.friction.load_dependent import LoadDependentSettings
from estimators.models.friction.viscous_coulomb import ViscousCoulombSettings
from estimators.models.robots.files.dh_table import DhTable
from estimators.models.robots.files.identified import IdentifiedRobot, ModelError, read
from estimators.models.robots.gear_twist import GearTwist
from estimators.models.robots.torque_lag import TorqueLag
from estimators.models.robots.whole_robot import WholeRobot
from estimators.quantities import Floats

BODY = {"mass": 2.0, "centre": (0.1, 0.02, -0.03), "inertia": (0.02, 0.03, 0.025, 0.001, 0.002, -0.001)}
SPRING = {"kind": "coil", "distance": 0.5, "crank": 0.1, "rest": 0.4, "stiffness": 2e3}
JOINTS: dict[str, dict[str, Any]] = {
    "turn": BODY | {"rotor": 1e-4, "gear": 100.0, "lower": -2.0, "velocity": 3.0},
    "lift": BODY | {"alpha": -1.5, "a": 0.3, "counterbalance": SPRING},
    "slide": BODY | {"kind": "prismatic", "alpha": 1.2, "upper": 0.4, "effort": 200.0},
}
GEARS = (None, GearTwist(zero=1e-3, lag=2e-3, stiffness=1e4), None)
LAWS = (ViscousCoulombSettings(transition=0.1), LoadDependentSettings(stribeck=False), ViscousCoulombSettings())


def learned() -> Learned:
    random = np.random.default_rng(1)
    u = random.normal(size=(200, 3))
    return Learned("bases", RadialBases.fit(u, u[:, 0], average=False), u.min(axis=0), u.max(axis=0))


@cache
def whole(plain: bool = False) -> IdentifiedRobot:
    """plain: with nothing that may be missing."""
    given = {
        "name": "arm", "convention": "modified", "angles": "rad", "joints": JOINTS, "gravity": (0.5, 0.0, -9.7),
        "tools": {"tip": {"position": (0.0, 0.1, 0.2), "rotation": (0.1, 0.2, 0.3)}},
        "couplings": ({"first": "turn", "second": "lift", "ratio": 0.3},),
    }  # fmt: skip
    robot = DhTable.model_validate(given).robot()
    first = replace(robot.joints[0], by_current=not plain)
    robot = replace(robot, joints=(first, robot.joints[1], replace(robot.joints[2], unknown_rotor=0.2 * (not plain))))
    gears = () if plain else GEARS
    model, random = WholeRobot(robot, LAWS, gears), np.random.default_rng(2)
    p, n = model.size, 3
    squares = random.normal(size=(2, p, p))
    squares = squares @ squares.transpose(0, 2, 1)
    each = random.uniform(0.5, 2.0, (10, n))
    links = random.uniform(0.5, 2.0, (3, n, 10))
    more: dict[str, Any] = {
        "peaks": each[5], "deviations": each[6], "friction_discrepancy": each[7], "twists": gears,
        "learned": (None, learned(), None), "beyond": each[8], "beyond_covariance": 0.5 * squares[1],
        "resting": each[9],
        "lag": TorqueLag(random.normal(size=n), np.diag(each[0]), random.normal(size=(p, n))),
    }  # fmt: skip
    return IdentifiedRobot(
        robot, LAWS, random.normal(size=p), squares[0], random.normal(size=p), squares[1],
        *each[:5], *links, {"files": ["a.csv"], "rows": 12}, **({} if plain else more),
    )  # fmt: skip


@cache
def written(plain: bool = False) -> str:
    return json.dumps(whole(plain).document())


def same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray):
        return bool(np.array_equal(one, other))
    if hasattr(one, "__dataclass_fields__"):
        return all(same(getattr(one, f.name), getattr(other, f.name)) for f in fields(one))
    if isinstance(one, tuple):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(value, other[key]) for key, value in one.items())
    return bool(one == other)


@pytest.mark.parametrize("plain", [False, True])
def test_everything_comes_back_from_its_document(plain: bool) -> None:
    found = whole(plain)
    again = read(json.loads(written(plain)))
    for field in fields(found):
        one, other = getattr(found, field.name), getattr(again, field.name)
        if plain and field.name in ("twists", "learned"):
            assert other == (None,) * 3
        else:
            assert same(one, other), field.name


def test_the_document_names_what_a_person_looks_for() -> None:
    found = whole()
    document, model = json.loads(written()), found.model()
    assert document["theta"]["names"] == list(model.names)
    assert document["theta"]["meanings"] == list(model.meanings)
    assert document["theta"]["deviations"] == pytest.approx(
        np.sqrt(np.diag(found.covariance + found.beyond_covariance))
    )
    assert document["joints"]["turn"]["limits"] == {"lower": -2.0, "velocity": 3.0}, "infinite ones are not said"
    assert document["frames"]["tip"]["link"] == 2
    assert document["learnt_from"] == found.source
    plain = json.loads(written(plain=True))
    assert "torque_lag" not in plain
    optional = {"by_current", "unknown_rotor", "residual_peak", "residual_rms", "residual_bend", "gear_twist"}
    assert not (optional | {"compensation"}) & set(plain["joints"]["turn"])
    assert "counterbalance" in plain["joints"]["lift"]


def torque(found: IdentifiedRobot, q: Floats, dq: Floats, ddq: Floats) -> Floats:
    """Written out joint by joint: rigid body, friction no faster than 1.1 of what was seen, springs, gear, coupling."""
    model = found.model()
    phi = dict(zip(model.names, found.theta, strict=True))
    rigid = model.torque(found.parameters, q, dq, ddq)
    load = model.torque(found.loading, q, dq, ddq)
    tau = rigid.copy()
    held = np.clip(dq, -1.1 * found.speed, 1.1 * found.speed)
    tau[:, 0] += phi["viscous.turn"] * dq[:, 0] + phi["coulomb.turn"] * np.tanh(dq[:, 0] / 0.1)
    sign = np.sign(dq[:, 1])
    tau[:, 1] += (
        phi["viscous.lift"] * held[:, 1] + phi["coulomb.lift"] * sign + phi["load.lift"] * np.abs(load[:, 1]) * sign
    )
    tau[:, 2] += phi["viscous.slide"] * dq[:, 2] + phi["coulomb.slide"] * np.sign(dq[:, 2])
    for j, name in enumerate(JOINTS):
        tau[:, j] += phi[f"offset.{name}"]
    tau[:, 0] += phi["rotor.turn"] * ddq[:, 0]
    tau[:, 2] += phi["rotor.slide"] * ddq[:, 2]
    both = dq[:, 0] + 0.3 * dq[:, 1]
    coupled = phi["viscous.turn+lift"] * both + phi["coulomb.turn+lift"] * np.tanh(both / 0.001)
    tau[:, 0] += coupled
    tau[:, 1] += 0.3 * coupled
    columns = found.robot.counterbalances["lift"].columns(q[:, 1])
    spring = columns @ [phi["spring_stiffness.lift"], phi["spring_preload.lift"]]
    tau[:, 1] += spring
    twist = (rigid[:, 1] + spring) / 1e4  # zero and lag are taken off again
    tau[:, 1] += phi["twist.lift"] * np.abs(twist) * np.tanh(dq[:, 1] / 0.01)
    return tau


def test_the_predicted_torque_is_the_sum_of_all_that_was_learnt() -> None:
    found = whole()
    found = replace(found, theta=100.0 * found.theta)  # the gear's friction weighs something
    q, dq, ddq = np.random.default_rng(3).uniform(-2.0, 2.0, (3, 15, 3))
    assert (np.abs(dq[:, 1]) > 1.1 * found.speed[1]).any()
    expected = torque(found, q, dq, ddq)
    np.testing.assert_allclose(found.predicted(q, dq, ddq), expected, rtol=1e-10, atol=1e-9)
    other = np.full((15, 3), 7.0)
    more = found.predicted(q, dq, ddq, load=other) - found.predicted(q, dq, ddq)
    weight = found.theta[found.model().names.index("load.lift")]
    load = found.model().torque(found.loading, q, dq, ddq)[:, 1]
    np.testing.assert_allclose(more[:, 1], weight * (7.0 - np.abs(load)) * np.sign(dq[:, 1]), rtol=1e-8, atol=1e-8)
    assert not more[:, [0, 2]].any()


Change = Callable[[dict[str, Any]], Any]
DAMAGES: list[tuple[Change, str]] = [
    (lambda d: d.update(format="urdf"), 'expected format = "jointwatch whole robot", found'),
    (lambda d: d.update(version=2), "expected version 1, found 2: identify the robot again"),
    (lambda d: d.pop("theta"), "not a whole model: KeyError"),
    (lambda d: d["theta"]["names"].reverse(), "the names of its parameters are not those of its joints and laws"),
    (lambda d: d["theta"]["values"].pop(), "not a whole model: ValueError"),
    (lambda d: d["theta"]["covariance"].pop(), "not a whole model: ValueError"),
    (lambda d: d["theta"]["values"].__setitem__(0, float("nan")), "found a parameter that is not finite"),
    (lambda d: d["theta"]["prior_covariance"][1].__setitem__(2, float("inf")), "found a parameter that is not finite"),
    (lambda d: d["joints"]["turn"]["likeliest"].__setitem__(3, float("nan")), "found a parameter that is not finite"),
    (lambda d: d["joints"]["lift"]["gear_twist"].update(stiffness=0.0), "found the twist of a gear that no spring has"),
    (lambda d: d["joints"]["lift"]["gear_twist"].update(lag=float("nan")), "found the twist of a gear"),
    (lambda d: d["joints"]["turn"].update(compensation=learned().document()), "learnt compensation of a joint without"),
    (lambda d: d["torque_lag"]["moves"].pop(), "not a whole model: ValueError"),
    (lambda d: d["torque_lag"]["values"].__setitem__(1, float("nan")), "found a lag of a torque that is not finite"),
    (lambda d: d["joints"]["turn"]["friction"].update(kind="magic"), "not a whole model: ValidationError"),
    (lambda d: d["joints"]["turn"]["described"].pop(), "not a whole model: ValueError"),
]


@pytest.mark.parametrize(("change", "words"), DAMAGES, ids=[words for _, words in DAMAGES])
def test_a_damaged_document_is_reported(change: Change, words: str) -> None:
    document = json.loads(written())
    change(document)
    with pytest.raises(ModelError) as caught:
        read(document)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_figures_of_some_joints_alone_are_figures_of_none() -> None:
    document = json.loads(written())
    for key in ("residual_peak", "residual_rms", "residual_bend"):
        del document["joints"]["lift"][key]
    again = read(document)
    assert (again.peaks, again.deviations, again.friction_discrepancy) == (None, None, None)


def test_a_joint_stands_below_a_share_of_its_speed_where_it_was_taught_slowly() -> None:
    """Fast; slow; slow, with an encoder as rough; never moved."""
    found = whole(plain=True)
    assert (found.at_rest() == 0.02).all(), "a model of before"
    speed, resting = np.array([0.06, 0.01, 0.01, 0.003]), np.array([0.001, 0.001, 0.006, 0.004])
    assert replace(found, speed=speed, resting=resting).at_rest() == pytest.approx([0.02, 0.004, 0.006, 0.02])
