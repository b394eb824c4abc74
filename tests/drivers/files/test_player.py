"""Recordings as drivers: every format against what python-can wrote, speeds, cuts, and files that are none."""

import re
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import can
import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from drivers import AnyDriver
from drivers.base import DriverSettings, EndOfFileError, LinkError, Wanted
from drivers.files.can_log import LogFile
from drivers.files.candump import CandumpParser
from drivers.layout.frame import ERROR, EXTENDED, REMOTE, Frames
from drivers.reading import BIT_RATE_SWITCH, ERROR_STATE, FD, OWN, READING

FRAMES = [{"name": "AXIS", "id": 0x181, "signals": {"count": {"start": 0, "bits": 32}}}]
START = 1_631_416_514.0
MF4 = find_spec("asammdf") is not None


def settings(path: Path, **changes: Any) -> DriverSettings:
    given = {"kind": "file", "path": str(path), "frames": FRAMES, "speed": 0} | changes
    found: DriverSettings = TypeAdapter(AnyDriver).validate_python(given)
    return found


def played(driver_settings: DriverSettings, *signals: str) -> tuple[np.ndarray, dict[str, int], str]:
    """All readings, the counters that are not nought, and what was said at the end."""
    parts = [np.zeros(0, READING)]
    with driver_settings.open([Wanted(c, name) for c, name in enumerate(signals or ("AXIS.count",))]) as driver:
        try:
            while True:
                parts.append(driver.read(0.1))
        except EndOfFileError as end:
            said = str(end)
        with pytest.raises(EndOfFileError):
            driver.read(0.0)
        counts = {cause: count for cause, count in driver.counters().items() if count}
    return np.concatenate(parts), counts, said


def messages(count: int = 100) -> list[can.Message]:
    return [
        can.Message(
            timestamp=START + 0.01 * number,
            arbitration_id=0x181 if number % 4 else 0x182,
            is_extended_id=False,
            data=number.to_bytes(4, "little"),
            channel=0,
        )
        for number in range(count)
    ]


@pytest.mark.parametrize("suffix", [".log", ".asc", ".blf", ".trc", ".csv", ".db"])
def test_every_format_gives_what_was_written(suffix: str, tmp_path: Path) -> None:
    file = tmp_path / f"recording{suffix}"
    with can.Logger(str(file)) as logger:
        for message in messages():
            logger(message)
    readings, counts, said = played(settings(file))
    numbers = [number for number in range(100) if number % 4]
    assert readings["value"].tolist() == numbers
    assert counts == {"frames": 100, "unmatched": 25}
    assert said == f"{file}: played to its end"
    stamps = readings["time"] - readings["time"][0]
    np.testing.assert_allclose(stamps, (np.array(numbers) - 1) * 1e7, atol=2e6)  # some formats keep milliseconds


@pytest.mark.skipif(not MF4, reason="needs asammdf: pip install 'jointwatch[mf4]'")
def test_mf4_gives_what_was_written(tmp_path: Path) -> None:
    file = tmp_path / "recording.mf4"
    with can.Logger(str(file)) as logger:
        for message in messages():
            logger(message)
    readings, counts, _ = played(settings(file))
    assert readings["value"].tolist() == [number for number in range(100) if number % 4]
    assert counts == {"frames": 100, "unmatched": 25}


def test_as_fast_as_possible_times_are_the_recorded_ones_and_two_runs_are_the_same(tmp_path: Path) -> None:
    file = tmp_path / "recording.log"
    file.write_text("".join(f"(1631416514.{n:06}) can0 181#{n:08X}\n" for n in range(1000)))
    first, second = played(settings(file))[0], played(settings(file))[0]
    assert first.tobytes() == second.tobytes()
    np.testing.assert_array_equal(first["time"], 1631416514 * 10**9 + 1000 * np.arange(1000))


