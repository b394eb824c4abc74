"""What a page is told: bounded, decimated, and the same in pieces as at once."""

import math
from collections.abc import Callable
from typing import Any

import msgpack
import numpy as np
import pytest

from daq.outlet.history import CLEARANCE, ESTIMATES, EVENTS, RESIDUALS, WEAR, History, JointLabel
from daq.stream.curve_points import pack
from daq.stream.update import Map, Publication
from estimators.base import Estimate, Phase, Status
from estimators.models.curves import Curves
from estimators.models.joints.friction_only import FrictionOnlySettings
from estimators.models.joints.rigid import RigidSettings
from estimators.models.joints.two_mass import TwoMassSettings
from estimators.online.joint import JointEstimator
from estimators.online.reporting.inspection import Inspection
from estimators.online.settings import JointIdentification
from hil_rig.plants.joints.two_mass import TwoMassPlantSettings as Rig

LABEL = JointLabel("elbow", "N·m", {"inertia": "kg·m²", "viscous": "N·m·s/rad"})


def rows(packed: bytes, columns: int) -> np.ndarray:
    return np.frombuffer(packed, "<f4").reshape(-1, columns)


def history_of(make_estimate: Callable[..., Estimate], seconds: float) -> History:
    history, publication = History("r", [LABEL]), Publication("r", "elbow", 1, "N·m")
    for now in 1e9 + np.arange(0, seconds, 0.02):
        for topic, payload in (
            publication.estimate(make_estimate(), float(now), float(now), 1e-4),
            publication.residual(make_estimate(), float(now)),
        ):
            history.absorb(topic.decode(), msgpack.unpackb(payload), float(now))
    return history


def test_a_snapshot_shows_the_past(make_estimate: Callable[..., Estimate]) -> None:
    told = history_of(make_estimate, 10).snapshot(1e9 + 10)["joints"]["elbow"]
    estimates, residuals = rows(told["estimates"], 7), rows(told["residuals"], 3)
    assert len(estimates) == pytest.approx(10 * ESTIMATES, rel=0.05)
    assert len(residuals) == pytest.approx(10 * RESIDUALS, rel=0.05)
    np.testing.assert_allclose(estimates[0, 1:], [0.011, 0.9995, 0.5, 1.25, 0.002, 0.03], rtol=1e-6)
    assert told["names"] == ("inertia", "viscous")
    assert told["units"] == ["kg·m²", "N·m·s/rad"]
    assert told["state"]["phase"] == "normal"


def test_a_joint_with_other_parameters_starts_anew(make_estimate: Callable[..., Estimate]) -> None:
    history = History("r", [JointLabel("elbow", "N·m", {"mass": "kg"})])
    topic, payload = Publication("r", "elbow", 1, "N·m").estimate(make_estimate(), 1e9, 1e9, 0.0)
    history.absorb(topic.decode(), msgpack.unpackb(payload), 1e9)
    told = history.snapshot(1e9)["joints"]["elbow"]
    assert told["names"] == ("inertia", "viscous")
    assert rows(told["estimates"], 7).shape == (1, 7)


@pytest.mark.parametrize(("effort", "units"), [("N·m", ["rad", "rad/s", "N·m"]), ("N", ["m", "m/s", "N"])])
def test_a_channel_has_the_unit_of_its_role_on_a_joint_that_turns_or_slides(effort: str, units: list[str]) -> None:
    label = JointLabel("elbow", effort, {})
    roles = ("link_position", "motor_velocity", "joint_torque" if effort == "N·m" else "force")
    assert [label.unit_of(role) for role in roles] == units
    assert (label.unit_of("temperature"), label.unit_of("near_x")) == ("°C", "")


def test_a_joint_before_its_first_update_is_there_already() -> None:
    told = History("r", [LABEL]).snapshot(1.0)["joints"]["elbow"]
    assert (told["names"], told["state"], told["estimates"]) == (("inertia", "viscous"), {}, b"")


def test_events_are_reported_once_and_the_last_are_kept() -> None:
    history, publication = History("r", [LABEL]), Publication("r", "elbow", 1, "N·m")
    for number in range(EVENTS + 50):
        topic, payload = publication.event("alarm", str(number), float(number))
        history.absorb(topic.decode(), msgpack.unpackb(payload), 1.0)
    assert len(history.tick(1.0)["events"]) == EVENTS + 50
    assert history.tick(1.0)["events"] == []
    kept = history.snapshot(1.0)["events"]
    assert (len(kept), kept[-1]["text"]) == (EVENTS, str(EVENTS + 49))


