#!/usr/bin/env python3
"""A fleet while it runs: processor time of a collector, and time to compare all robots with their siblings.

    python tests/benchmarks/fleet_live.py [--json] [--robots 1000] [--joints 7] [--parameters 10] [--minutes 3]

A process plays the services: each robot has a TCP address of its own and sends, once a second, `summary/<joint>` as the
core makes it (daq/core/joint_summary.py); one joint of one robot is off by six of the fleet's deviations. `jointwatch
fleet collect` is the process that is measured, its own processor time with everything: receiving, writing, rolling up.
Afterwards its lake is asked: of ten million raw rows, and of the minutes of the same time.
"""

import argparse
import json
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import msgpack
import numpy as np
import zmq

from daq.fleet.live.lake import RAW
from daq.fleet.live.roll_up import MINUTES
from daq.fleet.live.standing import Reader
from daq.stream.update import VERSION

ASKED: Final = 10_000_000  # raw rows
ODD: Final = ("robot0017", "joint3", "p4")
MOST: Final = 0.3  # of a core, of the collector
TICK: Final = os.sysconf("SC_CLK_TCK")


class Robots:
    """Services of many robots in one process."""

    def __init__(self, robots: int, joints: int, parameters: int) -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (2 * robots + 200, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        context.set(zmq.MAX_SOCKETS, robots + 100)
        self.sockets = [context.socket(zmq.PUB) for _ in range(robots)]
        self.ports = [one.bind_to_random_port("tcp://127.0.0.1") for one in self.sockets]
        self.random = np.random.default_rng(1)
        self.names = [f"p{i}" for i in range(parameters)]
        self.joints = joints
        self.own = 5.0 + 0.2 * self.random.standard_normal((robots, joints, parameters))
        if robots > 17:
            self.own[17, 3, 4] = 5.0 + 6 * 0.2
        self.seq = 0

    def send(self, robot: int) -> None:
        """The summaries of one robot."""
        values = self.own[robot] + 0.01 * self.random.standard_normal(self.own[robot].shape)
        now = time.time()
        for joint in range(self.joints):
            name = f"joint{joint}"
            body = {
                "timestamp": now, "v": VERSION, "robot": f"robot{robot:04}", "joint": name, "seq": self.seq,
                "boot": robot + 1, "model": "rigid", "unit": "N·m", "phase": "normal", "status": "valid",
                "parameters": dict(zip(self.names, values[joint].tolist(), strict=True)),
                "deviations": dict.fromkeys(self.names, 0.02), "units": dict.fromkeys(self.names, "N·m"),
                "error": 0.03, "changed": {},
                "use": {"unit": "rad", "seconds": 1.0 * self.seq, "travel": 2.0 * self.seq, "reversals": self.seq,
                        "starts": 1},
                "lost": 0,
            }  # fmt: skip
            self.sockets[robot].send_multipart((f"summary/{name}".encode(), msgpack.packb(body)))

    def play(self) -> None:
        """Send until the process is ended; all robots within each second, evenly."""
        begin = time.monotonic()
        while True:
            for robot in range(len(self.sockets)):
                self.send(robot)
                if robot % 20 == 19:
                    due = begin + self.seq + robot / len(self.sockets)
                    time.sleep(max(0.0, due - time.monotonic()))
            self.seq += 1


def play(options: argparse.Namespace) -> int:
    """Be the services: print the ports, then send."""
    robots = Robots(options.robots, options.joints, options.parameters)
    print(json.dumps(robots.ports), flush=True)
    robots.play()
    return 0


def processor(pid: int) -> float:
    """Processor seconds that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def memory(pid: int) -> float:
    """MB of memory that a process has had at most."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1e3 for line in lines if line.startswith("VmHWM"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--robots", type=int, default=1000)
    parser.add_argument("--joints", type=int, default=7)
    parser.add_argument("--parameters", type=int, default=10)
    parser.add_argument("--minutes", type=int, default=3, help="that are collected")
    parser.add_argument("--play", action="store_true", help="be the services")
    options = parser.parse_args()
    if options.play:
        return play(options)
    with tempfile.TemporaryDirectory() as folder:
        figures = collected(options, Path(folder)) | asked(Path(folder) / "lake")
    if options.json:
        print(json.dumps(figures))
    else:
        print(f"{options.robots} robots × {options.joints} joints × {options.parameters} parameters, once a second")
        print("\n".join(f"{name:52}{value:14.6g}" for name, value in figures.items()))
    return 0 if figures["collector, of a core"] <= MOST and not figures["summaries missing"] else 1


