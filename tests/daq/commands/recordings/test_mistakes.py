"""Mistakes of a person reach the user of a recording: `replay`, `identify` and `columns` name them, with the remedy."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from daq.__main__ import main
from estimators.plausibility.mistakes.base import Motion
from hil_rig.truth.moves import moves
from tests.support.signals.mistaken_motions import MADE

SECONDS, RATE = 14.0, 1000.0
REPLAYED = {
    "degrees for radians": "the position looks like degrees",
    "position and torque exchanged": "position and torque look exchanged",
    "sign of the torque": "the sign of the torque looks reversed",
    "sign of the position, a velocity": "the sign of the position looks reversed",
    "sign of the velocity": "the sign of the velocity looks reversed",
    "encoder wraps at ±π": "the position jumps by a whole turn",
    "torque 5 ms late": "the torque looks 4.7 ± 0.1 ms late",
    "rate × 2, a velocity": "the times look 0.5 times as long as they are",
    "current for torque, column named": 'the torque looks like a current: its column is called "motor_current"',
    "ms read as s": "the times look like milliseconds read as seconds",
}
CONFIG = """
[drivers.log]
kind = "file"
path = "arm.csv"
time = "time"
columns.q = { unit = "rad" }
columns.u = { unit = "N·m" }
[joints.elbow]
rate = 1000
saturation = %g
model = { kind = "rigid", gravity_sin = true, gravity_cos = true }
channels.position = { signal = "log.row.q" }
channels.torque = { signal = "log.row.u" }
"""


@cache
def sound() -> Motion:
    values = moves(0, 20, "moves", RATE).sample(round(SECONDS * RATE)).values
    return Motion(np.arange(len(values)) / RATE, values[:, 0], values[:, 1])


def recorded(folder: Path, motion: Motion, torque: str = "u") -> tuple[Path, Path]:
    """The recording, and a table of its columns that says no unit: what a person believes is SI."""
    names, columns = ["time", "q", torque], [motion.time, motion.position, motion.effort]
    table = ['time = "time"', "[joints.elbow]", 'position.column = "q"', f'torque.column = "{torque}"']
    if motion.velocity is not None:
        names, columns = [*names, "v"], [*columns, motion.velocity]
        table.append('velocity.column = "v"')
    file, written = folder / "arm.csv", folder / "columns.toml"
    np.savetxt(file, np.column_stack(columns), delimiter=",", header=",".join(names), comments="", fmt="%.9g")
    written.write_text("\n".join(table))
    return file, written


@pytest.mark.parametrize("mistake", REPLAYED)
def test_replay_names_a_mistake_before_the_results_and_says_what_to_do(
    mistake: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    motion = MADE[mistake].make(sound())
    file, table = recorded(tmp_path, motion, motion.source or "u")
    slow = mistake == "ms read as s"  # a row a second: hours of waiting
    assert main(["replay", str(file), str(table)]) == int(slow)
    told = capsys.readouterr()
    lines = told.out.splitlines()
    assert lines[0].startswith(f"elbow: {REPLAYED[mistake]}"), lines[:3]
    assert lines[1].startswith("    → ")
    assert "too slow for a joint" in told.err if slow else "readings of" in lines[2]


def test_replay_names_a_torque_beyond_what_the_drive_can_give(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    motion = MADE["mN·m, limit known"].make(sound())
    file, _ = recorded(tmp_path, motion)
    (tmp_path / "c.toml").write_text(CONFIG % motion.limit)
    assert main(["replay", str(file), str(tmp_path / "c.toml"), "--json"]) == 0
    told = capsys.readouterr()
    first: dict[str, Any] = json.loads(told.out.splitlines()[0])
    assert (first["topic"], first["joint"], first["code"]) == ("mistake/elbow", "elbow", "torque_scale")
    assert first["text"] == "the torque looks 1000 times too large"
    assert "scale = 0.001" in first["todo"]
    assert f"elbow: {first['text']}" in told.err
    last = json.loads(next(line for line in reversed(told.out.splitlines()) if '"estimate/elbow"' in line))
    assert [one["code"] for one in last["health"]["reasons"]] == ["no_rows", "torque_scale"]


def test_a_sound_recording_gives_no_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, table = recorded(tmp_path, sound())
    assert main(["replay", str(file), str(table)]) == 0
    assert "→" not in capsys.readouterr().out


def test_a_current_whose_unit_a_person_states_is_believed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, table = recorded(tmp_path, sound(), "motor_current")
    table.write_text(table.read_text() + '\ntorque.unit = "N·m"')
    assert main(["replay", str(file), str(table)]) == 0
    assert "→" not in capsys.readouterr().out


def test_two_joints_with_exchanged_torques_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = moves(1000, 20, "moves", RATE).sample(round(SECONDS * RATE)).values
    one = sound()
    names = "time,one.position,one.torque,two.position,two.torque"
    values = [one.time, one.position, other[:, 1], other[:, 0], one.effort]
    np.savetxt(tmp_path / "arm.csv", np.column_stack(values), delimiter=",", header=names, comments="", fmt="%.9g")
    (tmp_path / "columns.toml").write_text(
        'time = "time"\n'
        + "\n".join(
            f'[joints.{name}]\nposition.column = "{name}.position"\ntorque.column = "{name}.torque"'
            for name in ("one", "two")
        )
    )
    assert main(["replay", str(tmp_path / "arm.csv"), str(tmp_path / "columns.toml")]) == 0
    told = capsys.readouterr().out
    assert "one: the torque looks like that of two" in told
    assert "two: the torque looks like that of one" in told


def test_columns_says_beside_its_proposal_what_looks_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    motion = MADE["sign of the torque"].make(sound())
    file, _ = recorded(tmp_path, motion, "tau")
    assert main(["columns", str(file)]) == 0
    told = capsys.readouterr()
    assert "the sign of the torque looks reversed" in told.err
    assert "→ Set scale = -1" in told.err
    assert told.out.startswith("# Proposed")


def test_doctor_names_a_mistake_that_the_motion_on_the_wire_shows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded(tmp_path, MADE["sign of the torque"].make(sound()))
    (tmp_path / "c.toml").write_text(CONFIG % 1000.0)
    main(["doctor", str(tmp_path / "c.toml"), "--json"])
    found = json.loads(capsys.readouterr().out)["findings"]
    (mine,) = (one for one in found if one["subject"] == "elbow")
    assert mine["text"] == "the sign of the torque looks reversed against the position"
    assert mine["remedy"].startswith("Set scale = -1")
