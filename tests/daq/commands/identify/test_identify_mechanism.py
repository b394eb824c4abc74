"""`jointwatch identify` of a closed chain: from a user's mechanism file or URDF with loops, back to what it carries."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from daq.__main__ import main
from estimators.models.mechanisms.mechanism import load
from hil_rig.plants.base import encoder
from hil_rig.plants.mechanisms.leg import Leg, LegSettings

pytestmark = pytest.mark.compiled
ROOT = Path(__file__).parents[4]
LEG = ROOT / "docs" / "leg.toml"
RADIAL, VISCOUS = 0.05 * 0.005, 0.01  # μ R_p and c_v of the rig


def play(folder: Path, name: str, seed: int, **settings: float) -> Path:
    """A recording of the leg's one drive, under a name that is not the link's."""
    played = Leg(LegSettings(**settings), []).exact(20_000)  # type: ignore[arg-type]
    torque = played[:, 1] + 0.005 * np.random.default_rng(seed).standard_normal(len(played))
    table = np.column_stack([np.arange(len(played)) * 1e-3, encoder(played[:, 0], 20), torque])
    file = folder / f"{name}.csv"
    np.savetxt(file, table, delimiter=",", header="time,joint1.position,joint1.torque", comments="")
    return file


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("leg")
    play(folder, "learnt", 3, frequency=0.55, amplitude=0.6)
    play(folder, "other", 4, frequency=0.4, amplitude=0.8)
    text = LEG.read_text("utf-8")
    (folder / "bodies.toml").write_text(text.replace("coulomb = 0.05", "coulomb = 0"), "utf-8")
    for before, after in (
        ("mass = 2\n", "mass = 2.3\n"),
        ("mass = 1.2\n", "mass = 1.05\n"),
        ("coulomb = 0.05", "coulomb = 0"),
    ):
        assert before in text
        text = text.replace(before, after)
    (folder / "sheet.toml").write_text(text, "utf-8")  # a data sheet: masses 15 % wrong, no friction
    return folder


def test_a_closed_chain_is_identified_from_its_drive(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = folder / "leg.model.toml"
    words = ["identify", str(folder / "sheet.toml"), str(folder / "learnt.csv"), "--test", str(folder / "other.csv")]
    assert main([*words, "--out", str(out), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["unexplained"]["crank"] < 0.02, "one joint by itself leaves 6 %"
    assert said["tests"][0]["crank"] < 0.02, "another motion"
    assert said["friction"]["radial all joints"]["value"] == pytest.approx(RADIAL, rel=0.15)
    assert said["friction"]["viscous all joints"]["value"] == pytest.approx(VISCOUS, rel=0.2)
    assert main(["identify", str(out), "--test", str(folder / "other.csv"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tests"][0]["crank"] == pytest.approx(
        said["tests"][0]["crank"], abs=2e-3
    )


def test_constraint_forces_are_those_of_the_plant(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The plant has equations of its own. One drive does not tell single masses: here the file's are right."""
    file = folder / "forces.csv"
    words = ["identify", str(folder / "bodies.toml"), str(folder / "learnt.csv"), "--test", str(folder / "other.csv")]
    assert main([*words, "--forces", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tests"][0]["crank"] < 0.02
    with file.open() as text:
        rows = list(csv.DictReader(text))
    played = Leg(LegSettings(frequency=0.4, amplitude=0.8), []).exact(20_000)
    times = np.array([float(row["t"]) for row in rows])
    places = np.round(times * 1e3).astype(int)
    mechanism = load(LEG)
    for k, cut in enumerate(mechanism.joints[mechanism.size() :]):
        ours = np.array([float(row[f"{cut}.radial"]) for row in rows])
        true = np.hypot(played[places, 4 + 2 * k], played[places, 5 + 2 * k])
        assert np.sqrt(np.mean((ours - true) ** 2)) < 0.1 * np.sqrt(np.mean(true**2)), cut
    assert {f"{name}.{what}" for name in mechanism.joints for what in ("radial", "axial", "bending", "friction")} < set(
        rows[0]
    )


def test_without_the_loops_friction_it_explains_less(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The test notices what is identified: the data sheet alone leaves ten times as much."""
    assert main(["identify", str(folder / "sheet.toml"), "--test", str(folder / "other.csv"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tests"][0]["crank"] > 0.1


def test_mistakes_are_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sheet, learnt = str(folder / "sheet.toml"), folder / "learnt.csv"
    assert main(["identify", sheet]) == 2
    assert "expected recordings to learn from, or --test" in capsys.readouterr().err
    far = folder / "far.csv"
    table = np.loadtxt(learnt, delimiter=",", skiprows=1)
    table[:, 1] *= 8.0
    np.savetxt(far, table, delimiter=",", header="time,joint1.position,joint1.torque", comments="")
    assert main(["identify", sheet, str(far)]) == 1
    assert "the loops cannot close at row" in capsys.readouterr().err
    np.savetxt(far, table[:, :2], delimiter=",", header="time,joint1.position", comments="")
    assert main(["identify", sheet, str(far)]) == 1
    assert "expected crank.torque of the drives, found crank (position)" in capsys.readouterr().err