def test_a_baseline_is_drawn_until_another_one_is_told_of() -> None:
    """With η of its own; after the event `baseline` it takes another comparison to draw one again."""
    model = FrictionOnlySettings()
    history, publication = History("r", [JointLabel.of("elbow", model)]), Publication("r", "elbow", 1, "N·m")
    curves = Curves(model.build())
    now, before = np.array([25.0, 590.0, 75.0, 40.0, 0.05, 0.14]), np.array([20.0, 500.0, 70.0, 40.0, 0.08, 0.2])
    estimate = Estimate(
        time=0, phase=Phase.NORMAL, status=Status.VALID, reasons=(), names=curves.names, values=now,
        deviations=np.ones(6), error=0.01, forgetting=1.0, measured=0.0, predicted=0.0, progress=100.0,
    )  # fmt: skip
    inspection = Inspection(np.array([0]), np.array([[1.0, 90.0, np.nan, np.nan]]), np.ones(6), 0.0, 1.0)
    drift = {
        "since": 1.0,
        "drifted": [],
        "cause": "",
        "baseline": dict(zip(curves.names, before.tolist(), strict=True)),
    }
    drift |= {key: dict.fromkeys(curves.names, 0.0) for key in ("change", "percent", "z")}

    def drawn(*messages: tuple[bytes, bytes]) -> dict[str, bytes]:
        for topic, body in messages:
            history.absorb(topic.decode(), msgpack.unpackb(body), 1.0)
        return dict(history.snapshot(1.0)["joints"]["elbow"]["laws"])

    begin = (publication.estimate(estimate, 0.0, 0.0, 0.0), pack("elbow", inspection, 0))
    velocity, torque = rows(drawn(*begin, publication.drift(drift, 0.0))["friction_baseline"], 2).T
    np.testing.assert_allclose(torque, curves.friction(before, velocity.astype(np.float64)), rtol=1e-4, atol=0.01)
    assert "friction_baseline" not in drawn(publication.event("baseline", "it is of another friction law", 1.0))
    assert "friction_baseline" in drawn(publication.drift(drift, 2.0))
    standing = history.current_values("elbow")
    assert standing is not None
    assert standing.friction == {"kind": "tanh_stribeck", "exponent": 1.0, "stiffness": True}


@pytest.mark.compiled
def test_the_law_that_is_drawn_is_the_one_in_use() -> None:
    """A joint whose exponent is 2 and was configured as 1: from the event `law` on its curve has the exponent 2."""
    plant = Rig.model_validate({"identify": "friction", "delta_s": 2.0}).build(1, 1, [])
    columns = [f"{message.name}.{field.name}" for message in plant.messages for field in message.fields]
    measured = plant.rows(11_000)
    model = dict(plant.model) | {"friction": plant.model["friction"] | {"exponent": 1.0}}
    settings = JointIdentification.model_validate({"model": model, "start": 8.5, "standstill": 0.01})
    joint = JointEstimator(settings, 1e-3)
    roles = [plant.roles[role] for role in joint.channels]
    table = np.column_stack([measured[:, columns.index(one.signal)] * one.scale for one in roles])
    history = History("robot", [JointLabel.of("elbow", settings.model)])
    publication = Publication("robot", "elbow", 1, "N·m")
    exponents = []
    for first in range(0, len(table), 1000):
        joint.absorb((first + np.arange(1000)) * 1_000_000, table[first : first + 1000])
        inspection, estimate = joint.inspect(), joint.estimate()
        assert inspection is not None
        for topic, body in (pack("elbow", inspection, 0), publication.estimate(estimate, first * 1e-3, 0.0, 0.0)):
            history.absorb(topic.decode(), msgpack.unpackb(body), first * 1e-3)
        exponents.append((inspection.law or model["friction"])["exponent"])
    assert "law" in [event.kind for event in joint.events()]
    assert (exponents[0], exponents[-1]) == (1.0, 2.0)
    told = history.snapshot(11.0)["joints"]["elbow"]["laws"]
    velocity, drawn = np.frombuffer(told["friction"], "<f4").reshape(-1, 2).T.astype(np.float64)
    other = model | {"friction": model["friction"] | {"exponent": 2.0}}
    right = Curves(JointIdentification.model_validate({"model": other}).model.build())
    np.testing.assert_allclose(drawn, right.friction(estimate.values, velocity), rtol=1e-3, atol=0.05)
    wrong = Curves(settings.model.build()).friction(estimate.values, velocity)
    assert np.abs(drawn - wrong).max() > 1.0, "the curves do differ"


