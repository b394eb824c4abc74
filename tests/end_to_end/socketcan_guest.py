"""Runs inside the User-Mode-Linux guest, as its first process' child: our CAN driver on vcan0, strangers on the bus.

Writes one JSON object of what it saw to the file named on the command line; the test judges it.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from pydantic import TypeAdapter

from drivers import AnyDriver
from drivers.base import Driver, LinkError, Wanted
from drivers.reading import READING

FRAMES = [
    {"name": "AXIS", "id": 0x181, "signals": {"position": {"start": 0, "bits": 32, "type": "signed", "unit": "mrad"}}},
    {"name": "FAR", "id": 0x181, "extended": True, "signals": {"value": {"start": 7, "bits": 16, "order": "motorola"}}},
    {"name": "WIDE", "id": 0x200, "length": 64, "signals": {"last": {"start": 496, "bits": 16}}},
]
WANTED = [Wanted(0, "AXIS.position"), Wanted(1, "FAR.value"), Wanted(2, "WIDE.last")]


def run(*command: str) -> None:
    subprocess.run(command, check=True, timeout=20)


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


def open_bus(channel: str = "vcan0") -> Driver:
    settings = TypeAdapter(AnyDriver).validate_python(
        {"kind": "can", "interface": "socketcan", "channel": channel, "fd": True, "frames": FRAMES}
    )
    return settings.open(WANTED)


def main(result: Path) -> None:
    seen: dict[str, object] = {"missing": refusal(open_bus("vcan7").__enter__)}
    with open_bus() as driver:
        before = time.monotonic_ns()
        run("cansend", "vcan0", "181#E8030000")
        run("cansend", "vcan0", "00000181#1234")
        run("cansend", "vcan0", "200##1" + "00" * 62 + "3930")
        run("cansend", "vcan0", "181#R")
        run("cansend", "vcan0", "181#0102")
        run("cansend", "vcan0", "7FF#00")
        run("cansend", "vcan0", "20000004#0000000000000000")  # an error frame, of the flag CAN_ERR_FLAG
        seen["sent"] = [before, time.monotonic_ns()]
        seen["readings"] = collect(driver)
        seen["counters"] = dict(driver.counters())
        run("cangen", "vcan0", "-g", "0", "-n", "200", "-I", "181", "-L", "4", "-D", "01000000")
        seen["generated"] = len(collect(driver))
        run("ip", "link", "set", "vcan0", "down")
        seen["down"] = [refusal(lambda: driver.read(2.0)) for _ in range(2)]
    seen["still_down"] = refusal(lambda: open_bus().__enter__().read(0.2))
    run("ip", "link", "set", "vcan0", "up")
    with open_bus() as driver:
        run("cansend", "vcan0", "181#01000000")
        seen["again"] = [value for _, _, value in collect(driver)]
    result.write_text(json.dumps(seen))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
