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
    assert text.count("/opt/jointwatch/.venv/bin/jointwatch") == 2
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
    assert "ProtectClock" not in settings, "it implies a DeviceAllow, and with it every other device is shut out"
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
