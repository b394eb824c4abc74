"""`python tests/endurance/soak.py --hours H`: seven joints for hours, all that happens in hours, and what is left.

Frames drop all the time, the wire stands still every two minutes, one subscriber reads, one stalls, a page is open, the
recorder is on. At the end: memory, descriptors, the trace of each covariance, gaps in sequence, values that are none;
and whether the service has counted as lost exactly what the rig did not send.

SIGTERM or Ctrl-C ends it before its hours are over: rig and service are stopped in order, the figures are those so far.
"""

import argparse
import asyncio
import contextlib
import json
import math
import os
import re
import signal
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any, Final

from chaos_bench import Bench
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from daq.subscriber import Subscriber
from hil_rig.commands.bench import machine, with_section
from hil_rig.live import Live

PAGE: Final = Path(__file__).parents[2] / "docs" / "soak.md"
RIG: Final = ("rigid", "--joints", "7", "--wire", "slcan", "--fault", "drop=0.0005", "--fault", "nan=0.0001")
LOOK_EVERY: Final = 10.0  # s
STAND_EVERY: Final = 120.0  # s between two standstills of the wire …
STAND: Final = 3.0  # … this long, s
SETTLED: Final = 60.0  # s after which memory and descriptors should grow no more
NOT_USED: Final = ("out_of_order", "duplicate", "rejected", "refused")  # a sample that came, and is in no row
GROWTH: Final = 60e6  # bytes, of all processes together; the page's history is 120 s long
TENTHS: Final = 10  # looks at memory, evenly over the run
LEVEL: Final = (
    6e6  # bytes that a process may grow by in the second half: 0.3 MB/min would make three times it in an hour
)


class Watcher(threading.Thread):
    """Reads every update, and keeps what must not be."""

    def __init__(self, endpoint: str) -> None:
        super().__init__(daemon=True)
        self.updates = self.unknown = 0
        self.traces: dict[str, float] = {}  # joint → sum of its variances, of the last estimate
        self.largest: dict[str, float] = {}
        self.gaps = self.restarts = 0
        self.done = False
        self._stream = Subscriber(endpoint, ("estimate/", "residual/"), timeout=1.0)

    def run(self) -> None:
        """The thread."""
        with self._stream as stream:
            while not self.done:
                try:
                    topic, update = next(stream)
                except TimeoutError:
                    continue
                self.updates += 1
                self.gaps, self.restarts = sum(stream.gaps.values()), stream.restarts
                if topic.startswith("estimate/"):
                    self._absorb(update)

    def _absorb(self, update: dict[str, Any]) -> None:
        values = update["parameters"].values()
        if update["phase"] in ("normal", "held") and not all(map(math.isfinite, values)):
            self.unknown += 1
        trace = sum(value**2 for value in update["deviations"].values() if math.isfinite(value))
        self.traces[update["joint"]] = trace
        if update["phase"] == "normal":
            self.largest[update["joint"]] = max(trace, self.largest.get(update["joint"], 0.0))


async def _page(url: str, done: threading.Event, counted: list[int]) -> None:
    with contextlib.suppress(ConnectionClosed):  # the service stops at the end
        async with connect(f"{url.replace('http', 'ws')}/live", max_size=None, compression=None) as line:
            while not done.is_set():
                counted[0] += len(await line.recv())


def _stall(endpoint: str, done: threading.Event) -> None:
    """A subscriber that reads a little once a minute."""
    with Subscriber(endpoint, timeout=1.0) as deaf:
        while not done.wait(60.0):
            with contextlib.suppress(TimeoutError):
                for _ in range(100):
                    next(deaf)


def used(pids: dict[str, int]) -> dict[str, tuple[float, int]]:
    """Process → bytes of its own memory, open descriptors."""
    found = {}
    for name, pid in pids.items():
        roll = Path(f"/proc/{pid}/smaps_rollup").read_text()
        own = sum(int(size) for size in re.findall(r"^Private_\w+:\s+(\d+)", roll, re.MULTILINE))
        found[name] = (1e3 * own, len(list(Path(f"/proc/{pid}/fd").iterdir())))
    return found


def soak(seconds: float) -> tuple[dict[str, Any], bool]:
    """What is left after that long, and whether it is all right."""
    with tempfile.TemporaryDirectory() as folder:
        more = f'\n[recorder]\nfolder = "{folder}/records"\nreserve = 0\nkeep = 400e6\nfile_size = 50e6\n'
        with Live(RIG, more=more) as live:
            bench, done = Bench(live, Path(folder)), threading.Event()
            bench.flows(120)
            watcher, received = Watcher(live.endpoint), [0]
            page = threading.Thread(target=lambda: asyncio.run(_page(live.page, done, received)), daemon=True)
            stalled = threading.Thread(target=_stall, args=(live.endpoint, done), daemon=True)
            for thread in (watcher, page, stalled):
                thread.start()
            told = _through(bench, watcher, seconds)
            told["page_bytes"] = received[0]
            done.set()
            watcher.done = True
            watcher.join(10)
            return told, _good(told)


