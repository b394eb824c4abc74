"""What commands answer to a person who has not the right files yet, and while they take long."""

import contextlib
import io
import os
import re
import select
import struct
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import can
import msgpack
import numpy as np
import pytest
import zmq

from daq.__main__ import main
from daq.commands.doctor.bus import GuessedField, Talk
from daq.commands.doctor.proposal import bus_proposal
from daq.commands.progress import Progress, bytes_of
from daq.config.load import load
from drivers.files.bytes_read import note, observed
from drivers.files.can_log import LogFile
from drivers.files.player import FileSettings
from estimators.numerics.named_arrays import named_columns
from estimators.numerics.tables import bytes_read as bytes_of_tables
from tests.support.processes.commands import log_handlers_restored
from tests.support.processes.waiting import wait_until
from tests.support.tables.table_files import bag, truth

DBC = """VERSION ""
BU_: Drive
BO_ 257 J1_State: 8 Drive
 SG_ J1_Position : 0|16@1- (0.001,0) [0|0] "rad" Drive
 SG_ J1_Torque : 16|16@1- (0.01,0) [0|0] "Nm" Drive
BO_ 258 J2_State: 8 Drive
 SG_ J2_Position : 0|16@1- (0.001,0) [0|0] "rad" Drive
 SG_ J2_Torque : 16|16@1- (0.01,0) [0|0] "Nm" Drive
"""
LINK = (
    '<link name="{0}"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/>'
    "</inertial></link>"
)
URDF = (
    '<robot name="one">' + LINK.format("base") + LINK.format("arm") + LINK.format("slider")
    + '<joint name="elbow" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>'
    '<limit lower="-1" upper="1" velocity="1" effort="1"/></joint>'
    '<joint name="lift" type="prismatic"><parent link="arm"/><child link="slider"/><axis xyz="0 0 1"/>'
    '<limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>'
)  # fmt: skip


def recording(file: Path, factor: float = 1.0) -> Path:
    """Two joints; factor: of the times in s."""
    t = np.arange(3000) / 250.0
    q = np.column_stack([np.sin(3.0 * t), np.cos(2.0 * t)])
    tau = 2.0 * q + 0.1 * np.random.default_rng(1).normal(size=q.shape)
    np.savetxt(file, np.column_stack([factor * t, q, tau]), delimiter=",", header="time,q1,q2,tau1,tau2", comments="")
    return file


def said(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str]:
    with log_handlers_restored():
        code = main([str(word) for word in words])
    return code, capsys.readouterr().err


@pytest.mark.parametrize("command", ["replay", "skew"])
def test_a_file_that_is_not_there_is_named(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, command, "nofile.csv") == (1, "jointwatch: nofile.csv: No such file or directory\n")


def test_what_is_missing_beside_a_recording_and_how_to_get_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, log, dbc = recording(tmp_path / "arm.csv"), tmp_path / "x.log", tmp_path / "x.dbc"
    log.write_text("(1.000000) can0 101#0011\n")
    dbc.write_text(DBC)
    code, words = said(capsys, "replay", table)
    assert code == 2
    assert f"jointwatch columns {table} > table.toml; then: jointwatch replay {table} table.toml" in words
    code, words = said(capsys, "replay", log)
    assert (code, "jointwatch init --from FILE.dbc jointwatch.toml" in words) == (2, True)
    code, words = said(capsys, "replay", log, dbc)
    assert code == 2
    assert "the second argument is a configuration" in words
    assert f"jointwatch init --from {dbc} jointwatch.toml" in words
    code, words = said(capsys, "identify")
    assert (code, "jointwatch columns RECORDING > TABLE" in words) == (2, True)


