"""`jointwatch compile` compiles every kernel there is, once."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hil_rig.commands.compile import LIVE, ahead, build, jobs, main

ROOT = Path(__file__).parents[3]
COMPILATIONS = """
import importlib, json, sys
from numba.core import event
made = []
class Compilations(event.Listener):
    def on_start(self, event): made.append(event.data["dispatcher"].py_func.__qualname__)
    def on_end(self, event): pass
event.register("numba:compile", Compilations())
for name in json.loads(sys.argv[1]): importlib.import_module(name)
print(json.dumps([made, list(sys.modules)]))
"""


def imported(names: list[str], **environment: str) -> tuple[list[str], set[str]]:
    """Kernels that importing these modules compiles, and the modules that it loads."""
    done = subprocess.run(
        [sys.executable, "-c", COMPILATIONS, json.dumps(names)],
        stdout=subprocess.PIPE,
        check=True,
        cwd=ROOT,
        env=os.environ | environment,
    )
    compiled, modules = json.loads(done.stdout)
    return compiled, set(modules)


def with_kernels() -> set[str]:
    files = (file for top in ("daq", "drivers", "estimators", "hil_rig") for file in (ROOT / top).rglob("*.py"))
    return {
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for file in files
        if any(line.startswith("@kernel(") for line in file.read_text(encoding="utf-8").splitlines())
    }


def test_every_kernel_belongs_to_one_job() -> None:
    wanted = jobs()
    assert sorted(name for job in wanted for name in job) == sorted(with_kernels())


def test_the_longest_begins_before_all_that_nothing_waits_for() -> None:
    """Else it ends alone: 18 of the 52 s of processor time that a live joint's kernels take are the resampler's."""
    order = [min(job) for job in jobs(live=True)]
    alone = ("estimators.conditioning.spikes", "drivers.decode.extract")
    assert order.index("estimators.alignment.resampler") < min(order.index(one) for one in alone)


@pytest.mark.compiled
def test_nothing_is_left_to_compile() -> None:
    assert build(jobs()) == 0
    assert imported(sorted(with_kernels()))[0] == []


def test_a_job_loads_no_kernels_but_its_own_and_those_before_it() -> None:
    for job, before in sorted(jobs().items(), key=lambda one: len(one[1]))[-3:]:  # those that stand on most
        assert len(before) >= 2
        loaded = imported([min(job)], NUMBA_DISABLE_JIT="1")[1] & with_kernels()
        assert loaded <= job.union(*before)
        assert job <= loaded


def test_the_live_path_without_nonlinear_parameters_needs_no_more_than_its_part() -> None:
    loaded = imported(list(LIVE), NUMBA_DISABLE_JIT="1")[1]
    assert with_kernels() & loaded == {name for job in jobs(live=True) for name in job}


def test_a_module_that_cannot_be_imported_is_said(capfd: pytest.CaptureFixture[str]) -> None:
    assert build({frozenset({"estimators.nowhere"}): set()}) == 1
    assert "estimators.nowhere: ModuleNotFoundError" in capfd.readouterr().err


def test_a_first_start_compiles_once_and_tells_how_far_it_is(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("hil_rig.commands.compile.jobs", lambda live: {frozenset({"hil_rig.messages"}): set()})
    ahead()
    told = capfd.readouterr().err
    assert "compiling 1 groups" in told
    assert "1 of 1  hil_rig.messages" in told
    ahead()
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("words", [["compile"], ["compile", "--live"]])
def test_what_the_command_has_compiled_is_not_compiled_by_a_first_start(
    words: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("hil_rig.commands.compile.jobs", lambda live: {frozenset({"hil_rig.messages"}): set()})
    monkeypatch.setattr(sys, "argv", words)
    assert main() == 0
    capfd.readouterr()
    ahead()
    assert capfd.readouterr().err == ""
