"""A joint with proximity sensors through its pipeline: clearance, its growth as a change record, a restart."""

from collections.abc import Sequence

import jsonschema
import msgpack
import numpy as np
import pytest

from daq.config.sections import JointSection
from daq.core.joint_pipeline import JointPipeline
from daq.stream.schema import schema
from daq.stream.update import Map, Message, Publication

pytestmark = pytest.mark.compiled

SECOND, RATE = 1_000_000_000, 100
EPOCH = 1_764_000_000  # s: Unix time is the rows' time and this


def line() -> JointPipeline:
    channels = {role: {"signal": f"wire.M.{role}"} for role in ("position", "torque", "near_x", "near_y")}
    joint = JointSection.model_validate({"rate": RATE, "model": {"kind": "rigid"}, "channels": channels})
    assert joint.roles() == ("position", "torque", "near_x", "near_y")
    return JointPipeline("azimuth", joint, Publication("r", "azimuth", 1, "N·m"), SECOND, None)


def rows(seconds: float, clearance: float, seed: int) -> np.ndarray:
    """A pin that is pressed once round its bearing every three seconds, with 0.2 µm of noise."""
    t = np.arange(0.0, seconds, 1.0 / RATE)
    angle = 2.0 * np.pi * t / 3.0
    near = clearance * np.column_stack([np.cos(angle), np.sin(angle)]) + (2e-5, 1e-5)
    near += 2e-7 * np.random.default_rng(seed).standard_normal(near.shape)
    q = 0.5 * np.sin(2.0 * t)
    torque = 0.3 * np.cos(2.0 * t) - 2.0 * np.sin(2.0 * t) + 0.01 * np.random.default_rng(seed).standard_normal(len(t))
    return np.column_stack([q, torque, near])


def play(to: JointPipeline, values: np.ndarray, begin: int = 0) -> list[Message]:
    said: list[Message] = []
    for first in range(0, len(values), 50):
        part = values[first : first + 50]
        time = SECOND + (begin + first + np.arange(len(part))) * (SECOND // RATE)
        columns = np.tile(np.arange(4, dtype=np.int32), len(part))
        said += to.absorb(np.repeat(time, 4), part.ravel(), columns, EPOCH * SECOND, lambda: 0)
    return said


def maps(messages: Sequence[Message], family: str) -> list[Map]:
    return [msgpack.unpackb(body) for topic, body in messages if topic == f"{family}/azimuth".encode()]


def test_clearance_is_told_once_a_second_and_its_growth_is_a_change_until_a_person_has_seen_it() -> None:
    to = line()
    said = play(to, rows(36.0, 5e-5, 1))
    told = maps(said, "clearance")
    assert 34 <= len(told) <= 36
    for one in told[::7]:
        jsonschema.validate(one, schema("clearance/"))
    assert not told[20]["known"]
    assert told[20]["reasons"][0]["code"] == "clearance_filling"
    assert abs(told[-1]["clearance"] - 5e-5) < 3.0 * told[-1]["deviation"] < 3e-6
    assert not [one for one in maps(said, "change") for record in one["records"] if record["parameter"] == "clearance"]
    said = play(to, rows(45.0, 8e-5, 2), 3600)
    assert [one["kind"] for one in maps(said, "event") if one["kind"].startswith("clearance")] == ["clearance_grown"]
    assert maps(said, "clearance")[-1]["grown"]
    (grown,) = [one["timestamp"] - EPOCH for one in maps(said, "event") if one["kind"] == "clearance_grown"]
    assert 37.0 < grown < 82.0
    assert maps(said, "clearance")[-1]["timestamp"] - EPOCH == pytest.approx(81.0, abs=1.1)
    (record,) = [one for one in maps(said, "change")[-1]["records"] if one["parameter"] == "clearance"]
    assert (record["unit"], record["reference"], record["acknowledged"]) == ("m", "start", 0.0)
    assert 37.0 < record["since"] - EPOCH < record["told"] - EPOCH < 82.0
    assert record["z"] == pytest.approx(3e-5 / np.hypot(record["from_deviation"], record["to_deviation"]), rel=0.05)
    assert record["from"] == pytest.approx(5e-5, rel=0.02)
    assert record["to"] == pytest.approx(8e-5, rel=0.02)
    assert record["percent"] == pytest.approx(60.0, abs=5.0)
    assert to.clearance is not None
    kept = to.clearance.keep()
    assert kept is not None
    (seen,) = maps(to.acknowledge(90.0), "change")
    assert all(one["acknowledged"] for one in seen["records"])
    said = play(to, rows(4.0, 8e-5, 3), 8100)
    assert not maps(said, "clearance")[-1]["grown"], "the present clearance is the reference from now on"
    after = line()
    assert after.clearance is not None
    after.clearance.resume(kept)
    said = play(after, rows(34.0, 8e-5, 4))
    assert maps(said, "clearance")[-1]["grown"]
    assert maps(said, "clearance")[-1]["first"] == pytest.approx(5e-5, rel=0.02)


def test_a_joint_without_proximity_sensors_has_no_clearance() -> None:
    channels = {role: {"signal": f"wire.M.{role}"} for role in ("position", "torque")}
    joint = JointSection.model_validate({"rate": RATE, "model": {"kind": "rigid"}, "channels": channels})
    assert JointPipeline("a", joint, Publication("r", "a", 1, "N·m"), SECOND, None).clearance is None
