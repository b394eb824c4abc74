"""The supervisor with real processes: order, restart, clean stop, and one clear line when it cannot start."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from daq.subscriber import Subscriber
from hil_rig.live import Live
from hil_rig.ports import free_port
from tests.support.processes.waiting import starved, wait_until

RUN = [sys.executable, "-m", "daq", "run"]


def write(folder: Path, driver: str, page: int | None = None) -> Path:
    file = folder / "jointwatch.toml"
    file.write_text(f"""
[publish]
endpoint = "tcp://127.0.0.1:{free_port()}"
page = "http://127.0.0.1:{page or free_port()}"
{driver}
[joints.elbow]
rate = 1000
model = {{ kind = "rigid" }}
[joints.elbow.channels]
position = {{ signal = "port.STATE.q" }}
torque = {{ signal = "port.STATE.tau" }}
""")
    return file


def serial(device: str) -> str:
    return f"""
[drivers.port]
kind = "serial"
port = "{device}"
baudrate = 115200
[[drivers.port.packets]]
id = 1
name = "STATE"
fields = [{{ name = "q", type = "f32", unit = "rad" }}, {{ name = "tau", type = "f32", unit = "N·m" }}]
"""


@pytest.fixture
def run(run_program: Callable[..., Any]) -> Callable[[Path], Any]:
    return partial(run_program, "daq", "run")


def test_a_missing_device_is_one_line_and_exit_1(tmp_path: Path, run: Callable[[Path], Any]) -> None:
    done = run(write(tmp_path, serial("/dev/does-not-exist")))
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("jointwatch: driver port: ")
    assert "/dev/does-not-exist" in last
    assert "Traceback" not in done.stderr


def test_a_port_in_use_is_one_line_and_exit_1(tmp_path: Path, run: Callable[[Path], Any]) -> None:
    master, slave = os.openpty()
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        number = busy.getsockname()[1]
        done = run(write(tmp_path, serial(os.ttyname(slave)), page=number))
    os.close(master)
    os.close(slave)
    assert done.returncode == 1
    assert str(number) in done.stderr.strip().splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_a_missing_dbc_is_a_configuration_error(tmp_path: Path, run: Callable[[Path], Any]) -> None:
    file = write(tmp_path, '[drivers.port]\nkind = "can"\ninterface = "virtual"\nchannel = "x"\ndbc = "no.dbc"\n')
    done = run(file)
    assert done.returncode == 78
    assert "no.dbc" in done.stderr


def children(pid: int) -> dict[str, int]:
    """The service's processes by name: those below it that are named "jw …"."""
    parents, names = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            head, tail = stat.read_text().rsplit(")", 1)
            state, parent = tail.split()[:2]
            if state != "Z":
                number = int(stat.parent.name)
                parents[number], names[number] = int(parent), head.partition("(")[2]

    def below(number: int) -> bool:
        return number == pid or (number in parents and below(parents[number]))

    return {name[3:]: number for number, name in names.items() if name.startswith("jw ") and below(number)}


def running(live: Live) -> dict[str, int]:
    """The three processes of a service, once all of them run."""
    assert live.service is not None
    service, found = live.service.pid, dict[str, int]()

    def all_run() -> bool:
        found.clear()
        found.update(children(service))
        return found.keys() == {"outlet", "core", "wire"}

    wait_until(all_run)
    return found


def gone(pid: int) -> bool:
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return ") Z " in Path(f"/proc/{pid}/stat").read_text()
    return True


@pytest.fixture(scope="module")
def live(forked_programs: None) -> Live:  # type: ignore[misc]
    with Live(["rigid", "--wire", "slcan"]) as started:
        yield started


def test_a_killed_driver_is_back_within_a_second_and_its_gap_is_counted(live: Live) -> None:
    """Less what all who have a part in it wait for a processor, on a machine with other work. Where one stands still
    without that, it is killed once more."""
    processes, took = running(live), list[float]()
    assert live.service is not None
    others = [os.getpid(), live.service.pid, live.rig_pid, processes["core"], processes["outlet"]]
    with Subscriber(live.endpoint, ("estimate/",), timeout=60) as subscriber:
        updates = iter(subscriber)
        while not took or (took[-1] >= 1.0 and len(took) < 4):
            for _ in range(20):
                next(updates)
            wire = running(live)["wire"]
            before = starved(others)
            os.kill(wire, signal.SIGKILL)
            killed = time.time()
            for _, update in updates:
                if update["arrival"] > killed + 0.05 and update["health"]["status"] != "faulted":
                    break
                assert time.time() - killed < 60
            waited = starved([*others, running(live)["wire"]]) - before
            took.append(update["arrival"] - killed - waited)
        assert took[-1] < 1.0, took
    after = running(live)
    assert {name for name in processes if processes[name] != after[name]} == {"wire"}, "the others must never notice"
    wait_until(lambda: lost(live) > 0)


