"""Samples of our own recording: every channel of a joint on its clock, all joints on one time."""

from pathlib import Path

import numpy as np
import pytest

from daq.config.load import load
from daq.config.sections import Config, Record
from daq.recording.process import NextBlock, Recorder
from daq.recording.reader import RecordingError
from daq.replay.aligned import aligned, samples
from daq.stream.transcript import Batch, TurnBlock
from drivers.reading import READING

TEXT = """
[recorder]
folder = "kept"
[drivers.bus]
kind = "can"
interface = "slcan"
channel = "/dev/ttyACM0"
[[drivers.bus.frames]]
name = "STATE"
id = 0x181
signals.position = { start = 0, bits = 32, type = "signed", scale = 1e-6, unit = "rad" }
signals.torque = { start = 32, bits = 32, type = "signed", scale = 1e-6, unit = "N·m" }
"""
JOINT = """
[joints.%s]
rate = 500.0
model = { kind = "rigid" }
channels.torque = { signal = "bus.STATE.torque" }
channels.position = { signal = "bus.STATE.position" }
"""
LATER = 0.3  # s after which the second joint begins


def configured(folder: Path) -> Config:
    (folder / "c.toml").write_text(TEXT + JOINT % "one" + JOINT % "two")
    return load(folder / "c.toml").model_copy(update={"recorder": Record(folder=folder / "kept", reserve=0.0)})


def readings() -> np.ndarray:
    """A second at 500 Hz, torque (2t, −2t) before position (t, −t) as configured, the second joint LATER."""
    parts = []
    for joint, begin in enumerate((0.0, LATER)):
        t = begin + np.arange(500) * 2e-3
        for channel, factor in enumerate((2.0, 1.0)):
            part = np.zeros(len(t), READING)
            part["time"] = 10**12 + np.round(1e9 * t).astype(np.int64)
            part["channel"], part["value"] = 2 * joint + channel, factor * t * (1 - 2 * joint)
            parts.append(part)
    whole = np.concatenate(parts)
    return whole[np.argsort(whole["time"], kind="stable")]


def kept(folder: Path, *blocks: np.ndarray) -> Path:
    expected = NextBlock(folder / "next")
    recorder = Recorder(configured(folder), expected)
    for number, rows in enumerate(blocks):
        recorder.take(TurnBlock(1, number, [Batch(len(rows), 0, 10**12, [], [], None)], rows))
    recorder.close()
    expected.close()
    [file] = (folder / "kept").glob("*.mcap")
    return file


@pytest.mark.parametrize("cuts", [[], [100, 101, 700], list(range(0, 2000, 37))])
def test_joints_that_began_one_after_the_other_stay_so(tmp_path: Path, cuts: list[int]) -> None:
    """However the readings lie in blocks; zero is the first sample of all."""
    found = aligned(kept(tmp_path, *np.split(readings(), cuts)))
    assert [(name, sorted(roles)) for name, roles in found.items()] == [
        ("one", ["position", "torque"]),
        ("two", ["position", "torque"]),
    ]
    assert found["one"]["position"].time[0] == 0.0
    for name, sign in (("one", 1.0), ("two", -1.0)):
        position, torque = found[name]["position"], found[name]["torque"]
        assert np.array_equal(position.time, torque.time)
        np.testing.assert_allclose(np.diff(position.time), 2e-3, atol=1e-9)
        known = np.isfinite(position.values)
        assert known.sum() > 480
        np.testing.assert_allclose(torque.values[known], 2.0 * position.values[known], atol=1e-9)
        offset = sign * position.values[known] - position.time[known]  # the instant of the first sample of all
        assert -1e-9 < offset.min() <= offset.max() < 0.01
    begun = [one["position"].time[0] for one in found.values()]
    assert begun[1] - begun[0] == pytest.approx(LATER, abs=2e-3), "within a sample"


def test_a_joint_without_readings_has_no_samples(tmp_path: Path) -> None:
    config, whole = configured(tmp_path), readings()
    roles = {"one": ["position", "torque"], "two": ["torque", "position"]}
    alone = whole[whole["channel"] < 2]
    found = samples([alone[:300], alone[:0], alone[300:]], config, roles)
    assert [(len(ticks), rows.shape[1]) for ticks, rows in found.values()][1] == (0, 2)
    ticks, rows = found["one"]
    assert len(ticks) == len(rows) > 480
    np.testing.assert_allclose(rows[:, 1], 2.0 * rows[:, 0], atol=1e-9)
    empty = kept(tmp_path, whole[:0])
    assert [len(series.time) for one in aligned(empty).values() for series in one.values()] == [0, 0, 0, 0]


def test_what_is_no_recording_is_said(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="No such file"):
        aligned(tmp_path / "none.mcap")
