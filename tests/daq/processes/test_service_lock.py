"""Two services of one robot never share a folder, and what an operating system does not allow is said in a sentence."""

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from daq.processes.limits import ADDRESSES, FILES, FILES_WANTED
from daq.processes.service_lock import OtherServiceError, ServiceLock
from hil_rig.ports import free_port

CONFIGURATION = """
[robot]
name = "arm"
[publish]
endpoint = "tcp://127.0.0.1:{port}"
page = "http://127.0.0.1:{page}"
[recorder]
folder = "records"
[drivers.port]
kind = "serial"
port = "{device}"
baudrate = 115200
[[drivers.port.packets]]
id = 1
name = "STATE"
fields = [{{ name = "q", type = "f32", unit = "rad" }}, {{ name = "tau", type = "f32", unit = "N·m" }}]
[joints.elbow]
rate = 1000
model = {{ kind = "rigid" }}
channels = {{ position = {{ signal = "port.STATE.q" }}, torque = {{ signal = "port.STATE.tau" }} }}
"""


def test_a_folder_is_held_by_one_service_of_a_robot_until_it_lets_go(tmp_path: Path) -> None:
    state, records = tmp_path / "state", tmp_path / "records"
    first = ServiceLock("arm", [state, records])
    with pytest.raises(OtherServiceError, match=rf"robot 'arm' \(process {os.getpid()}\) uses {records}: stop it, or"):
        ServiceLock("arm", [tmp_path / "another", records])
    other = ServiceLock("arm", [tmp_path / "another"])
    leg = ServiceLock("leg", [state, records])
    first.release()
    again = ServiceLock("arm", [state, state, records])
    for one in (other, leg, again):
        one.release()


def test_a_folder_that_cannot_be_written_is_no_reason_not_to_run(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    ServiceLock("arm", [tmp_path / "file" / "state", Path("/proc/1/nothing")]).release()


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("kept")
    (tmp_path / ".arm.running").symlink_to(precious)
    ServiceLock("arm", [tmp_path]).release()
    assert precious.read_text() == "kept"


def started(config: Path, limit: Callable[[], None] = lambda: None) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "daq", "run", str(config), "--duration", "1"]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, preexec_fn=limit)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A service whose device is a port without a writer."""
    _, device = os.openpty()
    file = tmp_path / "arm.toml"
    file.write_text(CONFIGURATION.format(port=free_port(), page=free_port(), device=os.ttyname(device)))
    return file


def test_the_second_service_says_so_and_leaves_the_first_alone(config: Path, run_program: Callable[..., Any]) -> None:
    held = ServiceLock("arm", [config.parent])
    second = run_program("daq", "run", config, "--duration", "1")
    held.release()
    assert second.returncode == 1
    assert f"another service of robot 'arm' (process {os.getpid()}) uses {config.parent}" in second.stderr
    assert "Traceback" not in second.stderr
    assert run_program("daq", "run", config, "--duration", "1").returncode == 0


def test_a_limit_under_which_no_service_runs_is_said_with_its_remedy(config: Path) -> None:
    def few_files() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))

    def few_addresses() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES // 2, ADDRESSES // 2))

    for limit, words in (
        (few_files, f"a process may open 40 files here, and the service needs {FILES}: `ulimit -n {FILES_WANTED}`"),
        (few_addresses, "a process may have 0.75 GB of addresses here, and the service needs 1.5 GB"),
    ):
        refused = started(config, limit)
        assert refused.returncode == 1
        assert words in refused.stderr
        assert len(refused.stderr.splitlines()) == 1


def test_more_open_files_are_taken_where_they_may_be_had(config: Path) -> None:
    def low() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (40, 2048))

    assert started(config, low).returncode == 0