@pytest.mark.parametrize("speed", [1.0, 4.0])
def test_speed_paces_the_playing_but_not_the_times(speed: float, tmp_path: Path) -> None:
    file = tmp_path / "recording.log"
    file.write_text("".join(f"(100.{n:03}) can0 181#{n:08X}\n" for n in range(0, 400, 10)))
    start = time.monotonic_ns()
    readings, _, _ = played(settings(file, speed=speed))
    end = time.monotonic_ns()
    assert 0.39 / speed <= (end - start) / 1e9
    assert np.diff(readings["time"]).tolist() == [10_000_000] * 39
    assert start <= readings["time"][0] <= end


def test_one_bus_of_several(tmp_path: Path) -> None:
    file = tmp_path / "recording.log"
    file.write_text("(1.0) can0 181#01\n(1.1) can1 181#02000000\n(1.2) can10 181#03000000\n")
    readings, counts, _ = played(settings(file, channel="can1"))
    assert readings["value"].tolist() == [2]
    assert counts == {"frames": 1, "other_channels": 2}


@pytest.mark.parametrize("suffix", [".asc", ".blf"])
def test_one_bus_of_several_in_python_cans_logs(suffix: str, tmp_path: Path) -> None:
    file = tmp_path / f"recording{suffix}"
    with can.Logger(str(file)) as logger:
        for number, message in enumerate(messages()):
            message.channel = number % 3
            logger(message)
    whole = LogFile(file)
    assert sum(len(block.ids) for block in whole.blocks()) == 100
    assert not any(whole.counts.values())
    names = {str(message.channel) for message in can.LogReader(file)}
    for name in names:
        part = LogFile(file, name)
        [frames] = part.blocks()
        numbers = frames.payload[:, :4].copy().view("<u4").ravel()
        assert len({number % 3 for number in numbers.tolist()}) == 1
        assert part.counts == {"malformed": 0, "other_channels": 100 - len(numbers)}


def test_a_frame_that_stands_behind_a_later_one_is_played_with_that(tmp_path: Path) -> None:
    file = tmp_path / "recording.log"
    file.write_text("(1.02) can0 181#01000000\n(1.00) can1 181#02000000\n(1.04) can0 181#03000000\n")
    begin = time.monotonic_ns()
    readings, _, _ = played(settings(file, speed=1.0))
    assert readings["value"].tolist() == [2, 1, 3], "in order of time"
    assert (readings["time"] - readings["time"][0]).tolist() == [0, 20_000_000, 40_000_000]
    assert time.monotonic_ns() - begin >= 40_000_000


def test_reading_waits_no_longer_than_it_was_told_and_gives_nothing_before_its_time(tmp_path: Path) -> None:
    file = tmp_path / "recording.log"
    file.write_text("(1.0) can0 181#01000000\n(3601.0) can0 181#02000000\n")
    with settings(file, speed=1.0).open([Wanted(0, "AXIS.count")]) as driver:
        assert driver.read(5.0)["value"].tolist() == [1]
        assert len(driver.read(0.0)) == 0
        assert len(driver.read(0.01)) == 0
    with pytest.raises(LinkError, match="not open"):
        driver.read(0.0)