@pytest.mark.parametrize("command", ["replay", "skew"])
def test_times_in_ms_that_are_taken_for_s_are_said_at_once(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, table = recording(tmp_path / "arm.csv", 1000.0), tmp_path / "t.toml"
    table.write_text(
        'time = "time"\n[joints.a]\nposition = { column = "q1" }\ntorque = { column = "tau1" }\n', encoding="utf-8"
    )
    begin = time.monotonic()
    code, words = said(capsys, command, file, table)
    assert code == 1
    assert 'a row every 4 s would be 0.25 Hz, too slow for a joint: are its times in ms (time_unit = "ms"' in words
    assert time.monotonic() - begin < 60.0


def test_a_dbc_a_urdf_and_a_csv_make_a_configuration_that_is_good(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "r.dbc").write_text(DBC)
    (tmp_path / "r.urdf").write_text(URDF)
    recording(tmp_path / "r.csv")
    for name, joints in (
        ("r.dbc", ["joint1", "joint2"]),
        ("r.urdf", ["elbow", "lift"]),
        ("r.csv", ["joint1", "joint2"]),
    ):
        out = tmp_path / f"{name}.toml"
        code, words = said(capsys, "init", "--from", tmp_path / name, out)
        assert code == 0
        assert words.startswith("next: ")
        assert list(load(out).joints) == joints
    config = load(tmp_path / "r.dbc.toml")
    assert config.joints["joint2"].channels["torque"].signal == "bus.J2_State.J2_Torque"
    assert "force" in load(tmp_path / "r.urdf.toml").joints["lift"].channels
    code, words = said(capsys, "init", "--from", tmp_path / "r.csv.toml", tmp_path / "no.toml")
    assert (code, "init --from takes what the table describes" in words) == (1, True)


def test_an_answered_table_of_columns_becomes_a_configuration_with_its_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Units, scales, offsets and delays; what is still marked ASK stays marked."""
    file, table, out = recording(tmp_path / "arm.csv"), tmp_path / "arm.columns.toml", tmp_path / "arm.toml"
    table.write_text(
        'time = "time"\n[joints.elbow]\nposition = { column = "q1", unit = "deg", wrap = 6.25 }\n'
        'current = { column = "tau1", scale = -7.2, offset = 0.5, delay = 0.001 }  # ASK: its sign\n'
    )
    code, words = said(capsys, "init", "--from", file, "--columns", table, out)
    assert (code, words) == (0, f"next: answer the line marked ASK, then: jointwatch check {out}\n")
    joint, played = load(out).joints["elbow"], load(out).drivers["played"]
    torque, position = joint.channels["torque"], joint.channels["position"]
    assert (joint.rate, torque.scale, torque.offset, torque.delay, position.wrap) == (250.0, -7.2, 0.5, 0.001, 6.25)
    assert isinstance(played, FileSettings)
    assert (played.columns["elbow_position"].unit, played.columns["elbow_torque"].column) == ("deg", "tau1")
    code, words = said(capsys, "check", out)
    assert words.endswith(f"{out}: good, once you answer the line marked ASK\n")
    assert "its sign  (arm.columns.toml, line 4)" in words


def test_mistakes_of_a_newcomer_are_answered_with_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, log, config = recording(tmp_path / "arm.csv"), tmp_path / "x.log", tmp_path / "arm.toml"
    log.write_text("(1.000000) can0 101#0011\n")
    config.write_text("")
    (tmp_path / "r.dbc").write_text(DBC)
    code, words = said(capsys, "replay", config, table)
    assert (code, f"{config} is not a recording: expected the recording first, {table} {config}" in words) == (2, True)
    code, words = said(capsys, "init", "--from", log, tmp_path / "new.toml")
    assert (code, "init --from FILE.dbc" in words, "jointwatch columns" in words) == (1, True, False)
    for command, wrong, made in (
        ("check", table, f"jointwatch init --from {table} makes one"),
        ("check", tmp_path / "r.dbc", f"jointwatch init --from {tmp_path}/r.dbc makes one"),
        ("run", table, "expected a configuration (.toml), found .csv"),
        ("run", log, "found .log: jointwatch init makes one"),
    ):
        code, words = said(capsys, command, wrong)
        assert (code, made in words) == (78, True), words
        assert words.count("\n") == 1, "and nothing was compiled before"
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "head.csv").write_text("time_s,elbow_position,elbow_torque\n")
    assert said(capsys, "columns", tmp_path / "empty.csv")[1].endswith("found no numbers: the file is empty\n")
    assert said(capsys, "columns", tmp_path / "head.csv")[1].endswith("expected rows of them under the names\n")


def test_what_init_cannot_use_beside_a_table_of_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, out = tmp_path / "arm.columns.toml", tmp_path / "arm.toml"
    table.write_text('time = "time"\n[joints.elbow]\nposition = { column = "q1" }\ntorque = { column = "tau1" }\n')
    (tmp_path / "r.dbc").write_text(DBC)
    code, words = said(capsys, "init", "--columns", table, out)
    assert (code, words) == (2, f"jointwatch: init: expected --from FILE.csv together with --columns {table}\n")
    code, words = said(capsys, "init", "--from", tmp_path / "r.dbc", "--columns", table, out)
    assert (code, "--columns says what the columns of a .csv are" in words) == (1, True)
    code, words = said(capsys, "init", "--from", table, out)
    assert (code, f"init --from RECORDING.csv --columns {table} {out}" in words) == (1, True)
    table.write_text("time = 1\n")
    assert said(capsys, "init", "--from", recording(tmp_path / "arm.csv"), "--columns", table, out)[0] == 78
    table.write_text('rate = 250\n[joints.elbow]\nposition = { column = "q1" }\ntorque = { column = "tau1" }\n')
    code, words = said(capsys, "init", "--from", tmp_path / "arm.csv", "--columns", table, out)
    assert (code, "without times it cannot be played" in words) == (1, True)


def test_a_replay_says_when_the_data_begins_and_no_stop_among_its_changes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A joint that rests every 2 s, recorded from -20 s (a trigger), then from 500 s."""
    t = np.arange(10_000) / 250.0
    turn = np.where(t % 4.0 < 2.0, t % 4.0, 0.0) * np.pi
    q, v, a = (1.0 - np.cos(turn)) ** 2, 2 * np.pi * (1.0 - np.cos(turn)) * np.sin(turn), 2 * np.pi**2 * np.cos(turn)
    a = np.where(turn > 0.0, a - 2 * np.pi**2 * np.cos(2 * turn), 0.0)
    tau = 0.5 * a + v + 0.8 * np.tanh(v / 0.01) + 0.05 * np.random.default_rng(1).normal(size=t.size)
    table = tmp_path / "t.toml"
    table.write_text('time = "t"\n[joints.a]\nposition = { column = "q" }\ntorque = { column = "tau" }\n')
    told = []
    for begin in (-20.0, 500.0):
        np.savetxt(
            tmp_path / "a.csv", np.column_stack([t + begin, q, tau]), delimiter=",", header="t,q,tau", comments=""
        )
        assert main(["replay", str(tmp_path / "a.csv"), str(table)]) == 0
        told.append(capsys.readouterr().out.splitlines())
    firsts = [next(one for one in lines if " readings of " in one) for lines in told]
    assert firsts[0].endswith("; the recording begins at -20.0 s of the data's clock: times count from there")
    assert firsts[1].endswith("; the recording begins at 500.0 s of the data's clock")
    for lines in told:
        assert any(one.endswith("; nothing lost") for one in lines)
        assert not any("no data for" in one for one in lines), "times below zero are no silence"
        assert not any(one.strip().startswith(("changes: held", "changes: moving")) for one in lines)
        assert any("changes: started" in one for one in lines)
        assert lines[-1].startswith("next: jointwatch init "), "it ends at rest, where all values count"


def test_the_table_that_the_shell_writes_is_named_as_the_next_commands_argument(tmp_path: Path) -> None:
    recording(tmp_path / "r.csv")
    command = [sys.executable, "-m", "daq", "columns", "r.csv"]
    path = {"env": os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])}}
    with (tmp_path / "my table.toml").open("w") as table:
        done = subprocess.run(
            command, cwd=tmp_path, stdout=table, stderr=subprocess.PIPE, text=True, check=True, **path
        )
    assert "then: jointwatch replay r.csv 'my table.toml'\n" in done.stderr
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, **path)
    assert "jointwatch replay r.csv TABLE, where TABLE is the file that has these lines\n" in done.stderr


