"""Friction by constraint forces: the loads of a bearing, and a whole robot identified with them."""

import tomllib
from pathlib import Path

import numpy as np
import pytest

from daq.state.toml_text import toml_text
from estimators.models.mechanisms.dynamics import ALL, IDEAL
from estimators.models.mechanisms.joint_load import AXIAL, BENDING, RADIAL
from estimators.models.mechanisms.mechanism import Mechanism, MechanismMotion, build, load
from estimators.models.robots.bearing_friction import BearingSettings, carried
from estimators.models.robots.description import RobotDescription, RobotJoint
from estimators.models.robots.files.identified import read
from estimators.models.robots.whole_robot import WholeRobot
from estimators.offline.robot.identification import RobotIdentification, identify
from estimators.offline.robot.motion import pieces
from estimators.online.robot.estimator import RobotEstimator
from estimators.quantities import Axis, Floats
from estimators.rows import RATE, SIGNALS, SMOOTH, SMOOTH_RATE

TABLE = Path(__file__).parents[4] / "docs" / "tree5.toml"
OBLIQUE = [3.0, 5.0, -7.9]  # m/s²: gravity that presses along and across every axis
MU, ARMS = 0.1, {"pin": 0.02, "arm": 0.03, "bending": 0.04}


def mechanism(gravity: list[float], static: float | None = None) -> Mechanism:
    content = load(TABLE).description.model_dump()
    content["gravity"] = gravity
    for link in content["links"]:
        link["bearing"] |= ARMS | {"coulomb": MU, "viscous": 0.3, "stribeck": 0.1, "static": static}
    return build(content)


def robot(of: Mechanism, gravity: list[float]) -> RobotDescription:
    """The mechanism's tree as the whole robot's model has it."""
    links = load(TABLE).description.links
    names = [link.name for link in links]
    joints = []
    for link in links:
        placement = np.eye(4)
        placement[:3, 3] = link.origin
        parent = names.index(link.parent) if link.parent else -1
        joints.append(RobotJoint(link.name, Axis.ROTARY, parent, placement, np.array([0.0, 0.0, 1.0])))
    return RobotDescription("tree", tuple(joints), of.parameters, np.array(gravity))


def motion(seed: int, seconds: float = 24.0, rate: float = 200.0) -> tuple[Floats, MechanismMotion]:
    random, n = np.random.default_rng(seed), 5
    time = np.arange(round(seconds * rate)) / rate
    q = np.zeros((3, len(time), n))
    for k in range(1, 6):
        w, a, phase = 0.6 * k, random.uniform(0.15, 0.6, n) / np.sqrt(k), random.uniform(0, 2 * np.pi, n)
        wave = w * time[:, None] + phase
        q += np.array([a * np.sin(wave), a * w * np.cos(wave), -a * w**2 * np.sin(wave)])
    return time, MechanismMotion(*q)


def identified(gravity: list[float], law: BearingSettings, static: float | None = None) -> RobotIdentification:
    of = mechanism(gravity, static)
    time, moved = motion(1)
    tau = of.inverse(moved, ALL, 1e-3).tau + np.random.default_rng(2).normal(0, 0.02, moved.q.shape)
    return identify(robot(of, gravity), pieces(time, moved.q, tau), [], law=law)


def test_what_a_bearing_carries_is_what_the_mechanism_says() -> None:
    of = mechanism(OBLIQUE)
    _, moved = motion(3, 2.0)
    theirs = of.inverse(moved, IDEAL).loads[:, :, [RADIAL, AXIAL, BENDING]]
    ours = carried(robot(of, OBLIQUE).tree(), of.parameters, *moved)
    assert ours[:, :, 1:] == pytest.approx(theirs, abs=1e-9)
    assert ours[:, :, 0] == pytest.approx(of.inverse(moved, IDEAL).tau, abs=1e-9)


@pytest.fixture(scope="module")
def oblique() -> RobotIdentification:
    return identified(OBLIQUE, BearingSettings(coulomb=False))


@pytest.mark.compiled
def test_the_arms_of_every_bearing_are_found_and_not_negative(oblique: RobotIdentification) -> None:
    found = dict(zip(oblique.found.model().names, oblique.found.theta, strict=True))
    size = dict(zip(oblique.found.model().names, oblique.fit.deviation, strict=True))
    truth = {"radial": MU * 0.02, "axial": MU * 0.03, "bending": MU * 0.02 / 0.04, "viscous": 0.3}
    for joint in oblique.found.robot.names:
        for kind, true in truth.items():
            name = f"{kind}.{joint}"
            assert found[name] >= 0.0, name
            assert abs(found[name] - true) < max(4.0 * size[name], 0.1 * true), name
    assert found["bending.axis1"] == pytest.approx(truth["bending"], rel=0.15)
    assert oblique.validation.error < 1.0
    assert [one.law for one in oblique.verdicts] == ["viscous_coulomb", "bearing"]
    assert oblique.verdicts[1].error < 0.5 * oblique.verdicts[0].error


@pytest.mark.compiled
def test_the_model_file_gives_the_law_to_a_live_robot(oblique: RobotIdentification) -> None:
    again = read(oblique.found.document())
    assert [law.kind for law in again.laws] == ["bearing"] * 5
    time, moved = motion(4, 6.0)
    of = mechanism(OBLIQUE)
    tau = of.inverse(moved, ALL, 1e-3).tau
    live = RobotEstimator(again, 0.005, start=np.inf, teaches=False)
    live.absorb(np.round(1e9 * time).astype(np.int64), moved.q, tau)
    peak, *_ = live.start_residuals()
    assert (peak < 0.05 * np.abs(tau).max(axis=0)).all()
    plain = tau - of.inverse(moved, IDEAL).tau
    assert (peak < 0.5 * np.abs(plain).max(axis=0)).all(), "less than the friction that is explained"