def absorbed(
    history: History, *messages: tuple[bytes, bytes] | tuple[str, dict[str, Any]], now: float = 1e9
) -> History:
    for topic, body in messages:
        name, update = (topic, body) if isinstance(topic, str) else (topic.decode(), msgpack.unpackb(body))
        history.absorb(name, update, now)
    return history


def totals(**joints: Map) -> tuple[str, Map]:
    return "status/core", {"timestamp": 7.0, "drivers": {"can0": {"up": True, "readings": 9}}, "joints": joints}


def samples(time: float, velocity: float = 1.0, **more: Any) -> tuple[bytes, bytes]:
    """What the page draws beside: one point, 5 N·m of friction at this velocity."""
    points = np.array([[velocity, 5.0, np.nan, np.nan]])
    told = Inspection(np.array([round(time * 1e9)]), points, np.array([0.9, 0.2]), 0.25, 1.5)._replace(**more)
    return pack("elbow", told._replace(time=told.time[:1] + 10**9 * np.arange(len(told.points))), 0)


def test_the_newest_is_reported_in_words_and_numbers_with_every_unit(make_estimate: Callable[..., Estimate]) -> None:
    publication = Publication("r", "elbow", 1, "N·m")
    history = absorbed(
        History("arm7", [LABEL, LABEL._replace(name="base")]),
        totals(elbow={"samples": 100, "updates": 5, "lost": {"late": 2}}),
        publication.estimate(make_estimate(), 5.0, 5.0, 1e-4),
        publication.residual(make_estimate(), 5.0),
        samples(5.0),
    )
    told = history.latest(1e9)
    assert (told["robot"], told["now"], told["counted"]) == ("arm7", 1e9, 7.0)
    assert told["drivers"] == {"can0": {"up": True, "readings": 9}}
    elbow = told["joints"]["elbow"]
    assert elbow["parameters"] == {
        "inertia": {"value": 0.5, "deviation": 0.002, "unit": "kg·m²"},
        "viscous": {"value": 1.25, "deviation": 0.03, "unit": "N·m·s/rad"},
    }
    assert (elbow["measured"], elbow["predicted"], elbow["unit"]) == (3.0, 2.75, "N·m")
    assert (elbow["excitation"], elbow["alarm"]) == ({"inertia": 0.9, "viscous": 0.2}, [0.25])
    assert (elbow["timestamp"], elbow["received"], elbow["latency"], elbow["boot"]) == (5.0, 1e9, 1e-4, 1)
    assert (elbow["error"], elbow["forgetting"], elbow["progress"]) == (0.011, 0.9995, 100.0)
    assert (elbow["samples"], elbow["updates"], elbow["lost"]) == (100, 5, {"late": 2})
    base = told["joints"]["base"]
    assert (base["parameters"], base["unit"], base["alarm"], base["drift"]) == ({}, "N·m", None, {})
    assert "measured" not in base
    assert "lost_motion" not in base, "its gear is not watched"


def test_the_state_has_the_last_fifty_events() -> None:
    publication = Publication("r", "elbow", 1, "N·m")
    history = absorbed(History("r", [LABEL]), *(publication.event("alarm", str(k), float(k)) for k in range(70)))
    assert [one["text"] for one in history.latest(1e9)["events"]] == [str(k) for k in range(20, 70)]
    window = absorbed(history, publication.event("refit", "moved", 9.0, (2.0, 8.0))).latest(1e9)["events"][-1]
    assert window == {"timestamp": 9.0, "joint": "elbow", "kind": "refit", "text": "moved", "from": 2.0, "to": 8.0}


