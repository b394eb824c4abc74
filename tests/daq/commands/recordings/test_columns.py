"""A recording of somebody else's, replayed by what docs/recording.md says, word for word."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from daq.__main__ import main
from hil_rig.plants.joints.rigid import RigidPlantSettings

ROOT = Path(__file__).parents[4]
LINE = re.compile(r"^    jointwatch (.*?)(?:  +#.*)?$", re.MULTILINE)


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Seven joints in the header of a maker who writes degrees and milliseconds."""
    folder = tmp_path_factory.mktemp("arm")
    plants = RigidPlantSettings().robot(7, 1, ())
    rows = [plant.rows(15_000)[::4] for plant in plants.values()]
    scale = [plant.roles["torque"].scale for plant in plants.values()]
    columns = [np.arange(len(rows[0])) * 4.0]
    columns += [np.rad2deg(one[:, 0]) for one in rows] + [k * one[:, 1] for k, one in zip(scale, rows, strict=True)]
    head = ["t_ms", *(f"A{n} actual_q deg" for n in range(1, 8)), *(f"A{n} torque" for n in range(1, 8))]
    file = folder / "arm.csv"
    np.savetxt(file, np.column_stack(columns), delimiter=",", header=",".join(head), comments="", fmt="%.7g")
    return file


@pytest.mark.compiled
def test_the_lines_of_the_page_word_for_word(arm: Path) -> None:
    page = (ROOT / "docs/recording.md").read_text(encoding="utf-8")
    lines = LINE.findall(page[page.index("## Recordings of other programs") :])
    assert len(lines) == 2
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    for line in lines:
        command = f"{sys.executable} -m daq {line}"
        done = subprocess.run(command, shell=True, cwd=arm.parent, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    for n in range(1, 8):
        assert re.search(rf"joint{n}: normal, valid", done.stdout), done.stdout
    inertia = [float(one) for one in re.findall(r"inertia +([-+.\d]\S*)", done.stdout)]
    assert inertia == pytest.approx([2.0 * 0.75**n for n in range(7)], rel=0.1)


def test_a_table_of_seven_joints_and_their_names(arm: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = "base,shoulder,arm,elbow,fore,wrist,flange"
    assert main(["columns", str(arm), "--names", names]) == 0
    table = capsys.readouterr().out
    assert [table.index(f"[joints.{name}]") for name in names.split(",")] == sorted(
        table.index(f"[joints.{name}]") for name in names.split(",")
    )
    assert 'time_unit = "ms"' in table
    assert table.count('unit = "deg"') == 7
    assert main(["columns", str(arm), "--names", "one,two"]) == 2
    assert "expected 7 names" in capsys.readouterr().err


def test_a_joint_without_a_torque_keeps_its_name_from_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its column is there, and has no numbers."""
    time = np.arange(500) / 100.0
    values = [time, *(np.sin(k * time) for k in (1.0, 2.0, 3.0)), *(np.cos(k * time) for k in (1.0, 2.0, 3.0))]
    rows = ["time,q1,q2,q3,tau1,tau2,tau3"]
    rows += [",".join("" if k == 5 else f"{one:.6f}" for k, one in enumerate(row)) for row in zip(*values, strict=True)]
    file = tmp_path / "arm.csv"
    file.write_text("\n".join(rows) + "\n")
    assert main(["columns", str(file), "--names", "turn,lift,wrist"]) == 0
    told = capsys.readouterr()
    assert "q2 has no torque" in told.err
    assert re.findall(r"\[joints\.(\w+)\]\nposition = . column = \"(\w+)", told.out) == [
        ("turn", "q1"),
        ("wrist", "q3"),
    ]


def test_a_header_that_says_nothing_is_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,2\n2,3\n3,4\n")
    assert main(["columns", str(tmp_path / "a.csv")]) == 1
    assert "no column has a name like position and torque" in capsys.readouterr().err
