"""Acquisition measured: batches, a real log, sockets and lines at full rate; compared with cantools and python-can.

jointwatch bench acquisition [--json]

Batches: frames of eight bytes with two signals each (position 32 bit, torque 16 bit) from seven ids; slcan lines of
such frames; packets of 29 bytes; µs of CPU of the thread per frame, median of 15 runs. The log:
../shared/data/can/motec, where it is there. The socket: UDP on this machine standing in for AF_CAN, 4000 frames waiting
in its queue; the best of 15 runs, for the kernel's part of it follows whatever else the machine does. The line: a
pseudo-terminal fed by another process with 3 Mbaud (300 kB/s) of 29-byte packets, ten at a time, the driver reading as
in the service.
"""

import argparse
import json
import os
import socket
import statistics
import struct
import subprocess
import sys
import time
import tty
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import can.interfaces.socketcan.socketcan as python_can
import cantools.database
import numpy as np

from drivers.base import Wanted
from drivers.can import recvmmsg as bulk
from drivers.can import slcan
from drivers.decode.decoder import Decoder
from drivers.files import candump
from drivers.layout.can_frames import FrameSettings, from_table
from drivers.layout.dbc import from_dbc
from drivers.layout.frame import Frames
from drivers.serial import deframer as deframe
from drivers.serial.packets import encode
from drivers.serial.port import SerialPortSettings
from hil_rig.plants.recording import DATA

BATCHES: Final = (1, 10, 100, 1000)
TOTAL: Final = 2000  # frames in one run
RUNS: Final = 15
MOTEC: Final = DATA / "can/motec"
AXES: Final = tuple(
    FrameSettings.model_validate(
        {
            "name": f"AXIS{axis}",
            "id": 0x181 + axis,
            "length": 8,
            "signals": {
                "position": {"start": 0, "bits": 32, "type": "signed", "unit": "counts", "counts_per_rev": 65536},
                "torque": {"start": 39, "bits": 16, "order": "motorola", "type": "signed", "unit": "mA"},
            },
        }
    )
    for axis in range(7)
)


def per_frame(action: Callable[[], object], calls: int, frames: int, runs: int = RUNS) -> float:
    """µs of the thread's CPU per frame, median."""
    times = []
    for _ in range(runs):
        start = time.thread_time_ns()
        for _ in range(calls):
            action()
        times.append((time.thread_time_ns() - start) / (calls * frames * 1e3))
    return statistics.median(times)


def axes() -> Decoder:
    """A decoder of all signals of the seven axes."""
    layout = from_table(AXES)
    return Decoder(layout, [Wanted(channel, name) for channel, name in enumerate(layout.signals)])


