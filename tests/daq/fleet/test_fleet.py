"""A fleet: the same to the bit in one process and on workers, of which one is killed in the middle; the command."""

import contextlib
import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from daq.__main__ import main
from daq.fleet.addresses import find
from daq.fleet.examine import MODULES, ExaminedRecording, Plan, here, on
from daq.fleet.verdict import judge
from daq.processes.cluster import Cluster
from hil_rig.truth.fleet import Fleet, record


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two robots, two short recordings of each, and one file that is none."""
    folder = tmp_path_factory.mktemp("fleet")
    assert len(list(record(Fleet(robots=2, recordings=2, seconds=16.0), folder))) == 4
    (folder / "robot009").mkdir()
    (folder / "robot009" / "broken.npz").write_bytes(b"not a recording")
    return folder


def listeners(pids: list[int]) -> set[str]:
    """Sockets of these processes that anybody of this machine can connect to."""
    open_files = set()
    for one in (one for pid in pids for one in Path(f"/proc/{pid}/fd").iterdir()):
        with contextlib.suppress(FileNotFoundError):  # it was closed meanwhile
            open_files.add(str(one.readlink()))
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/self/net/{table}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and f"socket:[{words[9]}]" in open_files:  # it listens
                found.add(words[1])
    return found


@pytest.fixture(scope="module")
def opened() -> Iterator[tuple[Cluster, set[str]]]:
    """Two workers, and who listened before there were any."""
    before = listeners([os.getpid()])
    with Cluster(workers=2, modules=MODULES) as cluster:
        yield cluster, before


def test_nobody_else_can_connect_to_the_workers_of_this_machine(opened: tuple[Cluster, set[str]]) -> None:
    """Whoever reached a scheduler on 127.0.0.1 ran programs as the operator."""
    cluster, before = opened
    pids = cluster.pids()
    assert len(set(pids)) == 2
    assert listeners([os.getpid(), *pids]) <= before


@pytest.mark.compiled
def test_a_worker_that_is_killed_loses_nothing_and_all_is_the_same_to_the_bit(
    folder: Path, opened: tuple[Cluster, set[str]]
) -> None:
    addresses, plan = find([str(folder)]), Plan(None, None, skew=True)
    alone = list(here(addresses, plan))
    found: list[ExaminedRecording] = []
    cluster, _ = opened
    before = cluster.pids()
    assert len(before) == 2
    for one in on(cluster, addresses, plan):
        if not found:
            os.kill(before[0], signal.SIGKILL)
        found.append(one)
    assert sorted(map(repr, found)) == sorted(map(repr, alone))  # every digit is compared, and NaN equals NaN
    assert len(found) == 5
    assert {one.robot for one in alone if one.problem} == {"robot009"}
    known = {one.name for run in alone for joint in run.joints for one in joint.quantities}
    assert {"inertia", "viscous", "coulomb", "delay.torque"} <= known
    assert any(joint.status == "valid" for run in alone for joint in run.joints)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [31, 32, 33])
def test_the_planted_ones_are_reported_on_every_seed_and_no_other(seed: int, tmp_path: Path) -> None:
    """3 % of spread, robot 2 with 1.6 times the friction, robot 5 with half as much more at its last recording."""
    list(record(Fleet(robots=12, recordings=2, seed=seed), tmp_path))
    judged = judge(here(find([str(tmp_path)]), Plan(None, None, skew=False)))
    assert ("robot002", "coulomb") in {(one.robot, one.quantity) for one in judged if one.odd}
    assert {(one.robot, one.quantity) for one in judged if one.drifts} == {("robot005", "viscous")}
    others = {(one.robot, one.quantity) for one in judged if one.odd} - {("robot002", "coulomb")}
    assert others <= {("robot005", "viscous")}  # which is odd by then, too


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


def test_a_cluster_without_dask_is_one_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert main(["fleet", "identify", str(folder), "--scheduler", "tls://127.0.0.1:9"]) == 1
    assert "pip install 'jointwatch[fleet]'" in capsys.readouterr().err


def test_a_scheduler_that_is_not_there_and_options_that_clash(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("daq.processes.cluster.CONNECT", 0.5)
    for name in ("CA_FILE", "CLIENT__CERT", "CLIENT__KEY"):
        monkeypatch.delenv(f"DASK_DISTRIBUTED__COMM__TLS__{name}", raising=False)
    for address, words in (
        ("tcp://127.0.0.1:9", "expected tls://HOST:PORT: whoever reaches a scheduler without certificates"),
        ("tls://127.0.0.1:9", "Dask has no ca_file, no client_cert, no client_key"),
    ):
        assert main(["fleet", "identify", str(folder), "--scheduler", address]) == 1
        assert words in capsys.readouterr().err
    assert main(["fleet", "identify", str(folder), "--scheduler", "tcp://127.0.0.1:9", "--workers", "2"]) == 2
