"""Recordings of real joints: published values are met, richer friction laws predict what they have not seen."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from estimators.conditioning.conditioner import Conditioning
from estimators.models.friction import AnyFriction
from hil_rig.papers.figures import Figure
from hil_rig.papers.recordings import emps, sea, xl330
from hil_rig.papers.recordings.bam import voltage
from hil_rig.papers.recordings.readers import PublicRecordingError
from hil_rig.papers.recordings.readers import emps as read_emps
from hil_rig.papers.recordings.readers import sea as read_sea
from hil_rig.papers.recordings.readers import xl330 as read_xl330
from hil_rig.plants.recording import DATA

recorded = pytest.mark.skipif(not DATA.exists(), reason=f"the recordings are not at {DATA}")


PAGE = Path(__file__).parents[4] / "docs/real-data.md"
NUMBER = re.compile(r"[+−]?\d+(?:\.\d+)?")


def told(label: str) -> list[str]:
    """The numbers of the line of a table of docs/real-data.md that begins with this label, as they are written."""
    (line,) = [one for one in PAGE.read_text("utf-8").splitlines() if one.startswith(f"| {label}")]
    return NUMBER.findall(line.removeprefix(f"| {label}"))


def rounded(numbers: list[str], *measured: float) -> bool:
    """Whether the first numbers are these, to as many digits as they are written with."""
    pairs = list(zip(numbers, measured, strict=False))
    return len(pairs) == len(measured) and all(
        abs(float(one.replace("−", "-")) - value) <= 0.5001 * 10.0 ** -len(one.partition(".")[2])
        for one, value in pairs
    )


def by_name(figures: list[Figure]) -> dict[str, Figure]:
    return {one.name: one for one in figures}


@recorded
@pytest.mark.compiled
def test_the_page_says_what_is_found_in_the_recordings_of_emps_and_of_the_springs() -> None:
    found = by_name(emps.table(DATA))
    for label, name in (("mass, kg", "mass"), ("viscous, N·s/m", "viscous"), ("Coulomb, N", "coulomb")):
        one = found[f"online: {name}"]
        off = 100.0 * (one.ours / float(one.reference) - 1.0)
        assert rounded(told(label), float(one.reference), one.ours, off), (label, one)
    for law in ("viscous_coulomb", "cubic_viscous", "arctangent", "position_dependent", "cyclic, once a stroke",
                "directional |", "**directional, ε = 1 mm/s**", "tanh_stribeck, δ_s 2, stiffness"):  # fmt: skip
        name = law.strip("*| ").replace("= ", "").replace("δ_s", "δ")
        both = [found[f"{part}: {name}"].ours for part in ("first half, blocks", "second half")]
        assert rounded(told(law), *both), (law, both)
    peaks = [
        found[f"{part}: tanh_stribeck, δ {delta}"].ours
        for part in ("first half, blocks", "second half")
        for delta in ("0.5", "1", "2")
    ]
    assert rounded(told("tanh_stribeck, δ_s 0.5 / 1 / 2"), *peaks), peaks
    for label, one in zip(("kt-2, ±2 N·m", "kt-5, ±5 N·m"), sea.table(DATA), strict=True):
        assert rounded(told(label), float(one.reference), one.ours, 100.0 * (one.ours / float(one.reference) - 1.0))


@recorded
@pytest.mark.compiled
def test_the_page_says_what_is_found_in_the_recordings_of_the_servo() -> None:
    found = by_name(xl330.table(DATA))
    labels = {
        "seven runs → the eighth, all eight": "leave one run out",
        "gains 100, 400 → 200, 800": "gains 100 and 400 → 200 and 800",
        "gains 200, 800 → 100, 400": "gains 200 and 800 → 100 and 400",
        "gains 100, 200 → 400, 800": "gains 100 and 200 → 400 and 800",
        "gains 400, 800 → 100, 200": "gains 400 and 800 → 100 and 200",
        "sin_sin → up_and_down": "sin_sin → up_and_down",
        "up_and_down → sin_sin": "up_and_down → sin_sin",
    }
    for label, name in labels.items():
        classical, load, peak = (found[f"{name}: {law}"].ours for law in xl330.LAWS)
        numbers = told(label)
        assert rounded(numbers[:2], classical, load), (label, classical, load)
        gains = [100.0 * (one / classical - 1.0) for one in (load, peak)]
        wanted = [load, gains[0], peak, gains[1]] if label.startswith("seven") else [load, peak, gains[1]]
        assert rounded(numbers[1:], *wanted[: len(numbers) - 1]), (label, wanted)
    words = PAGE.read_text("utf-8").split("M1 0.690")[1].split(", that is")[0]
    assert rounded(re.findall(r"0\.\d+", f"0.690{words}"), *(found[f"published m{k}"].ours for k in range(1, 7)))


@recorded
@pytest.mark.compiled
def test_emps_online_and_the_law_chosen_on_the_first_half() -> None:
    rows = {row.name: row for row in emps.table(DATA)}
    assert all(row.ok for row in rows.values())
    assert {"online: mass", "online: viscous", "online: coulomb"} < set(rows)
    chosen = next(row for name, row in rows.items() if "chosen" in name)
    assert chosen.reference < 4.1  # plain least squares
    assert chosen.ours < 0.65 * chosen.reference


def test_every_shipped_law_is_tried_on_emps_but_those_that_see_the_answer_or_the_path() -> None:
    shipped = {law.model_fields["kind"].default for law in get_args(get_args(AnyFriction)[0])}
    assert {law.kind for law in emps.LAWS.values()} == shipped - {"load_dependent", "prandtl_ishlinskii", "lugre"}


@recorded
@pytest.mark.compiled
def test_load_dependent_friction_predicts_unseen_runs_of_the_xl330() -> None:
    runs = [xl330.samples(run) for run in read_xl330(DATA)]
    classical, *_, law = (xl330.rows_of(law, runs) for law in xl330.LAWS.values())
    assert xl330.left_out(*law) < xl330.ASKED * xl330.left_out(*classical)
    fitted = xl330.HALVES["gains 100 and 200 → 400 and 800"]
    assert xl330.unseen(*law, fitted) < xl330.ASKED * xl330.unseen(*classical, fitted)
    assert all(len(run.y) for run in law[1])
    ours = xl330.published(DATA, *classical[:2])
    assert ours[-1].ours < ours[2].ours < xl330.ASKED * ours[0].ours  # M6, M3 and M1, as published


@recorded
def test_the_servo_s_register_is_signed() -> None:
    runs = read_xl330(DATA)
    assert all(np.all(np.abs(run.voltage) < 8.6) for run in runs)  # |duty| ≤ 1 at a supply of up to 8.5 V
    assert all((run.voltage.min() < -1.0) == (run.trajectory == "sin_sin") for run in runs)


@recorded
@pytest.mark.compiled
@pytest.mark.parametrize("half_width", [0.02, 0.1, 0.5])
def test_stiffness_of_the_spring_by_one_rule(half_width: float) -> None:
    for name, published in sea.PUBLISHED.items():
        assert sea.stiffness(DATA, name, Conditioning(half_width=half_width)) == pytest.approx(published, rel=0.02)


@recorded
def test_the_published_stiffness_is_a_regression_over_the_whole_run() -> None:
    for name, published in sea.PUBLISHED.items():
        _, deflection, torque = read_sea(DATA, name)
        assert np.polyfit(deflection, torque, 1)[0] == pytest.approx(published, rel=3e-5)


def test_a_published_model_balances_its_own_equation() -> None:
    published = {
        "kt": 0.4, "R": 3.0, "armature": 0.002, "q_offset": 0.0, "friction_base": 0.01, "friction_viscous": 0.004,
        "load_friction_base": 0.1,
    }  # fmt: skip
    acceleration, velocity, angle = np.array([2.0, -5.0]), np.array([0.5, -1.5]), np.array([0.3, 0.4])
    motion = np.stack([acceleration, velocity, np.sin(angle), np.cos(angle)], axis=1)
    volts = voltage(published, motion, 0.5, 0.1)
    motor = 0.4 / 3.0 * (volts - 0.4 * velocity)
    gravity = 0.5 * 9.80665 * 0.1 * np.sin(angle)
    friction = 0.004 * velocity + np.sign(velocity) * (0.01 + 0.1 * np.abs(gravity + motor))
    np.testing.assert_allclose(motor, 0.007 * acceleration + gravity + friction, rtol=1e-12)


def test_recordings_that_are_missing_or_damaged_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(PublicRecordingError, match=r"does not exist: .* Name the folder .*: --data"):
        read_emps(tmp_path)
    with pytest.raises(PublicRecordingError, match="expected 8 runs, found 0"):
        read_xl330(tmp_path)
    (tmp_path / "sea_imperial").mkdir()
    (tmp_path / "sea_imperial" / "run.csv").write_text("time,torque_out\n0,1,2\n")
    with pytest.raises(PublicRecordingError, match=r"run\.csv: cannot be read"):
        read_sea(tmp_path, "run.csv")


def test_the_command_says_which_recording_is_missing(tmp_path: Path, run_program: Callable[..., Any]) -> None:
    done = run_program("hil_rig.commands.reproduce", "sea", "--data", tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("jointwatch reproduce: ")
    assert done.stderr.count("\n") == 1