def test_a_joint_that_nobody_named_begins_when_it_speaks_and_a_page_is_told(
    make_estimate: Callable[..., Estimate],
) -> None:
    history = History("r", [LABEL])
    told = [history.layout]
    for name in ("elbow", "elbow", "wrist", "wrist"):
        absorbed(history, Publication("r", name, 1, "N").estimate(make_estimate(), 1e9, 1e9, 0.0))
        told.append(history.layout)
    assert told[:3] == [told[0]] * 3
    assert told[3] > told[0]
    assert told[4] == told[3]
    absorbed(history, Publication("r", "wrist", 1, "N").residual(make_estimate(), 1e9))
    wrist = history.snapshot(1e9)["joints"]["wrist"]
    assert (wrist["unit"], wrist["units"], wrist["meanings"]) == ("N", ["", ""], ["", ""])


def test_a_snapshot_has_what_does_not_change_and_a_tick_only_what_came(make_estimate: Callable[..., Estimate]) -> None:
    label = JointLabel.of("elbow", TwoMassSettings(), gear=True)
    history = absorbed(History("r", [label, JointLabel.of("base", RigidSettings())]), totals(elbow={"samples": 1}))
    snapshot, tick = history.snapshot(1e9), history.tick(1e9)
    elbow, base = snapshot["joints"]["elbow"], snapshot["joints"]["base"]
    assert (snapshot["snapshot"], tick["snapshot"]) == (True, False)
    assert (elbow["unit"], elbow["geared"], elbow["elastic"]) == ("N·m", True, True)
    assert (base["geared"], base["elastic"]) == (False, False)
    assert dict(zip(base["names"], base["units"], strict=True))["viscous"] == "N·m·s/rad"
    assert dict(zip(base["names"], base["meanings"], strict=True))["viscous"]
    assert "names" not in tick["joints"]["elbow"]
    for told in (snapshot, tick):
        assert (told["robot"], told["now"], told["base"], told["counted"]) == ("r", 1e9, 1e9, 7.0)
        assert told["joints"]["elbow"]["totals"] == {"samples": 1, "losses": {}}


def test_a_tick_has_the_rows_since_the_last_and_what_nobody_looked_at_is_in_the_snapshot_alone(
    make_estimate: Callable[..., Estimate],
) -> None:
    publication, history = Publication("r", "elbow", 1, "N·m"), History("r", [LABEL])
    columns = {"estimates": 7, "residuals": 3, "points": 5, "alarms": 2, "gears": 3}

    def come(time: float) -> None:
        gear = {"known": True, "parameters": {"lost_motion": 1e-4}, "deviations": {"lost_motion": 2e-6}}
        absorbed(
            history,
            publication.estimate(make_estimate(), time, time, 0.0),
            publication.residual(make_estimate(), time),
            samples(time),
            publication.lost_motion(gear, time),
        )

    def counted(told: Map) -> dict[str, int]:
        return {name: len(rows(told["joints"]["elbow"][name], n)) for name, n in columns.items()}

    come(10.0)
    assert counted(history.tick(10.0)) == dict.fromkeys(columns, 1)
    assert counted(history.tick(10.0)) == dict.fromkeys(columns, 0)
    come(12.0)
    history.skip()
    come(14.0)
    told = history.tick(14.0)
    assert counted(told) == dict.fromkeys(columns, 1) | {"gears": 2}, "few rows: those of the gear may come twice"
    whole = history.snapshot(14.0)
    assert counted(whole) == dict.fromkeys(columns, 3)
    elbow = whole["joints"]["elbow"]
    np.testing.assert_allclose(rows(elbow["residuals"], 3)[-1], [0.0, 3.0, 2.75])
    np.testing.assert_allclose(rows(elbow["points"], 5)[0], [-4.0, 1.0, 5.0, np.nan, np.nan])
    np.testing.assert_allclose(rows(elbow["alarms"], 2)[0], [-4.0, 0.25])
    np.testing.assert_allclose(rows(elbow["gears"], 3)[0], [-4.0, 1e-4, 2e-6])
    assert (elbow["usual"], elbow["excitation"]) == (1.5, [0.9, 0.2])