def test_what_is_still_marked_ask_is_said_by_check_and_replay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "r.dbc").write_text(DBC.replace("Torque", "Iq").replace('"Nm"', '"A"'))
    out = tmp_path / "r.toml"
    code, words = said(capsys, "init", "--from", tmp_path / "r.dbc", out)
    assert (code, "answer the 5 lines marked ASK" in words) == (0, True)
    code, words = said(capsys, "check", out)
    lines = [number for number, text in enumerate(out.read_text().splitlines(), 1) if "# ASK: " in text]
    assert len(lines) == 5
    assert [int(one) for one in re.findall(rf"note: {out}:(\d+): still marked ASK: ", words)] == lines
    assert code == 0
    (tmp_path / "r.log").write_text("(1.000000) can0 101#0011\n")
    code, words = said(capsys, "replay", tmp_path / "r.log", out)
    assert len(re.findall(r"still marked ASK", words)) == 5
    out.write_text(re.sub(r"# ASK: .*", "", out.read_text()))
    assert "ASK" not in said(capsys, "check", out)[1]


def test_a_bag_has_no_configuration_yet_and_where_it_comes_from_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, words = said(capsys, "init", "--from", bag(tmp_path, truth(2, 100.0, 2)), tmp_path / "no.toml")
    assert (code, "jointwatch doctor --kind ros2 --at INTERFACE" in words) == (1, True)
    code, words = said(capsys, "model", "show", tmp_path / "none.toml")
    assert f"{tmp_path / 'none.toml'}: cannot be read: No such file or directory" in words


