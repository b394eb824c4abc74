"""`jointwatch replay`: recordings of every kind through the same pipeline, the same to the bit in two runs."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import can
import msgpack
import numpy as np
import pytest

from daq.__main__ import main
from daq.config.load import load
from daq.core.pipeline import Pipeline
from daq.replay.replay import BOOT, Played, play
from drivers.reading import READING

ROOT = Path(__file__).parents[3]
TEMPLATE = ROOT / "daq" / "jointwatch.toml"
MOTEC = ROOT.parent / "shared/data/can/motec"
SECONDS = 16.0
TRUTH = {"inertia": 2.0, "viscous": 3.0, "coulomb": 1.5, "offset": 0.4, "gravity_sin": 5.0, "gravity_cos": -1.0}


def joint() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The template's joint at 1 kHz: s, rad, N·m."""
    t = np.arange(round(SECONDS * 1000)) * 1e-3
    amplitude, omega = np.array([[0.5], [0.3]]), 2 * np.pi * np.array([[0.5], [1.3]])
    q = np.sum(amplitude * np.sin(omega * t), axis=0)
    v = np.sum(amplitude * omega * np.cos(omega * t), axis=0)
    a = np.sum(-amplitude * omega**2 * np.sin(omega * t), axis=0)
    torque = TRUTH["inertia"] * a + TRUTH["viscous"] * v + TRUTH["coulomb"] * np.sign(v) + TRUTH["offset"]
    return t, q, torque + TRUTH["gravity_sin"] * np.sin(q) + TRUTH["gravity_cos"] * np.cos(q)


@pytest.fixture(scope="module")
def payloads() -> list[bytes]:
    _, q, torque = joint()
    table = np.zeros(len(q), [("position", "<i4"), ("current", "<i2"), ("counter", "<u2")])
    table["position"], table["current"] = np.round(q * 1e6), np.round(torque / 11.0 * 1e3)
    table["counter"] = np.arange(len(q)) % 65536
    return [row.tobytes() for row in table]


