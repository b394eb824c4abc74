"""What recording costs, and what a kill or a slow disk loses: seven joints at 1 kHz over udp_multicast.

    jointwatch bench recorder [--json] [--seconds 10] [--rounds 3] [--kills 8]

Latency is from the arrival of the newest frame in an update until the core has made it (core) and until a subscriber
holds it, with a service that records nothing, one that records, and one whose disk is so slow that the recorder stands
still nine tenths of the time (SIGSTOP); the three take turns, and the medians of the rounds are compared.

What recording adds to a turn of the core's loop is measured alone, too, on the core's own end of the queue: in most
turns something is noted, every 40 ms a block is handed over; the other end stands still.

Loss after a kill: of core and recorder at once, how old the newest reading in the file is at the kill; of the recorder
alone, how much time no file has.
"""

import argparse
import json
import os
import signal
import statistics
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from parts.processes import cpu

from daq.recording.folder import recordings
from daq.recording.reader import blocks
from daq.stream.transcript import Batch, Transcript
from daq.subscriber import Subscriber
from drivers.reading import READING
from hil_rig.live import Live

RIG = ["rigid", "--joints", "7", "--wire", "udp"]
WARM_UP = 9.0  # s left out: the starting procedure is over then
PATIENCE = 30.0  # s for anything to happen
STALL, MOVE = 0.9, 0.1  # s that a slow disk stands still, and moves


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kills", type=int, default=8)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the service ends with us
    cases: dict[str, list[dict[str, float]]] = {"off": [], "on": [], "slow": []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for _ in range(options.rounds):
            with Live(RIG) as live:
                time.sleep(WARM_UP)
                cases["off"].append(measure(live, options.seconds))
            with Live(RIG, more=f'\n[recorder]\nfolder = "{folder}"\nreserve = 0\n') as live:
                time.sleep(WARM_UP)
                cases["on"].append(measure(live, options.seconds))
                cases["slow"].append(on_a_slow_disk(live, options.seconds))
                if len(cases["on"]) == options.rounds:
                    both = [kill_both(live, folder) for _ in range(options.kills)]
                    alone = [kill_recorder(live, folder) for _ in range(options.kills)]
    found = {
        f"{key}, {case}": statistics.median(one[key] for one in rounds)
        for case, rounds in cases.items()
        for key in rounds[0]
    }
    found |= added()
    found |= {"lost, core and recorder killed, ms": max(both, default=0.0)}
    found |= {"lost, recorder killed, ms": max(alone, default=0.0)}
    if options.json:
        print(json.dumps(found))
        return 0
    for key, value in found.items():
        print(f"{key:40} {f'{value:.1%}' if 'CPU' in key else f'{value:.2f}'}")
    return 0


def measure(live: Live, seconds: float) -> dict[str, float]:
    """Latency (ms), shares of a core, MB/h and blocks lost."""
    told, begin = state(live), time.monotonic()
    pids = {name: told["processes"][name]["pid"] for name in ("core", "recorder") if name in told["processes"]}
    before = {name: cpu(pid) for name, pid in pids.items()}
    found = {}
    latencies: list[tuple[float, float]] = []
    with Subscriber(live.endpoint, ("estimate/",), timeout=PATIENCE) as subscriber:
        for _, update in subscriber:
            latencies.append((update["latency"], time.time() - update["arrival"]))
            if time.monotonic() - begin >= seconds:
                break
        gaps = sum(subscriber.gaps.values())
    elapsed = time.monotonic() - begin
    late = 1e3 * np.array(latencies[len(latencies) // 10 :])
    for place, column in zip(("core", "subscriber"), late.T, strict=True):
        found |= {f"{place} p{share}, ms": float(np.percentile(column, share)) for share in (50, 99)}
    found |= {"gaps": float(gaps)} | {
        f"CPU of the {name}": (cpu(pid) - before[name]) / elapsed for name, pid in pids.items()
    }
    if told["recorder"]:
        now = state(live)["recorder"]
        hours = (now["timestamp"] - told["recorder"]["timestamp"]) / 3600
        found["MB/h"] = (now["bytes"] - told["recorder"]["bytes"]) / 1e6 / hours
        found["blocks lost"] = now["lost"] - told["recorder"]["lost"]
    return found


def added() -> dict[str, float]:
    """µs of processor time in a turn of the core's loop: seven joints at 1 kHz, 50 updates/s each."""
    noting, handing = [], []
    with tempfile.TemporaryDirectory() as folder:
        transcript = Transcript(f"ipc://{folder}/nobody", 1)
        readings = np.zeros(21, READING)
        update = (b"estimate/joint1", bytes(600))
        for turn in range(20_000):
            number = transcript.sent
            begin = time.thread_time_ns()
            messages = [update, update] * (turn % 3 == 0)
            transcript.note(readings, Batch(21, 1, 2, [3] * (turn % 3 == 0), [], None), messages)
            (noting if transcript.sent == number else handing).append(time.thread_time_ns() - begin)
            time.sleep(1e-4 if turn % 10 else 2e-3)
        transcript.close()
    return {
        "added to a turn, median, µs": statistics.median(noting) / 1e3,
        "added to a turn with a block, median, µs": statistics.median(handing) / 1e3,
        "added to a turn, p99, µs": float(np.percentile(noting + handing, 99)) / 1e3,
    }


def on_a_slow_disk(live: Live, seconds: float) -> dict[str, float]:
    """Repeat the measurement while the recorder hardly gets on."""
    pid, over = int(state(live)["processes"]["recorder"]["pid"]), threading.Event()

    def stall() -> None:
        while not over.is_set():
            os.kill(pid, signal.SIGSTOP)
            over.wait(STALL)
            os.kill(pid, signal.SIGCONT)
            over.wait(MOVE)

    stalling = threading.Thread(target=stall)
    stalling.start()
    try:
        return measure(live, seconds)
    finally:
        over.set()
        stalling.join()


def kill_both(live: Live, folder: Path) -> float:
    """Core and recorder at once: ms before the kill that no file has."""
    file, processes = recording(live, folder), state(live)["processes"]
    for name in ("core", "recorder"):
        os.kill(processes[name]["pid"], signal.SIGKILL)
    killed = time.monotonic_ns()
    wait(lambda: recordings(folder, "rigid")[-1] != file)
    last = [block for block in blocks(file) if len(block.readings)][-1]
    return (killed - int(last.readings["time"][-1])) / 1e6


def kill_recorder(live: Live, folder: Path) -> float:
    """The recorder alone: ms that are neither in its file nor in the next one, beyond a sample's."""
    file = recording(live, folder)
    os.kill(state(live)["processes"]["recorder"]["pid"], signal.SIGKILL)
    wait(lambda: recordings(folder, "rigid")[-1] != file)
    after = recordings(folder, "rigid")[-1]
    wait(lambda: any(len(block.readings) for block in blocks(after)))
    last = [block for block in blocks(file) if len(block.readings)][-1]
    first = next(block for block in blocks(after) if len(block.readings))
    return max(0.0, int(first.readings["time"][0]) - int(last.readings["time"][-1]) - 1e6) / 1e6


def recording(live: Live, folder: Path) -> Path:
    """The file that grows now; the service has been calm for a second."""
    file = recordings(folder, "rigid")[-1]
    size = file.stat().st_size
    wait(lambda: state(live)["recorder"].get("file") == file.name and file.stat().st_size > size + 50_000)
    wait(lambda: all(one["up"] for one in state(live)["processes"].values()))
    time.sleep(1.0)
    return file


def wait(condition: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("the service does not come back")
        time.sleep(0.05)


def state(live: Live) -> dict[str, Any]:
    with urllib.request.urlopen(f"{live.page}/api/state", timeout=PATIENCE) as response:
        found: dict[str, Any] = json.load(response)
    return found


if __name__ == "__main__":
    sys.exit(main())
