"""`jointwatch export`: every number of a recording in its tables, none added; clear words where that cannot be."""

import csv
import math
import sys
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pyarrow.parquet
import pytest

from daq.__main__ import main
from daq.commands.recordings.tables import FORMATS, Columns, Repeated, repeated
from daq.config.load import load
from daq.config.routes import routes
from daq.config.sections import Record
from daq.core.pipeline import Pipeline
from daq.recording.folder import recordings
from daq.recording.process import NextBlock, Recorder
from daq.recording.reader import blocks
from daq.stream.transcript import Batch, TurnBlock
from drivers.reading import READING

TEMPLATE = Path(__file__).parents[4] / "daq" / "jointwatch.toml"
EPOCH = 1_700_000_000_000_000_000
COUNT = 40


def readings(number: int) -> np.ndarray:
    """A twenty-fifth of a second of motion at 1 kHz; one value is not known."""
    time = (1 + np.arange(COUNT) + number * COUNT) * 1_000_000
    rows = np.zeros(3 * COUNT, READING)
    rows["time"], rows["channel"] = np.repeat(time, 3), np.tile([0, 1, 2], COUNT)
    rows["value"][0::3], rows["value"][1::3] = np.sin(time * 1e-9), np.cos(time * 1e-9)
    rows["value"][2::3] = time // 1_000_000 % 65536
    rows["value"][4] = math.nan
    return rows


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("records")
    config = load(TEMPLATE).model_copy(update={"recorder": Record(folder=folder, reserve=0)})
    assert [route.role for route in routes(config)] == ["position", "torque", "counter"]
    expected = NextBlock(folder / "next")
    recorder, pipeline = Recorder(config, expected), Pipeline(config, 7)
    for number in range(25):
        rows = readings(number)
        now = int(rows["time"][-1])
        messages = pipeline.absorb(rows, EPOCH, lambda now=now: now)
        batch = Batch(len(rows), EPOCH, now, [now] * (len(messages) // 2), [], None)
        event = {"timestamp": 1.5, "kind": "alarm", "text": 'a, "b"\nμ', "seq": number, "boot": 7, "joint": "elbow"}
        recorder.take(TurnBlock(7, number, [batch], rows, [*messages, (b"event/elbow", msgpack.packb(event))]))
    recorder.close()
    expected.close()
    (file,) = recordings(folder, "arm")
    return file


def table(folder: Path, name: str, kind: str) -> dict[str, list[object]]:
    if kind == "parquet":
        found: dict[str, list[object]] = pyarrow.parquet.read_table(folder / f"{name}.parquet").to_pydict()
        return found
    with (folder / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        names, *rows = csv.reader(file)
    return {name: [_value(row[at]) for row in rows] for at, name in enumerate(names)}


def _value(text: str) -> object:
    try:
        return float(text) if text else None
    except ValueError:
        return text


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_tables_have_every_number_exactly(recording: Path, tmp_path: Path, kind: str) -> None:
    assert main(["export", str(recording), "--to", kind, "--out", str(tmp_path)]) == 0
    names = {"estimate.elbow", "residual.elbow", "summary.elbow", "event", "readings"}
    assert {file.name for file in tmp_path.iterdir()} == {f"{name}.{kind}" for name in names}
    rows = np.concatenate([readings(number) for number in range(25)])
    found = table(tmp_path, "readings", kind)
    assert found["monotonic_ns"] == rows["time"].tolist()
    assert found["value"] == [None if math.isnan(value) else value for value in rows["value"].tolist()]
    assert set(found["joint"]) == {"elbow"}
    assert found["channel"][:3] == ["position", "torque", "counter"]
    assert found["timestamp"][0] == (EPOCH + 1_000_000) / 1e9
    events = table(tmp_path, "event", kind)
    assert events["text"] == ['a, "b"\nμ'] * 25
    assert events["seq"] == list(range(25))
    estimates = table(tmp_path, "estimate.elbow", kind)
    assert {"timestamp", "phase", "status", "inertia", "inertia.deviation", "latency"} <= estimates.keys()
    assert len(estimates["timestamp"]) == len(table(tmp_path, "residual.elbow", kind)["measured"]) > 40
    assert set(estimates["latency"]) == {0.0}


def test_consecutive_recordings_make_one_table_beside_them(recording: Path) -> None:
    assert main(["export", str(recording), str(recording)]) == 0
    assert len(table(recording.with_suffix(""), "event", "csv")["seq"]) == 50


def test_what_cannot_be_read_leaves_nothing_behind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], recording: Path
) -> None:
    (tmp_path / "x.mcap").write_bytes(b"\x89MCAP0\r\n" + b"rubbish" * 100)
    for wrong in (tmp_path / "x.mcap", tmp_path / "none.mcap"):
        assert main(["export", str(recording), str(wrong), "--out", str(tmp_path / "out")]) == 1
        assert capsys.readouterr().err.startswith(f"jointwatch: {wrong}: ")
        assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], recording: Path
) -> None:
    (tmp_path / "file").write_text("")
    assert main(["export", str(recording), "--out", str(tmp_path / "file" / "out")]) == 1
    assert capsys.readouterr().err == f"jointwatch: {tmp_path / 'file' / 'out'}: Not a directory\n"


