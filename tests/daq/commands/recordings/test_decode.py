"""jointwatch decode: on a real log beside cantools and python-can, and on files that are none."""

import json
from pathlib import Path

import can
import cantools.database
import numpy as np
import pytest

from daq.__main__ import main

MOTEC = Path(__file__).parents[5] / "shared/data/can/motec"
LOG, DBC = MOTEC / "can_sample.log", MOTEC / "sample_can_spec.dbc"

SMALL = 'VERSION ""\nBU_: X\nBO_ 16 AXIS: 2 X\n SG_ value : 0|16@1- (0.5,1) [0|0] "rpm" X\n'


@pytest.fixture
def small(tmp_path: Path) -> tuple[Path, Path]:
    dbc, log = tmp_path / "small.dbc", tmp_path / "small.log"
    dbc.write_text(SMALL)
    lines = (
        "(1.5) can0 010#FEFF",
        "(2) can0 010#01",
        "rubbish",
        "(2.5) can0 011#00",
        "(3) can0 010#R",
        "(3) can1 010#0000",
    )
    log.write_text("\n".join(lines))
    return log, dbc


@pytest.mark.skipif(not LOG.exists(), reason=f"needs {LOG}")
def test_the_real_log_is_counted_and_its_values_are_those_of_cantools(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["decode", str(LOG), "--dbc", str(DBC), "--json", "--values"]) == 0
    out, err = capsys.readouterr()
    told = json.loads(err)
    assert (told["frames"], told["decoded"], told["unmatched"]) == (82_558, 38_015, 44_543)
    assert told["errors"] == {}
    assert sum(one["frames"] for one in told["unknown_ids"]) == 44_543
    lines = [line.split(",") for line in out.splitlines()]
    found = np.array([float(line[2]) for line in lines])
    database = cantools.database.load_file(DBC)
    expected: list[float] = []
    names: list[str] = []
    with can.LogReader(LOG) as reader:
        for message in reader:
            try:
                values = database.decode_message(message.arbitration_id, message.data, decode_choices=False)
            except KeyError:
                continue
            layout = database.get_message_by_frame_id(message.arbitration_id)
            for name in sorted(values):
                names.append(f"{layout.name}.{name}")
                expected.append(float(values[name]))
    theirs = sorted(zip(names, np.round(expected, 9).tolist(), strict=True))
    ours = sorted(zip((line[1] for line in lines), np.round(found, 9).tolist(), strict=True))
    assert ours == theirs


def test_values_in_the_dbcs_own_units(small: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    log, dbc = small
    assert main(["decode", str(log), "--dbc", str(dbc), "--values", "--channel", "can0"]) == 0
    assert capsys.readouterr().out == "1.500000000,AXIS.value,0.0,rpm\n"


def test_losses_by_cause(small: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    log, dbc = small
    assert main(["decode", str(log), "--dbc", str(dbc), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["frames"], told["decoded"], told["unmatched"], told["values"]) == (5, 2, 1, 2)
    assert told["errors"] == {"truncated": 1, "remote_frames": 1, "malformed": 1}
    assert told["unknown_ids"] == [{"id": "11", "extended": False, "frames": 1}]
    assert main(["decode", str(log), "--dbc", str(dbc)]) == 0
    text = capsys.readouterr().out
    assert "not in the DBC: 11 (1)" in text
    assert "frames/s" in text


def test_a_signal_without_a_known_unit_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dbc, log = tmp_path / "x.dbc", tmp_path / "x.log"
    dbc.write_text(SMALL.replace("rpm", "furlong"))
    log.write_text("(1.5) can0 010#FEFF\n")
    assert main(["decode", str(log), "--dbc", str(dbc)]) == 0
    assert 'AXIS.value: found the unknown unit "furlong"' in capsys.readouterr().out


def test_a_log_that_breaks_off_is_reported_as_far_as_it_goes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dbc, log = tmp_path / "x.dbc", tmp_path / "x.blf"
    dbc.write_text(SMALL)
    with can.Logger(str(log)) as logger:
        for number in range(20_000):
            logger(can.Message(timestamp=1.0 + number, arbitration_id=16, is_extended_id=False, data=[number & 255, 0]))
    log.write_bytes(log.read_bytes()[: log.stat().st_size // 2])
    code = main(["decode", str(log), "--dbc", str(dbc), "--json"])
    told = json.loads(capsys.readouterr().out)
    assert 1000 < told["frames"] < 15_000
    assert bool(told["broken_off"]) == (code == 1)


@pytest.mark.parametrize(
    ("dbc", "log", "code", "said"),
    [
        (SMALL, None, 1, "No such file"),
        (None, "", 78, "expected a readable DBC file"),
        ("BO_ nonsense", "", 78, "expected a valid DBC file"),
    ],
)
def test_what_cannot_be_read_is_said(
    dbc: str | None, log: str | None, code: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = tmp_path / "a.log", tmp_path / "a.dbc"
    for path, content in zip(paths, (log, dbc), strict=True):
        if content is not None:
            path.write_text(content)
    assert main(["decode", str(paths[0]), "--dbc", str(paths[1])]) == code
    assert said in capsys.readouterr().err


def test_another_bus_s_dbc_and_a_csv_of_columns_are_distinguished_from_a_log(
    small: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, dbc = small
    dbc.write_text(SMALL.replace("BO_ 16 ", "BO_ 99 "))
    assert main(["decode", str(log), "--dbc", str(dbc)]) == 1
    assert capsys.readouterr().err.endswith(f"none of its frames is described by {dbc}: is it this bus's DBC?\n")
    table = tmp_path / "arm.csv"
    table.write_text("time,q,tau\n0,1,2\n")
    assert main(["decode", str(table), "--dbc", str(dbc)]) == 1
    assert "jointwatch columns" in capsys.readouterr().err
