"""Runs inside the User-Mode-Linux guest, as its first process' child: our CAN driver on vcan0, strangers on the bus.

Writes one JSON object of what it saw to the file named on the command line; the test judges it.
"""

import ctypes
import io
import json
import logging
import os
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from pydantic import TypeAdapter

from daq.commands.doctor.bus import talks
from daq.commands.doctor.host import host, interface
from drivers import AnyDriver
from drivers.base import Driver, LinkError, Wanted
from drivers.can.socketcan import SocketCan
from drivers.layout.frame import EXTENDED
from drivers.listen import listen_bus
from drivers.reading import READING

ROOT = Path(__file__).parents[3]
FRAMES = [
    {"name": "AXIS", "id": 0x181, "signals": {"position": {"start": 0, "bits": 32, "type": "signed", "unit": "mrad"}}},
    {"name": "FAR", "id": 0x181, "extended": True, "signals": {"value": {"start": 7, "bits": 16, "order": "motorola"}}},
    {"name": "WIDE", "id": 0x200, "length": 64, "signals": {"last": {"start": 496, "bits": 16}}},
]
WANTED = [Wanted(0, "AXIS.position"), Wanted(1, "FAR.value"), Wanted(2, "WIDE.last")]


def run(*command: str) -> None:
    subprocess.run(command, check=True, timeout=120)


def collect(driver: Driver, seconds: float = 0.5) -> list[list[float]]:
    """Everything that comes until it has been quiet for so long."""
    parts = [np.zeros(0, READING)]
    while len(found := driver.read(seconds)):
        parts.append(found)
    readings = np.concatenate(parts)
    return [[int(r["time"]), int(r["channel"]), float(r["value"])] for r in readings]


def refusal(action: Callable[[], object]) -> str:
    try:
        action()
    except LinkError as error:
        return str(error)
    return ""


def open_bus(channel: str = "vcan0", **options: bool) -> Driver:
    settings = TypeAdapter(AnyDriver).validate_python(
        {"kind": "can", "interface": "socketcan", "channel": channel, "fd": True, "frames": FRAMES} | options
    )
    return settings.open(WANTED)


def strangers() -> dict[str, object]:
    """Classic, extended, FD, remote, short, unknown and error frames, sent by can-utils."""
    with open_bus() as driver:
        before = time.monotonic_ns()
        run("cansend", "vcan0", "181#E8030000")
        run("cansend", "vcan0", "00000181#1234")
        run("cansend", "vcan0", "200##1" + "00" * 62 + "3930")
        run("cansend", "vcan0", "181#R")
        run("cansend", "vcan0", "181#0102")
        run("cansend", "vcan0", "7FF#00")
        for error in ("20000004#0010", "20000004#0040", "20000040#", "20000100#", "20000020#"):
            run("cansend", "vcan0", error.ljust(25, "0"))
        seen: dict[str, object] = {"sent": [before, time.monotonic_ns()]}
        seen["readings"] = collect(driver)
        seen["counters"] = dict(driver.counters())
        run("cangen", "vcan0", "-g", "0", "-n", "200", "-I", "181", "-L", "4", "-D", "01000000")
        seen["generated"] = len(collect(driver))
    return seen


def beside_candump() -> dict[str, object]:
    """Random frames of cangen, as candump writes them down and as we take them."""
    bus = SocketCan("vcan0")
    command = ["candump", "-L", "-r", "4000000", "-n", "300", "-T", "60000", "vcan0"]
    dump = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL)
    while Path("/proc/net/can/rcvlist_all").read_text().count("  vcan0  ") < 2:  # until candump listens
        time.sleep(0.02)  # between two looks
    run("cangen", "vcan0", "-g", "0", "-m", "-n", "300")
    theirs = [line.split()[2] for line in dump.communicate(timeout=120)[0].splitlines()]
    ours = []
    while len((frames := bus.receive(0.3)).ids):
        for ident, payload, length in zip(frames.ids.tolist(), frames.payload, frames.lengths, strict=True):
            name = f"{ident & 0x1FFFFFFF:08X}" if ident & EXTENDED else f"{ident & 0x7FF:03X}"
            ours.append((name, payload[:length].tobytes().hex().upper()))
    bus.close()
    return {"theirs": theirs, "ours": ours}


def chosen() -> dict[str, object]:
    """Filters of the kernel, and this host's own frames left out."""
    seen: dict[str, object] = {}
    for name, options in (("filtered", {"kernel_filter": True}), ("others", {"own_frames": False})):
        with open_bus(**options) as driver:
            for frame in ("181#01000000", "182#01000000", "181#R", "00000181#0001", "00000182#0001"):
                run("cansend", "vcan0", frame)
            seen[name] = [[value for _, _, value in collect(driver)], dict(driver.counters())]
    return seen


def stepped() -> list[list[int]]:
    """Frames before and after steps of the clock: (before it was sent, after, stamped) in ns."""
    times = []
    with open_bus() as driver:
        for step in (0, 100, -200, 100):
            for number in range(2):  # both wait in the queue: one stamped before the step, one after it
                if number:
                    time.clock_settime(time.CLOCK_REALTIME, time.time() + step)
                before = time.monotonic_ns()
                run("cansend", "vcan0", "181#01000000")
                times.append([before, time.monotonic_ns()])
                time.sleep(0.05)  # the second one is stamped by the stepped clock, however coarsely that ticks
            for row, (stamp, _, _) in zip(times[-2:], collect(driver, 0.1), strict=True):
                row.append(int(stamp))
    return times