def test_doctor_proposes_a_joint_for_every_frame_that_speaks_of_one() -> None:
    def talk(one: int, fields: int) -> Talk:
        guessed = tuple(GuessedField(f"s{k}", 2 * k, 16, "signed", False, False) for k in range(fields))
        return Talk(one, 8, 100, 500.0, 500.0, 1e-4, 2e-3, (0, 1), guessed)

    text = bus_proposal("virtual", "x", None, [talk(0x181, 2), talk(0x182, 2), talk(0x700, 0)])
    assert re.findall(r"^\[joints\.(\w+)\]", text, re.MULTILINE) == ["joint1", "joint2"]
    assert 'position = { signal = "bus.ID_182.s0"' in text


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(89.0, "89 s"), (125.0, "2 min 05 s"), (599.0, "9 min 59 s"), (700.0, "12 min"), (9000.0, "2.5 h")],
)
def test_minutes_are_reported_with_their_seconds(seconds: float, words: str) -> None:
    """A line every half minute that says "2 min" each time looks as if nothing went on."""
    progress = Progress("replay", io.StringIO())
    progress._begin -= seconds
    assert progress.line().endswith(f"{words} so far")


def said_of_a_dead_endpoint_and_of_a_topic_that_never_comes() -> tuple[str, str]:
    """Two commands, each for itself, which wait at the same time."""
    with zmq.Context() as context, context.socket(zmq.PUB) as service, contextlib.ExitStack() as stack:
        port, seq = service.bind_to_random_port("tcp://127.0.0.1"), 0
        dead, other = (
            stack.enter_context(
                subprocess.Popen([sys.executable, "-m", "daq", "listen", *words], stderr=subprocess.PIPE, text=True)
            )
            for words in (
                ("--endpoint", "tcp://127.0.0.1:9"),
                ("--endpoint", f"tcp://127.0.0.1:{port}", "--topic", "estimate/elbw"),
            )
        )
        assert dead.stderr is not None
        assert other.stderr is not None
        while not select.select([other.stderr], [], [], 0.1)[0]:
            service.send_multipart(
                [b"estimate/elbow", msgpack.packb({"seq": (seq := seq + 1), "boot": 1, "timestamp": 1.0})]
            )
        heard, silent = other.stderr.readline(), dead.stderr.readline()
        for one in (dead, other):
            one.terminate()
    return silent, heard


def test_a_dead_endpoint_and_a_topic_that_never_comes_are_said_after_three_seconds() -> None:
    for _ in range(5):  # again where it heard nothing at all in the second that it listens to other topics
        silent, heard = said_of_a_dead_endpoint_and_of_a_topic_that_never_comes()
        if "others come" in heard:
            break
    assert "nothing from tcp://127.0.0.1:9 for 3 s: does the service run" in silent
    assert heard.endswith("for 3 s; other topics are published: estimate/elbow. Still waiting; Ctrl-C stops\n")


def test_a_rig_prints_a_table_and_json_when_asked() -> None:
    words = [sys.executable, "-m", "hil_rig", "rigid", "--wire", "udp", "--duration", "0.2"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=True)
    assert re.search(r"^joint1 +inertia +2$", done.stdout, re.MULTILINE), done.stdout
    assert not done.stdout.startswith("{")


def test_progress_is_silent_at_first_and_then_says_how_far_how_fast_and_how_long() -> None:
    stream = io.StringIO()
    with Progress("report", stream) as progress:
        progress.stage("reading", 4e6, "B")
        note(1_000_000)
        assert stream.getvalue() == ""
        wait_until(stream.getvalue)
    (line,) = stream.getvalue().splitlines()
    assert re.fullmatch(r"report: reading, 25 %, 0\.\d+ MB/s, about \d+ s left", line), line
    note(1)  # the listener has gone
    quick = io.StringIO()
    with Progress("export", quick):
        pass
    assert quick.getvalue() == ""


