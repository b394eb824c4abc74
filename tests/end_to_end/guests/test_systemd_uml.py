"""The unit under a real systemd: Debian in a User-Mode-Linux guest of its own, with a joint on vcan0.

    sudo make systemd        # 15 min: debootstrap, pip and numba first; the mirror is that of this machine's apt

Nothing of this machine but its processor is touched: the guest has an image of its own.
"""

import json
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
GUEST = Path(__file__).with_name("systemd_guest.py")
KERNEL = "/usr/bin/linux.uml"
MODULES = Path("/usr/lib/uml/modules")
PACKAGES = "systemd,systemd-sysv,dbus,udev,kmod,python3,python3-venv,procps,iproute2,ca-certificates"
CACHE = "/var/cache/private/jointwatch"
PATIENCE = 3600.0  # s; ten minutes on a quiet machine
ONCE = """[Unit]
After=multi-user.target
[Service]
Type=oneshot
ExecStart=/opt/jointwatch/.venv/bin/python /root/systemd_guest.py
TimeoutStartSec=infinity
[Install]
WantedBy=multi-user.target
"""


def missing() -> str:
    """Debian packages that are not there."""
    wanted = {KERNEL: "user-mode-linux", "debootstrap": "debootstrap", "mkfs.ext4": "e2fsprogs", "debugfs": "e2fsprogs"}
    return " ".join(sorted({package for command, package in wanted.items() if shutil.which(command) is None}))


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root, for a root of its own: sudo make systemd"),
    pytest.mark.skipif(bool(missing()), reason=f"needs Debian packages: sudo apt-get install {missing()}"),
]


def mirror() -> str:
    """Where this machine's packages come from."""
    for path in (Path("/etc/apt/sources.list"), *sorted(Path("/etc/apt/sources.list.d").glob("*"))):
        for line in path.read_text().splitlines() if path.exists() else ():
            found = re.match(r"(?:URIs:|deb(?:\s+\[.*?\])?)\s*(\S+)", line)
            if found:
                return found[1]
    pytest.skip("this machine's apt has no source")


def installed(root: Path) -> None:
    """Debian with the program in /opt/jointwatch, its kernels compiled, and our script after the start."""
    release = re.search(r"VERSION_CODENAME=(\w+)", Path("/etc/os-release").read_text())
    assert release is not None
    subprocess.run(
        ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", release[1], root, mirror()], check=True
    )
    program = root / "opt" / "jointwatch"
    subprocess.run(["git", "clone", "--quiet", ROOT, program], check=True)
    files = subprocess.run(
        ["git", "ls-files", "--modified"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    ).stdout.split()
    for name in files:  # as they are now, committed or not
        shutil.copy(ROOT / name, program / name)
    for name in ("resolv.conf", "hosts", "ssl/certs/ca-certificates.crt"):
        shutil.copy(Path("/etc") / name, root / "etc" / name)
    setup = (
        "cd /opt/jointwatch && python3 -m venv .venv && "
        ".venv/bin/pip install --quiet --constraint constraints.txt . && "
        f"mkdir -p {CACHE} && NUMBA_CACHE_DIR={CACHE} PYTHONDONTWRITEBYTECODE=1 .venv/bin/jointwatch compile --live"
    )
    environment = {name: value for name, value in os.environ.items() if name != "PIP_FIND_LINKS"}
    subprocess.run(["mount", "--bind", "/proc", root / "proc"], check=True)
    try:
        subprocess.run(["chroot", root, "sh", "-c", setup], check=True, env=environment)
    finally:
        subprocess.run(["umount", root / "proc"], check=True)
    shutil.copytree(MODULES, root / "lib" / "modules", dirs_exist_ok=True)
    shutil.copy(GUEST, root / "root" / GUEST.name)
    (root / "etc" / "systemd" / "system" / "once.service").write_text(ONCE)
    (root / "etc" / "fstab").write_text("/dev/ubda / ext4 defaults 0 1\n")
    (root / "etc" / "hostname").write_text("guest\n")
    subprocess.run(["chroot", root, "systemctl", "enable", "once.service"], check=True)
    subprocess.run(["chroot", root, "systemctl", "set-default", "multi-user.target"], check=True)


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory, whole_registers: dict[str, str]) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("systemd")
    image, result = folder / "image", folder / "seen.json"
    installed(folder / "root")
    with image.open("wb") as file:
        file.truncate(6_000_000_000)
    subprocess.run(["mkfs.ext4", "-q", "-d", folder / "root", image], check=True)
    command = [
        *(KERNEL, f"ubd0={image}", "root=/dev/ubda", "rw", "mem=3G", f"uml_dir={folder}"),
        *("con=null", "con0=null,fd:1", "systemd.show_status=false"),
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
        finally:
            if guest.poll() is None:
                os.killpg(guest.pid, signal.SIGKILL)
                guest.wait()
    subprocess.run(["debugfs", "-R", f"dump /root/seen.json {result}", image], check=True, stderr=subprocess.DEVNULL)
    if not result.exists() or not result.stat().st_size:
        pytest.fail(f"the guest left no result; its console:\n{(folder / 'console').read_text(errors='replace')}")
    shutil.rmtree(folder / "root")
    found: dict[str, Any] = json.loads(result.read_text())
    print(json.dumps({name: one for name, one in found.items() if name != "journal"}, indent=1))
    assert "error" not in found, found["journal"]
    return found


def test_it_starts_says_so_and_publishes(seen: dict[str, Any]) -> None:
    assert "fail" not in seen["enabled"], seen["journal"]
    assert seen["first_start"] < float("inf")
    assert seen["updates"]["count"] > 20
    assert "Fatal" not in seen["journal"]
    assert seen["recordings"].endswith(".mcap")


def test_it_sees_and_may_no_more_than_the_unit_says(seen: dict[str, Any]) -> None:
    sandbox = seen["sandbox"]
    assert int(sandbox["user"]) >= 61184  # of DynamicUser
    assert (int(sandbox["capabilities"], 16), sandbox["no_new_privileges"], sandbox["filtered"]) == (0, "1", "2")
    assert sandbox["read_only"].count("Read-only file system") == 2
    assert sandbox["homes"].replace("/root:", "").replace("/home:", "").strip() == ""
    assert sandbox["verified"] == ""
    level = re.search(r"([\d.]+) OK", sandbox["security"])
    assert level is not None
    assert float(level[1]) <= 2.5


def test_killed_or_hung_it_is_started_again(seen: dict[str, Any]) -> None:
    assert seen["killed"]["back"] < float("inf")
    assert seen["killed"]["answers"] < float("inf")
    assert seen["stopped"]["back"] >= 15.0  # WatchdogSec after the last sign of life, which comes twice as often
    assert seen["stopped"]["answers"] < float("inf")
    assert "Watchdog timeout" in seen["journal"]


def test_it_stops_whole_and_a_mistake_is_not_tried_again(seen: dict[str, Any]) -> None:
    assert seen["stop"]["s"] < 25.0  # TimeoutStopSec, and systemctl
    assert "result 'timeout'" not in seen["journal"]
    assert seen["stop"]["left"] == ""
    assert seen["mistake"] == {"ActiveState": "failed", "ExecMainStatus": "78", "NRestarts": "0"}
    assert re.search(r"publish\.rate", seen["journal"])


def test_the_drop_in_for_priorities_works(seen: dict[str, Any]) -> None:
    assert set(seen["priorities"]) > {os.SCHED_OTHER}
