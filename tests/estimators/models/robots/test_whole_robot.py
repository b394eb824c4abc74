"""A robot's equation of motion: every column against its formula, and what is known of θ before any motion."""

from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest

from estimators.models.friction import AnyFriction
from estimators.models.friction.cubic_viscous import CubicViscousSettings
from estimators.models.friction.lugre import LuGreSettings
from estimators.models.friction.prandtl_ishlinskii import PrandtlIshlinskiiSettings
from estimators.models.friction.viscous_coulomb import ViscousCoulombSettings
from estimators.models.robots.bearing_friction import BearingSettings
from estimators.models.robots.description import RobotDescription
from estimators.models.robots.files.dh_table import DhTable
from estimators.models.robots.gear_twist import GearTwist
from estimators.models.robots.inertia import floored, metric
from estimators.models.robots.whole_robot import WholeRobot
from estimators.quantities import Floats

BODY = {"inertia": (0.09, 0.08, 0.06, 0.004, 0.002, -0.003)}
SPRING = {"kind": "coil", "distance": 0.5, "crank": 0.1, "rest": 0.4, "stiffness": 2e3}
JOINTS: dict[str, dict[str, Any]] = {
    "turn": {"alpha": 0.0, "d": 0.4, "mass": 6.0, "centre": (0.02, 0.01, 0.1)},
    "lift": {"alpha": -90.0, "a": 0.2, "mass": 4.0, "centre": (0.25, 0.0, 0.03), "rotor": 1e-4, "gear": 100.0},
    "slide": {"kind": "prismatic", "alpha": 90.0, "a": 0.1, "mass": 3.0, "centre": (0.02, 0.03, 0.2)},
}
GEAR = GearTwist(zero=1e-3, lag=2e-3, stiffness=1e4)
ROWS = 12
REACH = np.array([0.5, np.inf, 0.2])


def robot(more: bool = True, **changes: Any) -> RobotDescription:
    """more: with a rotor, a coupling and a counterbalance."""
    joints = {name: row | BODY | changes.get(name, {}) for name, row in JOINTS.items()}
    if more:
        joints["lift"] |= {"counterbalance": SPRING}
    else:
        del joints["lift"]["rotor"], joints["lift"]["gear"]
    couplings = ({"first": "turn", "second": "slide", "ratio": -0.7},) if more else ()
    given = {"convention": "modified", "angles": "deg", "joints": joints, "couplings": couplings}
    return DhTable.model_validate(given).robot()


def motion() -> tuple[Floats, Floats, Floats]:
    q, dq, ddq = np.random.default_rng(6).uniform(-1.5, 1.5, (3, ROWS, 3))
    return q, dq, ddq


def test_the_rigid_body_is_base_columns_times_base_parameters() -> None:
    model = WholeRobot(robot())
    parameters = np.random.default_rng(1).uniform(0.5, 2.0, (3, 10))
    base = model.projection.G @ parameters.ravel()
    expected = model.torque(parameters, *motion())
    np.testing.assert_allclose(model.rigid(*motion()) @ base, expected, atol=1e-12 * np.abs(expected).max())
    assert model.rigid(*motion()).shape == (ROWS, 3, model.base)


