"""Kernels are compiled ahead of need: each once, with a line about each, and no longer than is wanted."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from daq.config.load import load
from daq.processes.kernels import SERVICE, ahead, build, cache_folder, jobs, kept_text, turn
from daq.processes.supervisor import needed
from hil_rig.commands.compile import LIVE
from hil_rig.ports import free_port

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
    order = [min(job) for job in jobs(LIVE)]
    alone = ("estimators.conditioning.spikes", "drivers.decode.extract")
    assert order.index("estimators.alignment.resampler") < min(order.index(one) for one in alone)


@pytest.mark.compiled
def test_nothing_is_left_to_compile() -> None:
    ahead(sorted(with_kernels()))  # at once where all are: `make test` has compiled them
    assert imported(sorted(with_kernels()))[0] == []


def test_a_job_loads_no_kernels_but_its_own_and_those_before_it() -> None:
    for job, before in sorted(jobs().items(), key=lambda one: len(one[1]))[-3:]:  # those that stand on most
        assert len(before) >= 2
        loaded = imported([min(job)], NUMBA_DISABLE_JIT="1")[1] & with_kernels()
        assert loaded <= job.union(*before)
        assert job <= loaded


def test_the_live_path_without_nonlinear_parameters_needs_no_more_than_its_part() -> None:
    loaded = imported(list(LIVE), NUMBA_DISABLE_JIT="1")[1]
    assert with_kernels() & loaded == {name for job in jobs(LIVE) for name in job}


def test_a_module_that_cannot_be_imported_is_said(capfd: pytest.CaptureFixture[str]) -> None:
    assert build({frozenset({"estimators.nowhere"}): set()}) == 1
    assert "estimators.nowhere: ModuleNotFoundError" in capfd.readouterr().err


def test_a_first_start_compiles_once_and_tells_how_far_it_is(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("NUMBA_DISABLE_JIT", raising=False)
    monkeypatch.setattr("daq.processes.kernels.jobs", lambda roots: {frozenset({"hil_rig.messages"}): set()})
    ahead(["hil_rig.messages"])
    told = capfd.readouterr().err
    assert "a first start" in told
    assert "1 of 1  hil_rig.messages" in told
    ahead(["hil_rig.messages"])
    assert capfd.readouterr().err == ""
    ahead(["hil_rig.messages", "hil_rig.plants.base"])
    assert "1 of 1" in capfd.readouterr().err, "another module may need other kernels"


CONFIGURATION = """
[drivers.port]
kind = "serial"
port = "/dev/does-not-exist"
baudrate = 115200
[[drivers.port.packets]]
id = 1
name = "STATE"
fields = [{ name = "q", type = "f32", unit = "rad" }, { name = "tau", type = "f32", unit = "N·m" }]
[joints.elbow]
rate = 1000
model = { kind = "rigid", friction = { kind = "tanh_stribeck" } }
[joints.elbow.channels]
position = { signal = "port.STATE.q" }
torque = { signal = "port.STATE.tau" }
"""
START = """
import importlib, json, os, pathlib, sys
import daq.outlet.process, daq.processes.driver
from daq.config.load import load
from daq.core.pipeline import Pipeline
from daq.core.refit_worker import RefitWorker
config = load(pathlib.Path(sys.argv[1]))
for driver in config.drivers.values(): list(map(importlib.import_module, driver.modules()))
Pipeline(config, 1)
RefitWorker()
print(json.dumps(list(sys.modules)), flush=True)
os._exit(0)
"""


def test_all_that_a_configuration_loads_is_compiled_ahead(tmp_path: Path) -> None:
    file = tmp_path / "jointwatch.toml"
    file.write_text(CONFIGURATION)
    done = subprocess.run(
        [sys.executable, "-c", START, str(file)],
        stdout=subprocess.PIPE,
        check=True,
        cwd=ROOT,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
    )
    ours = {name for job in jobs((*SERVICE, *needed(load(file)))) for name in job}
    loaded = set(json.loads(done.stdout)) & with_kernels()
    assert {"drivers.serial.deframer", "estimators.refit.variable_projection"} <= loaded
    assert loaded <= ours


def compilers(pid: int) -> list[int]:
    """The compiling processes that this one has started, each followed by its own."""
    found: list[int] = []
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
        for child in map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                found += (child, *compilers(child)) if "compile" in Path(f"/proc/{child}/comm").read_text() else ()
    return found


def gone(pid: int) -> bool:
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return ") Z " in Path(f"/proc/{pid}/stat").read_text()
    return True


@pytest.mark.parametrize(
    ("program", "number"),
    [(["daq", "run"], signal.SIGTERM), (["hil_rig.commands.demo", "--no-browser"], signal.SIGINT)],
)
def test_a_first_start_that_is_told_to_stop_waits_for_no_kernel(
    program: list[str], number: signal.Signals, tmp_path: Path, wait: Callable[..., None]
) -> None:
    """What directs the compiling is held, so it never ends by itself: who waits for it would wait for ever."""
    file = tmp_path / "jointwatch.toml"
    # not those of a user, which another test of this machine may have just now
    page, endpoint = f"http://127.0.0.1:{free_port()}", f"tcp://127.0.0.1:{free_port()}"
    file.write_text(f'[publish]\npage = "{page}"\nendpoint = "{endpoint}"\n{CONFIGURATION}')
    words = [*program, *([str(file)] if "run" in program else ["--page", page, "--endpoint", endpoint])]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_DISABLE_JIT": "0"}
    with subprocess.Popen(
        [sys.executable, "-m", *words], stderr=subprocess.PIPE, text=True, cwd=ROOT, env=environment
    ) as started:
        assert started.stderr is not None
        try:
            assert "a first start: the kernels it needs are compiled" in started.stderr.readline()
            wait(lambda: len(compilers(started.pid)) >= 2, 120.0)
            compiling = compilers(started.pid)
            os.kill(compiling[0], signal.SIGSTOP)
            started.send_signal(number)
            assert started.wait(60) == 0
            wait(lambda: all(map(gone, compiling)))
            assert "Traceback" not in started.stderr.read()
        finally:
            started.kill()


def test_the_lock_follows_no_link_and_a_foreign_one_delays_for_a_time_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A link under the lock's name used to empty the file that it pointed to; a foreign lock held the load for ever."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    mine = tmp_path / "thesis"
    mine.write_text("all my work")
    lock = cache_folder() / "kernels.lock"
    lock.parent.mkdir(parents=True)
    lock.symlink_to(mine)
    with turn():
        assert mine.read_text() == "all my work"
    assert "cannot be opened" in caplog.text
    lock.unlink()
    with turn(), turn(0.1):  # each opens the file anew, as another process does
        assert "locked by another process for 0.1 s" in caplog.text


def test_what_follows_from_the_sources_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    made: list[int] = []

    def text() -> str:
        made.append(1)
        return "words"

    assert [kept_text("it", text) for _ in range(3)] == ["words"] * 3
    assert len(made) == 1
    [file] = (tmp_path / "jointwatch").glob("it-*")
    file.write_text("")  # as a disk that was full leaves it
    assert (kept_text("it", text), len(made)) == ("words", 2)
    assert file.read_text() == "words"


def test_where_nothing_can_be_kept_it_is_made_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "jointwatch").write_text("a file, where the folder would be")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    made = iter(["one", "two"])
    assert [kept_text("it", lambda: next(made)) for _ in range(2)] == ["one", "two"]


def test_a_process_that_somebody_else_has_started_is_left_alone(wait: Callable[..., None]) -> None:
    with subprocess.Popen(["true"]) as other:
        wait(lambda: ") Z " in Path(f"/proc/{other.pid}/stat").read_text())
        assert build({frozenset({"hil_rig.messages"}): set()}) == 0
