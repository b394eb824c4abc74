"""Turns that are handed over together say what they say one by one, to the bit; the oracle is `absorb` of each."""

from pathlib import Path

import msgpack
import numpy as np
import pytest

from daq.config.load import load
from daq.core.joint_pipeline import JointPipeline
from daq.core.pipeline import Pipeline
from daq.replay.replay import BOOT, Played, play
from daq.stream.update import Message
from drivers.reading import READING

TEXT = """
[drivers.bus]
kind = "can"
interface = "virtual"
channel = "x"
"""
FRAME = """
[[drivers.bus.frames]]
name = "STATE%(n)d"
id = %(n)d
length = 8
signals.position = { start = 0, bits = 32, type = "signed" }
signals.torque = { start = 32, bits = 32, type = "signed" }
"""
JOINT = """
[joints.joint%(n)d]
rate = 250.0
model = { kind = "rigid" }
channels.position = { signal = "bus.STATE%(n)d.position" }
channels.torque = { signal = "bus.STATE%(n)d.torque" }
"""
SECONDS, RATE = 30.0, 250.0
ONE_BY_ONE = 1e12  # times real time: then each turn is handed over alone


def readings() -> np.ndarray:
    """Two joints. All are silent for 1.7 s, the torque of one for 1.6 s, the position of the other is no number for
    3 s; its torque has a dead zone for 2 s; friction of the first grows."""
    n = np.arange(round(SECONDS * RATE))
    t, tables = n / RATE, []
    for joint in range(2):
        w, size = 2.0 * np.pi * np.array([[0.5], [1.3]]), np.array([[0.5], [0.3]])
        shifted = t + 0.3 * joint
        q = (size * (1.0 - np.cos(w * shifted))).sum(axis=0)
        v, a = (size * w * np.sin(w * shifted)).sum(axis=0), (size * w**2 * np.cos(w * shifted)).sum(axis=0)
        viscous = np.where((t < 16.0) | (joint == 1), 3.0, 4.5)
        torque = 2.0 * a + viscous * v + 1.5 * np.sign(v) + np.random.default_rng(joint).normal(0.0, 0.05, len(t))
        table = np.zeros((len(t), 2), READING)
        table["time"] = 10**12 + n[:, None] * 4_000_000 + joint * 300_000
        table["channel"], table["value"] = 2 * joint + np.arange(2), np.column_stack([q, torque])
        if joint == 1:
            table["value"][(t > 20.0) & (t < 23.0), 0] = np.nan
            table["value"][(t > 26.0) & (t < 28.0) & (np.abs(torque) < 6.0), 1] = 0.0
        kept = np.repeat(((t < 18.0) | (t > 19.7))[:, None], 2, axis=1)
        kept[(t > 24.0) & (t < 25.6), 1] &= joint == 1
        tables.append(table[kept])
    whole = np.concatenate(tables)
    return whole[np.argsort(whole["time"], kind="stable")]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    text = TEXT + "".join(FRAME % {"n": n} for n in (1, 2)) + "".join(JOINT % {"n": n} for n in (1, 2))
    (tmp_path / "c.toml").write_text(text)
    return tmp_path / "c.toml"


@pytest.mark.parametrize("listened", [True, False])
def test_turns_together_and_one_by_one_say_the_same(
    config: Path, listened: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    handled, handle = [0], JointPipeline.finish_turn

    def counted(self: JointPipeline, *arguments: object) -> list[Message]:
        handled[0] += 1
        return handle(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(JointPipeline, "finish_turn", counted)
    said, took, left = [], [], []
    for speed in (ONE_BY_ONE, None):
        pipeline, handled[0] = Pipeline(load(config), BOOT, listened=listened), 0
        said.append(list(play(pipeline, iter(np.array_split(readings(), 7)), Played(), speed)))
        took.append(handled[0])
        left.append([(one.followers.samples, one.followers.use.totals(), one.updates) for one in pipeline.joints])
    assert said[0] == said[1]
    assert left[0] == left[1]
    kinds = {(topic, msgpack.unpackb(body)["kind"]) for topic, body in said[0] if topic.startswith(b"event/")}
    assert {(b"event/joint%d" % n, kind) for n in (1, 2) for kind in ("started", "fault", "recovered")} <= kinds
    assert (b"event/joint1", "alarm") in kinds
    assert took[1] < (1.0 if listened else 0.7) * took[0]
