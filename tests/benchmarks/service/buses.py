"""Four CAN buses at 8000 frames/s each into the whole service: losses by cause, latency, share of a core by process.

    jointwatch bench buses [--json] [--seconds 20] [--buses 4]

The wires are slcan on pseudo-terminals: 1 Mbit/s of CAN as an adapter's text. On each bus eight nodes send a frame a
millisecond (position 32 bit, torque 16 bit, a counter of 16 bit); a robot of seven joints has its channels on them, the
other nodes are known to the layout and unused. One more process plays all nodes; what a pseudo-terminal has no room for
(4095 bytes, 23 ms) waits in it, as in an adapter. Latency: from the arrival of the newest frame that went into an
update, stamped by its driver, to the moment that a subscriber in another process holds the unpacked update.
"""

import argparse
import json
import multiprocessing
import os
import select
import subprocess
import sys
import tempfile
import time
import tty
import urllib.request
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any, Final

import numpy as np
from parts.processes import cpu, of_service

from daq.subscriber import Subscriber
from hil_rig.live import answers
from hil_rig.ports import free_port

NODES: Final = 8
JOINTS: Final = 7
WARM_UP: Final = 5.0  # s left out of the latencies
PATIENCE: Final = 120.0  # s for the service to start; it may compile
# metrics that count losses, and what in them is none
LOSSES: Final = ("samples_lost_total", "readings_lost_total", "decode_errors_total", "updates_missed_total")
HARMLESS: Final = ('cause="restart"',)


def text(seconds: float) -> list[bytes]:
    """The lines of all nodes of one bus, a millisecond each."""
    n = np.arange(round(seconds * 1000))
    t = n * 1e-3
    lines = []
    for node in range(NODES):
        q = 0.5 * np.sin(2 * np.pi * 0.5 * t + node) + 0.3 * np.sin(2 * np.pi * 1.3 * t)
        v = np.gradient(q, t)
        torque = 2.0 * np.gradient(v, t) + 3.0 * v + 1.5 * np.sign(v) + 5.0 * np.sin(q)
        rows = np.zeros(len(n), np.dtype([("q", "<i4"), ("torque", "<i2"), ("counter", "<u2")]))
        rows["q"], rows["torque"], rows["counter"] = np.rint(q * 1e6), np.rint(torque * 100), n % 65536
        words = rows.tobytes().hex().upper()
        lines.append([f"t{0x181 + node:03X}8{words[16 * k : 16 * k + 16]}\r" for k in range(len(n))])
    return ["".join(node[k] for node in lines).encode() for k in range(len(n))]


def play(masters: list[int], seconds: float, go: Event, told: Any) -> None:
    """Every millisecond, a frame of every node to every bus; tells how much waited at most, bytes."""
    words = text(seconds)
    for master in masters:
        os.set_blocking(master, False)
    go.wait()
    waiting = [b""] * len(masters)
    most = 0
    began = time.monotonic()
    for number, word in enumerate(words):
        time.sleep(max(0.0, began + number * 1e-3 - time.monotonic()))
        for bus, master in enumerate(masters):
            waiting[bus] = _put(master, waiting[bus] + word)
        most = max(most, *map(len, waiting))
    end = time.monotonic() + 10.0
    while any(waiting) and time.monotonic() < end:
        waiting = [_put(master, rest) for master, rest in zip(masters, waiting, strict=True)]
        time.sleep(1e-3)
    told.put({"sent": len(words) * NODES, "waited": most, "late": time.monotonic() - began - seconds})


def _put(master: int, data: bytes) -> bytes:
    """What there was no room for."""
    try:
        return data[os.write(master, data) :] if data else data
    except BlockingIOError:
        return data


def configuration(ports: list[str], endpoint: str, page: str) -> str:
    """Joint k is on bus k mod their number."""
    lines = [f'[publish]\nendpoint = "{endpoint}"\npage = "{page}"']
    for bus, port in enumerate(ports):
        lines.append(f'[drivers.bus{bus}]\nkind = "can"\ninterface = "slcan"\nchannel = "{port}"\nbitrate = 1_000_000')
        lines += [
            f'[[drivers.bus{bus}.frames]]\nname = "N{node}"\nid = {0x181 + node}\n'
            'signals.q = { start = 0, bits = 32, type = "signed", scale = 1e-6, unit = "rad" }\n'
            'signals.torque = { start = 32, bits = 16, type = "signed", scale = 0.01, unit = "N·m" }\n'
            "signals.counter = { start = 48, bits = 16 }"
            for node in range(NODES)
        ]
    for joint in range(JOINTS):
        frame = f"bus{joint % len(ports)}.N{joint // len(ports)}"
        lines.append(
            f'[joints.joint{joint}]\nrate = 1000.0\nmodel = {{ kind = "rigid", gravity_sin = true }}\n'
            f'counter = {{ signal = "{frame}.counter", modulo = 65536 }}\n'
            f'channels.position = {{ signal = "{frame}.q" }}\nchannels.torque = {{ signal = "{frame}.torque" }}'
        )
    return "\n".join(lines) + "\n"


