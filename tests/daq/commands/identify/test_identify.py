"""jointwatch identify: a robot with a known truth through every kind of recording, and every mistake in words."""

import json
import re
import signal
import struct
import subprocess
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mcap.writer import Writer
from scipy.io import savemat

from daq.__main__ import main
from daq.commands.identify.command import law_of
from daq.config.robots.robot_model import load_model
from daq.recording.ros_bag import decode, is_bag
from estimators.models.friction.viscous_coulomb import ViscousCoulombSettings
from estimators.models.robots.files.urdf import read_urdf
from estimators.models.robots.newton_euler import newton_euler
from estimators.quantities import Floats

pytestmark = pytest.mark.compiled

LINK = (
    '<link name="{0}"><inertial><origin xyz="0.1 0.02 0.05"/><mass value="{1}"/>'
    '<inertia ixx="0.04" iyy="0.05" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial></link>'
)
JOINT = (
    '<joint name="{0}" type="revolute"><parent link="{1}"/><child link="{2}"/><origin xyz="0 0 0.3" rpy="{3} 0 0"/>'
    '<axis xyz="0 0 1"/><limit lower="-3" upper="3" velocity="2" effort="80"/></joint>'
)
URDF = (
    '<robot name="two">'
    + LINK.format("base", 3) + LINK.format("upper", 4) + LINK.format("fore", 2)
    + JOINT.format("shoulder", "base", "upper", 0) + JOINT.format("elbow", "upper", "fore", 1.5707963) + "</robot>"
)  # fmt: skip
NAMES = ("shoulder", "elbow")
ROWS, RATE = 1600, 100.0

Motion = tuple[Floats, Floats, Floats]


@pytest.fixture(scope="module")
def urdf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("robot") / "two.urdf"
    file.write_text(URDF)
    return file


def motion(urdf: Path, seed: int, bending: float = 0.0) -> Motion:
    """Time, position, torque of a robot 10 % heavier than described, with friction and noise.

    bending: of the bearings' friction, what each N·m of bending moment adds; 0: friction of 0.8 N·m instead.
    """
    robot, random = read_urdf(urdf).robot, np.random.default_rng(seed)
    time = np.arange(ROWS) / RATE + random.uniform(-5e-4, 5e-4, ROWS)
    q, dq, ddq = np.zeros((3, ROWS, 2))
    for k in range(1, 5):
        w = 2 * np.pi * 0.13 * k
        a, phase = random.uniform(0.2, 0.6, 2) / k, random.uniform(0, 6, 2)
        angle = w * time[:, None] + phase
        q, dq, ddq = q + a * np.sin(angle), dq + a * w * np.cos(angle), ddq - a * w**2 * np.sin(angle)
    tau, wrench = np.empty((ROWS, 2)), np.empty((ROWS, 2, 6))
    newton_euler(*robot.tree(), q, dq, ddq, 1.1 * robot.parameters, np.zeros((0, 2, 6)), tau, wrench)
    coulomb = bending * np.hypot(wrench[..., 3], wrench[..., 4]) if bending else 0.8
    return time, q, tau + coulomb * np.sign(dq) + 0.5 * dq + 0.3 + 0.05 * random.normal(size=tau.shape)


def csv(file: Path, data: Motion, between: str = ",") -> Path:
    """Degrees, with columns that were not asked for."""
    time, q, tau = data
    table = np.column_stack([time, np.rad2deg(q), tau, time * 0.0 + 20.0])
    head = between.join(["stamp", "q_1", "q_2", "tau_1", "tau_2", "temperature"])
    np.savetxt(file, table, delimiter=between, header=head, comments="", fmt="%.9g")
    return file


TABLE = 'time = "stamp"\n' + "".join(
    f'[joints.{name}]\nposition = {{ column = "q_{i}", unit = "deg" }}\n'
    f'torque = {{ column = "tau_{i}", unit = "N·m" }}\n'
    for i, name in enumerate(NAMES, 1)
)


def found(capsys: pytest.CaptureFixture[str], *words: object) -> dict[str, Any]:
    assert main(["identify", *map(str, words), "--json"]) == 0
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return told


