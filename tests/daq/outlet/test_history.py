"""What a page is told: bounded, decimated, and the same in pieces as at once."""

from collections.abc import Callable

import msgpack
import numpy as np
import pytest

from daq.outlet.history import ESTIMATES, EVENTS, RESIDUALS, History, JointLabel
from daq.stream.curve_points import pack
from daq.stream.update import Publication
from estimators.base import Estimate, Phase, Status
from estimators.models.curves import Curves
from estimators.models.joints.friction_only import FrictionOnlySettings
from estimators.online.inspection import Inspection
from estimators.online.joint import JointEstimator
from estimators.online.settings import Identification
from hil_rig.plants.joints.two_mass import TwoMassSettings as Rig

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


def test_a_joint_before_its_first_update_is_there_already() -> None:
    told = History("r", [LABEL]).snapshot(1.0)["joints"]["elbow"]
    assert (told["names"], told["state"], told["estimates"]) == (("inertia", "viscous"), {}, b"")


def test_events_are_told_once_and_the_last_are_kept() -> None:
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
    standing = history.standing("elbow")
    assert standing is not None
    assert standing.friction == {"kind": "tanh_stribeck", "exponent": 1.0, "stiffness": True}


@pytest.mark.compiled
def test_the_law_that_is_drawn_is_the_one_in_use() -> None:
    """A joint whose exponent is 2 and was configured as 1: from the event `law` on its curve has the exponent 2."""
    plant = Rig.model_validate({"identify": "friction", "delta_s": 2.0}).build(1, 1, [])
    columns = [f"{message.name}.{field.name}" for message in plant.messages for field in message.fields]
    measured = plant.rows(11_000)
    model = dict(plant.model) | {"friction": plant.model["friction"] | {"exponent": 1.0}}
    settings = Identification.model_validate({"model": model, "start": 8.5, "standstill": 0.01})
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
    right = Curves(Identification.model_validate({"model": other}).model.build())
    np.testing.assert_allclose(drawn, right.friction(estimate.values, velocity), rtol=1e-3, atol=0.05)
    wrong = Curves(settings.model.build()).friction(estimate.values, velocity)
    assert np.abs(drawn - wrong).max() > 1.0, "the curves do differ"
