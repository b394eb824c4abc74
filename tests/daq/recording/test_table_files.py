"""Recordings in the forms of public data sets: proposed rightly or refused, never wrong without a word."""

import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from daq.__main__ import main
from daq.recording.columns import Columns, read
from daq.recording.proposal import propose, questions_of
from daq.recording.reader import RecordingError
from daq.replay.from_columns import configured
from daq.replay.sources import readings_of
from tests.support.tables import logger_table_files, table_files, vendor_table_files
from tests.support.tables.table_files import Truth, csv, several, small_degrees, truth

CASES = table_files.CASES | vendor_table_files.CASES | logger_table_files.CASES
BY_SIZE = "size of its steps|rad, or turns"  # questions that a small motion or plain names of times leave open


@pytest.mark.parametrize("name", CASES)
def test_a_file_is_proposed_rightly_or_refused(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    known = truth(case.joints, case.rate, seed=sum(map(ord, name)))
    file = case.write(tmp_path, known)
    if case.refused:
        with pytest.raises(RecordingError, match=case.refused):
            propose(file)
        return
    table = propose(file)
    for wanted in case.asks:
        assert any(re.search(wanted, one) for one in questions_of(table)), table
    if not case.asks:
        assert not [one for one in questions_of(table) if not re.search(BY_SIZE, one)], table
    channels = read(file, Columns.model_validate(tomllib.loads(table)))
    assert len(channels) == case.joints, table
    assert not case.names or tuple(channels) == case.names
    for j, roles in enumerate(channels.values()):
        for role, values, scale in (("position", known.q, 1.0), (case.role, known.tau, case.scale)):
            if not role:
                assert "torque" not in roles, "a torque that cannot be used is not proposed as if it could"
                continue
            one = roles[role]
            at = one.time - one.time[0] + (known.time[1] if len(one.time) < len(known.time) else 0.0)
            truly = np.interp(at, known.time, values[:, j]) if case.timed else np.resize(values[:, j], len(at))
            turns = 2.0 * np.pi * np.round((one.values[0] - truly[0]) / (2.0 * np.pi)) if role == "position" else 0.0
            error = np.sqrt(np.mean(((one.values - turns) / scale - truly) ** 2)) / np.std(truly)
            assert error < 0.02, f"{role} of joint {j}: {error:.3f}\n{table}"
        if "velocity" in roles:
            v = roles["velocity"].values
            assert np.corrcoef(v, known.v[:, j])[0, 1] > 0.999
            if case.timed:
                assert np.std(v) == pytest.approx(np.std(known.v[:, j]), rel=0.01)


def test_a_few_degrees_are_recognised_by_velocities_in_rad(tmp_path: Path) -> None:
    """2.5 could be rad: only that the position changes by 57.3 times the velocity shows that it is degrees."""
    known = truth(3, 200.0, 5)
    text = propose(small_degrees(tmp_path, known))
    channels = read(tmp_path / "run.csv", Columns.model_validate(tomllib.loads(text)))
    np.testing.assert_allclose(channels["joint2"]["position"].values, 0.05 * known.q[:, 1], rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(channels["joint2"]["velocity"].values, 0.05 * known.v[:, 1], rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    ("write", "doubt"),
    [
        (vendor_table_files.moteus, 'rad, or turns \\(unit = "rev"'),
        (vendor_table_files.odrive, 'rad, or turns \\(unit = "rev"'),
        (vendor_table_files.before_the_gear, "rad of a motor before its gear"),
        (vendor_table_files.wrongly_rad, "the file says rad, and values reach"),
        (vendor_table_files.days, "days or minutes have to be converted to s"),
        (vendor_table_files.maxon, 'counts: give unit = "counts" and counts_per_rev'),
        (vendor_table_files.dynamixel, "mA, or the drive's own counts"),
        (vendor_table_files.dynamixel, 'counts \\(unit = "counts"'),
        (logger_table_files.mujoco_with_a_base, "9 columns and .* 8: which belong together"),
    ],
)
def test_a_unit_that_numbers_and_names_leave_open_is_asked_for(
    write: Callable[[Path, Truth], Path], doubt: str, tmp_path: Path
) -> None:
    asked = questions_of(propose(write(tmp_path, truth(2, 200.0, 9))))
    assert any(re.search(doubt, one) for one in asked), asked


@pytest.mark.parametrize("unit", ["_deg", " [°]"])
def test_an_encoder_that_starts_again_after_a_turn_is_unwrapped(unit: str, tmp_path: Path) -> None:
    known = truth(2, 200.0, 11)
    turning = 6.0 * known.q
    turning[:, 1] = 0.1 * known.q[:, 1] + 1.0
    file = csv(tmp_path, f"time,q1{unit},q2{unit},tau1,tau2", [known.time, np.rad2deg(turning) % 360.0, known.tau])
    table = tomllib.loads(propose(file))
    assert "wrap" in table["joints"]["joint1"]["position"]
    assert "wrap" not in table["joints"]["joint2"]["position"]
    q = read(file, Columns.model_validate(table))["joint1"]["position"].values
    np.testing.assert_allclose(q - q[0], turning[:, 0] - turning[0, 0], atol=1e-6)


@pytest.mark.parametrize(
    "head", ["time;J1 Pos;J2 Pos;J1 Trq;J2 Force\ns;deg;mm;Nm;N", "time;J1 [deg];J2 [mm];J1 Trq [Nm];J2 Force [N]"]
)
def test_each_joint_has_its_own_unit(head: str, tmp_path: Path) -> None:
    """A SCARA: its third joint slides."""
    known = truth(2, 200.0, 12)
    q = np.column_stack([np.rad2deg(known.q[:, 0]), 1e3 * known.q[:, 1]])
    file = csv(tmp_path, head, [known.time, q, known.tau], between=";")
    channels = read(file, Columns.model_validate(tomllib.loads(propose(file))))
    for name, j, role in (("joint1", 0, "torque"), ("joint2", 1, "force")):
        np.testing.assert_allclose(channels[name]["position"].values, known.q[:, j], rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(channels[name][role].values, known.tau[:, j], rtol=1e-6)


def test_a_row_of_units_counts_before_names(tmp_path: Path) -> None:
    known = truth(2, 200.0, 13)
    file = csv(tmp_path, "time,q1_rad,q2_rad,tau1,tau2\ns,deg,deg,Nm,Nm", [known.time, np.rad2deg(known.q), known.tau])
    channels = read(file, Columns.model_validate(tomllib.loads(propose(file))))
    np.testing.assert_allclose(channels["joint2"]["position"].values, known.q[:, 1], rtol=1e-6, atol=1e-8)


def test_a_topic_with_a_definition_that_cannot_be_read_leaves_the_others(tmp_path: Path) -> None:
    file = vendor_table_files.two_topics(tmp_path, truth(2, 200.0, 14), "std_msgs/Header header\n")
    with pytest.raises(RecordingError, match=r"like torque .* for the joints of j_b\.position … j_a\.position"):
        propose(file)


def test_several_files_are_one_recording_and_the_table_names_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = truth(3, 200.0, 6)
    folder = several(tmp_path, known)
    (folder / "notes.csv").write_text("comment\nnothing\n")
    files = [str(folder / f"{name}.csv") for name in ("q", "dq", "tau", "t")]
    assert main(["columns", *files]) == 0
    said = capsys.readouterr()
    table = tomllib.loads(said.out)
    assert table["files"] == ["q.csv", "dq.csv", "tau.csv", "t.csv"]
    assert f"jointwatch replay {folder} TABLE" in said.err
    channels = read(folder, Columns.model_validate(table))
    np.testing.assert_allclose(channels["joint3"]["torque"].values, known.tau[:, 2], rtol=1e-8)
    assert main(["columns", files[0], str(tmp_path / "x.csv")]) == 1
    assert "x.csv: No such file or directory" in capsys.readouterr().err


def test_frames_and_bags_of_ros_1_are_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("(1.000000) can0 101#0011\n" * 9)
    with pytest.raises(RecordingError, match="frames of a CAN bus"):
        propose(tmp_path / "a.log")
    (tmp_path / "a.bag").write_bytes(b"#ROSBAG V2.0\n")
    with pytest.raises(RecordingError, match="rosbags-convert"):
        propose(tmp_path / "a.bag")


def test_a_log_of_several_sources_has_rows_of_its_own_for_each(tmp_path: Path) -> None:
    """Positions at 200 Hz and torques at 100 Hz, each in rows in which the other has nothing."""
    known = truth(2, 200.0, 15)
    late = known.time[::2] + 0.001
    tau = np.column_stack([np.interp(late, known.time, known.tau[:, j]) for j in range(2)])
    table = np.full((len(known.time) + len(late), 5), np.nan)
    table[: len(known.time), :3] = np.column_stack([known.time, known.q])
    table[len(known.time) :, [0, 3, 4]] = np.column_stack([late, tau])
    table = table[np.argsort(table[:, 0])]
    file = csv(tmp_path, "timestamp,joint_position_1,joint_position_2,joint_torque_1,joint_torque_2", [table])
    columns = Columns.model_validate(tomllib.loads(propose(file)))
    channels = read(file, columns)
    np.testing.assert_allclose(channels["joint2"]["position"].time, known.time, atol=1e-9)
    np.testing.assert_allclose(channels["joint2"]["torque"].time, late, atol=1e-9)
    np.testing.assert_allclose(channels["joint2"]["torque"].values, tau[:, 1], rtol=1e-6)
    joint = configured(file, channels, columns).joints["joint2"]
    assert joint.rate == 200.0
    torque = joint.channels["torque"]
    assert (torque.rate, torque.signal) == (100.0, "recording.joint2_torque.torque")
    readings = list(readings_of(file, configured(file, channels, columns), {}, columns=columns))
    assert sum(map(len, readings)) == 2 * (len(known.time) + len(late))


def test_a_last_row_that_breaks_off_is_left_out_and_said(tmp_path: Path) -> None:
    known = truth(2, 200.0, 16)
    file = csv(tmp_path, "time,q1,q2,tau1,tau2", [known.time, known.q, known.tau])
    file.write_text(file.read_text()[:-30])
    text = propose(file)
    assert "its last row breaks off, and is left out" in text
    channels = read(file, Columns.model_validate(tomllib.loads(text)))
    np.testing.assert_allclose(channels["joint1"]["torque"].values, known.tau[:-1, 0], rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("a.csv.gz", "found .gz: unpack it first"),
        ("a.xlsx", "found .xlsx: save the sheet as CSV"),
        ("a.hdf5", "found .hdf5: save its arrays with numpy.savez"),
        ("a.yaml", "found .yaml: echo messages with --csv"),
    ],
)
def test_files_that_are_not_read_are_refused_with_what_to_do(name: str, words: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"nothing")
    with pytest.raises(RecordingError, match=words):
        propose(tmp_path / name)


def test_messages_as_ros_prints_them_are_refused_with_the_command_that_makes_a_table(tmp_path: Path) -> None:
    one = "header:\n  stamp:\n    sec: 16\nname:\n- hip\nposition: [{0}]\nvelocity: [{0}]\neffort: [{0}]\n---\n"
    (tmp_path / "echo.txt").write_text("".join(one.format(0.1 * k) for k in range(20)))
    with pytest.raises(RecordingError, match=r"echo them with --csv \(ros2 topic\)"):
        propose(tmp_path / "echo.txt")


def test_rows_of_a_source_that_the_table_leaves_out_are_left_out(tmp_path: Path) -> None:
    """A temperature every 50 ms, in rows of its own: with them the clock would be that of neither source."""
    known = truth(1, 200.0, 17)
    table = np.full((len(known.time) + 40, 4), np.nan)
    table[: len(known.time), :3] = np.column_stack([known.time, known.q, known.tau])
    table[len(known.time) :, 0], table[len(known.time) :, 3] = known.time[::10] + 0.0003, 31.5
    file = csv(tmp_path, "timestamp,q1,tau1,temperature1", [table[np.argsort(table[:, 0])]])
    roles = read(file, Columns.model_validate(tomllib.loads(propose(file))))["joint1"]
    np.testing.assert_allclose(roles["torque"].time, known.time, atol=1e-9)
    np.testing.assert_allclose(roles["position"].values, known.q[:, 0], rtol=1e-7)
