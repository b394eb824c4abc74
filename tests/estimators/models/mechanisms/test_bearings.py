"""Friction of bearings under their own load: closed forms, and where the power goes that is put in."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from estimators.models.mechanisms.description import MechanismError
from estimators.models.mechanisms.dynamics import ACTIVE, ALL, IDEAL
from estimators.models.mechanisms.joint_load import AXIAL, BENDING, NORMAL, RADIAL, RUB
from estimators.models.mechanisms.mechanism import Mechanism, MechanismMotion, build, load
from estimators.quantities import Floats

pytestmark = pytest.mark.interpreted
DOCS = Path(__file__).parents[4] / "docs"
G, MASS, FAR = 9.81, 3.0, 0.5
PIN, ARM, BENT, OVERLAP = 0.02, 0.03, 0.05, 0.2
MU, STATIC, SPEED_S, VISCOUS = 0.1, 0.16, 0.4, 0.7
EPSILON = 1e-4


def single(kind: str, axis: tuple[float, float, float], static: float | None = None) -> Mechanism:
    """One link whose mass lies FAR along x from its joint; gravity is along −z."""
    bearing = {"pin": PIN, "arm": ARM, "bending": BENT, "overlap": OVERLAP, "coulomb": MU, "viscous": VISCOUS}
    bearing |= {"static": static, "stribeck": SPEED_S}
    link = {"name": "link", "kind": kind, "axis": axis, "mass": MASS, "centre": (FAR, 0.0, 0.0), "bearing": bearing}
    return build({"links": [link], "gravity": (0.0, 0.0, -G)})


def steady(mechanism: Mechanism, speed: float) -> Any:
    motion = MechanismMotion(np.zeros((1, 1)), np.full((1, 1), speed), np.zeros((1, 1)))
    return mechanism.inverse(motion, ALL, EPSILON)


@pytest.mark.parametrize("speed", [0.3, -0.9, 0.5e-4])
@pytest.mark.parametrize("static", [None, STATIC])
def test_a_vertical_axis_rubs_by_the_weight_along_it_the_centrifugal_force_and_the_overhang(
    speed: float, static: float | None
) -> None:
    """f_a = m g, f_r = m ω² l, m_b = m g l; the axis carries no torque but friction's."""
    found = steady(single("revolute", (0.0, 0.0, 1.0), static), speed)
    across, along, bent = MASS * speed**2 * FAR, MASS * G, MASS * G * FAR
    normal = PIN * across + ARM * along + PIN / BENT * bent
    mu = MU if static is None else MU + (static - MU) * np.exp(-((speed / SPEED_S) ** 2))
    friction = mu * normal * np.tanh(speed / EPSILON) + VISCOUS * speed
    assert found.loads[0, 0, [RADIAL, AXIAL, BENDING, NORMAL, RUB]] == pytest.approx(
        [across, along, bent, normal, friction], rel=1e-12
    )
    assert found.tau[0, 0] == pytest.approx(friction, rel=1e-12)


@pytest.mark.parametrize("speed", [0.2, -0.2])
def test_a_slide_rubs_by_what_presses_it_bends_it_and_turns_it(speed: float) -> None:
    """Along y, the mass FAR to its side along x: the weight presses and turns it; accelerated it is bent, too."""
    mechanism, second = single("prismatic", (0.0, 1.0, 0.0)), 1.5
    motion = MechanismMotion(np.zeros((1, 1)), np.full((1, 1), speed), np.full((1, 1), second))
    found = mechanism.inverse(motion, ALL, EPSILON)
    across, about, bent = MASS * G, MASS * G * FAR, MASS * second * FAR
    normal = across + bent / OVERLAP + about / ARM
    friction = MU * normal * np.tanh(speed / EPSILON) + VISCOUS * speed
    assert found.loads[0, 0, [RADIAL, AXIAL, BENDING, NORMAL, RUB]] == pytest.approx(
        [across, about, bent, normal, friction], rel=1e-12
    )
    assert found.tau[0, 0] == pytest.approx(MASS * second + friction, rel=1e-12)


