"""A fleet: the same to the bit in one process and on workers, of which one is killed in the middle; who is odd."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from daq.__main__ import main
from daq.commands.fleet.page import document
from daq.fleet.addresses import find
from daq.fleet.examine import Found, JointFound, Plan, Quantity
from daq.fleet.verdict import judge, unsettled
from daq.fleet.work import MODULES, here, on
from daq.processes.cluster import Cluster
from daq.recording.reader import RecordingError
from hil_rig.experiments.fleet import Fleet, record

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four robots, two short recordings of each, and one file that is none."""
    folder = tmp_path_factory.mktemp("fleet")
    assert len(list(record(Fleet(robots=4, recordings=2, seconds=16.0), folder))) == 8
    (folder / "robot009").mkdir()
    (folder / "robot009" / "broken.npz").write_bytes(b"not a recording")
    return folder


@pytest.mark.compiled
def test_a_worker_that_is_killed_loses_nothing_and_all_is_the_same_to_the_bit(folder: Path) -> None:
    addresses, plan = find([str(folder)]), Plan(None, None, skew=True)
    alone = list(here(addresses, plan))
    found: list[Found] = []
    with Cluster(workers=2, modules=MODULES) as cluster:
        before = cluster.pids()
        assert len(before) == 2
        for one in on(cluster, addresses, plan):
            if not found:
                os.kill(before[0], signal.SIGKILL)
            found.append(one)
    assert sorted(map(repr, found)) == sorted(map(repr, alone))  # every digit is compared, and NaN equals NaN
    assert len(found) == 9
    assert {one.robot for one in alone if one.problem} == {"robot009"}
    known = {one.name for run in alone for joint in run.joints for one in joint.quantities}
    assert {"inertia", "viscous", "coulomb", "delay.torque"} <= known
    assert any(joint.status == "valid" for run in alone for joint in run.joints)


def fleet(values: np.ndarray) -> list[Found]:
    """Robots of one joint with one parameter; values: (robots, recordings)."""
    found = []
    for i, runs in enumerate(values):
        for k, value in enumerate(runs):
            told = (Quantity("coulomb", "N·m", float(value), 0.02),)
            joint = JointFound("elbow", "rigid", "normal", "valid", "", 1000, 0, 0.03, 0, 0, 0, told)
            found.append(Found(f"/data/r{i:02}/{k}.npz", f"r{i:02}", 1e9 + k, 20.0, (joint,), ""))
    return found


def test_the_odd_one_and_the_one_that_drifts_are_told_and_no_other() -> None:
    values = 5.0 + 0.1 * np.random.default_rng(2).standard_normal((24, 1)) + np.zeros((24, 4))
    values += 0.02 * np.random.default_rng(3).standard_normal(values.shape)
    values[3] += 1.5
    values[7] += [0.0, 0.0, 0.4, 0.4]
    judged = judge(fleet(values))
    assert [one.robot for one in judged if one.odd] == ["r03"]
    assert [one.robot for one in judged if one.drifts] == ["r07"]
    page = document(fleet(values), judged)
    assert "<h1>r07 is drifting, r03 is odd</h1>" in page
    assert page.count("<circle") == 24
    assert "src=" not in page
    assert "<link" not in page


def test_one_that_still_learns_is_compared_by_what_it_has_told_and_named() -> None:
    """High friction makes a robot move less, so that it learns longer: to wait for it would be not to see it."""
    found = fleet(5.0 + 0.1 * np.random.default_rng(4).standard_normal((24, 1)) + np.zeros((24, 2)))

    def learning(robot: str, *, value: float, deviation: float) -> None:
        for k, run in enumerate(found):
            if run.robot == robot:
                told = (Quantity("coulomb", "N·m", value, deviation),)
                joint = run.joints[0]._replace(status="learning", reasons="offset lacks excitation", quantities=told)
                found[k] = run._replace(joints=(joint,))

    learning("r03", value=8.0, deviation=0.1)
    learning("r05", value=8.0, deviation=3.0)  # told so badly that it says nothing
    learning("r06", value=80.0, deviation=np.nan)  # told nothing
    judged = judge(found)
    assert [one.robot for one in judged if one.odd] == ["r03"]
    assert {one.robot for one in judged} == {run.robot for run in found} - {"r06"}
    assert [(run.robot, why) for run, _, why in unsettled(found)][::2] == [
        (robot, "offset lacks excitation") for robot in ("r03", "r05", "r06")
    ]
    assert "<h2>Not valid at the end</h2>" in document(found, judged)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [31, 32, 33])