def test_a_cloud_has_three_thousand_points_however_many_came() -> None:
    """The points are spread evenly over two minutes, and are no more because a page could not draw them in time."""
    history = History("r", [LABEL])
    for start in np.arange(0.0, 200.0, 10.0):
        cloud = samples(0.0, points=np.zeros((1000, 4)))
        body = msgpack.unpackb(cloud[1])
        table = np.frombuffer(body["points"], "<f8").reshape(-1, 5).copy()
        table[:, 0] = start + 0.01 * np.arange(1000)
        history.absorb("samples/elbow", body | {"points": table.tobytes()}, 1.0)
    kept = rows(history.snapshot(200.0)["joints"]["elbow"]["points"], 5)
    assert len(kept) == 3000
    assert np.diff(kept[:, 0]).max() < 0.05


def test_laws_and_what_changes_slowly_are_reported_twice_a_second_and_with_every_snapshot() -> None:
    history = History("r", [LABEL])
    assert "laws" in history.tick(100.0)["joints"]["elbow"]
    assert "laws" not in history.tick(100.4)["joints"]["elbow"]
    assert "laws" in history.tick(100.6)["joints"]["elbow"]
    assert "laws" in history.snapshot(100.7)["joints"]["elbow"]
    assert "laws" not in history.tick(100.8)["joints"]["elbow"]
    assert {"drift", "gear", "excitation", "usual"} <= history.tick(20.0)["joints"]["elbow"].keys(), "a clock set back"


def test_drift_and_gear_are_reported_as_they_came_and_nothing_else_of_them(
    make_estimate: Callable[..., Estimate],
) -> None:
    publication = Publication("r", "elbow", 1, "N·m")
    drift = {
        "since": 3.0, "drifted": ["viscous"], "baseline": {"viscous": 1.0}, "percent": {"viscous": 25.0},
        "z": {"viscous": 8.0}, "change": {"viscous": 0.25},
    }  # fmt: skip
    gear = {"known": False, "reasons": ["it does not turn around"], "parameters": {}, "deviations": {}, "other": 1}
    history = History("r", [LABEL._replace(gear=True)])
    absorbed(history, publication.drift(drift, 4.0), publication.lost_motion(gear, 4.0))
    told = history.latest(1e9)["joints"]["elbow"]
    todo = {"viscous": "Is it colder or warmer than at its baseline? If not, check lubrication and bearings."}
    assert told["drift"] == {key: value for key, value in drift.items() if key != "change"} | {
        "cause": "",
        "todo": todo,
    }
    assert told["lost_motion"] == {key: value for key, value in gear.items() if key != "other"} | {"timestamp": 4.0}
    [row] = rows(history.snapshot(4.0)["joints"]["elbow"]["gears"], 3)
    np.testing.assert_array_equal(row, [0.0, np.nan, np.nan])
    absorbed(history, publication.drift(drift | {"cause": "it is warmer"}, 5.0))
    assert history.latest(1e9)["joints"]["elbow"]["drift"]["cause"] == "it is warmer"


def test_wear_and_clearance_are_reported_as_they_came_and_nothing_else_of_them() -> None:
    history = History("r", [LABEL])
    before = history.layout
    history.absorb("wear/elbow", {key: f"{key} of elbow" for key in (*WEAR, "other")}, 1e9)
    assert history.layout == before, "a page has a place for it"
    history.absorb("clearance/elbow", {key: f"{key} of elbow" for key in (*CLEARANCE, "other")}, 1e9)
    assert history.layout == before + 1
    history.absorb("clearance/elbow", {key: f"{key} later" for key in CLEARANCE}, 1e9)
    assert history.layout == before + 1
    told, latest = history.snapshot(1e9)["joints"]["elbow"], history.latest(1e9)["joints"]["elbow"]
    assert told["wear"] == latest["wear"] == {key: f"{key} of elbow" for key in WEAR}
    assert told["clearance"] == latest["clearance"] == {key: f"{key} later" for key in CLEARANCE}


def mechanism(time: float, **residuals: float) -> Map:
    drives = {name: {"residual": value} for name, value in residuals.items()}
    health = {"status": "valid", "reasons": []}
    head = {"timestamp": time, "phase": "normal", "health": health, "progress": 100.0, "joints": {}, "more": 1}
    return head | {"drives": drives}