def decoding(batch: int) -> float:
    """A batch that is already in arrays, to Readings."""
    decoder = axes()
    random = np.random.default_rng(0)
    ids = np.resize(np.array([frame.id for frame in AXES], np.uint32), batch)
    payload = random.integers(0, 256, (batch, 8), dtype=np.uint8)
    frames = Frames(ids, payload, np.full(batch, 8), np.arange(batch))
    return per_frame(lambda: decoder.decode(frames), TOTAL // batch, batch)


def slcan_text(batch: int) -> float:
    """Lines to frames in arrays."""
    random = np.random.default_rng(0)
    text = b"".join(b"t%03X8%s\r" % (0x181 + i % 7, random.bytes(8).hex().encode()) for i in range(batch))
    parser = slcan.SlcanParser()
    return per_frame(lambda: parser.feed(text, 0), TOTAL // batch, batch)


def serial_packets(batch: int) -> float:
    """Bytes to checked packets in arrays."""
    random = np.random.default_rng(0)
    stream = b"".join(encode(1, i, random.bytes(24)) for i in range(batch))
    deframer = deframe.Deframer({1: 27})
    return per_frame(lambda: deframer.feed(stream, 0), TOTAL // batch, batch)


def reference() -> float:
    """cantools, frame by frame."""
    database = cantools.database.can.Database([frame.message() for frame in AXES])
    payload = np.random.default_rng(0).bytes(8)
    return per_frame(lambda: database.decode_message(0x181, payload, decode_choices=False), TOTAL, 1)


def log() -> dict[str, float]:
    """Frames per second of CPU on the real log: parsing its text, decoding from memory, and cantools on the same."""
    text = (MOTEC / "can_sample.log").read_bytes()
    layout = from_dbc(MOTEC / "sample_can_spec.dbc", {}, limits=False, as_written=True)
    decoder = Decoder(layout, [Wanted(channel, name) for channel, name in enumerate(layout.signals)])
    frames = candump.CandumpParser().feed(text, last=True)
    count = len(frames.ids)
    known = np.flatnonzero(np.isin(frames.ids, sorted(layout.lengths)))
    matched = Frames(frames.ids[known], frames.payload[known], frames.lengths[known], frames.times[known])
    database = cantools.database.load_file(MOTEC / "sample_can_spec.dbc")
    some = [(int(frames.ids[row]), frames.payload[row, : frames.lengths[row]].tobytes()) for row in known[::19]]

    def cantools_decodes() -> None:
        for ident, data in some:
            database.decode_message(ident, data, decode_choices=False)

    chunks = [Frames(*(column[at : at + 4096] for column in frames[:4])) for at in range(0, count, 4096)]

    def decode_all() -> None:
        for chunk in chunks:
            decoder.decode(chunk)

    figures = {
        "parsed, frames/s": 1e6 / per_frame(lambda: candump.CandumpParser().feed(text, last=True), 1, count),
        "decoded, frames/s": 1e6 / per_frame(decode_all, 1, count),
        "known frames alone, frames/s": 1e6 / per_frame(lambda: decoder.decode(matched), 1, len(known)),
        "cantools on these, frames/s": 1e6 / per_frame(cantools_decodes, 1, len(some), 5),
    }
    figures["times cantools"] = figures["known frames alone, frames/s"] / figures["cantools on these, frames/s"]
    return figures


def sockets(count: int = 4000) -> dict[str, float]:
    """Frames per second of CPU received and decoded: ours, and python-can's receiving with cantools' decoding."""
    near, far = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
    near.bind(("127.0.0.1", 0))
    for option in (33, socket.SO_RCVBUF):  # SO_RCVBUFFORCE
        try:
            near.setsockopt(socket.SOL_SOCKET, option, 16 << 20)
            break
        except PermissionError:
            continue
    bulk.prepare(near)
    far.connect(near.getsockname())
    records = [struct.pack("<IB3x8s", 0x181 + i % 7, 8, os.urandom(8)) for i in range(count)]
    receiver, decoder = bulk.BulkReceiver(near.fileno()), axes()
    database = cantools.database.can.Database([frame.message() for frame in AXES])
    ours, theirs, single = [], [], []
    for _ in range(RUNS):
        for record in records:
            far.send(record)
        start, found = time.thread_time_ns(), 0
        while found < count and (frames := receiver.receive(0.0)).ids.size:
            found += len(decoder.decode(frames)) // 2
        ours.append((time.thread_time_ns() - start) / max(1, found))
        for record in records[:500]:
            far.send(record)
        start = time.thread_time_ns()
        for _ in range(500):
            message = python_can.capture_message(near)
            database.decode_message(message.arbitration_id, message.data, decode_choices=False)
        theirs.append((time.thread_time_ns() - start) / 500)
        for record in records[:200]:
            far.send(record)
            start = time.thread_time_ns()
            decoder.decode(receiver.receive(0.0))
            single.append((time.thread_time_ns() - start) / 1e3)
    near.close()
    far.close()
    return {
        "received and decoded, frames/s": 1e9 / min(ours),
        "python-can + cantools, frames/s": 1e9 / min(theirs),
        "times python-can + cantools": min(theirs) / min(ours),
        "µs for a frame that comes alone": statistics.median(single),
    }


def serial_line(seconds: float = 2.0) -> dict[str, float]:
    """Share of a core that reading and decoding a full 3 Mbaud line takes, and packets lost."""
    master, slave = os.openpty()
    tty.setraw(master)
    fields = [{"name": f"f{number}", "type": "i16"} for number in range(12)]
    settings = SerialPortSettings.model_validate(
        {
            "kind": "serial",
            "port": os.ttyname(slave),
            "baudrate": 3_000_000,
            "packets": [{"name": "P", "id": 1, "fields": fields}],
        }
    )
    total = int(seconds * 300_000 / 29)
    stream = [encode(1, number, number.to_bytes(24, "little")) for number in range(total)]

    wanted = [Wanted(channel, name) for channel, name in enumerate(settings.signals())]
    with settings.open(wanted) as driver:
        sender = os.fork()
        if sender == 0:
            began = time.monotonic()
            for number in range(0, total, 10):
                os.write(master, b"".join(stream[number : number + 10]))
                time.sleep(max(0.0, began + number * 29 / 300_000 - time.monotonic()))
            os._exit(0)
        readings, start, began = 0, time.thread_time(), time.monotonic()
        while readings < total * len(wanted) and time.monotonic() - began < 5 * seconds:
            readings += len(driver.read(0.1))
        cpu, wall = time.thread_time() - start, time.monotonic() - began
        os.waitpid(sender, 0)
        counts = driver.counters()
    for descriptor in (master, slave):
        os.close(descriptor)
    return {
        "% of a core": 100 * cpu / wall,
        "packets/s": counts["frames"] / wall,
        "lost": float(total - counts["frames"]),
    }


def cold_start() -> dict[str, float]:
    """s of CPU to import the drivers: with kernels on the disk, and compiling them."""
    program = "import time, numba, can; s = time.process_time(); import drivers; print(time.process_time() - s)"
    empty = Path(os.environ.get("TMPDIR", "/tmp")) / f"kernels-{os.getpid()}"

    def measure(**environment: str) -> float:
        found = subprocess.run(
            [sys.executable, "-c", program], env=os.environ | environment, check=True, capture_output=True, text=True
        )
        return float(found.stdout)

    try:
        return {"warm, s": measure(), "cold, s": measure(NUMBA_CACHE_DIR=str(empty))}
    finally:
        subprocess.run(["rm", "-rf", str(empty)], check=False)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    asked = parser.parse_args()
    batches = {
        name: {batch: round(measure(batch), 3) for batch in BATCHES}
        for name, measure in (("decode", decoding), ("slcan", slcan_text), ("serial", serial_packets))
    }
    batches["cantools"] = {1: round(reference(), 3)}
    more: dict[str, Any] = {"socket": sockets(), "line": serial_line(), "import": cold_start()}
    if MOTEC.exists():
        more["log"] = log()
    if asked.json:
        json.dump({"unit": "µs of CPU per frame", "batches": batches} | more, sys.stdout, ensure_ascii=False)
        print()
        return
    print("µs of CPU per frame, in batches of" + "".join(f"{batch:>9}" for batch in BATCHES))
    for name, row in batches.items():
        print(f"{name:<34}" + "".join(f"{row[batch]:9.3f}" if batch in row else f"{'':9}" for batch in BATCHES))
    for name, figures in more.items():
        print(name)
        for what, value in figures.items():
            print(f"  {what:<32}{value:>14,.{0 if value >= 1000 else 2}f}")


if __name__ == "__main__":
    main()