def test_a_file_that_is_opened_again_begins_again(tmp_path: Path) -> None:
    file = tmp_path / "recording.log"
    file.write_text("(1.0) can0 181#01000000\n(2.0) can0 182#00\n")
    driver = settings(file).open([Wanted(0, "AXIS.count")])
    for _ in range(2):
        with driver:
            assert driver.read(0.1)["value"].tolist() == [1]
            assert {cause: count for cause, count in driver.counters().items() if count} == {
                "frames": 2,
                "unmatched": 1,
            }


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_a_csv_file_by_its_columns(separator: str, tmp_path: Path) -> None:
    file = tmp_path / "recording.csv"
    file.write_text("t_ms, q ,tau\n0,1.5,100\n1,,200\n2,2.5,x\nnan,1,1\n3,3.5\n".replace(",", separator))
    columns = {
        "position": {"column": "q", "unit": "rev"},
        "torque": {"column": "tau", "unit": "mN·m", "scale": -1.0},
    }
    given = settings(file, frames=[], columns=columns, time="t_ms", time_unit="ms")
    assert given.signals() == {"row.position": "rad", "row.torque": "N·m"}
    readings, counts, _ = played(given, "row.position", "row.torque")
    np.testing.assert_allclose(readings["value"][0::2], np.array([1.5, np.nan, 2.5, 3.5]) * 2 * np.pi)
    np.testing.assert_allclose(readings["value"][1::2], [-0.1, -0.2, np.nan, np.nan])
    assert readings["time"][0::2].tolist() == [0, 1_000_000, 2_000_000, 3_000_000]
    assert counts == {"frames": 4, "non_finite": 3, "malformed": 1}


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.blf", b"LOGG but no more", "after 0 frames: "),
        ("a.blf", b"", "after 0 frames: "),
        pytest.param(
            "a.mf4", b"junk", "takes asammdf.*jointwatch.mf4", marks=pytest.mark.skipif(MF4, reason="asammdf is there")
        ),
        ("a.xyz", b"junk", "after 0 frames: "),
        ("a.csv", b"a,b\n1,2\n", "expected columns time, q, found a, b"),
        ("a.csv", b"\xff\xfe\x00", "not a readable CSV file"),
    ],
)
def test_a_file_that_is_none_says_so(name: str, content: bytes, said: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    changes = {"frames": [], "columns": {"q": {}}} if name.endswith(".csv") else {}
    given = settings(file, **changes)
    _, _, end = played(given, "row.q" if changes else "AXIS.count")
    assert end.startswith(f"{file}: ")
    assert re.search(said, end)


def test_a_truncated_recording_is_played_as_far_as_it_goes(tmp_path: Path) -> None:
    file = tmp_path / "recording.blf"
    with can.Logger(str(file)) as logger:
        for message in messages(20_000):
            logger(message)
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    readings, _, said = played(settings(file))
    assert 1000 < len(readings) < 15_000
    assert readings["value"].tolist() == [n for n in range(20_000) if n % 4][: len(readings)]
    assert said.startswith(f"{file}: ")


@pytest.mark.parametrize("identifier", ["20000001x", "FFFFFFFFx", "FFFFFFFFFFFFFFFFFFFx", "181FFFFFFFFFFFFFFFF"])
def test_an_identifier_that_no_bus_has_is_counted_or_said(tmp_path: Path, identifier: str) -> None:
    """An identifier has 29 bits at most; what came before a longer one is played."""
    file = tmp_path / "recording.asc"
    with can.Logger(str(file)) as logger:
        for message in messages(10):
            logger(message)
    lines = file.read_text().splitlines()
    frame = next(line for line in lines if " 181 " in f"{line} ")
    file.write_text("\n".join([*lines[:-1], frame.replace("181", identifier, 1), lines[-1]]))
    readings, counts, said = played(settings(file))
    assert readings["value"].tolist() == [n for n in range(10) if n % 4]
    assert counts.get("malformed") == 1 or "breaks off after" in said


def test_a_missing_file_is_said_on_opening(tmp_path: Path) -> None:
    with pytest.raises(LinkError, match=r"none\.log: there is no such file"), settings(tmp_path / "none.log").open([]):
        pass


def test_paths_are_relative_to_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "x.log").write_text("(1.0) can0 181#01000000\n")
    given = {"kind": "file", "path": "x.log", "frames": FRAMES, "speed": 0}
    found = TypeAdapter(AnyDriver).validate_python(given, context={"folder": tmp_path})
    assert played(found)[0]["value"].tolist() == [1]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"speed": -1}, "greater than or equal to 0"),
        ({"frames": []}, "expected either dbc or frames and layouts, found none"),
        ({"columns": {"q": {}}}, "either columns or a layout of frames, found both"),
        ({"frames": [], "columns": {"q": {"unit": "furlong"}}}, 'unknown unit "furlong"'),
    ],
)
def test_settings_that_cannot_be_are_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        settings(Path("x.log"), **changes)


def unpacked(frames: Frames) -> list[tuple[int, bytes, int]]:
    rows = zip(frames.ids, frames.payload, frames.lengths, frames.times, strict=True)
    return [(int(i), row[:n].tobytes(), int(t)) for i, row, n, t in rows]


