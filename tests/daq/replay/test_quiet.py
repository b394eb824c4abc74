"""A quiet pipeline: it makes fewer updates, and everything that is told at the end is the same to the bit."""

import copy
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest

from daq.config.load import load
from daq.config.routes import routes
from daq.core.pipeline import Pipeline
from daq.replay.replay import BOOT, Played, play
from drivers.reading import READING

TEMPLATE = Path(__file__).parents[3] / "daq" / "jointwatch.toml"
RATE = 1000  # Hz
SECONDS = 26
JUMP = 18.0  # s, when the friction changes
HOLE = (15.5, 17.5)  # s without any reading
DEAD = (13.0, 14.9)  # s in which the torque is no number


def readings() -> np.ndarray:
    """The template's joint: in motion, with two seconds without torques, two without readings, and a change."""
    t = np.arange(SECONDS * RATE) / RATE
    amplitude, omega = np.array([[0.5], [0.3]]), 2 * np.pi * np.array([[0.5], [1.3]])
    q = np.sum(amplitude * np.sin(omega * t), axis=0)
    v = np.sum(amplitude * omega * np.cos(omega * t), axis=0)
    a = np.sum(-amplitude * omega**2 * np.sin(omega * t), axis=0)
    noise = np.random.default_rng(3).normal(0.0, 0.02, len(t))
    torque = 2.0 * a + 3.0 * v + np.where(t < JUMP, 1.5, 3.5) * np.sign(v) + 5.0 * np.sin(q) + noise
    torque[(DEAD[0] <= t) & (t < DEAD[1])] = np.nan
    columns = {"position": q, "torque": torque, "counter": np.arange(len(t)) % 65536}
    found = np.zeros((len(t), len(columns)), READING)
    for channel, route in enumerate(routes(load(TEMPLATE))):
        found["value"][:, channel], found["channel"][:, channel] = columns[route.role], channel
    found["time"] = (10**12 + np.arange(len(t)) * (10**9 // RATE))[:, np.newaxis]
    return found[(t < HOLE[0]) | (t >= HOLE[1])].ravel()


def told(quiet: bool) -> tuple[int, list[Any], dict[str, Any]]:
    """How many messages a pipeline made; its events; everything that is told of its joint at the end."""
    pipeline = Pipeline(load(TEMPLATE), BOOT, quiet=quiet)
    messages = list(play(pipeline, iter([readings()]), Played()))
    events = [msgpack.unpackb(body) for topic, body in messages if topic.startswith(b"event/")]
    [joint] = pipeline.joints
    state = {
        "estimate": repr(joint.estimator.estimate()),
        "kept": repr(joint.estimator.keep()),
        "compared": repr(joint.comparison.keep()),
        "counts": (joint.samples, joint.estimator.counters(), joint.use.totals(), dict(joint.aligner.lost())),
    }
    return len(messages), [(one["kind"], one["text"], one["timestamp"]) for one in events], copy.deepcopy(state)


@pytest.fixture(scope="module")
def loud() -> tuple[int, list[Any], dict[str, Any]]:
    return told(quiet=False)


def test_what_is_told_at_the_end_is_the_same_to_the_bit(loud: tuple[int, list[Any], dict[str, Any]]) -> None:
    made, events, state = told(quiet=True)
    assert {kind for kind, *_ in events} >= {"started", "fault", "recovered", "alarm"}, "there is something to compare"
    assert events == loud[1]
    assert state == loud[2]
    assert 3 * made < loud[0]