def run(buses: int, seconds: float) -> dict[str, Any]:
    """The whole case."""
    ends = [os.openpty() for _ in range(buses)]
    for master, slave in ends:
        tty.setraw(master)
        tty.setraw(slave)
    endpoint, page = f"tcp://127.0.0.1:{free_port()}", f"http://127.0.0.1:{free_port()}"
    spawn = multiprocessing.get_context("fork")
    go, told = spawn.Event(), spawn.Queue()
    masters = [master for master, _ in ends]
    sender = spawn.Process(target=play, args=(masters, seconds + WARM_UP, go, told), daemon=True)
    sender.start()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "jointwatch.toml")
        file.write_text(configuration([os.ttyname(slave) for _, slave in ends], endpoint, page))
        service = subprocess.Popen([sys.executable, "-m", "daq", "run", str(file)], stderr=subprocess.PIPE)
        try:
            _wait(service, page)
            for master in masters:  # the commands by which the adapters were opened
                if not select.select([master], [], [], PATIENCE)[0]:
                    raise SystemExit("a driver did not open its bus")
                os.read(master, 4096)
            return _measure(go, told, endpoint, page, seconds, service.pid) | {"buses": buses}
        finally:
            service.terminate()
            service.wait(20)
            sender.join(10)
            sender.kill()
            for end in ends:
                for descriptor in end:
                    os.close(descriptor)


def _wait(service: "subprocess.Popen[bytes]", page: str) -> None:
    end = time.monotonic() + PATIENCE
    while not answers(page):
        if service.poll() is not None or time.monotonic() > end:
            assert service.stderr is not None
            service.kill()
            raise SystemExit(service.stderr.read().decode())
        time.sleep(0.1)


def _measure(go: Event, told: Any, endpoint: str, page: str, seconds: float, service: int) -> dict[str, Any]:
    latencies: list[float] = []
    with Subscriber(endpoint, ("estimate/",), timeout=20.0) as subscriber:
        go.set()
        begin = time.time() + WARM_UP
        before: dict[str, float] = {}
        for _, update in subscriber:
            now = time.time()
            if now >= begin:
                before = before or used(service)
                latencies.append(now - update["arrival"])
            if now >= begin + seconds - 0.5:
                break
        shares = {name: (cpu - before[name]) / (time.time() - begin) for name, cpu in used(service).items()}
        gaps = sum(subscriber.gaps.values())
    sent = told.get(timeout=30)
    time.sleep(1.5)  # until the last reports of the drivers are in
    frames, lost = counted(page)
    p50, p99, worst = np.quantile(latencies, [0.5, 0.99, 1.0])
    return {
        "frames sent on each bus": sent["sent"],
        "frames counted by each driver": frames,
        "lost": lost | ({"updates": gaps} if gaps else {}),
        "latency": {"p50": p50, "p99": p99, "max": worst, "updates": len(latencies)},
        "share of a core": shares,
        "bytes that waited in an adapter at most": sent["waited"],
    }


def used(service: int) -> dict[str, float]:
    """Processor seconds so far of the service's processes, by name."""
    return {name: cpu(pid) for name, pid in of_service(service).items()}


def counted(page: str) -> tuple[list[int], dict[str, int]]:
    """Frames by driver, and every counter of loss that is not zero."""
    rows = [
        line.rsplit(" ", 1)
        for line in urllib.request.urlopen(f"{page}/metrics").read().decode().splitlines()
        if line.startswith("jointwatch_")
    ]
    frames = [int(float(value)) for name, value in rows if name.startswith("jointwatch_frames_total{")]
    lost = {
        name.removeprefix("jointwatch_"): int(float(value))
        for name, value in rows
        if any(name.startswith(f"jointwatch_{one}{{") for one in LOSSES)
        and float(value)
        and not any(one in name for one in HARMLESS)
    }
    return frames, lost


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--buses", type=int, default=4)
    asked = parser.parse_args()
    found = run(asked.buses, asked.seconds)
    if asked.json:
        print(json.dumps(found, ensure_ascii=False))
        return 0
    latency, lost = found["latency"], found["lost"]
    print(f"{found['buses']} buses (slcan) × {NODES * 1000} frames/s, {JOINTS} joints × 1 kHz, {asked.seconds:g} s")
    print(f"sent on each bus {found['frames sent on each bus']}, counted {found['frames counted by each driver']}")
    print(f"lost: {lost or 0}; waited in an adapter at most {found['bytes that waited in an adapter at most']} bytes")
    print("frame → subscriber: " + ", ".join(f"{key} {1e3 * latency[key]:.2f} ms" for key in ("p50", "p99", "max")))
    print("share of a core: " + ", ".join(f"{name} {share:.1%}" for name, share in found["share of a core"].items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
