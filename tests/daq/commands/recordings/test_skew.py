"""`jointwatch skew`: recordings with a table of columns in, delays and lines to paste out."""

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest

from daq.__main__ import main
from daq.config.load import load
from daq.config.routes import routes
from daq.config.words import ConfigError
from daq.recording.columns import load_columns, read
from daq.recording.process import NextBlock, Recorder
from daq.recording.reader import RecordingError
from daq.stream.transcript import Batch, TurnBlock
from drivers.reading import READING
from hil_rig.plants.joints.rigid import RigidPlantSettings

ROOT = Path(__file__).parents[4]
KR300 = ROOT.parent / "shared/data/kr300"
COLUMNS = ROOT / "docs/kr300-columns.toml"


def motion(t: np.ndarray) -> np.ndarray:
    return 0.4 * np.sin(2 * np.pi * 0.3 * t) + 0.1 * np.sin(2 * np.pi * 1.1 * t + 1)


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    t = np.arange(0, 12, 2e-3)
    noise = np.random.default_rng(1).normal(0, 1e-5, (2, len(t)))
    table = np.column_stack([t, motion(t) + noise[0], motion(t - 0.0042) + noise[1], np.ones(len(t))])
    file = tmp_path / "record.csv"
    np.savetxt(file, table, delimiter=",", header="time,elbow.position,elbow.link_position,elbow.torque", comments="")
    return file


