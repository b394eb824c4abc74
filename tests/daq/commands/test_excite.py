"""`jointwatch excite`: writes trajectories that keep their limits, judges anybody's, says every mistake of a file."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from daq.__main__ import main

pytestmark = pytest.mark.compiled
ROBOT = """
convention = "modified"
angles = "deg"
total_mass = 40.0
[joints.base]
d = 0.5
[joints.shoulder]
alpha = -90
a = 0.15
lower = -100
upper = 100
velocity = 90
[joints.elbow]
a = 0.6
"""
LIMITS = """
angles = "deg"
[joints.base]
lower = -90
upper = 90
velocity = 60
acceleration = 50
[joints.shoulder]
acceleration = 40
home = 20
[joints.elbow]
lower = 10
upper = 120
velocity = 60
acceleration = 65
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "robot.toml").write_text(ROBOT)
    (tmp_path / "limits.toml").write_text(LIMITS)
    return str(tmp_path / "robot.toml"), str(tmp_path / "limits.toml")


def test_what_it_writes_keeps_the_limits_and_is_judged_so(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    robot, limits = files
    out, samples = tmp_path / "t.csv", tmp_path / "s.csv"
    words = ["excite", robot, "--limits", limits]
    assert main([*words, "--evaluations", "400", "--out", str(out), "--samples", str(samples), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["kept"]
    assert said["evaluations"] >= 400
    assert set(said["criteria"]) == {"cond", "block", "dopt"}
    with samples.open() as text:
        header, *rows = csv.reader(text)
    assert header[:4] == ["t", "base", "shoulder", "elbow"]
    table = np.array(rows, float)
    assert np.diff(table[:, 0]) == pytest.approx(0.01, abs=1e-6)
    assert table[0, 1:4] == pytest.approx(np.radians([0.0, 20.0, 65.0]), abs=1e-6)
    assert np.abs(table[0, 4:]).max() < 1e-9
    assert (table[:, 3] >= np.radians(10.0)).all()
    assert (np.abs(table[:, 7:]).max(axis=0) <= np.radians([50.0, 40.0, 65.0])).all()
    for file in (out, samples):
        assert main([*words, "--check", str(file), "--json"]) == 0
        again = json.loads(capsys.readouterr().out)
        assert again["kept"]
    assert main([*words, "--check", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["criteria"]["cond"] == pytest.approx(said["criteria"]["cond"], rel=1e-9)


def test_a_trajectory_beyond_its_limits_is_told_so(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    robot, limits = files
    file = tmp_path / "published.csv"
    file.write_text("joint,frequency,q0,a1,b1\nbase,0.05,0,1.1,0\nshoulder,0.05,0,0.1,0.1\nelbow,0.05,1,0,0.1\n")
    assert main(["excite", robot, "--limits", limits, "--check", str(file)]) == 1
    said = capsys.readouterr()
    beyond = [line.split()[:2] for line in said.err.splitlines() if "EXCEEDED" in line]
    assert beyond == [["base", "position"], ["base", "velocity"]]
    assert said.out == ""


def test_every_mistake_of_the_limits_is_said_with_its_line(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    robot, _ = files
    limits = tmp_path / "wrong.toml"
    limits.write_text(
        'angles = "deg"\n[joints.base]\nacceleration = 50\n[joints.shoulder]\nacceleration = 40\nhome = 200\n'
        "[joints.wrist]\nacceleration = 1\n"
    )
    assert main(["excite", robot, "--limits", str(limits)]) == 78
    said = capsys.readouterr().err
    for text in (
        "wrong.toml:2: joints.base: expected lower < upper and a velocity",
        "wrong.toml:4: joints.shoulder.home: expected home between -100 and 100, found 200",
        'wrong.toml:7: joints.wrist: found no joint "wrist" in the robot',
        "joints.elbow: expected limits, found none",
    ):
        assert text in said


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected rows of a trajectory, found none"),
        ("joint,frequency,q0,a1,b1\nbase,0.05,0,1,0\n", "found none for shoulder, elbow"),
        ("t,base,shoulder,elbow\n0,1,1,1\n0,1,1,1\n1,1,1,1\n2,1,1,1\n", "rising in t"),
        ("t,base\n0,1\n", "expected the columns joint, frequency"),
    ],
)
def test_a_trajectory_that_cannot_be_read_is_said(
    files: tuple[str, str], tmp_path: Path, text: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    robot, limits = files
    file = tmp_path / "t.csv"
    file.write_text(text)
    assert main(["excite", robot, "--limits", limits, "--check", str(file)]) == 1
    assert message in capsys.readouterr().err


BODY = "mass = {mass}\ninertia = [{size}, {size}, {size}, 0, 0, 0]\ncentre = [{x}, 0, 0.05]\n"
SHARED = """
[workspace]
lower = [-1.0, -1.0, 0.0]
upper = [1.0, 1.0, 1.4]
"""


def heavy(folder: Path) -> str:
    """The robot of the other tests with bodies."""
    sizes = {"base": (20.0, 0.4, 0.0), "shoulder": (12.0, 0.3, 0.3), "elbow": (8.0, 0.2, 0.2)}
    text = ROBOT.replace("total_mass = 40.0\n", "")
    for name, (mass, size, x) in sizes.items():
        text = text.replace(f"[joints.{name}]\n", f"[joints.{name}]\n" + BODY.format(mass=mass, size=size, x=x))
    (folder / "heavy.toml").write_text(text)
    return str(folder / "heavy.toml")


def test_torque_and_workspace_are_kept_and_reported(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    robot, limits = heavy(tmp_path), tmp_path / "shared.toml"
    limits.write_text(LIMITS.replace("acceleration = 40\n", "acceleration = 40\neffort = 160\n") + SHARED)
    out = tmp_path / "t.csv"
    words = ["excite", robot, "--limits", str(limits), "--json"]
    assert main([*words, "--evaluations", "400", "--search", "chaotic-cuckoo", "--out", str(out)]) == 0
    said = json.loads(capsys.readouterr().out)
    told = {(one["joint"], one["quantity"]): one for one in said["limits"]}
    assert told["shoulder", "torque"]["kept"]
    assert told["shoulder", "torque"]["limit"] == 160.0
    assert [told[None, f"workspace {axis}"]["kept"] for axis in "xyz"] == [True] * 3
    limits.write_text(LIMITS.replace("acceleration = 40\n", "acceleration = 40\neffort = 100\n"))
    assert main([*words, "--check", str(out)]) in (0, 1)
    again = {(one["joint"], one["quantity"]): one for one in json.loads(capsys.readouterr().out)["limits"]}
    assert again["shoulder", "torque"]["reached"] == pytest.approx(told["shoulder", "torque"]["reached"], rel=1e-9)
    assert again["shoulder", "torque"]["kept"] == (told["shoulder", "torque"]["reached"] <= 100.0)


def test_mistakes_of_torque_and_workspace_are_said(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    robot, _ = files
    limits = tmp_path / "shared.toml"
    effort = LIMITS.replace("acceleration = 40\n", "acceleration = 40\neffort = 160\n")
    limits.write_text(effort + SHARED.replace("lower", 'frame = "gripper"\nlower'))
    assert main(["excite", robot, "--limits", str(limits)]) == 78
    said = capsys.readouterr().err
    assert "expected --model MODEL for limits of torque: the robot's file does not give the masses of its links" in said
    assert 'workspace.frame: found no moving frame "gripper" in the robot, it has' in said
    limits.write_text(LIMITS + SHARED.replace("1.4", "-0.4"))
    assert main(["excite", robot, "--limits", str(limits)]) == 78
    assert "expected lower < upper in x, y and z" in capsys.readouterr().err
    limits.write_text(effort.replace("160", "1"))
    assert main(["excite", heavy(tmp_path), "--limits", str(limits)]) == 1
    assert "at home the torque of joint 2 is" in capsys.readouterr().err