def test_the_planted_ones_are_told_on_every_seed_and_no_other(seed: int, tmp_path: Path) -> None:
    """3 % of spread, robot 2 with 1.6 times the friction, robot 5 with half as much more at its last recording."""
    list(record(Fleet(robots=12, recordings=2, seed=seed), tmp_path))
    judged = judge(here(find([str(tmp_path)]), Plan(None, None, skew=False)))
    assert ("robot002", "coulomb") in {(one.robot, one.quantity) for one in judged if one.odd}
    assert {(one.robot, one.quantity) for one in judged if one.drifts} == {("robot005", "viscous")}
    others = {(one.robot, one.quantity) for one in judged if one.odd} - {("robot002", "coulomb")}
    assert others <= {("robot005", "viscous")}  # which is odd by then, too


def test_a_drift_of_all_is_nobodys() -> None:
    values = 5.0 + 0.05 * np.random.default_rng(5).standard_normal((12, 2)) + np.array([0.0, 2.0])
    assert not any(one.odd or one.drifts for one in judge(fleet(values)))


def test_four_cannot_be_compared() -> None:
    judged = judge(fleet(np.array([[1.0], [1.0], [1.0], [9.0]])))
    assert len(judged) == 4
    assert not any(one.odd or one.drifts or one.worst for one in judged)
    assert "at least five robots" in document(fleet(np.ones((4, 1))), judged)


@pytest.mark.compiled
def test_the_command_writes_page_and_parquet(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow: pip install 'jointwatch[parquet]'")
    monkeypatch.chdir(tmp_path)
    words = ["fleet", "identify", str(folder / "robot000"), str(folder / "robot009"), "--workers", "0", "--no-skew"]
    assert main([*words, "--json", "--parquet", "fleet.parquet"]) == 0
    out, err = capsys.readouterr()
    told = json.loads(out)
    assert [one["problem"] is None for one in told["recordings"]] == [True, True, False]
    rows = parquet.read_table("fleet.parquet").to_pylist()
    assert {"inertia", "coulomb"} <= {row["quantity"] for row in rows}
    assert len({row["address"] for row in rows}) == 3
    assert "3 recordings" in err
    assert Path("fleet.html").read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.compiled
def test_any_address_that_fsspec_reads(folder: Path) -> None:
    fsspec = pytest.importorskip("fsspec", reason="needs fsspec: pip install 'jointwatch[fleet]'")
    memory = fsspec.filesystem("memory")
    memory.pipe("/fleet/arm7/a.npz", next(folder.rglob("00.npz")).read_bytes())
    try:
        [address] = find(["memory://fleet"])
        assert address.robot == "arm7"
        [found] = here([address], Plan(None, None, skew=False))
        assert found.joints
        assert found.address == address.text
    finally:
        memory.rm("/fleet", recursive=True)


def test_places_without_recordings_are_all_named(tmp_path: Path) -> None:
    with pytest.raises(RecordingError) as caught:
        find([str(tmp_path), str(tmp_path / "nowhere")])
    lines = str(caught.value).splitlines()
    assert "found no recording" in lines[0]
    assert "nowhere: found no such folder" in lines[1]


def test_without_dask_one_sentence(folder: Path, tmp_path: Path) -> None:
    code = "import sys; sys.modules['distributed'] = None; import daq.__main__ as m; sys.exit(m.main(sys.argv[1:]))"
    words = [sys.executable, "-c", code, "fleet", "identify", str(folder), "--page", str(tmp_path / "page.html")]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pip install 'jointwatch[fleet]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_scheduler_that_is_not_there_and_options_that_clash(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("daq.processes.cluster.CONNECT", 0.5)
    assert main(["fleet", "identify", str(folder), "--scheduler", "tcp://127.0.0.1:9"]) == 1
    assert "no answer from Dask's scheduler" in capsys.readouterr().err
    assert main(["fleet", "identify", str(folder), "--scheduler", "tcp://127.0.0.1:9", "--workers", "2"]) == 2
