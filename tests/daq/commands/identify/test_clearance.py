"""`jointwatch clearance`: a bearing's clearance within its deviation, no number where there is none, growth told."""

import json
from pathlib import Path

import numpy as np
import pytest

from daq.__main__ import main
from hil_rig.plants.base import encoder
from hil_rig.plants.mechanisms.contact import Steel
from hil_rig.plants.mechanisms.journal import TICK, Journal, Measured, chirp, published, sines

pytestmark = pytest.mark.compiled
KNOWN = ("--mass", "3.0", "--pin", "0.01", "--ring-radius", "0.03")


def recording(folder: Path, name: str, clearance: float, motion: np.ndarray, vertical: bool, near: bool = True) -> Path:
    played = Journal(vertical=vertical, steel=Steel(clearance=clearance)).play(motion)
    rng = np.random.default_rng([7, len(name), round(1e7 * clearance)])
    seen = Measured(bits=17, torque=1e-2).of(played, rng)
    places = played[:, 2:4] + 1e-7 * rng.standard_normal((len(played), 2)) + (3e-5, -2e-5)  # centre not known
    table = np.column_stack([np.arange(len(played)) * TICK, seen, places])
    head = "time,pin.position,pin.torque,pin.ring,pin.near_x,pin.near_y"
    if not near:
        table, head = table[:, :4], head[: head.index(",pin.near")]
    file = folder / f"{name}.csv"
    np.savetxt(file, table, delimiter=",", header=head, comments="")
    return file


def told(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, dict]:  # type: ignore[type-arg]
    code = main(["clearance", *map(str, words), "--json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("clearance", [30e-6, 90e-6])
def test_every_way_tells_the_clearance_within_its_deviation(
    clearance: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    glide = recording(tmp_path, "glide", clearance, chirp(10.0, 1.1, 2.7, 0.55), True)
    slow = recording(tmp_path, "slow", clearance, published(10.0), False)
    code, said = told(capsys, glide, slow, "--gravity", "0", "9.81", *KNOWN)
    assert code == 0
    assert [one["way"] for one in said["now"]] == ["proximity sensors", "torque", "ring"]
    for one in said["now"]:
        assert one["told"], one
        assert abs(one["clearance"] - clearance) < 3.0 * one["deviation"], one
    widths = {one["way"]: one["deviation"] / clearance for one in said["now"]}
    assert widths["proximity sensors"] < 0.03
    assert widths["ring"] < 0.1
    assert widths["torque"] < 0.3


def test_a_motion_that_tells_nothing_gives_no_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    slow = recording(tmp_path, "slow", 50e-6, published(10.0), False)
    code, said = told(capsys, slow, "--mass", "3.0", "--pin", "0.01")
    assert code == 1
    assert [one["told"] for one in said["now"]] == [False, False]
    assert "of its circle, 120° are needed" in said["now"][0]["why"]
    assert main(["clearance", str(slow), "--mass", "3.0", "--pin", "0.01"]) == 1
    assert "torque: no number (this motion does not identify it" in capsys.readouterr().out


def test_a_pin_that_flies_is_measured_where_it_touches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = recording(tmp_path, "two", 60e-6, sines(10.0, (1.3, 2.13), (0.3, 0.2)), True)
    _, said = told(capsys, file)
    (one,) = said["now"]
    assert one["told"]
    assert abs(one["clearance"] - 60e-6) < 3.0 * one["deviation"] < 3e-6
    _, said = told(capsys, file, "--gravity", "0", *KNOWN)
    _, torque, ring = said["now"]
    assert not torque["told"]
    assert "by its extremes" in ring["why"]
    assert 58.0 < float(ring["why"].split()[2]) < 61.0


@pytest.mark.parametrize(("factor", "grown"), [(1.0, False), (1.3, True)])
def test_growth_is_reported_and_only_growth(
    factor: float, grown: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    motion = chirp(10.0, 1.0, 3.0, 0.5)
    old = recording(tmp_path, "old", 50e-6, motion, True)
    new = recording(tmp_path, "newer", factor * 50e-6, motion, True)
    _, said = told(capsys, new, "--before", old)
    assert [one["grown"] for one in said["growth"]] == [grown]


def test_mistakes_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = recording(tmp_path, "slow", 50e-6, published(2.0), False, near=False)
    assert main(["clearance", str(file)]) == 1
    assert "expected near_x and near_y, or torque with --mass and --pin" in capsys.readouterr().err
    assert main(["clearance", str(file), "--joint", "wrist"]) == 1
    assert 'expected the joint "wrist"; the recording has pin' in capsys.readouterr().err
    assert main(["clearance", str(file), "--gravity", "1", "2", *KNOWN]) == 1
    assert "expected one --gravity or 1, one for each recording; found 2" in capsys.readouterr().err
    few = np.column_stack([np.arange(300) * 0.01, encoder(np.sin(np.arange(300) * 0.01), 17), np.zeros(300)])
    np.savetxt(file, few, delimiter=",", header="time,pin.position,pin.torque", comments="")
    assert main(["clearance", str(file), *KNOWN]) == 1
    assert "expected more than 200 rows a second, found 100" in capsys.readouterr().err