def test_a_counter_in_the_frame_of_the_position_is_found_by_its_name(tmp_path: Path) -> None:
    """Unsigned and whole: a counter with a scale, a signed one and one in another frame are none."""
    counters = (
        ' SG_ J1_Counter : 32|8@1+ (1,0) [0|0] "" Drive\nBO_ 258',
        ' SG_ J2_Count : 32|8@1- (1,0) [0|0] "" Drive\n SG_ J2_cnt : 40|8@1+ (0.5,0) [0|0] "" Drive\n',
    )
    text = (
        DBC.replace("BO_ 258", counters[0])
        + counters[1]
        + 'BO_ 259 Other: 8 Drive\n SG_ seq : 0|8@1+ (1,0) [0|0] "" Drive\n'
    )
    (tmp_path / "r.dbc").write_text(text)
    assert main(["init", "--from", str(tmp_path / "r.dbc"), str(tmp_path / "r.toml")]) == 0
    joints = load(tmp_path / "r.toml").joints
    assert joints["joint1"].counter is not None
    assert (joints["joint1"].counter.signal, joints["joint1"].counter.modulo) == ("bus.J1_State.J1_Counter", 256)
    for name, counts in (("SwingCtr", True), ("LiftCycle", True), ("DutyCycle", False), ("Actr", False)):
        (tmp_path / "r.dbc").write_text(text.replace("J1_Counter", name))
        assert main(["init", "--from", str(tmp_path / "r.dbc"), str(tmp_path / "r.toml"), "--force"]) == 0
        assert (load(tmp_path / "r.toml").joints["joint1"].counter is not None) == counts, name
    assert joints["joint2"].counter is None


