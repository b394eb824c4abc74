"""The files for systemd, udev and sysctl."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

DEPLOY = Path(__file__).parents[2] / "deploy"


def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is missing: apt-get install systemd")
    text = (DEPLOY / "jointwatch.service").read_text()
    assert text.count("/opt/jointwatch/.venv/bin/jointwatch") == 1
    unit = tmp_path / "jointwatch.service"
    unit.write_text(
        text.replace("/opt/jointwatch/.venv/bin/jointwatch", "/bin/true").replace("file:///opt", "file:///")
    )
    done = subprocess.run([program, "verify", unit], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_unit_lets_kernels_compile_and_keeps_them() -> None:
    settings = dict(re.findall(r"^(\w+)=(.*)$", (DEPLOY / "jointwatch.service").read_text(), re.MULTILINE))
    assert "MemoryDenyWriteExecute" not in settings, "the kernels are compiled at run time"
    assert "PrivateDevices" not in settings
    assert "DeviceAllow=char-ttyUSB rw" in (DEPLOY / "jointwatch.service").read_text(), (
        "ProtectClock shuts the rest out"
    )
    assert settings["CacheDirectory"] == "jointwatch"
    text = (DEPLOY / "jointwatch.service").read_text()
    assert "Environment=NUMBA_CACHE_DIR=/var/cache/jointwatch" in text
    assert settings["RestartPreventExitStatus"] == "78"


def test_the_udev_rule_is_one_rule() -> None:
    lines = (DEPLOY / "70-jointwatch-serial.rules").read_text().splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]
    assert len(rules) == 1
    keys = re.findall(r'(\w+(?:\{\w+\})?)(==|!=|=)"([^"]*)"', rules[0])
    assert ", ".join(f'{key}{sign}"{value}"' for key, sign, value in keys) == rules[0], "nothing else in the line"
    assert ("ATTR{latency_timer}", "=", "1") in keys


def test_the_unit_exposes_little(tmp_path: Path) -> None:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is missing: apt-get install systemd")
    told = subprocess.run(
        [program, "security", "--offline=true", DEPLOY / "jointwatch.service"],
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    found = re.search(r"Overall exposure level for jointwatch.service: ([0-9.]+)", told)
    assert found
    assert float(found[1]) <= 2.5


def test_the_unit_is_watched_twice_as_long_as_a_process_may_hang() -> None:
    from daq.config.sections import Processes

    settings = dict(re.findall(r"^(\w+)=(.*)$", (DEPLOY / "jointwatch.service").read_text(), re.MULTILINE))
    assert settings["Type"] == "notify"
    assert float(settings["WatchdogSec"]) >= 2 * Processes().hang


def test_everything_is_installed_into_a_root_and_systemd_enables_it_there(tmp_path: Path) -> None:
    subprocess.run([DEPLOY / "install.sh", tmp_path], check=True, capture_output=True)
    for file in (
        "etc/systemd/system/jointwatch.service",
        "etc/udev/rules.d/70-jointwatch-serial.rules",
        "etc/sysctl.d/99-jointwatch-can.conf",
        "etc/jointwatch/jointwatch.toml",
        "usr/share/jointwatch/realtime.conf",
    ):
        assert (tmp_path / file).is_file(), file
    mine = tmp_path / "etc/jointwatch/jointwatch.toml"
    mine.write_text("# mine")
    subprocess.run([DEPLOY / "install.sh", tmp_path], check=True, capture_output=True)
    assert mine.read_text() == "# mine", "an upgrade leaves the configuration alone"
    if shutil.which("systemctl"):
        done = subprocess.run(
            ["systemctl", f"--root={tmp_path}", "enable", "jointwatch"], capture_output=True, check=False
        )
        assert done.returncode == 0
        assert (tmp_path / "etc/systemd/system/multi-user.target.wants/jointwatch.service").is_symlink()