def test_a_mechanism_is_reported_with_the_residuals_of_its_drives() -> None:
    history = History("r", [LABEL])
    assert history.latest(1e9)["mechanism"] == history.snapshot(1e9)["mechanism"] == {}
    before = history.layout
    for k in range(3):
        history.absorb("mechanism", mechanism(1e9 + k, left=0.5 + k, right=-0.25), 1e9 + k)
    assert history.layout == before + 1
    whole = history.snapshot(1e9 + 2.0)["mechanism"]
    np.testing.assert_allclose(rows(whole["rows"], 3), [[k - 2.0, 0.5 + k, -0.25] for k in range(3)])
    assert "more" not in whole["state"]
    assert history.latest(1e9 + 2.0)["mechanism"]["drives"] == {"left": {"residual": 2.5}, "right": {"residual": -0.25}}
    history.absorb("mechanism", mechanism(1e9 + 3, left=0.1), 1e9 + 3)
    assert history.layout == before + 2, "other drives begin anew"
    np.testing.assert_allclose(rows(history.snapshot(1e9 + 3.0)["mechanism"]["rows"], 2), [[0.0, 0.1]], rtol=1e-6)


def test_joints_have_changed_until_everything_is_acknowledged() -> None:
    history = History("r", [LABEL, LABEL._replace(name="wrist")])
    seen, open_ = ({"parameter": "viscous", "acknowledged": one} for one in (True, False))
    history.absorb("change/elbow", {"records": [seen, open_]}, 1e9)
    history.absorb("change/wrist", {"records": [seen]}, 1e9)
    assert history.changed() == ["elbow"]
    history.absorb("change/elbow", {"records": [seen, seen]}, 1e9)
    assert history.changed() == []


@pytest.mark.parametrize("known", [True, False])
def test_a_baseline_remembers_a_gear_that_says_something(
    known: bool, make_estimate: Callable[..., Estimate], monkeypatch: pytest.MonkeyPatch
) -> None:
    publication = Publication("r", "elbow", 1, "N·m")
    number = 1e-4 if known else math.nan
    gear = {"known": known, "parameters": {"lost_motion": number}, "deviations": {"lost_motion": 2e-6}}
    history = History("r", [LABEL])
    assert history.current_values("elbow") is None
    absorbed(history, publication.estimate(make_estimate(), 5.0, 5.0, 0.0), publication.lost_motion(gear, 5.0))
    standing = history.current_values("elbow")
    assert standing is not None
    wear = {"lost_motion": 1e-4} if known else {}
    assert standing.values == {"inertia": 0.5, "viscous": 1.25} | wear
    assert standing.deviations == {"inertia": 0.002, "viscous": 0.03} | ({"lost_motion": 2e-6} if known else {})
    assert (standing.time, standing.status, list(standing.reasons), standing.friction) == (5.0, "valid", [], None)


def test_a_law_is_drawn_over_the_range_of_its_points_and_a_spring_over_that_of_its_twist() -> None:
    model = TwoMassSettings()
    curves = Curves(model.build())
    values = np.linspace(1.0, 2.0, len(curves.names))
    estimate = Estimate(
        time=0, phase=Phase.NORMAL, status=Status.VALID, reasons=(), names=curves.names, values=values,
        deviations=np.ones(len(values)), error=0.01, forgetting=1.0, measured=0.0, predicted=0.0, progress=100.0,
    )  # fmt: skip
    publication = Publication("r", "elbow", 1, "N·m")
    points = np.array([[-2.0, 5.0, 0.003, 1.0], [0.5, 5.0, -0.01, 1.0]])
    history = History("r", [JointLabel.of("elbow", model)])
    absorbed(history, publication.estimate(estimate, 5.0, 5.0, 0.0))
    assert history.snapshot(5.0)["joints"]["elbow"]["laws"] == {}, "no point says how far"
    absorbed(history, samples(5.0, points=points))
    laws = history.snapshot(5.0)["joints"]["elbow"]["laws"]
    assert laws.keys() == {"friction", "spring"}
    for name, reach, law in (("friction", 2.0, curves.friction), ("spring", 0.01, curves.spring)):
        abscissa, torque = rows(laws[name], 2).T.astype(np.float64)
        assert (abscissa[0], abscissa[-1]) == pytest.approx((-reach, reach))
        assert (np.diff(abscissa) > 0).all()
        assert np.diff(abscissa).min() < reach / 100, "dense where it is steep"
        expected = law(values, abscissa)
        np.testing.assert_allclose(torque, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())