@pytest.mark.compiled
@pytest.mark.slow
def test_columns_that_vertical_axes_make_alike_are_named() -> None:
    """Gravity alone presses along a vertical axis: its friction is Coulomb's."""
    found = identified([0.0, 0.0, -9.8], BearingSettings())
    named = " ".join(one.words for one in found.weak_directions)
    assert "axial" in named
    assert "coulomb" in named


@pytest.mark.parametrize("with_coulomb", [True, False])
def test_stribeck_columns_are_the_others_under_a_peak(with_coulomb: bool) -> None:
    law = BearingSettings(stribeck=0.1, coulomb=with_coulomb).law(Axis.ROTARY)
    speed, loads = np.array([-0.3, 0.05, 0.2]), np.array([[1.0, 5.0, 3.0, 2.0]] * 3)
    columns = law.columns(np.zeros(3), speed, loads, law.start)
    sense, peak = np.sign(speed), np.exp(-((speed / 0.1) ** 2))
    pressed = [sense] * with_coulomb + [5.0 * sense, 3.0 * sense, 2.0 * sense]
    once = np.column_stack(pressed)
    assert columns == pytest.approx(np.column_stack([speed, once, peak[:, None] * once]), rel=1e-12)
    plain = BearingSettings(coulomb=with_coulomb).law(Axis.ROTARY)
    assert plain.columns(np.zeros(3), speed, loads, law.start) == pytest.approx(
        np.column_stack([speed, once]), rel=1e-12
    )
    names = [one.name for one in law.parameters]
    assert names[: len(plain.parameters)] == ["viscous", *["coulomb"] * with_coulomb, "radial", "axial", "bending"]
    assert names[len(plain.parameters) :] == [f"{name}_stribeck" for name in names[1 : len(plain.parameters)]]
    assert all(one.low == 0.0 for one in law.parameters)


def test_what_is_viscous_follows_the_raw_speed_and_what_is_dry_the_smooth_one() -> None:
    law = BearingSettings(stribeck=0.1, transition=0.2).law(Axis.ROTARY)
    signals = np.zeros((1, 5, SIGNALS))
    signals[0, 0, [RATE, SMOOTH_RATE]] = 0.3, 0.2
    signals[0, 1:, SMOOTH] = 1.0, 5.0, 3.0, 2.0
    columns = np.empty((1, len(law.parameters)))
    law.fill(signals, 0, 1, law.start, columns)
    dry = np.tanh(1.0) * np.array([1.0, 5.0, 3.0, 2.0])
    assert columns[0] == pytest.approx([0.3, *dry, *np.exp(-4.0) * dry], rel=1e-12)


def test_a_reversal_is_as_wide_as_it_is_told() -> None:
    law = BearingSettings(transition=0.2).law(Axis.ROTARY)
    columns = law.columns(np.zeros(2), np.array([0.2, -0.1]), np.ones((2, 4)), law.start)
    assert columns[:, 1] == pytest.approx(np.tanh([1.0, -0.5]), rel=1e-12)
    assert columns[:, 2:] == pytest.approx(np.tanh([[1.0] * 3, [-0.5] * 3]), rel=1e-12)


def test_what_a_slide_carries_is_across_it_about_it_and_bending_it() -> None:
    """2 kg, 0.3 m beside a slide along y: the weight presses, turns it; accelerated it is bent, too."""
    parameters = np.array([[2.0, 0.6, 0.0, 0.0, 0.0, 0.0, 0.18, 0.0, 0.0, 0.18]])
    slide = RobotJoint("slide", Axis.PRISMATIC, -1, np.eye(4), np.array([0.0, 1.0, 0.0]))
    tree = RobotDescription("slide", (slide,), parameters).tree()
    found = carried(tree, parameters, *np.array([[[0.1]], [[0.2]], [[-1.5]]]))
    assert found[0, 0] == pytest.approx([-3.0, 2.0 * 9.81, 0.6 * 9.81, 0.9], rel=1e-12)


@pytest.mark.compiled
@pytest.mark.slow
def test_stribeck_columns_take_the_peak_at_low_speed() -> None:
    plain = identified(OBLIQUE, BearingSettings(coulomb=False), static=0.2)
    peaked = identified(OBLIQUE, BearingSettings(coulomb=False, stribeck=0.1), static=0.2)
    assert peaked.validation.error < 0.6 * plain.validation.error
    names = peaked.found.model().names
    assert {f"{kind}_stribeck.axis3" for kind in ("radial", "axial", "bending")} <= set(names)


def test_without_loads_of_bearings_nothing_changes_for_other_laws() -> None:
    assert WholeRobot(robot(mechanism(OBLIQUE), OBLIQUE)).loads == 1


@pytest.mark.compiled
def test_a_model_with_that_law_is_written_and_read_again(oblique: RobotIdentification) -> None:
    """No key of the law that is not said may be in the way: TOML has no word for nothing."""
    again = read(tomllib.loads(toml_text(oblique.found.document())))
    assert again.laws == oblique.found.laws
    assert again.theta == pytest.approx(oblique.found.theta)
