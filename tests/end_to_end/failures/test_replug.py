"""A port unplugged and plugged in again under another name: data again within a second, through a driver process.

Less what the two processes wait for a processor, on a machine with other work. Where one stands still without that, it
is plugged in once more, a few times at most.
"""

import os
import signal
import subprocess
import sys
import time
import tomllib
import tty
from collections.abc import Callable
from pathlib import Path

import pytest

from daq.config.load import check
from daq.config.toml_lines import Lines
from daq.processes.process import endpoint
from daq.stream.channel import CoreReceiver
from drivers.serial.packets import encode
from tests.support.processes.waiting import starved

SERIAL = """
[drivers.port]
kind = "serial"
port = "PORT"
[[drivers.port.packets]]
name = "AXIS"
id = 1
fields = [{ name = "q", type = "i32", unit = "mrad" }, { name = "u", type = "i16", unit = "mN·m" }]
"""
SLCAN = """
[drivers.port]
kind = "can"
interface = "slcan"
channel = "PORT"
[[drivers.port.frames]]
name = "AXIS"
id = 0x181
signals.q = { start = 0, bits = 32, type = "signed", unit = "mrad" }
signals.u = { start = 32, bits = 16, type = "signed", unit = "mN·m" }
"""
JOINT = """
[joints.elbow]
rate = 1000.0
model = { kind = "rigid" }
[joints.elbow.channels]
position = { signal = "port.AXIS.q" }
torque = { signal = "port.AXIS.u" }
"""
PROGRAM = """
import sys
from pathlib import Path
from daq.config.sections import Config
from daq.processes.heartbeat import alone
from daq.processes.driver import run
runtime = Path(sys.argv[1])
run("port", Config.model_validate_json((runtime / "config.json").read_text()), runtime, alone())
"""


def plug(name: Path) -> tuple[int, int]:
    """A device on a new pseudo-terminal, the lasting name pointing at it."""
    master, slave = os.openpty()
    tty.setraw(master)
    fresh = name.with_suffix(".new")
    fresh.symlink_to(os.ttyname(slave))
    fresh.replace(name)
    os.close(slave)
    return master, time.monotonic_ns()


def packet(number: int) -> bytes:
    return encode(1, number, number.to_bytes(6, "little"))


def line(number: int) -> bytes:
    return b"t1816" + number.to_bytes(6, "little").hex().encode() + b"\r"


@pytest.mark.parametrize(("text", "make"), [(SERIAL, packet), (SLCAN, line)], ids=["serial", "slcan"])
def test_data_again_within_a_second(text: str, make: Callable[[int], bytes], tmp_path: Path) -> None:

    name = tmp_path / "by-id"
    whole = text.replace("PORT", str(name)) + JOINT
    config = check(tomllib.loads(whole), tmp_path / "x.toml", Lines(whole))
    (tmp_path / "config.json").write_text(config.model_dump_json(by_alias=True))
    number = 0
    master, _ = plug(name)
    with CoreReceiver(endpoint(tmp_path, "readings")) as receiver:
        process = subprocess.Popen([sys.executable, "-c", PROGRAM, str(tmp_path)], stderr=subprocess.DEVNULL)

        both = os.getpid(), process.pid

        def until_data(since: int, patience: float) -> float:
            nonlocal number
            while time.monotonic_ns() - since < patience * 1e9:
                number += 1
                os.write(master, make(number))
                if len(receiver.drain(0.01)):
                    return (time.monotonic_ns() - since) / 1e9
            raise AssertionError(f"no data within {patience} s")

        try:
            until_data(time.monotonic_ns(), 60.0)
            for away in (0.0, 0.3, 1.7):
                took: list[float] = []
                while not took or (took[-1] >= 1.0 and len(took) < 4):
                    os.close(master)
                    name.unlink()
                    time.sleep(away)  # the time unplugged is what is tried
                    while len(receiver.drain(0.02)):  # what came before it was pulled
                        pass
                    before = starved(both)
                    master, plugged = plug(name)
                    took.append(until_data(plugged, 60.0) - (starved(both) - before))
                assert took[-1] < 1.0, took
            assert receiver.links["port"].restarts == 0
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)
            os.close(master)