def test_every_term_beside_the_rigid_body_is_its_formula_on_its_joints() -> None:
    model = WholeRobot(robot(), (ViscousCoulombSettings(transition=0.2),) * 3, (None, GEAR, None))
    q, dq, ddq = motion()
    twist = np.random.default_rng(2).normal(0.0, 1e-3, (ROWS, 3))
    step = np.tanh(dq / 0.2)
    carried = np.abs(twist[:, 1] - 1e-3 - 2e-3 * dq[:, 1]) * np.tanh(dq[:, 1] / 0.01)
    both = dq[:, 0] - 0.7 * dq[:, 2]
    spring = model.robot.counterbalances["lift"].columns(q[:, 1])
    expected = {  # name → (joint, column) …
        **{f"viscous.{name}": [(j, dq[:, j])] for j, name in enumerate(JOINTS)},
        **{f"coulomb.{name}": [(j, step[:, j])] for j, name in enumerate(JOINTS)},
        **{f"offset.{name}": [(j, np.ones(ROWS))] for j, name in enumerate(JOINTS)},
        "rotor.lift": [(1, ddq[:, 1])],
        "twist.lift": [(1, carried)],
        "viscous.turn+slide": [(0, both), (2, -0.7 * both)],
        "coulomb.turn+slide": [(0, np.tanh(both / 0.001)), (2, -0.7 * np.tanh(both / 0.001))],
        "spring_stiffness.lift": [(1, spring[:, 0])],
        "spring_preload.lift": [(1, spring[:, 1])],
    }
    names = [term.name for term in model.terms]
    assert sorted(names) == sorted(expected)
    found: dict[str, list[tuple[int, Floats]]] = {}
    for joint, k, column in model.others(q, dq, ddq, np.zeros((ROWS, 3)), REACH, twist):
        found.setdefault(names[k], []).append((joint, column))
    for name, columns in expected.items():
        assert [joint for joint, _ in found[name]] == [joint for joint, _ in columns], name
        assert set(model.terms[names.index(name)].joints) == {joint for joint, _ in columns}, name
        for (_, ours), (_, theirs) in zip(found[name], columns, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-15, err_msg=name)
    table = model.table(q, dq, ddq, np.zeros((ROWS, 3)), REACH, twist)
    flat = [column for _, _, column in model.others(q, dq, ddq, np.zeros((ROWS, 3)), REACH, twist)]
    np.testing.assert_array_equal(table, np.array(flat).T)
    assert model.names == (*(f"b{i + 1}" for i in range(model.base)), *names)
    assert [model.count_of(j) for j in range(3)] == [3, 5, 3]
    assert all(term.low == (-np.inf if "offset" in term.name else 0.0) for term in model.terms), "what only brakes"
    assert model.twisted == [1]
    carried_by_gears = np.array(names)[model.behind_gears()[model.base :]]
    assert carried_by_gears.tolist() == ["spring_stiffness.lift", "spring_preload.lift"]
    assert model.behind_gears()[: model.base].all()


@pytest.mark.parametrize("unknown", [0.0, 0.4])
def test_the_table_of_a_plain_robot_holds_the_same_columns(unknown: float) -> None:
    plain = robot(more=False)
    joints = tuple(replace(one, unknown_rotor=unknown if one.name != "lift" else 0.0) for one in plain.joints)
    model = WholeRobot(replace(plain, joints=joints))
    q, dq, ddq = motion()
    load = np.random.default_rng(3).normal(size=(ROWS, 3))
    flat = [column for _, _, column in model.others(q, dq, ddq, load, REACH)]
    np.testing.assert_array_equal(model.table(q, dq, ddq, load, REACH, None), np.array(flat).T)
    np.testing.assert_array_equal(model.table(q, dq, ddq, load[:, :, None], REACH, None), np.array(flat).T)
    assert len(flat) == len(model.terms) == 9 + 2 * (unknown > 0.0)


@pytest.mark.parametrize("extra", ["coupling", "counterbalance", "gear", "another law"])
def test_the_table_of_a_robot_that_has_one_thing_more_holds_the_same_columns(extra: str) -> None:
    """One law that is not linear in speed, where it is for all joints: beyond what it has seen it stays as it is."""
    whole = robot()
    couplings = whole.couplings if extra == "coupling" else ()
    springs = whole.counterbalances if extra == "counterbalance" else {}
    laws = (CubicViscousSettings(),) * 3 if extra == "another law" else None
    model = WholeRobot(
        replace(robot(more=False), couplings=couplings, counterbalances=springs),
        laws,
        (None, GEAR, None) if extra == "gear" else None,
    )
    q, dq, ddq = motion()
    twist = 1e-3 * np.ones((ROWS, 3))
    others = model.others(q, dq, ddq, np.zeros((ROWS, 3)), REACH, twist)
    flat = np.array([column for _, _, column in others]).T
    np.testing.assert_array_equal(model.table(q, dq, ddq, np.zeros((ROWS, 3)), REACH, twist), flat)
    names = [term.name for term in model.terms]
    [viscous] = [column for _, k, column in others if names[k] == "viscous.turn"]
    held = np.clip(dq[:, 0], -REACH[0], REACH[0]) if laws else dq[:, 0]
    np.testing.assert_array_equal(viscous, held)