@pytest.fixture(scope="module")
def candump(payloads: list[bytes], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a stranger's frames, and seven frames of ours missing."""
    file = tmp_path_factory.mktemp("log") / "arm.log"
    with file.open("w") as log:
        for number, payload in enumerate(payloads):
            stamp = f"({1_700_000_000 + number * 1e-3:.6f}) can0"
            if not 2000 <= number < 2007:
                log.write(f"{stamp} 181#{payload.hex().upper()}\n")
            if number % 4 == 0:
                log.write(f"{stamp} 7FF#00\n")
    return file


def test_two_runs_of_a_log_are_the_same_to_the_bit_and_right(
    candump: Path, capsys: pytest.CaptureFixture[str], run_program: Callable[..., Any]
) -> None:
    first = run_program("daq", "replay", candump, TEMPLATE, "--json")
    assert first.returncode == 0
    assert main(["replay", str(candump), str(TEMPLATE), "--json"]) == 0
    assert capsys.readouterr().out == first.stdout
    updates = [json.loads(line) for line in first.stdout.splitlines()]
    last = [one for one in updates if one["topic"] == "estimate/elbow"][-1]
    assert last["timestamp"] == pytest.approx(1_700_000_000 + SECONDS, abs=0.2)
    assert last["health"]["status"] == "valid"
    for name, value in TRUTH.items():
        assert last["parameters"][name] == pytest.approx(value, abs=0.03 * abs(value) + 0.02), name
    assert "unmatched 4000" in first.stderr
    assert "; lost 7\n" in first.stderr


@pytest.mark.parametrize("kind", [".asc", ".blf", ".csv"])
def test_other_logs_give_the_same_estimates(
    kind: str, payloads: list[bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / f"arm{kind}"
    with can.Logger(file) as log:
        for number, payload in enumerate(payloads[:3000]):
            log(can.Message(1_700_000_000 + number * 1e-3, 0x181, False, data=payload, channel=0))
    assert main(["replay", str(file), str(TEMPLATE)]) == 0
    out = capsys.readouterr().out
    assert "bus: frames 3000" in out
    assert "9000 readings of 2.999 s" in out


def test_columns_and_stored_readings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    t, q, torque = joint()
    file = tmp_path / "arm.csv"
    counter = np.arange(len(t)) % 65536
    header = "time,elbow.position,elbow.torque,elbow.counter"
    np.savetxt(file, np.column_stack([t, q, torque, counter]), delimiter=",", header=header, comments="")
    assert main(["replay", str(file), str(TEMPLATE)]) == 0
    out = capsys.readouterr().out
    assert "elbow: normal, valid" in out
    inertia = next(line.split() for line in out.splitlines() if "inertia" in line)
    assert float(inertia[1]) == pytest.approx(2.0, abs=0.05)
    readings = np.zeros((len(t), 3), READING)
    readings["time"] = 10**9 + np.round(t * 1e9).astype(np.int64)[:, None]
    readings["value"], readings["channel"] = np.column_stack([q, torque, counter]), [0, 1, 2]
    np.savez(tmp_path / "arm.npz", readings=readings.reshape(-1))
    assert main(["replay", str(tmp_path / "arm.npz"), str(TEMPLATE)]) == 0
    again = capsys.readouterr().out
    assert again.splitlines()[1:] == out.splitlines()[1:]


def test_a_pause_in_a_recording_is_said_as_it_was_live(candump: Path, tmp_path: Path) -> None:
    config = load(TEMPLATE)
    _, q, torque = joint()
    readings = np.zeros((4000, 3), READING)
    n = np.arange(4000)
    readings["time"] = 10**9 + np.where(n < 2000, n, n + 3000)[:, None] * 10**6
    readings["value"] = np.column_stack([q[:4000], torque[:4000], n])
    readings["channel"] = [0, 1, 2]
    messages = list(play(Pipeline(config, BOOT), iter([readings.reshape(-1)]), Played()))
    events = [msgpack.unpackb(body)["kind"] for topic, body in messages if topic == b"event/elbow"]
    assert events[:2] == ["fault", "recovered"]


def test_two_buses_by_the_channel_that_the_log_names(
    payloads: list[bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (
        TEMPLATE.read_text().replace('interface = "slcan" ', 'interface = "socketcan"').replace("/dev/ttyACM0", "can1")
    )
    text = text.replace("bitrate = 1_000_000\n", "")
    other = '[drivers.other]\nkind = "can"\ninterface = "socketcan"\nchannel = "can0"\n'
    other += '[[drivers.other.frames]]\nname = "X"\nid = 0x181\nsignals.x = { start = 0, bits = 8 }\n\n'
    (tmp_path / "c.toml").write_text(text.replace("# One [joints.NAME]", other + "# One [joints.NAME]"))
    with (tmp_path / "two.log").open("w") as log:
        for number, payload in enumerate(payloads[:1500]):
            for channel in ("can0", "can1", "can7"):
                log.write(f"({number * 1e-3:.6f}) {channel} 181#{payload.hex()}\n")
    words = ["replay", str(tmp_path / "two.log"), str(tmp_path / "c.toml")]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "4500 readings" in out
    assert "bus: frames 1500, other_channels 3000" in out
    assert "other: frames 1500, other_channels 3000" in out
    assert main([*words, "--driver", "bus"]) == 0
    assert "bus: frames 4500" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.log", None, "a.log"),
        ("a.xyz", "", "a.xyz"),
        ("a.csv", "time,elbow.position\n0,1\n1,2\n", "found no column elbow.torque"),
        ("a.npz", "rubbish", "cannot be read"),
        ("a.log", "rubbish\n", "none of its frames carries a configured signal"),
        ("a.log", "can0 181#00\n" * 3, "its frames have no times"),
        ("a.trc", "", "none of its frames carries a configured signal"),
    ],
)
def test_what_cannot_be_replayed_is_said(
    name: str, content: str | None, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    assert main(["replay", str(tmp_path / name), str(TEMPLATE)]) == 1
    assert expected in capsys.readouterr().err


def test_damage_is_counted_or_said_and_what_came_before_is_used(
    candump: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = candump.read_text().splitlines(keepends=True)[:1250]
    torn = tmp_path / "torn.log"
    torn.write_text("".join(lines) + "(16")
    assert main(["replay", str(torn), str(TEMPLATE)]) == 0
    out = capsys.readouterr().out
    assert "3000 readings" in out
    assert "malformed 1" in out


def test_a_csv_that_a_file_driver_describes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    t, q, torque = joint()
    table = np.column_stack([t * 1e3, np.rad2deg(q), torque])[:3000]
    np.savetxt(tmp_path / "arm.csv", table, delimiter=",", header="ms,angle,Nm", comments="")
    (tmp_path / "c.toml").write_text(
        """
[drivers.csv]
kind = "file"
path = "elsewhere.csv"
time = "ms"
time_unit = "ms"
columns.angle = { unit = "deg" }
columns.torque = { column = "Nm", unit = "Nm" }
[joints.elbow]
rate = 1000
model = { kind = "rigid" }
channels.position = { signal = "csv.row.angle" }
channels.torque = { signal = "csv.row.torque" }
"""
    )
    assert main(["replay", str(tmp_path / "arm.csv"), str(tmp_path / "c.toml")]) == 0
    out = capsys.readouterr().out
    assert "6000 readings of 2.999 s" in out
    assert "csv: frames 3000" in out


@pytest.mark.skipif(not MOTEC.exists(), reason="needs the log ../shared/data/can/motec")
def test_a_real_log_of_a_car(write_config: Callable[[], Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(MOTEC / "can_sample.log"), str(write_config())]) == 0
    assert "frames 82558, unmatched 44543" in capsys.readouterr().out


@pytest.fixture
def write_config(tmp_path: Path) -> Callable[[], Path]:
    def write() -> Path:
        import cantools.database

        database = cantools.database.load_file(MOTEC / "sample_can_spec.dbc")
        first, second = [f"bus.{one.name}.{one.signals[0].name}" for one in database.messages][:2]
        file = tmp_path / "c.toml"
        units = ((first, "rad"), (second, "N·m"))  # whatever the car's signals are: a joint wants these
        mended = ", ".join(f'"{one.removeprefix("bus.")}" = {{ unit = "{unit}" }}' for one, unit in units)
        file.write_text(
            f'[drivers.bus]\nkind = "can"\ninterface = "socketcan"\nchannel = "can0"\n'
            f'dbc = "{MOTEC / "sample_can_spec.dbc"}"\ncorrections = {{ {mended} }}\n'
            f'[joints.car]\nrate = 50\nmodel = {{ kind = "rigid" }}\n'
            f'channels.position = {{ signal = "{first}" }}\nchannels.torque = {{ signal = "{second}" }}\n'
        )
        return file

    return write
