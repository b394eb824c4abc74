"""Recordings: files, columns, times, and how little their encoding takes away."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io

from hil_rig.plants.base import Jump, RigError
from hil_rig.plants.recording import EMPS, RecordingSettings
from hil_rig.wire.faults import Faults
from hil_rig.wire.robot import RigRobot

T = np.arange(50) / 200
Q = np.sin(T)
U = np.cos(3 * T)
COLUMNS = {"time": "t", "position": "q", "effort": "u"}


def write(file: Path, **columns: Any) -> Path:
    if file.suffix == ".mat":
        scipy.io.savemat(file, columns)
    elif file.suffix == ".npz":
        np.savez(file, **columns)
    else:
        rows = zip(*columns.values(), strict=True)
        file.write_text("\n".join([",".join(columns), *(",".join(map(repr, map(float, row))) for row in rows)]))
    return file


@pytest.mark.parametrize("suffix", [".mat", ".npz", ".csv"])
def test_every_kind_of_file(tmp_path: Path, suffix: str) -> None:
    plant = RecordingSettings(file=write(tmp_path / f"run{suffix}", t=T + 7, q=Q, u=U), **COLUMNS).build(1, 0, [])
    assert plant.rate == 200.0
    assert plant.times() == pytest.approx(T)
    assert np.vstack([plant.rows(7), plant.rows(100)]) == pytest.approx(np.column_stack((Q, U)))
    assert len(plant.rows(1)) == 0, "the end"
    assert plant.truth() == {}


@pytest.mark.parametrize("tall", [True, False])
def test_channel_of_a_matrix_and_field_of_a_struct(tmp_path: Path, tall: bool) -> None:
    both = np.column_stack((U, Q))
    file = write(tmp_path / "run.mat", rec={"t": T, "x": both if tall else both.T})
    settings = RecordingSettings(file=file, time="rec.t", position="rec.x:1", effort="rec.x:0", position_unit="deg")
    plant = settings.build(1, 0, [])
    assert plant.rows(50) == pytest.approx(np.column_stack((np.deg2rad(Q), U)))
    assert set(plant.roles) == {"position", "torque"}
    assert plant.model["axis"] == "rotary"


@pytest.mark.parametrize(
    ("columns", "change", "message"),
    [
        ({}, {"position": "x"}, 'no column "x", expected one of q, t, u'),
        ({"u": U[:-1]}, {}, "u has 49 rows, time has 50"),
        ({"t": T[::-1]}, {}, 'expected increasing times, but those of column "t" are not'),
        ({}, {"position": "q:3"}, r"q has one column, found \[3\]"),
        ({}, {"position": "x", "effort": "y"}, r'column "x", expected one of q, t, u\n.*column "y"'),
        ({"u": np.full(50, np.nan)}, {}, 'expected numbers in column "u"'),
    ],
)
def test_a_useless_file_is_named_with_its_reason(
    tmp_path: Path, columns: dict[str, Any], change: dict[str, str], message: str
) -> None:
    file = write(tmp_path / "run.npz", **({"t": T, "q": Q, "u": U} | columns))
    with pytest.raises(RigError, match=rf"run\.npz.*{message}"):
        RecordingSettings(file=file, **(COLUMNS | change)).build(1, 0, [])


def test_missing_and_unknown_files(tmp_path: Path) -> None:
    with pytest.raises(RigError, match=r"nothing\.csv does not exist"):
        RecordingSettings(file=tmp_path / "nothing.csv").build(1, 0, [])
    with pytest.raises(RigError, match=r"expected a \.mat, \.npz or \.csv file, found .*run\.bag"):
        RecordingSettings(file=tmp_path / "run.bag").build(1, 0, [])
    (tmp_path / "broken.mat").write_bytes(b"rubbish")
    with pytest.raises(RigError, match=r"broken\.mat"):
        RecordingSettings(file=tmp_path / "broken.mat").build(1, 0, [])


def test_it_neither_jumps_nor_multiplies(tmp_path: Path) -> None:
    settings = RecordingSettings(file=write(tmp_path / "run.npz", t=T, q=Q, u=U), **COLUMNS)
    for node, jumps in ((2, []), (1, [Jump(1.0, "mass", 2.0)])):
        with pytest.raises(RigError, match="plays what was measured"):
            settings.build(node, 0, jumps)


def test_a_loop_goes_on_at_its_own_pace(tmp_path: Path) -> None:
    settings = RecordingSettings(file=write(tmp_path / "run.npz", t=T, q=Q, u=U), **COLUMNS, loop=True)
    robot = RigRobot({"joint1": settings.build(1, 0, [])}, Faults([], 0), loop=True)
    taken = [frame for _ in range(20) for (frame,) in robot.samples(7)]
    assert len(taken) > 100
    assert all(one.fields == taken[number % 50].fields for number, one in enumerate(taken))
    assert [one.counter for one in taken] == list(range(len(taken)))
    for sample in (0, 49, 50, 51, 120):
        assert robot.at(sample) == pytest.approx(sample / 200)
        assert robot.due(robot.at(sample) + 1e-6) == sample + 1


def test_without_loop_there_is_an_end(tmp_path: Path) -> None:
    settings = RecordingSettings(file=write(tmp_path / "run.npz", t=T, q=Q, u=U), **COLUMNS)
    robot = RigRobot({"joint1": settings.build(1, 0, [])}, Faults([], 0), loop=False)
    assert len(robot.samples(1000)) == 50
    assert robot.samples(1) == []
    assert robot.at(50) == float("inf")
    assert robot.due(1e9) == 50


def test_times_that_are_not_equidistant_are_kept(tmp_path: Path) -> None:
    t = T + 1e-3 * np.random.default_rng(1).uniform(-1, 1, len(T))
    settings = RecordingSettings(file=write(tmp_path / "run.npz", t=t, q=Q, u=U), **COLUMNS)
    robot = RigRobot({"joint1": settings.build(1, 0, [])}, Faults([], 0), loop=False)
    assert [robot.at(sample) for sample in range(50)] == pytest.approx(t - t[0])


@pytest.mark.skipif(not EMPS.exists(), reason=f"needs {EMPS.parent}: the EMPS recording, see its README")
def test_the_encoding_of_emps_is_far_below_its_noise() -> None:
    plant = RecordingSettings().build(1, 0, [])
    assert plant.rate == 1000.0
    rows = plant.rows(30_000)
    assert len(rows) == 24_841
    position, voltage = (
        field.raw(column) * field.lsb - column for field, column in zip(plant.messages[0].fields, rows.T, strict=True)
    )
    assert np.abs(position).max() < 1e-9, "the encoder's own step is 5e-8 m"
    assert 35.1507 * voltage.std() < 2.3e-3, "N; the residual of the published model is 2.3 N below 50 Hz"