def collected(options: argparse.Namespace, folder: Path) -> dict[str, float]:
    """Play and collect."""
    words = [f"--{name}={getattr(options, name)}" for name in ("robots", "joints", "parameters")]
    services = subprocess.Popen([sys.executable, __file__, "--play", *words], stdout=subprocess.PIPE, text=True)
    assert services.stdout is not None
    try:
        ports = json.loads(services.stdout.readline())
        lines = [f'robot{i:04} = {{ endpoint = "tcp://127.0.0.1:{port}" }}' for i, port in enumerate(ports)]
        (folder / "lake.toml").write_text('[lake]\nplace = "lake"\n[robots]\n' + "\n".join(lines) + "\n")
        command = [sys.executable, "-m", "daq", "fleet", "collect", str(folder / "lake.toml")]
        collector = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            wait_for_minute(folder / "lake", collector)
            before, played, began = processor(collector.pid), processor(services.pid), time.monotonic()
            time.sleep(60.0 * options.minutes)
            elapsed = time.monotonic() - began
            used, sent = processor(collector.pid) - before, processor(services.pid) - played
            most = memory(collector.pid)
            collector.send_signal(signal.SIGINT)
            said, log = collector.communicate(timeout=120)
        finally:
            collector.kill()
    finally:
        services.kill()
    if collector.returncode != 0:
        raise SystemExit(f"the collector ended with {collector.returncode}: {log}")
    words = said.split()
    return {
        "collector, of a core": used / elapsed,
        "collector, memory at most, MB": most,
        "services, of a core": sent / elapsed,
        "summaries written": float(words[0]),
        "summaries missing": float(words[5]),
        "load of the machine": os.getloadavg()[0],
    }


def wait_for_minute(lake: Path, collector: "subprocess.Popen[str]") -> None:
    """Wait until the first minute is rolled up: all are connected then."""
    end = time.monotonic() + 240
    while not list(lake.glob("minutes/*/*.parquet")):
        if time.monotonic() > end or collector.poll() is not None:
            raise SystemExit("no minute was rolled up")
        time.sleep(0.2)


def asked(lake: Path) -> dict[str, float]:
    """Ask the lake: time, processor time, and whether the odd one is told."""
    reader = Reader(str(lake))
    files = reader.lake.files(RAW, 0, float("inf"))
    rows, first, last = 0, 0.0, files[-1].end
    counted = reader.rows(RAW, "SELECT epoch(time_bucket(INTERVAL 1 second, time)), count(*) FROM finer GROUP BY 1 "
                          "ORDER BY 1 DESC", 0, float("inf"))  # fmt: skip
    for second, count in counted:
        rows, first = rows + count, float(second)
        if rows >= ASKED:
            break
    size = sum(Path(one.path).stat().st_size for one in files) / sum(count for _, count in counted)
    found: dict[str, float] = {"bytes a raw row": size, "raw rows asked": float(rows)}
    begin, end = first // 60 * 60, last // 60 * 60.0
    for name, table, since, until in (("raw", RAW, first, last), ("minutes", MINUTES.table, begin, end)):
        query = [timed(lambda table=table, since=since, until=until: reader.columns(since, until, table))  # type: ignore[misc]
                 for _ in range(5)]  # fmt: skip
        whole = [timed(lambda table=table, since=since, until=until: reader.standing(since, until, table))  # type: ignore[misc]
                 for _ in range(3)]  # fmt: skip
        found |= {
            f"siblings over {name}, query, s, least of five": min(one[0] for one in query),
            f"siblings over {name}, query, s, median": statistics.median(one[0] for one in query),
            f"siblings over {name}, query, processor s, least": min(one[1] for one in query),
            f"siblings over {name}, with the verdict, s, least": min(one[0] for one in whole),
            f"siblings over {name}, with the verdict, processor s": min(one[1] for one in whole),
        }
        odd = {(one.robot, one.joint, one.quantity) for one in whole[0][2].quantities if one.odd}
        found |= {f"odd ones found in {name}": float(ODD in odd), f"others in {name}": float(len(odd - {ODD}))}
    return found


def timed(work: Any) -> tuple[float, float, Any]:
    """Clock and processor time of work, s, and what it gives."""
    began, used = time.perf_counter(), time.process_time()
    found = work()
    return time.perf_counter() - began, time.process_time() - used, found


if __name__ == "__main__":
    sys.exit(main())
