"""Real SocketCAN: a User-Mode-Linux guest with vcan0 runs our driver; cansend and cangen are strangers on the bus."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
GUEST = Path(__file__).with_name("socketcan_guest.py")
KERNEL = "/usr/bin/linux.uml"
MODULES = Path("/usr/lib/uml/modules")
NEEDED = ("can", "can-raw", "can-dev", "vcan")  # in this order
PATIENCE = 60.0  # s; it takes five to ten


def missing() -> str:
    """Debian packages that are not there."""
    wanted = {KERNEL: "user-mode-linux", "insmod": "kmod", "ip": "iproute2", "cansend": "can-utils"}
    return " ".join(package for command, package in wanted.items() if shutil.which(command) is None)


pytestmark = pytest.mark.skipif(bool(missing()), reason=f"needs Debian packages: sudo apt-get install {missing()}")


def init_script(folder: Path) -> Path:
    """The guest's first process: mounts, modules, the bus, our script, power off."""
    kernels = sorted(MODULES.iterdir())
    modules = {path.stem: path for path in (kernels[-1] / "kernel").rglob("*.ko")}
    script = folder / "init"
    script.write_text(
        "\n".join(
            [
                "#!/bin/sh",
                "export PATH=/usr/sbin:/usr/bin:/sbin:/bin PYTHONDONTWRITEBYTECODE=1",
                "mount -t proc proc /proc; mount -t sysfs sysfs /sys; mount -t tmpfs tmpfs /run",
                "ip link set up dev lo",
                *(f"insmod {modules[name]}" for name in NEEDED if name in modules),
                "ip link add dev vcan0 type vcan && ip link set vcan0 mtu 72 && ip link set up vcan0",
                f"cd {ROOT} && PYTHONPATH={ROOT} {sys.executable} {GUEST} {folder}/seen.json",
                "echo guest: script ended with $?",
                "echo o > /proc/sysrq-trigger",
                "sleep 10",
            ]
        )
    )
    script.chmod(0o755)
    return script


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("guest")
    command = [
        *(KERNEL, "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "rw", "mem=512M", "quiet"),
        *(f"init={init_script(folder)}", "con=null", "con0=fd:0,fd:1", f"uml_dir={folder}"),
    ]
    with (folder / "console").open("wb") as console:
        guest = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=os.environ | {"TMPDIR": str(folder)},
        )
        try:
            guest.wait(PATIENCE)
            ended = f"ended with {guest.returncode}"
        except subprocess.TimeoutExpired:
            ended = f"did not end within {PATIENCE} s"
        finally:
            if guest.poll() is None:
                os.killpg(guest.pid, signal.SIGKILL)
                guest.wait()
    result = folder / "seen.json"
    if not result.exists():
        console_text = (folder / "console").read_text(errors="replace")
        pytest.fail(f"the guest {ended} and left no result; its console:\n{console_text}", pytrace=False)
    found: dict[str, Any] = json.loads(result.read_text())
    return found


def test_classic_extended_and_fd_frames_of_strangers_are_read(seen: dict[str, Any]) -> None:
    assert [reading[1:] for reading in seen["readings"]] == [[0, 1.0], [1, 0x1234], [2, 12345]]


def test_the_kernels_stamps_are_monotonic_time_of_reception(seen: dict[str, Any]) -> None:
    times = [reading[0] for reading in seen["readings"]]
    before, after = seen["sent"]
    assert times == sorted(times)
    assert before - 10_000_000 <= times[0]  # the guest's clocks tick coarsely
    assert times[-1] <= after + 10_000_000


def test_every_other_frame_is_counted_by_cause(seen: dict[str, Any]) -> None:
    counts = {cause: count for cause, count in seen["counters"].items() if count}
    assert counts == {"frames": 7, "remote_frames": 1, "truncated": 1, "unmatched": 1, "error_frames": 1}


def test_a_burst_is_read_whole(seen: dict[str, Any]) -> None:
    assert seen["generated"] == 200


def test_a_missing_interface_and_one_that_goes_down_are_said(seen: dict[str, Any]) -> None:
    assert seen["missing"].startswith("vcan7: there is no such interface")
    for text in (*seen["down"], seen["still_down"]):
        assert text.startswith("vcan0: the interface is down: `sudo ip link set vcan0 up")
    assert seen["again"] == [0.001]