def _through(bench: Bench, watcher: Watcher, seconds: float) -> dict[str, Any]:
    over = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):  # the second one does not wait for figures
        signal.signal(number, lambda *_: sys.exit(1) if over.is_set() else over.set())
    begin, stand = time.monotonic(), time.monotonic() + STAND_EVERY / 2
    first: dict[str, tuple[float, int]] = {}
    pids = bench.children()
    courses: dict[str, list[float]] = {name: [] for name in pids}  # MB of each process, after every tenth of the run
    stood = looked = 0
    while time.monotonic() - begin < seconds and not over.wait(min(LOOK_EVERY, seconds / TENTHS)):
        if time.monotonic() - begin > seconds * (looked + 1) / TENTHS:
            looked += 1
            for name, (size, _) in used(pids).items():
                courses[name].append(round(size / 1e6, 1))
        if not first and time.monotonic() - begin > min(SETTLED, seconds / 3):
            first = used(pids)
        if time.monotonic() > stand and bench.live.rig_pid:
            stand, stood = time.monotonic() + STAND_EVERY, stood + 1
            os.kill(bench.live.rig_pid, signal.SIGSTOP)
            time.sleep(STAND)
            os.kill(bench.live.rig_pid, signal.SIGCONT)
    time.sleep(5.0)
    last = used(bench.children())
    rig = bench.live.end_rig(30.0)
    time.sleep(3.0)
    state = json.load(urllib.request.urlopen(f"{bench.live.page}/api/state", timeout=10))
    return {
        "hours": round((time.monotonic() - begin) / 3600, 3),
        "updates": watcher.updates,
        "standstills": stood,
        "sequence_gaps": watcher.gaps,
        "core_restarts": watcher.restarts,
        "non_finite": watcher.unknown,
        "same_processes": pids == bench.children(),
        "memory_mb": {name: [round(first[name][0] / 1e6, 1), round(last[name][0] / 1e6, 1)] for name in first},
        "memory_course_mb": {name: [*courses[name], round(last[name][0] / 1e6, 1)] for name in first},
        "descriptors": {name: [first[name][1], last[name][1]] for name in first},
        "trace": {name: watcher.traces[name] for name in sorted(watcher.traces)},
        "largest_trace": {name: watcher.largest[name] for name in sorted(watcher.largest)},
        "phases": {name: joint.get("phase") for name, joint in state["joints"].items()},
        "lost": {name: joint.get("lost") for name, joint in state["joints"].items()},
        "not_sent": int(rig["refused"] + rig["faults"]["drop"]),  # frames; one a sample
        "counted": sum(joint["lost"]["lost"] for joint in state["joints"].values()),
        "not_used": sum(joint["lost"][cause] for joint in state["joints"].values() for cause in NOT_USED),
        "clock_restarts": max(joint["lost"]["restart"] for joint in state["joints"].values()),
        "rig": {name: rig[name] for name in ("samples", "sent", "refused", "unheard", "late", "latest")},
        "load": os.getloadavg()[2],
        "processes": state["processes"],
        "recorder": state["recorder"],
    }


def _good(told: dict[str, Any]) -> bool:
    grown = sum(after - before for before, after in told["memory_mb"].values()) * 1e6
    opened = sum(after - before for before, after in told["descriptors"].values())
    return bool(
        told["sequence_gaps"] == told["non_finite"] == told["core_restarts"] == told["recorder"]["lost"] == 0
        and told["same_processes"]
        and told["counted"] == told["not_sent"]
        and grown < GROWTH
        and max(map(_late_growth, told["memory_course_mb"].values()), default=0.0) < LEVEL / 1e6
        and opened <= 4
        and all(math.isfinite(trace) for trace in told["trace"].values())
        and len(told["trace"]) == 7
    )


def _late_growth(course: list[float]) -> float:
    """MB that a process has grown by in the second half of the run; course: (looks,) MB."""
    return course[-1] - course[len(course) // 2] if course else 0.0


def main() -> int:
    """Run it; the exit code is 1 where something is left that should not be."""
    parser = argparse.ArgumentParser(description="seven joints for hours")
    parser.add_argument("--hours", type=float, default=1.0)
    parser.add_argument("--write", action="store_true", help=f"the figures into {PAGE}")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # rig and service end with us
    told, good = soak(3600 * options.hours)
    print(json.dumps(told | {"good": good}, indent=1))
    if options.write:
        page = PAGE.read_text(encoding="utf-8") if PAGE.exists() else "# Soak\n"
        PAGE.write_text(with_section(page, "soak", _words(told, good), machine()), encoding="utf-8")
    return not good


def _words(told: dict[str, Any], good: bool) -> str:
    """A line for each figure."""
    lines = {
        "hours, updates read": f"{told['hours']}, {told['updates']}",
        "standstills of the wire, 3 s each": told["standstills"],
        "samples not sent (dropped, or no room on the wire)": told["not_sent"],
        "counted as lost by the service": told["counted"],
        "samples that came and were not used": told["not_used"],
        "clocks set anew, most of any joint": told["clock_restarts"],
        "samples that the rig sent late; its longest lag": f"{told['rig']['late']}, {told['rig']['latest']:.1f} s",
        "load of the machine, 15 min": round(told["load"], 1),
        "updates missing, values that are none, core restarts": f"{told['sequence_gaps']}, {told['non_finite']}, "
        f"{told['core_restarts']}",
        "blocks the recorder lost": told["recorder"]["lost"],
        "processes the same as at the start": told["same_processes"],
        "largest and last sum of variances of a joint": f"{max(told['largest_trace'].values()):.2g}, "
        f"{max(told['trace'].values()):.2g}",
        "good": good,
    }
    for name, (before, after) in told["memory_mb"].items():
        first, last = told["descriptors"][name]
        lines[f"{name}: own memory, descriptors"] = f"{before} -> {after} MB, {first} -> {last}"
        course = told["memory_course_mb"][name]
        lines[f"{name}: own memory over the run; grown in its second half"] = (
            f"{' '.join(map(str, course))}; {_late_growth(course):.1f} MB"
        )
    return "\n".join(f"{name:60} {value}" for name, value in lines.items())


if __name__ == "__main__":
    sys.exit(main())