def test_a_wrong_rate_is_what_to_do_next(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The proposal says 1000 Hz, since a DBC has no rate; the log is of 500 Hz."""
    (tmp_path / "r.dbc").write_text(DBC)
    with (tmp_path / "x.log").open("w") as log:
        for k in range(1500):
            raw = struct.pack("<hhi", round(1e3 * np.sin(0.01 * k)), round(1e2 * np.cos(0.01 * k)), 0)
            log.write(f"({k / 500:.6f}) can0 101#{raw.hex()}\n({k / 500:.6f}) can0 102#{raw.hex()}\n")
    main(["init", "--from", str(tmp_path / "r.dbc"), str(tmp_path / "r.toml")])
    capsys.readouterr()
    assert main(["replay", str(tmp_path / "x.log"), str(tmp_path / "r.toml")]) == 0
    told = capsys.readouterr().out
    assert "joint1: faulted; " in told
    assert "nan" not in told
    assert "no value yet" in told
    assert told.splitlines()[-1].startswith("next: joint1, joint2: Set rate = 500 ")
    (tmp_path / "r.toml").write_text((tmp_path / "r.toml").read_text().replace("rate = 1000.0", "rate = 500.0"))
    assert main(["replay", str(tmp_path / "x.log"), str(tmp_path / "r.toml")]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("next: no joint is valid yet. joint1, joint2: "), "and what to do"
    assert "CODE" not in last


def test_times_that_are_taken_for_ms_are_asked_for_in_a_proposed_configuration(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "ms.csv"
    t = 2.0 * np.arange(500)
    table = np.column_stack([t, np.sin(t / 300.0), np.cos(t / 300.0)])
    np.savetxt(file, table, delimiter=",", header="t,elbow_pos_rad,elbow_torque", comments="")
    code, words = said(capsys, "init", "--from", file, tmp_path / "ms.toml")
    assert (code, words) == (0, f"next: answer the line marked ASK, then: jointwatch check {tmp_path}/ms.toml\n")
    assert re.search(r'^time_unit = "ms"  # ASK: ms\?', (tmp_path / "ms.toml").read_text("utf-8"), re.MULTILINE)


def test_a_linear_axis_in_a_csv_becomes_a_joint_that_slides_and_nothing_is_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "axis.csv"
    t = 0.01 * np.arange(500)
    table = np.column_stack([t, 200.0 * np.sin(t), np.cos(t)])
    np.savetxt(file, table, delimiter=",", header="time_s,slide_position_mm,slide_force_N", comments="")
    code, words = said(capsys, "init", "--from", file, tmp_path / "axis.toml")
    assert (code, "ASK" in words) == (0, False), words
    (joint,) = load(tmp_path / "axis.toml").joints.values()
    assert joint.model.unit() == "N"
    assert set(joint.channels) == {"position", "force"}
    code, words = said(capsys, "check", tmp_path / "axis.toml")
    assert (code, "has no unit" in words) == (0, False), words


def test_columns_without_telling_names_are_a_table_to_fill_in(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The column that rises evenly is taken for the times, though none is called so; filled in, it is replayed."""
    t = np.arange(0.0, 30.0, 0.01)
    rows = np.column_stack([1e3 * t, np.arange(t.size), np.sin(t) + 0.3 * np.sin(4.0 * t), np.cos(3.0 * t)])
    np.savetxt(tmp_path / "x.csv", rows, delimiter=";", header="stempel;zeile;A1_weg;A1_kraft", comments="")
    assert main(["columns", str(tmp_path / "x.csv")]) == 1
    table, words = capsys.readouterr()
    assert "what was written is a table to fill in" in words
    assert "next: answer the 3 lines marked ASK, then: jointwatch replay" in words
    assert re.search(r"^#   A1_weg +from -1\.\d+ to 1\.\d+$", table, re.MULTILINE), table
    filled = table.replace("# [", "[").replace("# position", "position").replace("# torque", "torque")
    filled = filled.replace("COLUMN", "A1_weg", 1).replace("COLUMN", "A1_kraft", 1)
    (tmp_path / "x.toml").write_text(filled)
    read = tomllib.loads(filled)
    assert (read["time"], read["time_unit"], list(read["joints"]["joint1"])) == (
        "stempel",
        "ms",
        ["position", "torque"],
    )
    assert main(["replay", str(tmp_path / "x.csv"), str(tmp_path / "x.toml")]) == 0
    assert "3000 samples" in capsys.readouterr().out


ODD_DBC = """VERSION ""

BU_: ECU

BO_ 640 ARM1_STATUS: 8 ECU
 SG_ {a}1 : 0|24@1- (0.0001,0) [-800|800] "{unit}" ECU
 SG_ {b}1 : 24|16@1- (0.005,0) [-160|160] "Nm" ECU
 SG_ RollingCounter1 : 56|4@1+ (1,0) [0|15] "" ECU
 SG_ EncoderCount1 : 40|8@1+ (1,0) [0|255] "" ECU
"""


@pytest.mark.parametrize(
    ("a", "b", "unit", "asked"),
    [
        ("IstWinkel", "IstMoment", "deg", 2),  # the message is called a status, which no signal's name is then
        ("xx", "yy", "deg", 3),  # by their units
        ("xx", "yy", "grad", 4),  # a unit that has two meanings: a correction to answer
    ],
)
def test_a_dbc_with_names_of_its_own_is_proposed_and_good_once_answered(
    a: str, b: str, unit: str, asked: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "r.dbc").write_text(ODD_DBC.format(a=a, b=b, unit=unit))
    code, words = said(capsys, "init", "--from", tmp_path / "r.dbc", tmp_path / "r.toml")
    assert (code, f"answer the {asked} lines marked ASK" in words) == (0, True), words
    (joint,) = load(tmp_path / "r.toml").joints.values()
    assert joint.channels["position"].signal == f"bus.ARM1_STATUS.{a}1"
    assert joint.channels["torque"].signal == f"bus.ARM1_STATUS.{b}1"
    assert joint.counter is not None
    assert joint.counter.signal == "bus.ARM1_STATUS.RollingCounter1"
    assert ('in German a degree ("deg")' in (tmp_path / "r.toml").read_text("utf-8")) == (unit == "grad")


def test_a_dbc_without_a_joint_lists_its_signals_and_why_some_cannot_be_used(tmp_path: Path) -> None:
    text = ODD_DBC.format(a="xx", b="yy", unit="furlong").replace('"Nm"', '"V"')
    (tmp_path / "r.dbc").write_text(text)
    assert main(["init", "--from", str(tmp_path / "r.dbc"), str(tmp_path / "r.toml")]) == 0
    told = (tmp_path / "r.toml").read_text("utf-8")
    assert "#   bus.ARM1_STATUS.yy1  [V]" in told
    assert '#   bus.ARM1_STATUS.xx1  cannot be used: found the unknown unit "furlong"' in told


@pytest.mark.parametrize("suffix", [".log", ".asc", ".blf"])
def test_how_far_a_log_of_frames_is_played_is_said_by_its_bytes(suffix: str, tmp_path: Path) -> None:
    file = tmp_path / f"x{suffix}"
    kinds = {".log": can.CanutilsLogWriter, ".asc": can.ASCWriter, ".blf": can.BLFWriter}
    with kinds[suffix](str(file)) as log:
        for k in range(20_000):
            log.on_message_received(can.Message(timestamp=1e9 + 1e-3 * k, arbitration_id=1, data=[k % 256] * 8))
    counted: list[int] = []
    with observed(counted.append):
        frames = sum(len(one.ids) for one in LogFile(file).blocks())
    assert frames == 20_000
    assert 0.5 * file.stat().st_size <= sum(counted) <= file.stat().st_size


def test_a_rate_below_one_a_second_is_not_printed_as_none() -> None:
    with Progress("skew", io.StringIO()) as progress:
        progress.stage("comparing", 6.0, "channels")
        progress.reach(0.1)
        time.sleep(0.2)
        assert "channels/s" not in progress.line()
        progress.reach(3.0)
        assert "50 %" in progress.line()


@pytest.mark.parametrize("command", ["report", "export"])
def test_a_csv_is_no_recording_of_ours_and_what_it_is_for(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = recording(tmp_path / "arm.csv")
    code, words = said(capsys, command, file)
    assert code == 1
    assert f"{command} reads what the service has recorded (.mcap). {file} has columns" in words
    assert f"jointwatch columns {file} > table.toml; then: jointwatch replay {file} table.toml" in words
    assert said(capsys, command, tmp_path)[1].count("what the service has recorded") == 1, "nor a folder"
    assert "No such file or directory" in said(capsys, command, tmp_path / "no.mcap")[1]


def test_a_first_start_that_compiles_says_so(tmp_path: Path) -> None:
    """Run with an empty folder of kernels: it is ended as soon as it has spoken."""
    words = [sys.executable, "-c", "from daq import __main__ as m; m.PATIENT = 0.1; m.main()", "replay", "nothing.csv"]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=environment) as starting:
        assert starting.stderr is not None
        line = starting.stderr.readline()
        starting.kill()
    assert line.startswith("replay: loading; a first start compiles its kernels, which takes a minute or two, ")


def test_a_stage_that_begins_late_is_told_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """`report` read messages for half a minute, said that 2 s were left, and then nothing for another half."""
    monkeypatch.setattr("daq.commands.progress.EVERY", 0.2)
    stream = io.StringIO()
    with Progress("report", stream, first=0.1) as progress:
        progress._since = progress._begin = time.monotonic() - 40.0  # lines come each half minute
        progress.stage("drawing")
        progress._since -= 40.0
        wait_until(lambda: "drawing" in stream.getvalue())
        time.sleep(0.8)  # four turns of its thread
        assert stream.getvalue().count("drawing") == 1
        progress.stage("printing")
        wait_until(lambda: stream.getvalue().count("printing") >= 2)


@pytest.mark.parametrize("cell", ["0.25", ""], ids=["numbers alone", "a cell that is empty"])
def test_how_far_a_table_is_read_is_said_by_its_bytes(cell: str, tmp_path: Path) -> None:
    """The reading of 100 MB takes seconds; a cell that is no number makes it begin again, cell by cell."""
    file = tmp_path / "arm.csv"
    rows = [f"{0.001 * k:.3f},{0.5 * k},{0.25 * k}" for k in range(60_000)]
    rows[50_000] = f"50.000,25000.0,{cell}"
    file.write_text("\n".join(["time,q,u", *rows]))
    shares: list[float] = []
    with bytes_of_tables.observed(shares.append):
        table = named_columns(file).columns
    assert len(table["u"]) == 60_000
    assert np.isnan(table["u"][50_000]) == (not cell)
    assert len([one for one in shares if one > 0]) >= 3
    assert sum(shares) == pytest.approx(file.stat().st_size, rel=1e-6)


def test_a_folder_is_as_long_as_its_files(tmp_path: Path) -> None:
    (tmp_path / "bag").mkdir()
    (tmp_path / "bag" / "a.mcap").write_bytes(b"12345")
    (tmp_path / "b.csv").write_bytes(b"123")
    assert bytes_of([tmp_path / "bag", tmp_path / "b.csv", tmp_path / "none.csv"]) == 8
