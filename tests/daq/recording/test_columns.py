"""Channels of joints from columns: a robot in one table, several recordings, our own; every mistake at once."""

from pathlib import Path

import numpy as np
import pytest

from daq.config.load import load
from daq.config.routes import routes
from daq.recording.columns import load_columns, read, read_all
from daq.recording.process import Expected, Recorder
from daq.recording.reader import RecordingError
from daq.stream.transcript import Batch, Block
from drivers.reading import READING

TABLE = """
time = "rec.t"
time_unit = "ms"
[joints.a]
position = { column = "rec.q[0]", unit = "deg" }
torque = { column = "rec.u[0]", scale = 100.0, offset = 1.0 }
[joints.b]
position = { column = "rec.q[1]", unit = "deg" }
torque = { column = "rec.u[1]", scale = -50.0 }
"""
T = np.arange(60.0)
Q = np.column_stack([np.sin(T / 9), np.cos(T / 9)])
U = np.column_stack([T, -T]) / 7


def robot(folder: Path, name: str = "run.npz", **changed: np.ndarray) -> Path:
    columns = {"t": T, "q": Q, "u": U} | changed
    np.savez(folder / name, **{f"rec.{key}": one for key, one in columns.items()})
    return folder / name


def table(folder: Path, text: str = TABLE) -> Path:
    (folder / "columns.toml").write_text(text)
    return folder / "columns.toml"


def test_a_robot_is_one_table(tmp_path: Path) -> None:
    found = read(robot(tmp_path), load_columns(table(tmp_path)))
    assert {name: set(roles) for name, roles in found.items()} == {name: {"position", "torque"} for name in "ab"}
    for at, (name, scale, offset) in enumerate((("a", 100.0, 1.0), ("b", -50.0, 0.0))):
        np.testing.assert_allclose(found[name]["position"].values, np.deg2rad(Q[:, at]))
        np.testing.assert_allclose(found[name]["torque"].values, scale * U[:, at] + offset)
        np.testing.assert_allclose(found[name]["torque"].time, T * 1e-3)


def test_every_mistake_is_said_at_once(tmp_path: Path) -> None:
    text = TABLE.replace("rec.q[0]", "rec.p").replace("rec.q[1]", "rec.q[2]")
    with pytest.raises(RecordingError) as caught:
        read(robot(tmp_path, u=U[:-1]), load_columns(table(tmp_path, text)))
    words = str(caught.value).splitlines()
    assert len(words) == 4
    parts = ('no column "rec.p"', "rec.u[0] has 59 rows", "has 2 columns, found [2]", "rec.u[1] has 59 rows")
    for line, part in zip(words, parts, strict=True):
        assert line.startswith(f"{tmp_path}/run.npz: ")
        assert part in line


def test_without_its_times_the_other_mistakes_are_said_too(tmp_path: Path) -> None:
    text = TABLE.replace('"rec.t"', '"rec.clock"').replace("rec.q[1]", "rec.x")
    with pytest.raises(RecordingError, match=r'no column "rec.clock".*\n.*no column "rec.x"'):
        read(robot(tmp_path), load_columns(table(tmp_path, text)))


def test_several_recordings_are_runs_of_their_own(tmp_path: Path) -> None:
    columns = load_columns(table(tmp_path))
    files = [robot(tmp_path, f"{number}.npz", u=number * U) for number in (1, 2)]
    runs = read_all(files, columns)
    np.testing.assert_allclose([run["b"]["torque"].values for run in runs], [-50 * U[:, 1], -100 * U[:, 1]])
    broken = robot(tmp_path, "3.npz", q=Q[:, 0])
    with pytest.raises(RecordingError) as caught:
        read_all([files[0], broken, tmp_path / "4.npz"], columns)
    assert [line.partition(": ")[0] for line in str(caught.value).splitlines()] == [str(broken), f"{tmp_path}/4.npz"]


def test_our_own_recording_gives_its_channels(tmp_path: Path) -> None:
    text = (Path(__file__).parents[3] / "daq" / "jointwatch.toml").read_text()
    (tmp_path / "c.toml").write_text(text.replace("[publish]", '[recorder]\nfolder = "."\n[publish]'))
    config = load(tmp_path / "c.toml")
    recorder = Recorder(config, Expected(tmp_path / "next"))
    asked = routes(config)
    parts = []
    for number in range(3):
        readings = np.zeros(10 * len(asked), READING)
        readings["channel"] = np.tile(np.arange(len(asked)), 10)
        readings["time"] = 10**12 + (10 * number + np.repeat(np.arange(10), len(asked))) * 10**6
        readings["value"] = readings["channel"] + np.sin(readings["time"] * 1e-6)
        parts.append(readings)
        recorder.take(Block(7, number, [Batch(len(readings), 0, int(readings["time"][-1]), (), (), None)], readings))
    recorder.close()
    (file,) = tmp_path.glob("*.mcap")
    whole = np.concatenate(parts)
    found = read(file, None)
    (joint,) = config.joints
    assert set(found[joint]) == set(config.joints[joint].channels)
    for index, route in enumerate(asked):
        if route.role in found[joint]:
            mine = whole[whole["channel"] == index]
            assert np.array_equal(found[joint][route.role].values, mine["value"])
            np.testing.assert_allclose(found[joint][route.role].time, np.arange(30) * 1e-3)
    with pytest.raises(RecordingError, match="expected no table of columns"):
        read(file, load_columns(table(tmp_path)))
