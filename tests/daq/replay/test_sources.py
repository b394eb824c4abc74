"""Readings of recordings that are not ours: every kind in order of time, on the channels that the configuration has."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from daq.config.load import load
from daq.config.routes import routes
from daq.config.sections import Config
from daq.recording.columns import load_columns
from daq.recording.reader import RecordingError
from daq.replay.sources import Counts, readings_of
from drivers.reading import READING

TEXT = """
[drivers.bus]
kind = "can"
interface = "socketcan"
channel = "can0"
[[drivers.bus.frames]]
name = "STATE"
id = 0x181
signals.position = { start = 0, bits = 8, unit = "rad" }
signals.torque = { start = 8, bits = 8, unit = "N·m" }
signals.counter = { start = 16, bits = 8 }
[joints.elbow]
rate = 100
model = { kind = "rigid" }
counter = { signal = "bus.STATE.counter", modulo = 256 }
channels.position = { signal = "bus.STATE.position" }
channels.torque = { signal = "bus.STATE.torque" }
"""
OTHER = """
[drivers.far]
kind = "can"
interface = "socketcan"
channel = "can1"
[[drivers.far.frames]]
name = "STATE"
id = 0x181
signals.position = { start = 0, bits = 8, unit = "rad" }
signals.torque = { start = 8, bits = 8, unit = "N·m" }
[joints.wrist]
rate = 100
model = { kind = "rigid" }
channels.position = { signal = "far.STATE.position" }
channels.torque = { signal = "far.STATE.torque" }
"""


def configured(folder: Path, text: str = TEXT) -> Config:
    (folder / "c.toml").write_text(text)
    return load(folder / "c.toml")


def read(file: Path, config: Config, counts: Counts | None = None, driver: str | None = None) -> np.ndarray:
    batches = readings_of(file, config, {} if counts is None else counts, driver)
    return np.concatenate([np.zeros(0, READING), *batches])


def table(folder: Path, times: list[float], **columns: list[float]) -> Path:
    names = {"time": times} | {f"elbow.{name}": one for name, one in columns.items()}
    lines = [",".join(names), *(",".join(map(str, row)) for row in zip(*names.values(), strict=True))]
    (folder / "x.csv").write_text("\n".join(lines) + "\n")
    return folder / "x.csv"


def test_times_that_count_from_a_trigger_count_from_the_first_row(tmp_path: Path) -> None:
    """Times below zero made a fault of each row: no data since 1970."""
    file = table(tmp_path, [-2.0, -1.99, 0.5], position=[1.0, 2.0, 3.0], torque=[4.0, 5.0, 6.0], counter=[7, 8, 9])
    found = read(file, configured(tmp_path))
    assert found["time"][::3].tolist() == [1000, 10_001_000, 2_500_001_000]


def test_columns_are_readings_row_by_row_and_channel_by_channel(tmp_path: Path) -> None:
    """Times to the ns; what begins at zero begins at a microsecond, since zero is never to the pipeline."""
    config = configured(tmp_path)
    file = table(tmp_path, [0.0, 0.0105, 0.02], position=[1.5, 2.5, 3.5], torque=[4.0, 5.0, 6.0], counter=[7, 8, 9])
    found = read(file, config)
    assert found["time"].tolist() == [1000] * 3 + [10_501_000] * 3 + [20_001_000] * 3
    assert found["channel"].tolist() == [0, 1, 2] * 3
    assert [one.role for one in routes(config)] == ["position", "torque", "counter"]
    assert found["value"].tolist() == [1.5, 4.0, 7.0, 2.5, 5.0, 8.0, 3.5, 6.0, 9.0]


def test_unix_times_stay_as_they_are(tmp_path: Path) -> None:
    begin = 1_700_000_000.25
    file = table(tmp_path, [begin, begin + 1], position=[1, 2], torque=[1, 2], counter=[1, 2])
    found = read(file, configured(tmp_path))["time"][::3]
    assert np.abs(found - [1_700_000_000_250_000_000, 1_700_000_001_250_000_000]).max() < 200, (
        "as a float of s holds it"
    )


def test_rows_out_of_order_are_put_in_order(tmp_path: Path) -> None:
    file = table(tmp_path, [0.0, 0.03, 0.02], position=[1, 2, 3], torque=[1, 2, 3], counter=[1, 2, 3])
    assert read(file, configured(tmp_path))["value"].tolist() == [1, 1, 1, 3, 3, 3, 2, 2, 2]


def test_every_column_that_is_missing_is_said(tmp_path: Path) -> None:
    with pytest.raises(RecordingError) as caught:
        read(table(tmp_path, [0.0, 1.0], position=[1, 2]), configured(tmp_path))
    assert str(caught.value).splitlines() == [
        f"{tmp_path}/x.csv: found no column elbow.torque, which the configuration asks for",
        f"{tmp_path}/x.csv: found no column elbow.counter: add it, or leave the counter out",
    ]
    whole = table(tmp_path, [0.0, 1.0], position=[1, 2], torque=[1, 2], counter=[1, 2])
    config = configured(tmp_path, TEXT + OTHER)
    with pytest.raises(RecordingError, match=r"found no column wrist.position"):
        read(whole, config)


def test_a_table_of_columns_comes_before_what_a_file_looks_like(tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text(
        'time = "s"\n[joints.elbow]\n'
        'position = { column = "q" }\ntorque = { column = "u" }\ncounter = { column = "n" }\n'
    )
    np.savez(tmp_path / "x.npz", s=[0.0, 1.0], q=[1.0, 2.0], u=[3.0, 4.0], n=[5.0, 6.0], readings=[0.0])
    batches = readings_of(tmp_path / "x.npz", configured(tmp_path), {}, None, load_columns(tmp_path / "t.toml"))
    assert np.concatenate(list(batches))["value"].tolist() == [1, 3, 5, 2, 4, 6]


def stored(folder: Path, readings: np.ndarray) -> Path:
    np.savez(folder / "x.npz", readings=readings)
    return folder / "x.npz"


def test_stored_readings_are_given_as_they_are(tmp_path: Path) -> None:
    readings = np.zeros(6, READING)
    readings["time"], readings["channel"], readings["value"] = [3, 1, 2, 5, 4, 6], [0, 1, 2, 2, 1, 0], np.arange(6.0)
    assert read(stored(tmp_path, readings), configured(tmp_path)).tobytes() == readings.tobytes()
    assert len(read(stored(tmp_path, readings[:0]), configured(tmp_path))) == 0


@pytest.mark.parametrize("channel", [-1, 3])
def test_stored_readings_of_a_channel_that_nobody_has_are_refused(tmp_path: Path, channel: int) -> None:
    readings = np.zeros(3, READING)
    readings["channel"][1] = channel
    with pytest.raises(RecordingError, match=r"x.npz: its readings have channels that the configuration does not have"):
        read(stored(tmp_path, readings), configured(tmp_path))


@pytest.mark.parametrize("wrong", [np.zeros(3), np.zeros((2, 2), READING)])
def test_an_array_that_is_none_of_readings_is_refused(tmp_path: Path, wrong: np.ndarray) -> None:
    with pytest.raises(RecordingError, match=r"x.npz: expected readings of "):
        read(stored(tmp_path, wrong), configured(tmp_path))


def log(folder: Path, *lines: str, name: str = "x.log") -> Path:
    (folder / name).write_text("".join(f"{line}\n" for line in lines))
    return folder / name


def test_a_log_is_decoded_by_the_one_driver_there_is_whatever_bus_it_was_on(tmp_path: Path) -> None:
    counts: Counts = {}
    file = log(
        tmp_path, "(1.000000) can7 181#010203", "(1.010000) can7 181#040506", "(1.020000) can7 182#00", "rubbish"
    )
    found = read(file, configured(tmp_path), counts)
    assert found["value"].tolist() == [1, 2, 3, 4, 5, 6]
    assert found["time"].tolist() == [1_000_001_000] * 3 + [1_010_001_000] * 3
    assert {name: {cause: n for cause, n in one.items() if n} for name, one in counts.items()} == {
        "bus": {"frames": 3, "unmatched": 1, "malformed": 1}
    }


def test_of_several_drivers_each_decodes_what_its_own_bus_carried(tmp_path: Path) -> None:
    """In the order in which the frames came, whichever bus they were on."""
    config = configured(tmp_path, TEXT + OTHER)
    counts: Counts = {}
    file = log(
        tmp_path, "(1.00) can0 181#010203", "(1.01) can1 181#0405", "(1.02) can0 181#060708", "(1.03) can2 181#0910"
    )
    found = read(file, config, counts)
    assert found["channel"].tolist() == [0, 1, 2, 3, 4, 0, 1, 2]
    assert found["value"].tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert (counts["bus"]["frames"], counts["bus"]["other_channels"]) == (2, 2)
    assert (counts["far"]["frames"], counts["far"]["other_channels"]) == (1, 3)
    one = read(file, config, driver="far")
    assert one["channel"].tolist() == [3, 4] * 4, "all of the log, by the driver that was asked for"
    assert len(read(log(tmp_path, "(1.0) can5 181#00"), config)) == 0


def test_a_driver_that_is_none_for_logs_is_said(tmp_path: Path) -> None:
    config = configured(tmp_path, TEXT + OTHER)
    file = log(tmp_path, "(1.0) can0 181#00")
    with pytest.raises(RecordingError, match="found no driver buss for logs in the configuration, only bus, far"):
        read(file, config, driver="buss")
    bare = config.model_copy(update={"drivers": {}})
    with pytest.raises(RecordingError, match=r"x.log: a log needs a CAN \(or file\) driver in the configuration"):
        read(file, bare)
    with pytest.raises(RecordingError, match="only none"):
        read(file, bare, driver="bus")


def test_frames_without_times_are_said_and_a_single_one_is_let_pass(tmp_path: Path) -> None:
    config, counts = configured(tmp_path), {}
    with pytest.raises(RecordingError, match=r"x.log: its frames have no times; record it with `candump -L`"):
        read(log(tmp_path, "can0 181#010203", "can0 181#010203"), config, counts)
    assert counts == {"bus": Counter(counts["bus"])}
    assert len(read(log(tmp_path, "can0 181#010203"), config)) == 3
    assert len(read(log(tmp_path, "(0.0) can0 181#010203", "(0.01) can0 181#010203"), config)) == 6


def test_a_csv_of_frames_is_distinguished_from_one_of_columns(tmp_path: Path) -> None:
    head = "timestamp,arbitration_id,extended,remote,error,dlc,data"
    rows = ["1.0,0x181,0,0,0,3,AQID", "1.01,0x181,0,0,0,3,BAUG"]
    found = read(log(tmp_path, head, *rows, name="x.csv"), configured(tmp_path))
    assert found["value"].tolist() == [1, 2, 3, 4, 5, 6]
    with pytest.raises(RecordingError, match=r"none.csv: No such file"):
        read(tmp_path / "none.csv", configured(tmp_path))
