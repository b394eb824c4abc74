"""A pipeline whose updates are not wanted makes few of them, and everything that follows from updates is the same."""

from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest

from daq.config.load import load
from daq.core.pipeline import Pipeline
from daq.replay.replay import BOOT, Played, play
from daq.stream.update import Message
from drivers.reading import READING

TEXT = """
[drivers.bus]
kind = "can"
interface = "virtual"
channel = "x"
[[drivers.bus.frames]]
name = "STATE"
id = 1
length = 8
signals.position = { start = 0, bits = 32, type = "signed" }
signals.torque = { start = 32, bits = 32, type = "signed" }
[joints.%s]
rate = 1000.0
model = { kind = "rigid" }
channels.position = { signal = "bus.STATE.position" }
channels.torque = { signal = "bus.STATE.torque" }
"""
SECONDS, JUMP, REST = 45.0, 25.0, (35.0, 38.0)  # friction grows at JUMP, the joint rests in between


def readings(gap: bool) -> np.ndarray:
    """One joint at 1 kHz with noise; gap: a second without frames."""
    n = np.arange(round(SECONDS * 1000))
    t = n * 1e-3
    moving = (t < REST[0]) | (t >= REST[1])
    phase = np.cumsum(moving) * 1e-3
    w = 2.0 * np.pi * np.array([[0.5], [1.3]])
    size = np.array([[0.5], [0.3]])
    q = (size * (1.0 - np.cos(w * phase))).sum(axis=0)
    v = (size * w * np.sin(w * phase)).sum(axis=0) * moving
    a = (size * w**2 * np.cos(w * phase)).sum(axis=0) * moving
    viscous = np.where(t < JUMP, 3.0, 4.5)
    torque = 2.0 * a + viscous * v + 1.5 * np.sign(v) + np.random.default_rng(3).normal(0.0, 0.05, len(t))
    table = np.zeros((len(t), 2), READING)
    table["time"], table["channel"] = 10**12 + n[:, None] * 10**6, np.arange(2)
    table["value"] = np.column_stack([q, torque])
    return table[~((t > 30.0) & (t < 31.0) & gap)].reshape(-1)


def of(messages: list[Message], *families: bytes) -> list[tuple[bytes, dict[str, Any]]]:
    """The messages of these families, without what only counts messages."""
    kept = [(topic, msgpack.unpackb(body)) for topic, body in messages if topic.partition(b"/")[0] in families]
    return [
        (topic, {key: one for key, one in body.items() if key not in ("arrival", "latency")}) for topic, body in kept
    ]


@pytest.mark.parametrize("gap", [False, True])
def test_what_follows_from_updates_is_the_same_to_the_bit(tmp_path: Path, gap: bool) -> None:
    """Through a start, a change of friction, a rest and (gap) a silence: events, drift, values and checkpoint."""
    (tmp_path / "c.toml").write_text(TEXT % "one")
    every, few = (Pipeline(load(tmp_path / "c.toml"), BOOT, listened=listened) for listened in (True, False))
    heard, unheard = (list(play(one, iter([readings(gap)]), Played())) for one in (every, few))
    assert of(heard, b"event") == of(unheard, b"event")
    assert {one["kind"] for _, one in of(heard, b"event")} >= {"started", "alarm"} | (
        {"fault", "recovered"} if gap else set()
    )
    assert repr(of(heard, b"drift")) == repr(of(unheard, b"drift")) != "[]"
    [full], [spare] = every.joints, few.joints
    assert repr(full.estimator.estimate()) == repr(spare.estimator.estimate())
    assert full.estimator.estimate().status == "valid"
    assert repr(full.estimator.keep()) == repr(spare.estimator.keep())
    assert full.followers.samples == spare.followers.samples
    assert full.updates > 40 * SECONDS
    assert spare.updates < 0.2 * full.updates


def test_before_a_joint_is_valid_for_the_first_time_no_update_of_normal_mode_is_left_out(tmp_path: Path) -> None:
    """The watch of causes begins with that update."""
    (tmp_path / "c.toml").write_text(TEXT % "one")
    pipeline = Pipeline(load(tmp_path / "c.toml"), BOOT, listened=False)
    told = [one for topic, one in of(list(play(pipeline, iter([readings(False)]), Played())), b"estimate")]
    normal = [one for one in told if one["phase"] == "normal"]
    valid = next(at for at, one in enumerate(normal) if one["health"]["status"] == "valid")
    stamps = np.array([one["timestamp"] for one in normal])
    assert (np.diff(stamps[: valid + 1]) < 0.05).all()
    assert (np.diff(stamps[valid + 1 :]) > 0.05).any()