def test_a_tilted_axis_splits_the_weight_into_what_is_along_and_across_it() -> None:
    tilt = 0.4
    mechanism = single("revolute", (np.sin(tilt), 0.0, np.cos(tilt)))
    still = MechanismMotion(*np.zeros((3, 1, 1)))
    loads = mechanism.ideal(still).loads[0, 0]
    force, moment = np.array([0.0, 0.0, MASS * G]), np.array([0.0, -MASS * G * FAR, 0.0])
    axis = np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    assert loads[AXIAL] == pytest.approx(force @ axis)
    assert loads[RADIAL] == pytest.approx(np.linalg.norm(np.cross(axis, force)))
    assert loads[BENDING] == pytest.approx(np.linalg.norm(np.cross(axis, moment)))


def spin(mechanism: Mechanism, motion: MechanismMotion) -> Floats:
    """Relative speeds of all joints: the tree's own, and how fast the cuts turn. (rows, n + cuts)."""
    _, turns = mechanism.loops(motion.q)
    return np.hstack([motion.dq, np.einsum("rcn,rn->rc", turns, motion.dq)])


def rubbing_leg() -> Mechanism:
    content = load(DOCS / "leg.toml").description.model_dump()
    for i, one in enumerate((*content["links"], *content["cuts"])):
        one["bearing"] |= {"coulomb": 0.05 + 0.01 * i, "viscous": 0.02 * i, "static": 0.08 + 0.01 * i, "stribeck": 0.2}
    return build(content)


def turned(mechanism: Mechanism, angle: Floats, speed: Floats, second: Floats) -> MechanismMotion:
    q, dq, ddq = np.zeros((3, len(angle), mechanism.size()))
    driven = int(np.flatnonzero(mechanism.drive)[0])
    q[:, driven], dq[:, driven], ddq[:, driven] = angle, speed, second
    return mechanism.fit(q, dq, ddq)


@pytest.mark.parametrize("mode", [IDEAL, ALL])
@pytest.mark.parametrize("way", [1.0, -1.0])
def test_what_a_drive_puts_in_moves_the_links_lifts_them_or_is_rubbed_off(mode: int, way: float) -> None:
    """τ q̇ = dE/dt + Σ τ_f ω over every joint and cut, dE/dt from central differences of the energy."""
    leg, h = rubbing_leg(), 1e-5
    angle, speed, second = np.linspace(-0.4, 0.4, 4), np.full(4, 0.6 * way), np.full(4, -0.8)
    here = turned(leg, angle, speed, second)
    ends = [turned(leg, angle + s * speed + 0.5 * s**2 * second, speed + s * second, second) for s in (h, -h)]
    power = (leg.energy(ends[0]) - leg.energy(ends[1])) / (2.0 * h)
    found = leg.inverse(here, mode, 1e-3)
    rubbed = np.sum(found.loads[:, :, RUB] * spin(leg, here), axis=1) if mode == ALL else np.zeros(4)
    assert np.einsum("rn,rn->r", found.tau, here.dq) == pytest.approx(power + rubbed, rel=1e-6, abs=1e-6)
    if mode == ALL:
        assert (found.loads[:, :, RUB] * spin(leg, here) >= 0.0).all(), "friction takes power out, never in"
        assert (rubbed > 0.05 * np.abs(power)).all(), "and enough of it to be seen"


def test_every_joint_and_cut_rubs_by_its_own_load_and_numbers() -> None:
    leg = rubbing_leg()
    here = turned(leg, np.linspace(-0.4, 0.4, 4), np.full(4, 0.6), np.full(4, -0.8))
    loads, speeds = leg.inverse(here, ALL, 1e-3).loads, spin(leg, here)
    for i, one in enumerate((*leg.description.links, *leg.description.cuts)):
        pin, arm, bent = (getattr(one.bearing, name) for name in ("pin", "arm", "bending"))
        normal = pin * loads[:, i, RADIAL] + arm * loads[:, i, AXIAL] + pin / bent * loads[:, i, BENDING]
        dry = 0.05 + 0.01 * i + 0.03 * np.exp(-((speeds[:, i] / 0.2) ** 2))
        friction = dry * normal * np.tanh(speeds[:, i] / 1e-3) + 0.02 * i * speeds[:, i]
        assert loads[:, i, NORMAL] == pytest.approx(normal, rel=1e-12), one.name
        assert loads[:, i, RUB] == pytest.approx(friction, rel=1e-9), one.name
        assert (loads[:, i, RADIAL] > 0.0).all()