def comes_and_goes() -> dict[str, object]:
    """Down and up, removed and there again, under one driver."""
    seen: dict[str, object] = {"missing": refusal(open_bus("vcan7").__enter__)}
    driver = open_bus()
    with driver:
        took: list[float] = []
        while not took or (took[-1] >= 1.0 and len(took) < 4):  # a machine with other work may stand still: once more
            run("ip", "link", "set", "vcan0", "down")
            seen["down"] = [refusal(lambda: driver.read(0.2)) for _ in range(2)]
            run("ip", "link", "set", "vcan0", "up")
            run("cansend", "vcan0", "181#01000000")
            up = time.monotonic()
            seen["again"] = [value for _, _, value in collect(driver, 0.2)]
            took.append(time.monotonic() - up - 0.2)
        seen["again_after"] = took[-1]
        run("ip", "link", "delete", "vcan0")
        seen["removed"] = [refusal(lambda: driver.read(0.2)) for _ in range(2)]
    seen["still_removed"] = refusal(driver.__enter__)
    run("ip", "link", "add", "dev", "vcan0", "type", "vcan")
    with driver:
        seen["still_down"] = refusal(lambda: driver.read(0.2))
        run("ip", "link", "set", "vcan0", "up")
        run("cansend", "vcan0", "181#02000000")
        seen["new"] = [value for _, _, value in collect(driver)]
    run("ip", "link", "set", "vcan0", "down")
    run("ip", "link", "set", "vcan0", "mtu", "72")
    run("ip", "link", "set", "vcan0", "up")
    return seen


def stall() -> dict[str, object]:
    """Nobody reads while 0.3 s and 1 s of 8 kframe/s arrive; then everything is read. Runs without CAP_NET_ADMIN."""
    sender = socket.socket(socket.AF_CAN, socket.SOCK_RAW, socket.CAN_RAW)
    sender.bind(("vcan0",))
    said = io.StringIO()
    logging.getLogger("jointwatch").addHandler(logging.StreamHandler(said))
    seen: dict[str, object] = {}
    for count in (2400, 8000):
        with open_bus() as driver:
            for number in range(count):
                sender.send(struct.pack("<IB3xI4x", 0x181, 4, number))
            values = [value for _, _, value in collect(driver, 0.2)]
            sender.send(struct.pack("<IB3xI4x", 0x181, 4, count))  # its drop count comes with the next frame
            values += [value for _, _, value in collect(driver, 0.2)]
            seen[str(count)] = [len(values), len(set(values)) == len(values), driver.counters()["dropped"]]
    return seen | {"said": said.getvalue()}


def unprivileged(action: Callable[[], object]) -> object:
    """The result of an action in a child process without CAP_NET_ADMIN (but it is root's, whose imports it has)."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        with os.fdopen(reading) as told:
            result = json.load(told)
        os.waitpid(child, 0)
        return result
    version = struct.pack("Ii", 0x2008_0522, 0)  # _LINUX_CAPABILITY_VERSION_3, this process
    if ctypes.CDLL(None).capset(version, bytes(24)) != 0:  # no capability at all
        os._exit(1)
    os.write(writing, json.dumps(action()).encode())
    os._exit(0)


def stalls() -> dict[str, object]:
    """With the kernel's own limit, and with the one of deploy/."""
    seen = {"default": unprivileged(stall)}
    run("sysctl", "-q", "-p", str(ROOT / "deploy" / "99-jointwatch-can.conf"))
    return seen | {"shipped": unprivileged(stall)}


def diagnosed() -> dict[str, object]:
    """What the doctor finds out about a bus that is alive, one that is down, and one that is not there."""
    talker = subprocess.Popen(["cangen", "vcan0", "-g", "5", "-I", "2A1", "-L", "8", "-D", "i"])
    frames, _ = listen_bus("socketcan", "vcan0", {}, 0.7)
    while not list(talks(frames)) and talker.poll() is None:  # it has not begun to talk
        frames, _ = listen_bus("socketcan", "vcan0", {}, 0.7)
    talker.terminate()
    talker.wait()
    told: dict[str, object] = {"talks": [talk._asdict() for talk in talks(frames)]}
    told["host"] = [finding._asdict() for finding in host()]
    run("ip", "link", "set", "vcan0", "down")
    told["down"] = [finding._asdict() for finding in interface("vcan0")]
    told["missing"] = [finding._asdict() for finding in interface("vcan7")]
    run("ip", "link", "set", "vcan0", "up")
    return told


def contract() -> dict[str, str]:
    """Every rule for drivers, on this bus, in a child that has our imports: test → what became of it."""
    report = Path(sys.argv[1]).with_name("contract.xml")
    chosen = "socketcan and not lost_wire"  # vcan0 cannot be pulled
    words = ["-q", "-k", chosen, "-p", "no:cacheprovider", f"--junitxml={report}"]
    child = os.fork()
    if not child:
        code = pytest.main([*words, "tests/contracts/families/test_drivers.py"])
        sys.stdout.flush()
        os._exit(code)
    _, status = os.waitpid(child, 0)
    if not report.exists():
        return {"pytest": f"ended with {os.waitstatus_to_exitcode(status)}: see the console"}
    return {
        case.attrib["name"]: "\n".join(
            one.attrib["message"] for one in case if one.tag in ("failure", "error", "skipped")
        )
        for case in ElementTree.parse(report).iter("testcase")
    }


def main(result: Path) -> None:
    logging.basicConfig(level="INFO")
    steps = (contract, strangers, beside_candump, chosen, stepped, comes_and_goes, diagnosed, stalls)
    result.write_text(json.dumps({step.__name__: step() for step in steps}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
