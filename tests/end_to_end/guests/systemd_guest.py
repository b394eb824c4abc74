"""Runs inside the guest of test_systemd_uml.py once systemd is up: installs the unit, breaks it, says what it saw."""

import json
import math
import os
import signal
import struct
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

CONFIGURATION = Path("/etc/jointwatch/jointwatch.toml")
PROGRAM = Path("/opt/jointwatch")
UNIT = Path("/etc/systemd/system/jointwatch.service")
JOINTWATCH = str(PROGRAM / ".venv" / "bin" / "jointwatch")
METRICS = "http://127.0.0.1:8080/metrics"
PATIENCE = 900.0  # s: TimeoutStartSec


def joint_on_the_bus() -> None:
    """500 frames a second of STATE as deploy/jointwatch.toml has it: a joint with inertia, friction and gravity."""
    import can

    bus, k, began = can.Bus(interface="socketcan", channel="vcan0"), 0, time.monotonic()
    while True:
        t = k / 500.0
        q = 0.8 * math.sin(2.1 * t) + 0.4 * math.sin(5.3 * t + 1.0)
        dq = 1.68 * math.cos(2.1 * t) + 2.12 * math.cos(5.3 * t + 1.0)
        ddq = -3.528 * math.sin(2.1 * t) - 11.236 * math.sin(5.3 * t + 1.0)
        torque = 0.5 * ddq + 1.2 * dq + 2.0 * math.tanh(dq / 0.01) + 8.0 * math.sin(q)
        data = struct.pack("<ihH", round(1e6 * q), round(1e3 * torque / 11.0), k & 0xFFFF)
        bus.send(can.Message(arbitration_id=0x181, data=data, is_extended_id=False), timeout=1.0)
        k += 1
        time.sleep(max(began + k / 500.0 - time.monotonic(), 0.0))