def test_friction_of_drives_alone_is_added_where_they_are() -> None:
    leg = rubbing_leg()
    here = turned(leg, np.linspace(-0.4, 0.4, 4), np.full(4, 0.6), np.full(4, -0.8))
    ideal, active = leg.ideal(here), leg.inverse(here, ACTIVE, 1e-3)
    driven = leg.drive == 1
    assert active.tau[:, driven] - ideal.tau[:, driven] == pytest.approx(active.loads[:, :7, RUB][:, driven], rel=1e-12)
    assert not active.tau[:, ~driven].any()
    assert active.cut_forces == pytest.approx(ideal.cut_forces, rel=1e-12)
    assert (ideal.iterations == 1).all()
    assert (active.iterations == 1).all()


def test_a_loop_says_how_often_its_friction_was_asked_and_how_fast_that_settled() -> None:
    """Each step is the one before times ρ: after as many as it took, less than 1e-10 of the largest torque is left."""
    leg = rubbing_leg()
    found = leg.inverse(turned(leg, np.linspace(-0.4, 0.4, 4), np.full(4, 0.6), np.full(4, -0.8)), ALL, 1e-3)
    assert (found.iterations > 2).all()
    assert ((found.contraction > 0.0) & (found.contraction < 0.9)).all()
    content = leg.description.model_dump()
    for one in (*content["links"], *content["cuts"]):
        one["bearing"] |= {"pin": 1.0, "arm": 1.0}
    locked = build(content)
    motion = turned(locked, np.zeros(1), np.full(1, 0.6), np.zeros(1))
    with pytest.raises(
        MechanismError, match=r"row 0: the friction .* does not settle \(contraction [0-9.]+, below 0.9"
    ):
        locked.inverse(motion)
    settled = locked.ideal(motion)
    assert np.isfinite(settled.tau).all()


def test_a_mechanism_a_million_times_lighter_settles_as_well() -> None:
    """Dry friction by load scales with all masses: so do torques, and no step more or less is taken."""
    heavy = load(DOCS / "leg.toml").description.model_dump()
    for one in (*heavy["links"], *heavy["cuts"]):
        one["bearing"] |= {"coulomb": 0.1, "viscous": 0.0, "static": None}
    light = build(heavy).description.model_dump()
    for link in light["links"]:
        link["mass"] *= 1e-6
        link["inertia"] = tuple(1e-6 * one for one in link["inertia"])
    solutions, places = [], []
    for mechanism in (build(heavy), build(light)):
        here = turned(mechanism, np.linspace(-0.4, 0.4, 4), np.full(4, 0.6), np.full(4, -0.8))
        found = mechanism.inverse(here, ALL, 1e-3)
        solutions.append(found)
        places.append(mechanism.forward(here.q, here.dq, found.tau, ALL, 1e-3))
    for one, other in (solutions, places):
        assert other.iterations.tolist() == one.iterations.tolist()
        assert other.contraction == pytest.approx(one.contraction, rel=1e-3)
        assert 1e6 * other.tau == pytest.approx(one.tau, abs=1e-8 * np.abs(one.tau).max())
    assert solutions[0].iterations.min() > 2


def test_a_sign_is_smooth_over_1e_4_rad_a_second_and_ten_times_that_where_it_is_integrated() -> None:
    mechanism = single("revolute", (0.0, 0.0, 1.0))
    found = mechanism.inverse(MechanismMotion(np.zeros((1, 1)), np.full((1, 1), 1e-4), np.zeros((1, 1))))
    dry = MU * (ARM * MASS * G + PIN / BENT * MASS * G * FAR)
    assert found.tau[0, 0] == pytest.approx(dry * np.tanh(1.0) + VISCOUS * 1e-4, rel=1e-6)
    slowed = mechanism.forward(np.zeros((1, 1)), np.full((1, 1), 1e-3), np.zeros((1, 1)))
    pressed = MU * PIN * MASS * FAR * np.tanh(1.0)  # by what slows the mass down itself, for each rad/s²
    assert slowed.ddq[0, 0] == pytest.approx(
        -(dry * np.tanh(1.0) + VISCOUS * 1e-3) / (MASS * FAR**2 - pressed), rel=1e-6
    )


