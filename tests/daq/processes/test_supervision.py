"""Signs of life, systemd's socket and what a killed service leaves behind, each by itself."""

import contextlib
import fcntl
import os
import signal
import socket
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from daq.processes.child import Child
from daq.processes.heartbeat import Heartbeats, Life
from daq.processes.runtime_folder import LOCK, RuntimeFolder
from daq.processes.supervisor import CORE, DRIVER, OUTLET, Process, Service
from daq.processes.systemd import Systemd


def until(child: Child) -> int:
    deadline = time.monotonic() + 60
    while child.alive():
        assert time.monotonic() < deadline
        time.sleep(0.005)  # between two looks
    assert child.code is not None
    return child.code


def gone(pid: int) -> bool:
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return ") Z " in Path(f"/proc/{pid}/stat").read_text()
    return True


def test_a_sign_of_life_reaches_the_supervisor_from_a_fork() -> None:
    beats = Heartbeats(2)
    beats.begin(0)
    beats.begin(1)
    before = beats.last(1)
    time.sleep(0.01)  # so that a sign of life is later than the beginning, however coarse the clock

    def work() -> int:
        life = Life(beats, 1)
        life.ready()
        life.beat()
        return 0

    assert until(Child("a", work)) == 0
    assert beats.ready(1)
    assert not beats.ready(0)
    assert before < beats.last(1) <= time.monotonic()
    beats.begin(1)
    assert not beats.ready(1), "another life begins without being ready"


def test_a_child_says_how_it_ended() -> None:
    assert until(Child("a", lambda: 3)) == 3
    assert until(Child("a", lambda: int("no number"))) == 1
    sleeping = Child("a", lambda: time.sleep(60) or 0)  # type: ignore[func-returns-value]
    assert sleeping.alive()
    sleeping.send(signal.SIGTERM)
    assert until(sleeping) == -signal.SIGTERM, "the supervisor's handlers are not the child's"
    sleeping.send(signal.SIGKILL)  # the process is gone


def test_a_stopped_grandchild_dies_with_its_parent(tmp_path: Path) -> None:
    def stop_yourself() -> int:
        (tmp_path / "pid").write_text(str(os.getpid()))
        os.kill(os.getpid(), signal.SIGSTOP)
        return 0

    def work() -> int:
        Child("inner", stop_yourself)
        time.sleep(60)  # until it is killed
        return 0

    outer = Child("outer", work)
    deadline = time.monotonic() + 60
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.01)  # between two looks
    inner = int((tmp_path / "pid").read_text())
    outer.send(signal.SIGKILL)
    killed = time.monotonic()
    until(outer)
    while not gone(inner):  # the kernel's signal comes at once: it lives for ever, or not
        assert time.monotonic() - killed < 60, "an orphan"
        time.sleep(0.01)  # between two looks


def test_systemd_hears_ready_alive_and_stopping(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(now=50.0)
    monkeypatch.setattr("daq.processes.systemd.time", SimpleNamespace(monotonic=lambda: clock.now))
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening, tempfile.TemporaryDirectory() as folder:
        listening.bind(f"{folder}/notify")
        listening.settimeout(60)
        told = {"NOTIFY_SOCKET": f"{folder}/notify", "WATCHDOG_USEC": "400000", "WATCHDOG_PID": str(os.getpid())}
        systemd = Systemd(told)
        assert systemd.limit == 0.4
        systemd.ready("running: core")
        assert listening.recv(999) == b"READY=1\nSTATUS=running: core"
        systemd.alive()
        clock.now += 0.09  # s: less than a quarter of the limit is too soon for another
        systemd.alive()
        systemd.status("one joint is faulted")
        assert listening.recv(999) == b"WATCHDOG=1"
        assert listening.recv(999) == b"STATUS=one joint is faulted"
        clock.now += 0.02
        systemd.alive()
        assert listening.recv(999) == b"WATCHDOG=1"
        systemd.stopping()
        assert listening.recv(999) == b"STOPPING=1\nSTATUS=stopping"
        systemd.close()
        systemd.stopping()
        others = Systemd(told | {"WATCHDOG_PID": "1"})
        assert others.limit == 0
        others.alive()
        others.stopping()
        assert listening.recv(999) == b"STOPPING=1\nSTATUS=stopping", "its signs of life are no longer expected"
        others.close()
    Systemd({}).ready("nobody is there")
    systemd.alive()


def test_the_folder_of_a_killed_service_goes_and_that_of_a_running_one_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    running = RuntimeFolder()
    dead = tmp_path / "jointwatch-dead"
    dead.mkdir()
    (dead / LOCK).touch()
    foreign = tmp_path / "jointwatch-rig-x"  # of somebody else: no lock in it
    foreign.mkdir()
    other = RuntimeFolder()
    assert not dead.exists()
    assert running.path.exists()
    assert foreign.exists()
    with (running.path / LOCK).open() as lock, pytest.raises(BlockingIOError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    running.remove()
    other.remove()
    assert list(tmp_path.iterdir()) == [foreign]


def bare(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A supervisor without processes, sockets and systemd."""
    monkeypatch.setattr(Service, "_report_status", lambda _: None)
    return object.__new__(Service)


def test_each_early_death_doubles_the_pause_and_a_calm_life_ends_that(monkeypatch: pytest.MonkeyPatch) -> None:
    service, process, pauses = bare(monkeypatch), Process("wire", 0, DRIVER), []
    for now in range(100, 110):
        process.started = now - 1.0
        service._handle_death(process, -signal.SIGKILL, float(now))
        pauses.append(process.next_start - now)
    assert pauses == pytest.approx([0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0, 5.0])
    assert process.cause == "killed by SIGKILL"
    service._handle_death(process, 1, process.started + 11.0)
    assert process.next_start - process.started == pytest.approx(11.05)
    assert process.cause == "exit code 1"


@pytest.mark.parametrize(
    ("ill", "hangs", "fed"),
    [("", False, 1), ("wire", False, 1), ("wire", True, 1), ("core", False, 0), ("core", True, 0), ("outlet", True, 0)],
)
def test_systemd_is_fed_while_core_and_outlet_go_on(
    ill: str, hangs: bool, fed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    service, told = bare(monkeypatch), list[bool]()
    service._systemd = SimpleNamespace(alive=lambda: told.append(True))
    works = {"outlet": OUTLET, "core": CORE, "wire": DRIVER}
    child = cast(Child, object())
    service._processes = [Process(name, number, work, child) for number, (name, work) in enumerate(works.items())]
    for process in service._processes:
        if process.name == ill:
            process.hangs, process.child = hangs, process.child if hangs else None
    service._feed_watchdog()
    assert len(told) == fed