def test_laws_of_their_own_give_the_columns_that_each_gives_alone() -> None:
    """A law that is not linear in speed stays beyond what it has seen as it is there; the linear one goes on."""
    laws = (LuGreSettings(), ViscousCoulombSettings(transition=0.1), BearingSettings())
    model = WholeRobot(robot(more=False), laws)
    q, dq, ddq = motion()
    assert model.loads == 4
    assert model.loaded
    load = model.load(np.random.default_rng(1).uniform(0.5, 2.0, (3, 10)), q, dq, ddq)
    assert load.shape == (ROWS, 3, 4)
    names = [term.name for term in model.terms]
    memory = [np.full((1, 2), np.nan), np.zeros((0, 2)), np.zeros((0, 2))]
    others = model.others(q, dq, ddq, load, REACH, memory=memory)
    for j, (law, name) in enumerate(zip(laws, JOINTS, strict=True)):
        held = dq[:, j] if j == 1 else np.clip(dq[:, j], -REACH[j], REACH[j])
        assert j == 1 or (held != dq[:, j]).any()
        own = law.law(model.robot.joints[j].axis)
        remembered = np.full((1, 2), np.nan) if j == 0 else None
        carried = load[:, j] if j == 2 else load[:, j, :1]
        columns = own.columns(q[:, j], held, carried, own.start, remembered)
        for one, column in zip(own.parameters, columns.T, strict=True):
            [(joint, found)] = [(i, c) for i, k, c in others if names[k] == f"{one.name}.{name}"]
            assert joint == j
            np.testing.assert_array_equal(found, column)
    assert memory[0][0, 1] == q[-1, 0], "the springs go on from here"


def test_a_load_of_torque_alone_is_enough_for_a_law_of_bearings_without_loads_of_its_own() -> None:
    """Where only the torque is known, what a bearing carries counts as nothing."""
    model = WholeRobot(robot(more=False), (BearingSettings(),) * 3)
    q, dq, ddq = motion()
    names = [term.name for term in model.terms]
    for _, k, column in model.others(q, dq, ddq, np.ones((ROWS, 3)), np.full(3, np.inf)):
        if names[k].split(".")[0] in ("radial", "axial", "bending"):
            assert not column.any()


def test_without_laws_that_follow_it_the_load_is_the_torque() -> None:
    model = WholeRobot(robot())
    parameters = np.random.default_rng(1).uniform(0.5, 2.0, (3, 10))
    assert not model.loaded
    np.testing.assert_array_equal(model.load(parameters, *motion()), model.torque(parameters, *motion()))


def test_gears_twist_under_their_load_and_show_zeros_and_lags() -> None:
    model = WholeRobot(robot(), None, (None, GEAR, None))
    torque, dq = np.array([[5.0, 20.0, 7.0]]), np.array([[1.0, -2.0, 3.0]])
    np.testing.assert_allclose(model.twist(torque, dq), [[0.0, 2e-3 + 1e-3 - 4e-3, 0.0]], atol=1e-15)


def test_springs_remember_nothing_before_any_motion() -> None:
    laws = (PrandtlIshlinskiiSettings(), ViscousCoulombSettings(), LuGreSettings())
    memory = WholeRobot(robot(more=False), laws).memory()
    assert [one.shape for one in memory] == [(4, 2), (0, 2), (1, 2)]
    assert np.isnan(memory[0]).all()


@pytest.mark.parametrize(("guessed", "spread"), [(False, 0.5), (True, 3.0)])
def test_what_is_known_before_any_motion_is_the_description_and_how_far_it_is_believed(
    guessed: bool, spread: float
) -> None:
    described = replace(robot(lift={"rotor": 2e-4}), guessed=guessed)
    described = replace(
        described, joints=tuple(replace(one, unknown_rotor=0.4 * (one.name == "turn")) for one in described.joints)
    )
    model = WholeRobot(described, None, (None, None, GEAR))
    torque, column = np.array([10.0, 20.0, 30.0]), np.linspace(0.5, 2.0, len(model.terms))
    mean, covariance = model.prior(torque, column)
    links = np.array([floored(one) for one in described.parameters])
    blocks = np.zeros((30, 30))
    for i, one in enumerate(links):
        blocks[10 * i : 10 * i + 10, 10 * i : 10 * i + 10] = spread**2 * np.linalg.inv(metric(one))
    G = model.projection.G
    np.testing.assert_allclose(mean[: model.base], G @ links.ravel(), rtol=1e-12)
    np.testing.assert_allclose(covariance[: model.base, : model.base], G @ blocks @ G.T, rtol=1e-9, atol=1e-12)
    assert not covariance[model.base :, : model.base].any()
    names, deviation = [term.name for term in model.terms], np.sqrt(np.diag(covariance))[model.base :]

    def of(name: str) -> tuple[float, float, float]:
        k = names.index(name)
        return mean[model.base + k], deviation[k], column[k]

    assert of("rotor.lift")[:2] == pytest.approx((2.0, 1.0)), "half of what the data sheet says"
    assert of("rotor.turn")[:2] == pytest.approx((0.0, 0.4))
    assert of("spring_stiffness.lift")[:2] == pytest.approx((2e3, 1e3))
    value, sigma, size = of("offset.slide")
    assert (value, sigma * size) == pytest.approx((0.0, 0.3 * 30.0)), "three tenths of the torque"
    for name, rms in (
        ("viscous.turn", 10.0),
        ("coulomb.lift", 20.0),
        ("twist.slide", 0.1 * 30.0),
        ("spring_preload.lift", 20.0),  # which the data sheet does not say
        ("viscous.turn+slide", 10.0),
    ):
        value, sigma, size = of(name)
        assert (value, sigma * size) == pytest.approx((0.0, rms)), name
    nothing = model.prior(np.zeros(3), np.zeros(len(model.terms)))[1]
    assert (np.diag(nothing)[model.base :] > 0.0).all(), "an invertible prior even of columns that were never seen"