def test_a_disk_that_is_full_of_readings_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], recording: Path
) -> None:
    (tmp_path / "readings.csv").symlink_to("/dev/full")
    assert main(["export", str(recording), "--out", str(tmp_path)]) == 1
    assert capsys.readouterr().err == f"jointwatch: {tmp_path}: No space left on device\n"


def test_parquet_without_pyarrow_says_what_to_install(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert main(["export", str(recording), "--to", "parquet", "--out", str(tmp_path / "out")]) == 1
    assert "pip install 'jointwatch[parquet]'" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_file_that_breaks_off_gives_what_it_has(tmp_path: Path, recording: Path) -> None:
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(recording.read_bytes()[: recording.stat().st_size // 2])
    assert main(["export", str(cut), "--out", str(tmp_path / "out")]) == 0
    values = table(tmp_path / "out", "readings", "csv")["value"]
    assert 0 < len(values) < 25 * 3 * COUNT
    assert len(values) % (3 * COUNT) == 0


def test_readings_of_no_channel_of_its_configuration_are_damage_and_never_reach_a_kernel(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = load(TEMPLATE).model_copy(update={"recorder": Record(folder=tmp_path, reserve=0)})
    expected = NextBlock(tmp_path / "next")
    recorder = Recorder(config, expected)
    for number in range(2):
        rows = readings(number)
        rows["channel"][-1] += number  # beyond the last one in the second block
        batch = Batch(len(rows), EPOCH, int(rows["time"][-1]), [], [], None)
        recorder.take(TurnBlock(7, number, [batch], rows, []))
    recorder.close()
    expected.close()
    (file,) = recordings(tmp_path, "arm")
    assert [len(block.readings) for block in blocks(file)] == [3 * COUNT]
    assert main(["export", str(file), "--out", str(tmp_path / "out")]) == 0
    assert "breaks off after 1 block of readings: readings of channel 3, and its configuration has 3" in (
        capsys.readouterr().err
    )
    assert len(table(tmp_path / "out", "readings", "csv")["value"]) == 3 * COUNT


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_numbers_that_are_said_again_come_back_to_the_bit(kind: str, tmp_path: Path) -> None:
    """Their texts are made once for each number: zeros of both signs are two, and what is not known is none."""
    said = np.tile([0.0, -0.0, 0.1 + 0.2, math.nan, 1e-310, -math.inf, 3.0], 40)
    column = repeated(said)
    assert isinstance(column, Repeated), "few numbers"
    assert isinstance(repeated(np.arange(300.0)), np.ndarray), "none is said twice"
    made = FORMATS[kind](tmp_path / f"t.{kind}", ["value", "seq"])
    made.add({"value": column, "seq": list(range(len(said)))})
    made.close()
    found = table(tmp_path, "t", kind)["value"]
    assert [one is None for one in found] == np.isnan(said).tolist()
    back = np.array([math.nan if one is None else one for one in found], np.float64)
    np.testing.assert_array_equal(back, said)
    np.testing.assert_array_equal(np.signbit(back), np.signbit(said) & ~np.isnan(said))


def test_rows_of_every_kind_of_column_are_the_fields_that_csv_reads(tmp_path: Path) -> None:
    """Numbers of any size, unknown ones, truth values and texts with all that separates rows and fields."""
    numbers: list[Any] = [0.1 + 0.2, 5e-324, 1.7976931348623157e308, -0.0, 1e-7, 2.5e16, math.inf, None]
    columns: Columns = {
        "error": numbers,
        "seq": [0, -1, 2**53 + 1, 2**64, None, 4, 5, 6],
        "text": ['a],["b', "null", "", "x,y", "NaN\r\n", "\u03bc", None, "],["],
        "soft": [True, 1, 1.0, False, 0, -0.0, None, "Infinity"],
        "value": np.array([math.nan, -math.inf, *range(6)]),
        "unit": ["Nm"] * 8,
    }
    made = FORMATS["csv"](tmp_path / "t.csv", list(columns))
    made.add(columns)
    for part in (slice(0), slice(7, 8)):
        made.add({name: column[part] for name, column in columns.items() if not isinstance(column, Repeated)})
    made.close()
    with (tmp_path / "t.csv").open(newline="", encoding="utf-8") as file:
        heading, *rows = csv.reader(file)
    assert heading == list(columns)
    assert rows[8:] == rows[7:8]
    found = dict(zip(heading, map(list, zip(*rows[:8], strict=True)), strict=True))
    assert [float(one) if one else None for one in found["error"]] == numbers
    assert found["error"][3] == "-0.0"
    assert [int(one) if one else None for one in found["seq"]] == columns["seq"]
    assert found["text"] == [one or "" for one in columns["text"]]
    assert found["soft"] == ["True", "1", "1.0", "False", "0", "-0.0", "", "Infinity"]
    assert found["value"] == ["", "-inf", *(f"{one}.0" for one in range(6))]
    assert found["unit"] == columns["unit"]