@pytest.mark.parametrize(("mistake", "what"), [("columns", "columns"), ("positions", "positions"), ("none", "")])
def test_joints_whose_names_are_exchanged_are_named(
    mistake: str, what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    urdf = tmp_path / "heavy.urdf"  # its weight is more than its friction, on both joints
    urdf.write_text(URDF.replace('mass value="2"', 'mass value="30"').replace('rpy="0 0 0"', 'rpy="0.8 0 0"'))
    time, q, tau = motion(urdf, 5)
    data = time, q if mistake == "none" else q[:, ::-1], tau[:, ::-1] if mistake == "columns" else tau
    table = tmp_path / "columns.toml"
    table.write_text(TABLE)
    words = ["identify", urdf, csv(tmp_path / "run.csv", data), "--columns", table, "--friction", "viscous_coulomb"]
    assert main(list(map(str, words))) == 0
    said = f"jointwatch: the {what} of shoulder and elbow look exchanged: with each other's names, "
    told = [line for line in capsys.readouterr().err.splitlines() if "exchanged" in line]
    assert [line.startswith(said) for line in told] == ([] if mistake == "none" else [True])


def test_columns_in_degrees_give_errors_a_model_and_a_report(
    urdf: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "columns.toml"
    table.write_text(TABLE)
    train, test = (csv(tmp_path / f"{k}.csv", motion(urdf, k), ",;"[k]) for k in range(2))
    model, page = tmp_path / "two.model.toml", tmp_path / "two.html"
    told = found(capsys, urdf, train, "--test", test, "--columns", table, "--out", model, "--report", page)
    assert told["train"]["error"] < 2.0
    assert told["test"]["error"] < 2.0
    assert told["law"] == "viscous_coulomb"
    assert set(told["test"]["joints"]) == set(NAMES)
    assert 0.0 < told["test"]["joints"]["elbow"]["rmse"] < 0.1
    assert told["parameters"]["coulomb.elbow"]["value"] == pytest.approx(0.8, abs=0.1)
    assert told["parameters"]["coulomb.elbow"]["learnt"] is True
    robot = load_model(model)
    assert robot.robot.names == NAMES
    assert robot.source["files"] == ["0.csv"]
    text = page.read_text(encoding="utf-8")
    assert text.count('role="img"') == 4  # torque and friction of each joint
    assert len(re.findall(r"class='wide'><figure><figcaption><b>torque", text)) == 2  # legible on a phone: it scrolls
    assert "src=" not in text
    assert 'href="http' not in text
    assert main(["identify", str(urdf), str(train), "--columns", str(table)]) == 0
    assert "cross-validation" in capsys.readouterr().out


def test_bearings_that_rub_by_what_they_carry_are_found_and_are_in_the_model_file(
    urdf: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, model = tmp_path / "columns.toml", tmp_path / "two.model.toml"
    table.write_text(TABLE)
    train, test = (csv(tmp_path / f"{k}.csv", motion(urdf, k, 0.1)) for k in range(2))
    words = [urdf, train, "--test", test, "--columns", table]
    told = found(capsys, *words, "--friction", "bearing", "--out", model)
    assert told["law"] == "bearing"
    plain = found(capsys, *words, "--friction", "viscous_coulomb")
    assert told["test"]["error"] < 2.0
    assert told["test"]["error"] < 0.8 * plain["test"]["error"]
    # its axis is level, so that gravity bends its bearing now this way and now that
    assert told["parameters"]["bending.elbow"]["value"] == pytest.approx(0.1, rel=0.1)
    robot = load_model(model)
    assert [law.kind for law in robot.laws] == ["bearing"] * 2
    values = dict(zip(robot.model().names, robot.theta.tolist(), strict=True))
    assert values["bending.elbow"] == pytest.approx(told["parameters"]["bending.elbow"]["value"], rel=1e-6)


def test_test_rows_are_never_learnt_from(urdf: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "columns.toml"
    table.write_text(TABLE)
    train = csv(tmp_path / "train.csv", motion(urdf, 0))
    time, q, tau = motion(urdf, 1)
    good, wrong = csv(tmp_path / "good.csv", (time, q, tau)), csv(tmp_path / "wrong.csv", (time, q, -3.0 * tau))
    one, other = (found(capsys, urdf, train, "--test", test, "--columns", table) for test in (good, wrong))
    assert one["parameters"] == other["parameters"]
    assert other["test"]["error"] > 50.0


def test_matrices_of_npz_and_mat_and_a_proposed_table(
    urdf: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    time, q, tau = motion(urdf, 0)
    np.savez(tmp_path / "run.npz", positions=q, torques=tau, times=time, target_positions=0.1 * q)
    savemat(tmp_path / "run.mat", {"rec": {"t": time, "pos_deg": np.rad2deg(q).T, "torque_nm": tau.T, "extra": 3.0}})
    for kind in ("npz", "mat"):
        recording = tmp_path / f"run.{kind}"
        assert main(["identify", str(urdf), "--columns", str(recording)]) == 0
        table = tmp_path / f"{kind}.toml"
        table.write_text(capsys.readouterr().out)
        assert 'unit = "deg"' in table.read_text() or kind == "npz"
        assert found(capsys, urdf, recording, "--columns", table)["train"]["error"] < 2.0


def cdr(time: float, names: tuple[str, ...], *fields: Floats, end: str = "<") -> bytes:
    """A sensor_msgs/msg/JointState."""
    body = struct.pack(f"{end}iI", int(time), round((time % 1.0) * 1e9))

    def text(body: bytes, word: str) -> bytes:
        body += b"\0" * (-len(body) % 4)
        return body + struct.pack(f"{end}I", len(word) + 1) + word.encode() + b"\0"

    body = text(body, "base_link")
    body += b"\0" * (-len(body) % 4) + struct.pack(f"{end}I", len(names))
    for name in names:
        body = text(body, name)
    for field in fields:
        body += b"\0" * (-len(body) % 4) + struct.pack(f"{end}I", len(field))
        if len(field):
            body += b"\0" * (-len(body) % 8) + struct.pack(f"{end}{len(field)}d", *field)
    return (b"\0\1\0\0" if end == "<" else b"\0\0\0\0") + body


def bag(file: Path, data: Motion, chunked: bool = True) -> Path:
    with file.open("wb") as stream:
        writer = Writer(stream, chunk_size=16_384, use_chunking=chunked)
        writer.start(profile="ros2", library="test")
        schema = writer.register_schema("sensor_msgs/msg/JointState", "ros2msg", b"std_msgs/Header header")
        other = writer.register_schema("std_msgs/msg/String", "ros2msg", b"string data")
        channel = writer.register_channel("/joint_states", "cdr", schema)
        chatter = writer.register_channel("/chatter", "cdr", other)
        for k, (time, q, tau) in enumerate(zip(*data, strict=True)):
            stamp = 1_700_000_000.0 + float(time)
            message = cdr(stamp, NAMES[::-1], q[::-1], np.zeros(0), tau[::-1], end="<>"[k % 2])
            writer.add_message(channel, round(stamp * 1e9), message, round(stamp * 1e9))
            writer.add_message(chatter, round(stamp * 1e9), b"\0\1\0\0\1\0\0\0\0", round(stamp * 1e9))
        writer.finish()
    return file


def test_a_ros_2_bag_needs_no_table_and_may_be_a_folder_or_break_off(
    urdf: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "bag"
    folder.mkdir()
    whole = bag(folder / "bag_0.mcap", motion(urdf, 0))
    test = bag(tmp_path / "test.mcap", motion(urdf, 1), chunked=False)
    assert is_bag(folder)
    assert not is_bag(urdf)
    told = found(capsys, urdf, folder, "--test", test)
    assert told["test"]["error"] < 2.0
    broken = tmp_path / "broken.mcap"
    broken.write_bytes(whole.read_bytes()[: len(whole.read_bytes()) * 3 // 4])
    assert found(capsys, urdf, broken)["train"]["error"] < 2.0


def test_a_joint_state_that_is_cut_anywhere_is_no_crash() -> None:
    message = cdr(1.5, NAMES, np.array([1.0, 2.0]), np.zeros(0), np.array([3.0, 4.0]))
    assert decode(message) == (1.5, list(NAMES), [(1.0, 2.0), (), (3.0, 4.0)])
    for length in range(len(message)):
        with pytest.raises((ValueError, struct.error)):
            decode(message[:length])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("q_2", "q_9"), 'found no column "q_9"'),
        (("[joints.elbow]", "[joints.elbo]"), "found no columns of the joint elbow"),
        (("torque = { column = \"tau_2\"", "velocity = { column = \"tau_2\""), "found no torque of the joint elbow"),
        (('"q_1", unit = "deg"', '"q_1", unit = "N·m"'), "[joints.shoulder] position: expected a unit of rad"),
        (('"tau_1", unit = "N·m"', '"tau_1", unit = "A"'), "[joints.shoulder] torque: expected a unit of N·m"),
        (('"q_1", unit = "deg"', '"q_1", unit = "rad"'), "is its position in another unit (deg)?"),
        (('time = "stamp"', 'time = "temperature"'), "time stands still"),
        (('time = "stamp"', 'time = "stamp"\ntime_unit = "ns"'), "is the time in s?"),
    ],
)  # fmt: skip
def test_a_table_that_does_not_fit_is_said_in_words(
    urdf: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], change: tuple[str, str], words: str
) -> None:
    table, recording = tmp_path / "columns.toml", csv(tmp_path / "run.csv", motion(urdf, 0))
    table.write_text(TABLE.replace(*change, 1))
    assert main(["identify", str(urdf), str(recording), "--columns", str(table)]) == 1
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("jointwatch: ")]
    assert any(words in line for line in told), told


def test_several_mistakes_are_said_at_once(urdf: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, recording = tmp_path / "columns.toml", csv(tmp_path / "run.csv", motion(urdf, 0))
    table.write_text(TABLE.replace("q_2", "q_9").replace('"tau_1", unit = "N·m"', '"tau_1", unit = "kg"'))
    assert main(["identify", str(urdf), str(recording), str(tmp_path / "none.csv"), "--columns", str(table)]) != 0
    table.write_text(
        TABLE.replace("q_2", "q_9").replace('"tau_1", unit = "N·m"', '"tau_1", unit = "A"') + "# ASK: A?\n"
    )
    capsys.readouterr()
    assert main(["identify", str(urdf), str(recording), str(tmp_path / "none.csv"), "--columns", str(table)]) == 1
    told = capsys.readouterr().err
    assert "q_9" in told
    assert "none.csv" in told
    assert "found A" in told
    assert re.search(rf"note: {table}:\d+: still marked ASK: A\?", told)


def plain(file: Path, data: Motion, *more: Floats, names: str = "") -> Path:
    """Columns by their names, in SI."""
    time, q, tau = data
    head = "time,shoulder.position,elbow.position,shoulder.torque,elbow.torque" + names
    np.savetxt(file, np.column_stack([time, q, tau, *more]), delimiter=",", header=head, comments="", fmt="%.9g")
    return file


def refused(capsys: pytest.CaptureFixture[str], *words: object) -> list[str]:
    assert main(["identify", *map(str, words)]) == 1
    return [line for line in capsys.readouterr().err.splitlines() if line.startswith("jointwatch: ")]


def test_clocks_and_positions_that_are_none_are_all_said_at_once(
    urdf: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    time, q, tau = motion(urdf, 0)
    back, turned = time.copy(), q.copy()
    back[800:] -= 1.0
    turned[:, 1] = np.mod(20.0 * q[:, 1], 2.0 * np.pi)
    files = (
        plain(tmp_path / "back.csv", (back, q, tau)),
        plain(tmp_path / "still.csv", (0.0 * time, np.rad2deg(q), tau)),
        plain(tmp_path / "ms.csv", (1e3 * time, q, tau)),
        plain(tmp_path / "turns.csv", (time, turned, tau)),
        tmp_path / "none.csv",
    )
    told = refused(capsys, urdf, *files)
    for wanted in (
        "back.csv: time runs backwards",
        "still.csv: time stands still",
        "still.csv: joint shoulder moves by",
        "ms.csv: expected at least 20 samples a second, found 0.1: is the time in s?",
        "turns.csv: joint elbow: its position jumps by a whole turn",
        "none.csv: No such file",
    ):
        assert sum(wanted in line for line in told) == 1, (wanted, told)


def test_what_teaches_nothing_is_said(urdf: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    time, q, tau = motion(urdf, 0)
    still = plain(tmp_path / "still.csv", (time, 0.0 * q + 0.3, tau))
    assert refused(capsys, urdf, still)[-1].endswith("no joint moves in what is to be learnt from")
    still = plain(tmp_path / "still.csv", (time, 0.0 * q + q[0], tau))  # to which the low-pass adds rounding
    assert refused(capsys, urdf, still)[-1].endswith("no joint moves in what is to be learnt from")
    silent = plain(tmp_path / "silent.csv", (time, q, 0.0 * tau))
    assert "no joint has a torque that changes" in refused(capsys, urdf, silent)[-1]
    train, one = plain(tmp_path / "train.csv", (time, q, tau)), tau.copy()
    one[:, 1] = 0.0
    learnt = found(capsys, urdf, plain(tmp_path / "half.csv", (time, q, one)), "--test", train)
    assert learnt["test"]["joints"]["shoulder"]["error"] < 5.0, "the elbow's zeros teach nothing"
    zero = found(capsys, urdf, train, "--test", silent)["test"]
    assert zero["error"] is None
    assert zero["joints"]["elbow"]["error"] is None


def test_a_recording_too_short_for_its_cross_validation_says_so(
    urdf: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    time, q, tau = motion(urdf, 0)
    for count, lacks in ((500, True), (1600, False)):
        run = plain(tmp_path / "run.csv", (time[:count], q[:count], tau[:count]))
        assert main(["identify", str(urdf), str(run), "--friction", "viscous_coulomb"]) == 0
        told = capsys.readouterr().err
        assert ("s more would leave out motions" in told) == lacks
        assert "never moves" not in told
        assert "only in what" not in told


def test_a_joint_that_stands_or_moves_one_way_is_named(
    urdf: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    time, q, tau = motion(urdf, 0)
    q[:, 0], q[:, 1] = 0.3, 0.1 * time
    run = plain(tmp_path / "run.csv", (time, q, tau))
    assert main(["identify", str(urdf), str(run), "--friction", "viscous_coulomb"]) == 0
    told = capsys.readouterr().err
    assert "joint shoulder never moves in what is learnt from" in told
    assert "joint elbow moves forward only in what is learnt from" in told


def test_gaps_nan_duplicates_and_wild_samples_do_not_matter(
    urdf: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    time, q, tau = motion(urdf, 0)
    random = np.random.default_rng(3)
    q[random.random(q.shape) < 0.005] = np.nan
    tau[random.random(tau.shape) < 0.005] = np.nan
    keep = np.flatnonzero(~((time > 5.0) & (time < 6.5)) & (random.random(len(time)) > 0.02))
    keep = np.sort(np.concatenate([keep, random.choice(keep, 100)]))
    time, q, tau = time[keep], q[keep], tau[keep]
    train, test = plain(tmp_path / "train.csv", (time, q, tau)), plain(tmp_path / "test.csv", motion(urdf, 1))
    assert found(capsys, urdf, train, "--test", test)["test"]["error"] < 2.0
    time, q, tau = motion(urdf, 0)
    time = np.arange(len(time)) / RATE
    q[700, 0], tau[900, 1] = 40.0, 1e6
    assert main(["identify", str(urdf), str(plain(tmp_path / "wild.csv", (time, q, tau)))]) == 0
    told = capsys.readouterr().err
    assert "joint shoulder: 1 wild samples are left out" in told
    assert "joint elbow: 1 wild samples are left out" in told


def test_a_joint_that_never_moved_is_named_where_it_moves(
    urdf: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    time, q, tau = motion(urdf, 0)
    q[:, 1] = 0.2
    train, test = plain(tmp_path / "a.csv", (time, q, tau)), plain(tmp_path / "b.csv", motion(urdf, 1))
    assert main(["identify", str(urdf), str(train), "--test", str(test)]) == 0
    assert "joint elbow moves, but stood still in the recordings to learn from" in capsys.readouterr().err


def test_rotors_are_learnt_where_torque_is_motor_current(
    urdf: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the URDF cannot say: 2 and 1 kg·m² behind the gears."""
    files = []
    for k in range(2):
        time, q, tau = motion(urdf, k)
        ddq = np.gradient(np.gradient(q, time, axis=0), time, axis=0)
        files.append(plain(tmp_path / f"{k}.csv", (time, q, tau + ddq * np.array([2.0, 1.0]))))
    other = [file.with_name(f"current{file.name}") for file in files]
    for file, one in zip(files, other, strict=True):
        one.write_text(file.read_text().replace("torque", "current"))
    plainly, driven = (found(capsys, urdf, one, "--test", two) for one, two in (files, other))
    assert driven["test"]["error"] < 1.0
    for joint, inertia in zip(NAMES, (2.0, 1.0), strict=True):
        rotor = driven["parameters"][f"rotor.{joint}"]
        assert abs(rotor["value"] - inertia) < 3.0 * rotor["deviation"]
    assert "rotor.elbow" not in plainly["parameters"]


def test_a_second_encoder_gives_its_gear_and_friction_by_twist(
    urdf: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    time, q, tau = motion(urdf, 0)
    link = (q - tau / 5e3)[:, 1]
    both = plain(tmp_path / "both.csv", (time, q, tau), link, names=",elbow.link_position")
    told = found(capsys, urdf, both)
    assert list(told["gears"]) == ["elbow"]
    assert told["gears"]["elbow"]["stiffness"] == pytest.approx(5e3, rel=0.3)  # friction twists it here, too
    assert "twist.elbow" in told["parameters"]
    one = plain(tmp_path / "one.csv", motion(urdf, 1))
    assert main(["identify", str(urdf), str(both), "--test", str(one)]) == 0
    assert "joint elbow: found link_position in 1 of 2 recordings: not used" in capsys.readouterr().err
    told = refused(capsys, urdf, one, "--compensation", "bases")
    assert any("expected a joint with two encoders" in line for line in told)


def test_wrong_descriptions_are_configuration_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recording = tmp_path / "run.csv"
    recording.write_text("time,a.position\n0,1\n")
    file = tmp_path / "robot.urdf"
    file.write_text(URDF.replace('mass value="2"', 'mass value="0"').replace('type="revolute"', 'type="floating"', 1))
    assert main(["identify", str(file), str(recording)]) == 78
    told = capsys.readouterr().err
    assert "floating" in told
    assert "mass above zero" in told
    table = tmp_path / "robot.toml"
    table.write_text('convention = "modifed"\nangles = "deg"\n[joints.a]\nalfa = 3\n')
    assert main(["identify", str(table), str(recording)]) == 78
    told = capsys.readouterr().err
    assert "robot.toml:1:" in told
    assert "robot.toml:4:" in told
    assert main(["identify"]) == 2
    assert main(["identify", str(file.with_suffix(".stl")), str(recording)]) == 78


def test_a_faster_test_than_was_learnt_at_is_reported(
    urdf: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "columns.toml"
    table.write_text(TABLE)
    time, q, tau = motion(urdf, 0)
    slow, fast = csv(tmp_path / "slow.csv", (time, q, tau)), csv(tmp_path / "fast.csv", (time / 1.6, q, tau))
    assert main(["identify", str(urdf), str(slow), "--test", str(fast), "--columns", str(table)]) == 0
    said = [line for line in capsys.readouterr().err.splitlines() if "faster than 1.1 times" in line]
    assert len(said) == 2


def test_ctrl_c_leaves_no_half_file(urdf: Path, tmp_path: Path) -> None:
    table = tmp_path / "columns.toml"
    recordings = [csv(tmp_path / f"run{seed}.csv", motion(urdf, seed)) for seed in range(12)]
    table.write_text(TABLE)
    out = tmp_path / "out"
    out.mkdir()
    words = ["identify", urdf, *recordings * 4, "--columns", table, "--out", out / "m.toml", "--report", out / "r.html"]
    command = [sys.executable, "-m", "daq", *map(str, words)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("identify: "):  # it says how far it is after two seconds
                process.send_signal(signal.SIGINT)
                break
        told = process.stderr.read()
    assert process.returncode == 130
    assert "interrupted" in told
    assert "Traceback" not in told
    assert list(out.iterdir()) == []


def test_a_reversed_torque_is_named_before_the_results_and_in_them(
    urdf: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "columns.toml").write_text(TABLE)
    time, q, tau = motion(urdf, 0)
    file = csv(tmp_path / "0.csv", (time, q, -tau))
    assert main(["identify", str(urdf), str(file), "--columns", str(tmp_path / "columns.toml"), "--json"]) == 0
    told = capsys.readouterr()
    found = json.loads(told.out)["mistakes"]
    assert {(one["file"], one["joint"]) for one in found} == {("0.csv", name) for name in NAMES}
    assert {one["code"] for one in found} == {"torque_sign_reversed"}
    assert f"{file}: elbow: the sign of the torque looks reversed" in told.err
    assert "→ Set scale = -1 for the torque" in told.err


def test_the_default_law_by_its_name_is_the_default_law_with_its_transition() -> None:
    options = Namespace(friction="viscous_coulomb", stribeck=None, transition=None)
    assert law_of(options) == ViscousCoulombSettings(transition=0.001)
    assert law_of(Namespace(friction=None, stribeck=None, transition=None)) is None