def test_columns_have_a_scale_and_an_offset_before_their_unit(tmp_path: Path) -> None:
    file = tmp_path / "recording.csv"
    file.write_text("time,q,w\n0,10,3\n1,20,4\n")
    columns = {"q": {"unit": "deg", "scale": 2.0, "offset": 5.0}, "w": {"unit": "degF"}}
    readings, _, _ = played(settings(file, frames=[], columns=columns), "row.q", "row.w")
    np.testing.assert_allclose(readings["value"][0::2], np.deg2rad([25.0, 45.0]))
    np.testing.assert_allclose(readings["value"][1::2], (np.array([3.0, 4.0]) - 32.0) * 5.0 / 9.0)


@pytest.mark.parametrize(("unit", "factor"), [("s", 10**9), ("ms", 10**6), ("us", 1000), ("µs", 1000), ("ns", 1)])
def test_times_of_a_csv_file_have_a_unit_and_an_end(tmp_path: Path, unit: str, factor: int) -> None:
    file = tmp_path / "recording.csv"
    last = (1 << 62) // factor
    file.write_text(f"time,q\n-3,1\n0,2\n1,3\n{2 * last},4\n{last // 2},5\n-{2 * last},6\n")
    readings, counts, _ = played(settings(file, frames=[], columns={"q": {}}, time_unit=unit), "row.q")
    assert readings["value"].tolist() == [1, 2, 3, 5]
    np.testing.assert_allclose(readings["time"], np.array([-3, 0, 1, last // 2]) * float(factor), rtol=1e-12)
    assert counts == {"frames": 4, "malformed": 2}


def test_a_long_csv_file_is_played_whole(tmp_path: Path) -> None:
    file = tmp_path / "recording.csv"
    file.write_text("time,q\n" + "".join(f"{number},{number}\n" for number in range(10_000)))
    readings, counts, _ = played(settings(file, frames=[], columns={"q": {}}), "row.q")
    assert readings["value"].tolist() == list(range(10_000))
    assert counts == {"frames": 10_000}


CANDUMP = [
    (b"(1631416514.717133) can0 0D2#0000FFFF10", (0xD2, b"\x00\x00\xff\xff\x10", 1631416514717133000)),
    (b"(12.5) can0 123#", (0x123, b"", 12_500_000_000)),
    (b"(12.5) vcan-1.x 7FF#aB", (0x7FF, b"\xab", 12_500_000_000)),
    (b"(1.000000001) can0 000000D2#01 R", (0xD2 | EXTENDED, b"\x01", 1_000_000_001)),
    (b"(1.0) can0 123#R", (0x123 | REMOTE, b"", 10**9)),
    (b"(1.0) can0 123#R8 T", (0x123 | REMOTE, bytes(8), 10**9)),
    (b"(1.0) can0 20000004#0000000000000000", (4 | ERROR, bytes(8), 10**9)),
    (b"(1.0) can0 123##1" + b"11" * 64, (0x123, b"\x11" * 64, 10**9)),
    (b"  can0  001   [8]  FF FF FF FF FF FF FF FD", (1, b"\xff" * 7 + b"\xfd", 0)),
    (b" (1.000000)  can0  080   [0]", (0x80, b"", 10**9)),
    (b"  can0  12345678   [02]  01 02   '..'", (0x12345678 | EXTENDED, b"\x01\x02", 0)),
    (b"(9000000000.5) can0 123#00", (0x123, b"\0", 9_000_000_000_500_000_000)),
    (b"(1.0000000019) can0 123#00", (0x123, b"\0", 1_000_000_001)),
    (b"(7) can0 123#00", (0x123, b"\0", 7 * 10**9)),
    (b"\t(1.0)\tcan0\t123#00", (0x123, b"\0", 10**9)),
    (b"(1.0) can0 1FFFFFFF#00", (0x1FFFFFFF | EXTENDED, b"\0", 10**9)),
    (b"(1.0) can0 123#r3", (0x123 | REMOTE, bytes(3), 10**9)),
    (b"(1.0) can0 123#R9", (0x123 | REMOTE, b"", 10**9)),
    (b"  can0  123   [8]  remote request", (0x123 | REMOTE, bytes(8), 0)),
]


@pytest.mark.parametrize(("line", "expected"), CANDUMP)
def test_a_line_of_candump(line: bytes, expected: tuple[int, bytes, int]) -> None:
    for ending in (b"\n", b"\r\n", b""):
        assert unpacked(CandumpParser().feed(line + ending, last=True)) == [expected]


@pytest.mark.parametrize(
    ("line", "length", "flags"),
    [
        (b"(1.0) can0 123#0102 R", 2, 0),
        (b"(1.0) can0 123#0102 T", 2, OWN),
        (b"(1.0) can0 123#R4", 4, 0),
        (b"(1.0) can0 123#R4 T", 4, OWN),
        (b"(1.0) can0 123##0AABB", 2, FD),
        (b"(1.0) can0 123##1AABB R", 2, FD | BIT_RATE_SWITCH),
        (b"(1.0) can0 123##3AABB T", 2, FD | BIT_RATE_SWITCH | ERROR_STATE | OWN),
        (b"  can0  123   [3]  01 02 03", 3, 0),
    ],
)
def test_a_log_keeps_what_kind_of_frame_it_was_and_who_sent_it(line: bytes, length: int, flags: int) -> None:
    frames = CandumpParser().feed(line + b"\n")
    assert (frames.lengths.tolist(), frames.flags.tolist()) == ([length], [flags])


@pytest.mark.parametrize("suffix", [".asc", ".blf"])
def test_python_cans_logs_keep_it_too(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"x{suffix}"
    with can.Logger(path) as log:
        log(can.Message(timestamp=1.0, arbitration_id=1, data=b"\1", is_rx=True, is_extended_id=False, channel=0))
        log(can.Message(timestamp=1.1, arbitration_id=2, data=b"\2", is_rx=False, is_extended_id=False, channel=0))
        log(can.Message(timestamp=1.2, arbitration_id=3, dlc=5, is_remote_frame=True, is_extended_id=False, channel=0))
        log(can.Message(timestamp=1.3, arbitration_id=4, data=bytes(12), is_fd=True, bitrate_switch=True, channel=0))
    [frames] = LogFile(path).blocks()
    assert frames.ids[2] == 3 | REMOTE
    assert frames.lengths[:3].tolist() == [1, 1, 5]
    assert frames.flags[:2].tolist() == [0, OWN]
    assert (frames.lengths[3], frames.flags[3]) == (12, FD | BIT_RATE_SWITCH)


@pytest.mark.parametrize(
    "line",
    [
        b"(1.0) can0",
        b"(1.0) can0 123",
        b"(1.0) can0 1234#00",
        b"(1.0) can0 800#00",
        b"(1.0) can0 123#0",
        b"(1.0) can0 123#0G",
        b"(1.0) can0 123##",
        b"(1.0) can0 123##1" + b"11" * 65,
        b"(x) can0 123#00",
        b"(1.0 can0 123#00",
        b"(2021-09-12 03:15:14.7) can0 123#00",
        b"can0 123 [2] 00",
        b"can0 123 [2 00 00",
        b"can0 123 [3] 00 00",
        b"can0 123 [1] 00 00",
        b"(1.0) can0 40000000#00",
        b"(1.0) can0 123456789#00",
        b"(1.0) can0 123#00x",
        b"(1.0) can0 123##G00",
        b"() can0 123#00",
        b"(9000000001.0) can0 123#00",
        b"(1234567890123.0) can0 123#00",
        b"\xff\x00\xfe",
    ],
)
def test_a_line_that_is_none_is_counted(line: bytes) -> None:
    parser = CandumpParser()
    assert unpacked(parser.feed(b"# comment\n\n" + line + b"\n" + CANDUMP[0][0] + b"\n")) == [CANDUMP[0][1]]
    assert parser.counts["malformed"] == 1


def test_cutting_the_text_anywhere_changes_nothing() -> None:
    text = b"\n".join(line for line, _ in CANDUMP) + b"\n"
    for size in (1, 2, 7, 50):
        parser = CandumpParser()
        found = [frame for at in range(0, len(text), size) for frame in unpacked(parser.feed(text[at : at + size]))]
        assert found == [expected for _, expected in CANDUMP]
