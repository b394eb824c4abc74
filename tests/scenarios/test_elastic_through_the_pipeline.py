"""What encoders and buses do to an elastic joint in the field, through the pipeline: wraps, wild samples, skew."""

from functools import cache
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest

from daq.config.load import check
from daq.config.sections import Config
from daq.config.toml_lines import Lines
from daq.core.pipeline import Pipeline
from drivers.reading import READING
from estimators.base import Status
from estimators.quantities import Floats
from hil_rig.plants.joints.two_mass import TwoMassPlantSettings as Rig

pytestmark = pytest.mark.compiled

SECONDS = 14.0
TURN = 2 * np.pi
WEAK = {"link_cyclic_sin": 0.15, "link_cyclic_cos": 0.08, "stiffness_cubic": 0.03}  # what noise alone does to these


@cache
def measured() -> tuple[dict[str, Any], dict[str, Floats], dict[str, float]]:
    """The rig's elastic joint: its model as a configuration has it, channels by role, truth."""
    plant = Rig.model_validate({"identify": "elastic"}).build(1, 1, [])
    columns = [f"{message.name}.{field.name}" for message in plant.messages for field in message.fields]
    table = plant.rows(round(SECONDS * 1000))
    values = {role: table[:, columns.index(one.signal)] * one.scale for role, one in plant.roles.items()}
    return dict(plant.model), values, dict(plant.truth())


def configuration(model: dict[str, Any], **channels: dict[str, float]) -> Config:
    """Both encoders and the torque in frames of their own; more settings of channels by role."""

    def frame(name: str, number: int) -> dict[str, Any]:
        return {"name": name, "id": number, "signals": {"value": {"start": 0, "bits": 32}}}

    roles = ("position", "link_position", "torque")
    data = {
        "publish": {"rate": 10.0},
        "drivers": {
            "bus": {
                "kind": "can",
                "interface": "slcan",
                "channel": "/dev/ttyACM0",
                "frames": [frame(role.upper(), 0x181 + at) for at, role in enumerate(roles)],
            }
        },
        "joints": {
            "elbow": {
                "rate": 1000.0,
                "model": model,
                "start": 8.5,
                "standstill": 0.01,
                "channels": {role: {"signal": f"bus.{role.upper()}.value"} | channels.get(role, {}) for role in roles},
            }
        },
    }
    return check(data, Path("jointwatch.toml"), Lines(""))


def play(config: Config, values: dict[str, Floats]) -> tuple[dict[str, float], list[dict[str, Any]], Pipeline]:
    """The last parameters, every event, and the pipeline. values: as the frames bring them, by role."""
    roles = list(config.joints["elbow"].channels)
    count = len(values["position"])
    table = np.zeros((count, len(roles)), READING)
    table["time"] = 10**9 + np.arange(count)[:, np.newaxis] * 10**6
    table["channel"] = np.arange(len(roles))
    table["value"] = np.column_stack([values[role] for role in roles])
    pipeline = Pipeline(config, boot=1)
    said = [one for batch in table.reshape(-1, 300) for one in pipeline.absorb(batch, 0, lambda: 0)]
    bodies = [(topic, msgpack.unpackb(body)) for topic, body in said]
    estimates = [body for topic, body in bodies if topic == b"estimate/elbow"]
    return estimates[-1]["parameters"], [body for topic, body in bodies if topic == b"event/elbow"], pipeline


def check_truth(found: dict[str, float], truth: dict[str, float], events: list[dict[str, Any]]) -> None:
    told = [event["text"] for event in events if event["kind"] in ("started", "alarm", "fault")]
    assert len(told) == 1, told
    assert "wrong" not in told[0]
    for name, value in truth.items():
        assert found[name] == pytest.approx(value, rel=WEAK.get(name, 0.02)), name


def test_an_encoder_that_starts_again_after_a_turn_and_its_glitches() -> None:
    """Both encoders cross their zero all the time; a wrong turn, half a turn and less come now and then."""
    model, values, truth = measured()
    wrapped = {role: one % TURN if "position" in role else one for role, one in values.items()}
    assert np.ptp(wrapped["position"]) > 6.0, "it does cross"
    glitched = {role: one.copy() for role, one in wrapped.items()}
    for at, wrong in ((2003, TURN), (3011, -TURN), (4507, TURN / 2), (9503, TURN), (10_507, 1.9)):
        glitched["link_position"][at] += wrong
        glitched["position"][at + 100] += wrong
    config = configuration(model, position={"wrap": TURN}, link_position={"wrap": TURN})
    found, events, pipeline = play(config, glitched)
    check_truth(found, truth, events)
    assert pipeline.joints[0].aligner.lost()["glitch"] > 0


@pytest.mark.parametrize(
    ("role", "wrong"),
    [
        pytest.param(role, wrong, marks=[] if quick else [pytest.mark.slow])
        for role, far in (("position", TURN), ("link_position", 1e4), ("torque", TURN))
        for wrong, quick in ((TURN, far == TURN), (1e4, far != TURN))
    ],
)
def test_a_single_wild_sample_changes_no_value_and_where_it_alarms_that_is_called_off(role: str, wrong: float) -> None:
    model, values, truth = measured()
    wild = {name: one.copy() for name, one in values.items()}
    wild[role][10_400] += wrong
    found, events, _ = play(configuration(model), wild)
    events = [event for event in events if event["kind"] != "sharpened"]
    usual = [event for event in events if event["kind"] != "alarm"]
    check_truth(found, {name: value for name, value in truth.items() if name != "link_cyclic_sin"}, usual)
    assert found["link_cyclic_sin"] == pytest.approx(truth["link_cyclic_sin"], abs=1.0)
    after = [event["kind"] for event in events if event["timestamp"] > 11.3]
    assert after in ([], ["alarm", "transient", "recovered"]), after
    assert not after or events[-1]["text"].startswith("nothing changed")


@pytest.mark.parametrize("late", [3, 8])
def test_a_skew_is_taken_off_where_it_is_configured_and_not_swallowed_where_not(late: int) -> None:
    model, values, truth = measured()
    skewed = values | {"link_position": np.roll(values["link_position"], late)}
    found, events, _ = play(configuration(model, link_position={"delay": late * 1e-3}), skewed)
    check_truth(found, truth, events)
    _, events, pipeline = play(configuration(model), skewed)
    text = " ".join(event["text"] for event in events)
    estimate = pipeline.joints[0].estimator.estimate()
    refused = estimate.status is Status.LEARNING and "motor_viscous would be negative" in text
    assert refused or "the delay of link_position against position" in text, text
