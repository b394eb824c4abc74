"""Real SocketCAN: a User-Mode-Linux guest with vcan0 runs our driver; cansend and cangen are strangers on the bus."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
GUEST = Path(__file__).with_name("socketcan_guest.py")
TRACED_CHILD = Path(__file__).with_name("traced_child.py")
KERNEL = "/usr/bin/linux.uml"
MODULES = Path("/usr/lib/uml/modules")
NEEDED = ("can", "can-raw", "can-dev", "vcan")  # in this order
PATIENCE = 300.0  # s; it takes fifteen on a quiet machine, and a kernel that hangs would never end


def missing() -> str:
    """Debian packages that are not there."""
    wanted = {KERNEL: "user-mode-linux", "insmod": "kmod", "ip": "iproute2", "cansend": "can-utils", "gcc": "gcc"}
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
def seen(tmp_path_factory: pytest.TempPathFactory, whole_registers: dict[str, str]) -> dict[str, Any]:
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
            env=whole_registers | {"TMPDIR": str(folder)},
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


def test_registers_from_a_short_buffer_are_taken_with_the_preload_only(whole_registers: dict[str, str]) -> None:
    def told(environment: dict[str, str]) -> dict[str, Any]:
        done = subprocess.run([sys.executable, TRACED_CHILD], env=environment, stdout=subprocess.PIPE, check=True)
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    alone, preloaded = told(dict(os.environ)), told(whole_registers)
    if alone["whole"] <= alone["short"]:
        pytest.skip(f"this processor keeps {alone['whole']} bytes of registers: no buffer is too short for it")
    assert alone["error"] == errno.EFAULT
    assert alone["xmm0"] != list(range(16))
    assert (preloaded["error"], preloaded["whole buffer"], preloaded["ended"]) == (0, 0, 0)
    assert preloaded["xmm0"] == list(range(16))


def test_socketcan_keeps_every_rule_for_drivers(seen: dict[str, Any]) -> None:
    assert len(seen["contract"]) >= 9
    assert {name: text for name, text in seen["contract"].items() if text} == {}


def test_classic_extended_and_fd_frames_of_strangers_are_read(seen: dict[str, Any]) -> None:
    assert [reading[1:] for reading in seen["strangers"]["readings"]] == [[0, 1.0], [1, 0x1234], [2, 12345]]


def test_the_kernels_stamps_are_monotonic_time_of_reception(seen: dict[str, Any]) -> None:
    times = [reading[0] for reading in seen["strangers"]["readings"]]
    before, after = seen["strangers"]["sent"]
    assert times == sorted(times)
    assert before - 10_000_000 <= times[0]  # the guest's clocks tick coarsely
    assert times[-1] <= after + 10_000_000


def test_every_other_frame_is_counted_by_cause(seen: dict[str, Any]) -> None:
    counts = {cause: count for cause, count in seen["strangers"]["counters"].items() if count}
    faults = ("error_passive", "error_active", "bus_off", "bus_restarted", "not_acknowledged")
    plain = {"frames": 11, "remote_frames": 1, "truncated": 1, "unmatched": 1, "error_frames": 5, "own_frames": 11}
    assert counts == plain | dict.fromkeys(faults, 1)


def test_a_burst_is_read_whole(seen: dict[str, Any]) -> None:
    assert seen["strangers"]["generated"] == 200


def test_random_frames_are_those_that_candump_sees(seen: dict[str, Any]) -> None:
    theirs = []
    for text in seen["beside_candump"]["theirs"]:
        ident, _, rest = text.partition("#")
        theirs.append([ident, rest[2:] if rest.startswith("#") else "" if rest.startswith("R") else rest])
    assert len(theirs) == 300
    assert any(len(data) > 16 for _, data in theirs)
    assert seen["beside_candump"]["ours"] == theirs


def test_the_kernel_lets_through_only_what_is_used(seen: dict[str, Any]) -> None:
    values, counters = seen["chosen"]["filtered"]
    assert values == [0.001, 1.0]
    assert (counters["frames"], counters["unmatched"], counters["remote_frames"]) == (2, 0, 0)


def test_this_hosts_own_frames_are_distinguished(seen: dict[str, Any]) -> None:
    values, counters = seen["chosen"]["others"]
    assert values == []
    assert (counters["frames"], counters["own_frames"]) == (0, 5)


def test_steps_of_the_clock_by_100_s_move_no_stamp(seen: dict[str, Any]) -> None:
    assert len(seen["stepped"]) == 8
    for before, after, stamped in seen["stepped"]:
        assert before - 10_000_000 <= stamped <= after + 10_000_000


def test_an_interface_that_goes_down_goes_on_and_a_removed_one_is_opened_anew(seen: dict[str, Any]) -> None:
    told = seen["comes_and_goes"]
    assert told["missing"].startswith("vcan7: there is no such interface")
    for text in (*told["down"], told["still_down"]):
        assert text.startswith("vcan0: the interface is down: `sudo ip link set vcan0 up")
    assert told["again"] == [0.001]
    assert told["again_after"] < 1.0
    for text in (*told["removed"], told["still_removed"]):
        assert text.startswith("vcan0: there is no such interface")
    assert told["new"] == [0.002]


def test_a_stall_of_a_second_loses_nothing_with_the_shipped_sysctl(seen: dict[str, Any]) -> None:
    shipped = seen["stalls"]["shipped"]
    assert {count: shipped[count] for count in ("2400", "8000")} == {"2400": [2401, True, 0], "8000": [8001, True, 0]}
    assert "room for 21845 frames" in shipped["said"]


def test_without_it_every_lost_frame_is_counted(seen: dict[str, Any]) -> None:
    default = seen["stalls"]["default"]
    for sent in (2400, 8000):
        received, each_once, dropped = default[str(sent)]
        assert each_once
        assert received + dropped == sent + 1
        assert dropped > 1000
    assert "net.core.rmem_max is small" in default["said"]
    assert "deploy/99-jointwatch-can.conf" in default["said"]


def test_the_doctor_describes_a_bus_and_says_what_is_missing(seen: dict[str, Any]) -> None:
    told = seen["diagnosed"]
    [talk] = told["talks"]
    assert (talk["id"], talk["length"], talk["moving"]) == (0x2A1, 8, [0])
    levels = {one["subject"]: one["level"] for one in told["host"]}
    assert (levels["vcan0"], levels["socket queue"]) == ("good", "warn")
    [down] = told["down"]
    assert (down["level"], "ip link set vcan0 up" in down["remedy"]) == ("bad", True)
    [missing] = told["missing"]
    assert missing["text"] == "there is no such CAN interface (there are: vcan0)"