def test_a_csv_needs_no_table(csv: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["skew", str(csv)]) == 0
    out, err = capsys.readouterr()
    pasted = tomllib.loads(out)["joints"]["elbow"]["channels"]
    assert pasted["link_position"]["delay"] == pytest.approx(0.0042, abs=1e-5)
    assert "not the same motion" in err
    assert main(["skew", str(csv), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found[0]["delay"] == pytest.approx(0.0042, abs=1e-5)
    assert 0 < found[0]["deviation"] < 1e-5


def test_units_wraps_and_times_of_a_table(tmp_path: Path) -> None:
    t = np.arange(0, 12, 2e-3)
    counts = np.round(10 * motion(t) / (2 * np.pi) * 4096) % 4096
    np.savez(tmp_path / "r.npz", ms=t * 1e3, raw=np.stack([counts, np.rad2deg(motion(t))]))
    table = tmp_path / "columns.toml"
    table.write_text(
        'time = "ms"\ntime_unit = "ms"\n[joints.a]\n'
        'position = { column = "raw[0]", unit = "counts", counts_per_rev = 4096, scale = 0.1, wrap = 0.6283185307 }\n'
        'link_position = { column = "raw[1]", unit = "deg" }\n'
    )
    roles = read(tmp_path / "r.npz", load_columns(table))["a"]
    np.testing.assert_allclose(roles["position"].time, t)
    np.testing.assert_allclose(
        roles["position"].values - roles["position"].values[0], motion(t) - motion(t)[0], atol=4e-4
    )
    np.testing.assert_allclose(roles["link_position"].values, motion(t))


@pytest.mark.parametrize(
    ("content", "name", "expected"),
    [
        ("", "r.csv", "found no numbers"),
        ("time,elbow.position\n1,2\n1,2,3\n", "r.csv", "cannot be read"),
        ("time,position\n1,2\n2,3\n", "r.csv", "expected the columns time and JOINT.ROLE"),
        ("PK\x03\x04 damaged", "r.npz", "cannot be read"),
        ("MATLAB 5.0 damaged", "r.mat", "cannot be read"),
        ("x", "r.xyz", "expected one of .mat, .npz, .npy, .csv"),
        (None, "r.csv", "No such file"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(tmp_path: Path, content: str | None, name: str, expected: str) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(RecordingError, match=expected) as caught:
        read(tmp_path / name, None)
    assert "\n" not in str(caught.value)


def test_mistakes_of_a_table_are_said_with_the_nearest_name(csv: Path, tmp_path: Path) -> None:
    table = tmp_path / "columns.toml"
    table.write_text('time = "time"\n[joints.elbow]\nposition = { column = "elbow.positon", unit = "degg" }\nrat = 3\n')
    with pytest.raises(ConfigError) as caught:
        load_columns(table)
    assert [problem.line for problem in caught.value.problems] == [3, 4], str(caught.value)
    table.write_text('time = "time"\n[joints.elbow]\nposition = { column = "elbow.positon" }\n')
    with pytest.raises(RecordingError, match=r'no column "elbow.positon", did you mean "elbow.position"'):
        read(csv, load_columns(table))
    assert main(["skew", str(csv), str(table)]) == 1


@pytest.mark.skipif(not KR300.exists(), reason="needs the recording ../shared/data/kr300")
def test_the_real_robot_by_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["skew", str(KR300 / "traj_A.mat"), str(COLUMNS), "--json"]) == 0
    found = {(one["joint"], one["channel"]): one for one in json.loads(capsys.readouterr().out)}
    for axis in ("axis1", "axis2", "axis3"):
        assert 2.85e-3 < found[axis, "link_position"]["delay"] < 3.35e-3
        assert found[axis, "velocity"]["delay"] == pytest.approx(4.4e-3, abs=0.1e-3)  # its makers' note: about 4.5 ms
        assert "why" in found[axis, "torque"]


def test_a_log_of_frames_is_read_by_the_services_own_configuration(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Encoders in frames of their own, at 1 kHz and 500 Hz, with jitter; a delay configured already changes nothing."""
    (tmp_path / "c.toml").write_text(
        """
[drivers.bus]
kind = "can"
interface = "socketcan"
channel = "can0"
[[drivers.bus.frames]]
name = "MOTOR"
id = 0x181
signals.position = { start = 0, bits = 32, type = "signed", scale = 1e-6, unit = "rad" }
signals.torque = { start = 32, bits = 16, type = "signed", unit = "N·m" }
[[drivers.bus.frames]]
name = "LINK"
id = 0x182
signals.position = { start = 0, bits = 32, type = "signed", scale = 1e-6, unit = "rad" }
[joints.elbow]
rate = 1000
model = { kind = "two_mass" }
channels.position = { signal = "bus.MOTOR.position" }
channels.link_position = { signal = "bus.LINK.position", rate = 500, delay = 0.002 }
channels.torque = { signal = "bus.MOTOR.torque" }
"""
    )
    rng = np.random.default_rng(3)
    lines = []
    for number in range(16_000):
        t = number * 1e-3
        for identifier, late, step in ((0x181, 0.0, 1), (0x182, 0.0036, 2)):
            if number % step == 0:
                data = np.array([round(1e6 * motion(np.array(t - late)))], "<i4").tobytes() + bytes(2)
                lines.append((t + rng.uniform(1e-4, 6e-4), f"can0 {identifier:X}#{data.hex()}"))
    with (tmp_path / "arm.log").open("w") as log:
        log.writelines(f"({1.7e9 + t:.6f}) {text}\n" for t, text in sorted(lines))
    assert main(["skew", str(tmp_path / "arm.log"), str(tmp_path / "c.toml")]) == 0
    pasted = tomllib.loads(capsys.readouterr().out)["joints"]["elbow"]["channels"]["link_position"]
    assert pasted["signal"] == "bus.LINK.position"
    assert pasted["delay"] == pytest.approx(0.0036, abs=5e-5)


def test_our_own_recording_is_aligned_before_it_is_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Frames that arrive in bursts of ten, as from a loaded machine: on arrival alone a joint has no acceleration."""
    text = (ROOT / "daq" / "jointwatch.toml").read_text()
    (tmp_path / "c.toml").write_text(text.replace("[publish]", '[recorder]\nfolder = "."\n[publish]'))
    config = load(tmp_path / "c.toml")
    asked = [route.role for route in routes(config)]
    plant = RigidPlantSettings().build(1, 3, ())
    rows = plant.rows(30_000)
    count = np.arange(len(rows))
    values = {"position": rows[:, 0], "torque": plant.roles["torque"].scale * rows[:, 1]}
    counter = next(iter(config.joints.values())).counter
    readings = np.zeros((len(rows), len(asked)), READING)
    readings["channel"] = np.arange(len(asked))
    readings["time"] = (10**12 + (count // 10 * 10 + 9) * 10**6 + count % 10 * 10**4)[:, None]
    for column, role in enumerate(asked):
        readings["value"][:, column] = values.get(role, count % (counter.modulo if counter else 65536))
    recorder = Recorder(config, NextBlock(tmp_path / "next"))
    whole = readings.ravel()
    recorder.take(TurnBlock(7, 0, [Batch(len(whole), 0, int(whole["time"][-1]), (), (), None)], whole))
    recorder.close()
    [file] = tmp_path.glob("*.mcap")
    assert main(["skew", str(file), "--json"]) == 0
    [found] = json.loads(capsys.readouterr().out)
    assert abs(found["delay"]) < 4.0 * found["deviation"] < 2e-3
    assert found["gain"] == pytest.approx(2.0, rel=0.02)