def test_other_links_on_the_same_joints_weigh_what_is_stated_of_them() -> None:
    mechanism = single("revolute", (0.0, 1.0, 0.0))
    still = MechanismMotion(*np.zeros((3, 1, 1)))
    heavier = mechanism.with_parameters(2.0 * mechanism.parameters)
    assert heavier.ideal(still).tau[0, 0] == pytest.approx(2.0 * mechanism.ideal(still).tau[0, 0], rel=1e-12)
    assert mechanism.ideal(still).tau[0, 0] == pytest.approx(-MASS * G * FAR, rel=1e-12), "as it was"


def test_a_file_that_is_none_is_said(tmp_path: Path) -> None:
    with pytest.raises(MechanismError, match=r"none\.toml: No such file"):
        load(tmp_path / "none.toml")
    file = tmp_path / "bad.toml"
    file.write_text("links = [")
    with pytest.raises(MechanismError, match=r"bad\.toml: "):
        load(file)
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(MechanismError, match=r"bad\.toml: "):
        load(file)


def test_what_a_link_does_not_say_is_the_plainest() -> None:
    """About z, at its parent's origin, its mass there, driven, without friction, under 9.81 m/s² along -z."""
    plain = build({"links": [{"name": "a", "mass": 1.0}, {"name": "b", "parent": "a", "mass": 2.0}]})
    moved = MechanismMotion(*np.array([[[0.3, 0.4]], [[1.0, -2.0]], [[3.0, 4.0]]]))
    found = plain.inverse(moved)
    assert found.tau == pytest.approx(np.zeros((1, 2)), abs=1e-12)
    assert found.loads[0, :, AXIAL] == pytest.approx([3.0 * 9.81, 2.0 * 9.81], rel=1e-12)
    assert found.loads[0, :, [RADIAL, BENDING]] == pytest.approx(np.zeros((2, 2)), abs=1e-12)
    hung = build({"links": [{"name": "a", "mass": 1.0, "axis": (0.0, 1.0, 0.0), "centre": (1.0, 0.0, 0.0)}]})
    assert hung.ideal(MechanismMotion(*np.zeros((3, 1, 1)))).tau[0, 0] == pytest.approx(-9.81, rel=1e-12)


@pytest.mark.parametrize("way", ["inverse", "forward"])
def test_a_row_that_stays_has_settled_at_once_and_says_so_of_itself(way: str) -> None:
    """It begins with the friction of the row before it, and nothing else of that row."""
    leg = rubbing_leg()
    here = turned(leg, np.full(2, 0.2), np.full(2, 0.6), np.full(2, -0.8))
    found = leg.inverse(here, ALL, 1e-3)
    if way == "forward":
        found = leg.forward(here.q, here.dq, found.tau, ALL, 1e-3)
    assert found.iterations[0] > 2
    assert found.iterations[1] == 1
    assert found.contraction[0] > 0.0
    assert found.contraction[1] == 0.0


def test_a_pose_in_which_loops_fold_flat_is_reported() -> None:
    """A parallelogram of four rods of 1 m, folded onto one line: it may leave that in two ways."""
    rod = {"mass": 1.0, "inertia": (0.1, 0.1, 0.1, 0.0, 0.0, 0.0)}
    links = [
        rod | {"name": "crank"},
        rod | {"name": "coupler", "parent": "crank", "origin": (0.0, 1.0, 0.0), "drive": False},
        rod | {"name": "rocker", "origin": (1.0, 0.0, 0.0), "drive": False},
    ]
    cut = {
        "name": "end",
        "link": "coupler",
        "point": (1.0, 0.0, 0.0),
        "other": "rocker",
        "other_point": (0.0, 1.0, 0.0),
    }
    mechanism = build({"links": links, "cuts": [cut]})
    flat = np.array([[-0.5, 0.5, -0.5]]) * np.pi
    upright = np.zeros((1, 3))
    q, nothing = np.vstack([upright, flat]), np.zeros((2, 3))
    with pytest.raises(MechanismError, match="row 1: a singular pose"):
        mechanism.inverse(MechanismMotion(q, nothing, nothing))
    with pytest.raises(MechanismError, match="row 1: a singular pose"):
        mechanism.forward(q, nothing, nothing)