def test_the_likeliest_links_give_their_base_parameters_and_stray_least_from_the_description() -> None:
    """Against the Karush–Kuhn–Tucker system of min (π − π0)ᵀ C⁻¹ (π − π0) under G π = b."""
    model = WholeRobot(robot())
    mean, covariance = model.link_prior()
    G = model.projection.G
    base = G @ (mean * np.random.default_rng(5).uniform(0.8, 1.2, 30))
    information = np.linalg.inv(covariance)
    scale = np.sqrt(np.diag(covariance))  # for the numbers' sake
    left = np.block([[scale[:, None] * information * scale, (G * scale).T], [G * scale, np.zeros((model.base,) * 2)]])
    right = np.concatenate([scale * (information @ mean), base])
    expected = scale * np.linalg.solve(left, right)[:30]
    found = model.standard(base)
    assert found.shape == (3, 10)
    np.testing.assert_allclose(found.ravel(), expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(G @ found.ravel(), base, atol=1e-10)


def test_meanings_say_what_a_base_parameter_stands_for() -> None:
    """A planar arm of two links, 0.5 m: Gautier, Khalil 1990: ZZ1 + L² M2, MX1 + L M2, MY1, ZZ2, MX2, MY2."""
    rows = {"shoulder": {"a": 0.0}, "elbow": {"a": 0.5}}
    given = {"convention": "modified", "angles": "rad", "joints": rows, "total_mass": 3.0, "gravity": (0.0, -9.81, 0.0)}
    model = WholeRobot(DhTable.model_validate(given).robot())
    assert set(model.meanings[: model.base]) == {
        "Izz.shoulder + 0.25·m.elbow", "Izz.elbow", "mx.shoulder + 0.5·m.elbow", "my.shoulder", "mx.elbow", "my.elbow",
    }  # fmt: skip
    assert set(model.short[: model.base]) == {
        "Izz.shoulder", "Izz.elbow", "mx.shoulder", "my.shoulder", "mx.elbow", "my.elbow",
    }  # fmt: skip
    assert model.short[model.base :] == model.names[model.base :] == model.meanings[model.base :]


@pytest.mark.parametrize("kind", get_args(get_args(AnyFriction)[0]), ids=lambda one: one.__name__)
def test_columns_of_all_joints_at_once_are_those_of_each_under_any_law(kind: Any) -> None:
    settings, described = kind(), robot(more=False)
    model = WholeRobot(described, (settings,) * 3)
    (q, dq, ddq), load = motion(), 4.0 * motion()[2]
    for _ in range(2):
        found = model.table(q, dq, ddq, load, REACH, None, model.memory())
        each = list[Floats]()
        for j in range(len(described.joints)):
            law = model.law_of(j)
            speed = dq[:, j] if isinstance(settings, ViscousCoulombSettings) else np.clip(dq[:, j], -REACH[j], REACH[j])
            memory = np.full((len(law.stops), 2), np.nan)
            each += [*law.columns(q[:, j], speed, load[:, j], law.start, memory).T, np.ones(ROWS)]
        assert np.array_equal(found, np.array(each).T)
        model.law_of(1).start[:] *= 1.1  # as a live re-fit of one joint's friction does