def lost(live: Live) -> float:
    """Samples that the metrics say were lost on the joint."""
    import urllib.request

    text = urllib.request.urlopen(f"{live.page}/metrics").read().decode()
    return sum(
        float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith("jointwatch_samples_lost_total{")
    )


@pytest.mark.parametrize("name", ["core", "outlet"])
def test_a_killed_core_or_outlet_is_restarted_alone(live: Live, name: str) -> None:
    before = running(live)
    os.kill(before[name], signal.SIGKILL)
    wait_until(lambda: running(live)[name] != before[name])
    after = running(live)
    assert {key for key in before if before[key] != after[key]} == {name}
    with Subscriber(live.endpoint, ("estimate/",), timeout=60) as subscriber:
        assert next(iter(subscriber))


def test_a_core_that_dies_after_somebody_has_emptied_tmp_is_back_all_the_same(live: Live) -> None:
    """Its sockets' folder is gone: whoever lives goes on, and all meet in another folder once one has to start anew."""
    assert live.service is not None
    links = set[Path]()
    for one in Path(f"/proc/{live.service.pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # it was closed meanwhile
            links.add(one.readlink())
    [folder] = {path.parent for path in links if path.name == "running"}
    shutil.rmtree(folder)
    before = running(live)
    with Subscriber(live.endpoint, ("estimate/",), timeout=60.0) as stream:
        assert next(stream)[1]["joint"] == "joint1", "the joint is not known to be silent yet"
        os.kill(before["core"], signal.SIGKILL)
        killed = time.time()
        assert any(update["timestamp"] > killed + 0.5 for _, update in stream)
    after = running(live)
    assert not set(after.values()) & set(before.values())
    assert not folder.exists()


def hear(notify: socket.socket, word: bytes) -> None:
    """Until it is said, or nothing is for as long as the socket waits."""
    while not notify.recv(999).startswith(word):
        pass


@pytest.mark.slow
def test_a_supervisor_that_hangs_feeds_nobody_and_can_be_started_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """systemd's part is played here, since none may run beside these tests: WatchdogSec, SIGKILL, Restart."""
    limit = 6.0
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.bind(str(tmp_path / "notify"))
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        monkeypatch.setenv("WATCHDOG_USEC", str(round(1e6 * limit)))
        monkeypatch.delenv("WATCHDOG_PID", raising=False)
        with Live(["rigid", "--wire", "slcan"], more="[processes]\nhang = 3\n") as live:
            assert live.service is not None
            notify.settimeout(60.0)
            hear(notify, b"READY=1")
            notify.settimeout(limit)
            fed = time.monotonic()
            while time.monotonic() < fed + 2 * limit:
                notify.recv(999)  # within the limit, as long as it runs
            before = children(live.service.pid)
            os.kill(live.service.pid, signal.SIGSTOP)
            with pytest.raises(TimeoutError):
                hear(notify, b"never")
            live.service.kill()
            live.service.wait()
            deadline = time.monotonic() + 60.0
            while not all(map(gone, before.values())):
                assert time.monotonic() < deadline, "orphans"
                time.sleep(0.02)
            began = time.time()
            live.service = subprocess.Popen([*RUN, str(live.config)], stderr=subprocess.DEVNULL)
            with Subscriber(live.endpoint, ("estimate/",), timeout=60.0) as stream:
                assert any(update["timestamp"] > began for _, update in stream)
            notify.settimeout(60.0)
            hear(notify, b"READY=1")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_leaves_nothing_behind(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(tempfile.mkdtemp())  # a short name: sockets lie in it
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    with Live(["rigid", "--wire", "slcan"]) as live:
        processes = running(live)
        assert live.service is not None
        live.service.send_signal(number)
        assert live.service.wait(60) == 0
        assert all(gone(pid) for pid in processes.values())
    assert not list(folder.glob("jointwatch-*"))
    shutil.rmtree(folder)
