"""Examines the host for causes of lost frames and late stamps: buffers, permissions, adapters, clock."""

import grp
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

GOOD, NOTE, WARN, BAD = "good", "note", "warn", "bad"

ROOM: Final = 4 << 20  # bytes: more than a second at 8 kframe/s
PER_FRAME: Final = 384  # bytes that the kernel counts for a classic frame in a socket's queue
ARPHRD_CAN: Final = "280"
STEADY: Final = ("tsc", "arch_sys_counter", "kvm-clock", "hyperv_clocksource_tsc_page")


class DoctorFinding(NamedTuple):
    """One finding of the doctor."""

    level: str
    subject: str
    text: str
    remedy: str = ""
    why: str = ""  # for --explain


def host(root: Path = Path("/")) -> Iterator[DoctorFinding]:
    """Findings about the host and all its wires; root: folder that contains /proc and /sys."""
    yield from _queue(root)
    yield from _clock(root)
    for name in interfaces(root):
        yield from interface(name, root)
    for port in ports(root):
        yield from serial_port(port, root)


def interfaces(root: Path = Path("/")) -> list[str]:
    """The kernel's CAN interfaces."""
    return sorted(kind.parent.name for kind in root.glob("sys/class/net/*/type") if _read(kind) == ARPHRD_CAN)


def ports(root: Path = Path("/")) -> list[str]:
    """USB serial ports, by their persistent names if they have one."""
    lasting = {os.path.realpath(link): str(link) for link in sorted(root.glob("dev/serial/by-id/*"))}
    found = sorted(str(port) for pattern in ("dev/ttyUSB*", "dev/ttyACM*") for port in root.glob(pattern))
    return [lasting.get(os.path.realpath(port), port) for port in found]


def _queue(root: Path) -> Iterator[DoctorFinding]:
    text = _read(root / "proc/sys/net/core/rmem_max")
    if not text:
        return
    most = int(text)
    frames = most // PER_FRAME
    said = f"net.core.rmem_max = {most}: a socket holds about {frames} frames, {frames / 8:.0f} ms at 8 kframe/s"
    why = (
        "While the driver's process waits for the processor, frames wait in the socket's queue; what does not fit is "
        "dropped by the kernel and counted as `dropped`. With CAP_NET_ADMIN the limit does not apply."
    )
    if most >= ROOM:
        yield DoctorFinding(GOOD, "socket queue", said, "", why)
    else:
        lasting = "sudo cp deploy/99-jointwatch-can.conf /etc/sysctl.d/"
        remedy = f"sudo sysctl -w net.core.rmem_max={2 * ROOM}; to last: {lasting}"
        yield DoctorFinding(WARN, "socket queue", said, remedy, why)


def _clock(root: Path) -> Iterator[DoctorFinding]:
    source = _read(root / "sys/devices/system/clocksource/clocksource0/current_clocksource")
    if not source:
        return
    why = (
        "Every frame is stamped on arrival; a clock source in the chipset takes a microsecond per stamp and is coarser."
    )
    if source in STEADY:
        yield DoctorFinding(GOOD, "clock source", source, "", why)
    else:
        there = _read(root / "sys/devices/system/clocksource/clocksource0/available_clocksource")
        remedy = "boot with clocksource=tsc" if "tsc" in there.split() else ""
        yield DoctorFinding(WARN, "clock source", f"{source} (there are: {there})", remedy, why)


def interface(name: str, root: Path = Path("/")) -> Iterator[DoctorFinding]:
    """Findings about one of the kernel's CAN interfaces."""
    folder = root / "sys/class/net" / name
    if not folder.exists():
        there = ", ".join(interfaces(root)) or "none"
        yield DoctorFinding(
            BAD, name, f"there is no such CAN interface (there are: {there})", "sudo modprobe can; ip -br link"
        )
        return
    details = link_details(name)
    flags = int(_read(folder / "flags") or "0", 16)
    bitrate = details.get("bittiming", {}).get("bitrate")
    state = str(details.get("state", "")).lower()
    said = ", ".join(filter(None, ["up" if flags & 1 else "down", f"{bitrate} bit/s" if bitrate else "", state]))
    if not flags & 1:
        yield DoctorFinding(BAD, name, said, f"sudo ip link set {name} up type can bitrate 1000000 restart-ms 100")
    elif state == "bus-off":
        yield DoctorFinding(
            BAD, name, said, f"sudo ip link set {name} type can restart-ms 100; then check wiring and bit rate"
        )
    elif state in ("error-warning", "error-passive"):
        yield DoctorFinding(WARN, name, said, "check the termination (120 Ω at both ends), the wiring and the bit rate")
    else:
        yield DoctorFinding(GOOD, name, said)
    for counter, cause in (
        ("rx_over_errors", "frames lost by the controller's full buffer"),
        ("rx_dropped", "frames dropped by the kernel"),
    ):
        count = int(_read(folder / "statistics" / counter) or "0")
        if count:
            yield DoctorFinding(WARN, name, f"{counter} = {count}: {cause} since boot", "see the socket queue")


def link_details(name: str) -> dict[str, Any]:
    """The details that `ip` shows of a CAN interface: state, bittiming, …; empty without iproute2."""
    if shutil.which("ip") is None:
        return {}
    output = subprocess.run(
        ["ip", "-json", "-details", "link", "show", name], capture_output=True, text=True, check=False
    )
    try:
        links = json.loads(output.stdout or "[]")
        return dict(links[0].get("linkinfo", {}).get("info_data", {})) if links else {}
    except (ValueError, LookupError, AttributeError):
        return {}


def serial_port(port: str, root: Path = Path("/")) -> Iterator[DoctorFinding]:
    """Findings about a serial port: existence, permission, the latency of its adapter, a persistent name."""
    path = Path(port)
    if not path.exists():
        there = ", ".join(ports(root)) or "none"
        yield DoctorFinding(
            BAD, port, f"there is no such port (there are: {there})", "plug the device in; ls /dev/serial/by-id"
        )
        return
    name = Path(os.path.realpath(path)).name
    if not os.access(path, os.R_OK | os.W_OK):
        group = _group(path)
        yield DoctorFinding(
            BAD,
            port,
            f"no permission (it belongs to the group {group})",
            f"sudo usermod -aG {group} $USER, then log in again",
        )
        return
    yield DoctorFinding(GOOD, port, "exists and can be read")
    timer = _read(root / "sys/bus/usb-serial/devices" / name / "latency_timer")
    if timer and int(timer) > 1:
        yield DoctorFinding(
            WARN,
            port,
            f"latency_timer = {timer} ms",
            f"echo 1 | sudo tee /sys/bus/usb-serial/devices/{name}/latency_timer (a udev rule makes it last)",
            "An FTDI adapter holds bytes for this time unless its buffer is full, so many bytes get the same stamp.",
        )
    if port.startswith(("/dev/ttyUSB", "/dev/ttyACM")):
        text = "this name is given to the device that is plugged in first"
        yield DoctorFinding(NOTE, port, text, "use its persistent name under /dev/serial/by-id")


def _group(path: Path) -> str:
    try:
        return grp.getgrgid(path.stat().st_gid).gr_name
    except (KeyError, OSError):
        return "dialout"


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