def run(*command: str) -> str:
    """What it says, on both streams."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.stdout.strip()


def shown(name: str) -> str:
    """A property of the unit."""
    return run("systemctl", "show", "jointwatch", "--property", name, "--value")


def after(begin: float, true: Callable[[], bool]) -> float:
    """s since begin until that is so; infinite if it is not within PATIENCE."""
    while not true():
        if time.monotonic() - begin > PATIENCE:
            return math.inf
        time.sleep(0.2)
    return time.monotonic() - begin


def active() -> bool:
    """Whether systemd has been told that it is ready."""
    return run("systemctl", "is-active", "jointwatch") == "active"


def answers() -> bool:
    """Whether the page does."""
    try:
        with urllib.request.urlopen(METRICS, timeout=20.0) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def updates(seconds: float) -> dict[str, Any]:
    """How many updates come, and the last."""
    from daq.subscriber import Subscriber

    count, last, begin = 0, dict[str, Any](), time.monotonic()
    with Subscriber("tcp://127.0.0.1:5556", ("estimate/",), timeout=60.0) as subscriber:
        for _, update in subscriber:
            count, last = count + 1, update
            if time.monotonic() - begin > seconds:
                break
    return {"count": count, "phase": last["phase"], "parameters": last["parameters"]}


def replaced(pid: str) -> bool:
    """Whether another main process is up."""
    return shown("MainPID") not in ("0", pid) and active()


def struck(number: signal.Signals) -> dict[str, Any]:
    """Hit the main process, and see what systemd does."""
    pid, begin = shown("MainPID"), time.monotonic()
    if int(pid) <= 1:
        return {"back": math.inf}
    os.kill(int(pid), number)
    return {
        "back": after(begin, lambda: replaced(pid)),
        "answers": after(begin, answers),
        "restarts": shown("NRestarts"),
    }


def sandbox() -> dict[str, Any]:
    """What the service may see and do, looked at from within its namespaces."""
    pid = shown("MainPID")
    fields = dict(
        line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":\t" in line
    )
    inside = ("nsenter", "--target", pid, "--mount", "sh", "-c")
    return {
        "user": fields["Uid"].split()[0],
        "capabilities": fields["CapEff"],
        "no_new_privileges": fields["NoNewPrivs"],
        "filtered": fields["Seccomp"],
        "read_only": run(*inside, "touch /usr/x; touch /opt/jointwatch/x"),
        "homes": run(*inside, "ls -A /root /home"),
        "security": run("systemd-analyze", "security", "--no-pager", "jointwatch.service").splitlines()[-1],
        "verified": run("systemd-analyze", "verify", str(UNIT)),
    }


def prepare() -> None:
    """The bus, the unit and its configuration."""
    modules = {path.stem: path for path in Path("/lib/modules").rglob("*.ko")}
    for name in ("can", "can-raw", "can-dev", "vcan"):
        run("insmod", str(modules.get(name, name)))
    run("ip", "link", "add", "dev", "vcan0", "type", "vcan")
    run("ip", "link", "set", "up", "vcan0")
    print(run(str(PROGRAM / "deploy" / "install.sh")))
    text = CONFIGURATION.read_text()
    for old, new in (
        ('interface = "slcan" ', 'interface = "socketcan" '),
        ('"/dev/ttyACM0"', '"vcan0"'),
        ("bitrate = 1_000_000\n", ""),
        ("rate = 1000.0 ", "rate = 500.0 "),
    ):
        assert old in text, old
        text = text.replace(old, new)
    CONFIGURATION.write_text(f'{text}\n[recorder]\nfolder = "/var/lib/jointwatch/recordings"\n')


def seen() -> dict[str, Any]:
    """Everything, in order."""
    found: dict[str, Any] = {"system": run("systemctl", "--version").splitlines()[0]}
    begin = time.monotonic()
    found["enabled"] = run("systemctl", "enable", "--now", "jointwatch")
    found["first_start"] = after(begin, active)
    found["sandbox"] = sandbox()
    found["updates"] = updates(20.0)
    found["recordings"] = run("ls", "/var/lib/jointwatch/recordings")
    found["killed"] = struck(signal.SIGKILL)
    found["stopped"] = struck(signal.SIGSTOP)
    begin = time.monotonic()
    run("systemctl", "stop", "jointwatch")
    found["stop"] = {"s": time.monotonic() - begin, "left": run("pgrep", "--full", "jointwatch run")}
    good = CONFIGURATION.read_text()
    CONFIGURATION.write_text(good.replace("rate = 50.0 ", "rate = -1.0 "))
    run("systemctl", "reset-failed", "jointwatch")
    run("systemctl", "start", "jointwatch")
    time.sleep(5.0)
    found["mistake"] = {name: shown(name) for name in ("ActiveState", "ExecMainStatus", "NRestarts")}
    CONFIGURATION.write_text(f"{good}\n[processes]\npriority = 10\n")
    folder = UNIT.with_name("jointwatch.service.d")
    folder.mkdir()
    (folder / "realtime.conf").write_text(Path("/usr/share/jointwatch/realtime.conf").read_text())
    run("systemctl", "daemon-reload")
    run("systemctl", "reset-failed", "jointwatch")
    run("systemctl", "start", "jointwatch")
    pids = run("pgrep", "--full", "jointwatch run").split()
    found["priorities"] = sorted({os.sched_getscheduler(int(pid)) for pid in pids})
    run("systemctl", "stop", "jointwatch")
    return found


def main() -> None:
    """The result is a file in the guest's image; then the power goes off."""
    result: dict[str, Any] = {}
    bus = None
    try:
        prepare()
        bus = subprocess.Popen([sys.executable, __file__, "bus"])
        result = seen()
    except Exception as error:
        result["error"] = repr(error)
    finally:
        if bus is not None:
            bus.kill()
        result["journal"] = run("journalctl", "--unit", "jointwatch", "--no-pager", "--output", "short-monotonic")
        Path("/root/seen.json").write_text(json.dumps(result))
        os.sync()
        run("systemctl", "poweroff", "--force", "--force")


if __name__ == "__main__":
    joint_on_the_bus() if sys.argv[1:] == ["bus"] else main()
