#!/usr/bin/env python3
"""A fleet while it runs: processor time of a collector, and time to compare all robots with their siblings.

    jointwatch bench fleet_live [--json] [--robots 1000] [--joints 7] [--parameters 10] [--minutes 3]

A process plays the services: each robot has a TCP address of its own and sends, once a second, a map as the core's
`summary/<joint>`. `jointwatch fleet collect` is the process that is measured, its own processor time with everything:
receiving, writing, rolling up. On a busy machine the player may fall behind; so the processor time of one summary is
told, too, and what it makes at the full rate.

Then a lake with ten million raw rows of the same robots is filled and rolled up, one quantity of one robot being off by
six of the fleet's deviations, and asked: of the raw rows, and of the minutes of the same time.
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
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgpack
import numpy as np
import pyarrow
import zmq

from daq.fleet.live.lake import RAW, Lake
from daq.fleet.live.roll_up import MINUTES, RollUp
from daq.fleet.live.standing import Reader
from daq.stream.update import VERSION

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
    parser.add_argument("--rows", type=int, default=10_000_000, help="raw rows that are asked")
    parser.add_argument("--play", action="store_true", help="be the services")
    options = parser.parse_args()
    if options.play:
        return play(options)
    with tempfile.TemporaryDirectory() as folder:
        figures = collected(options, Path(folder)) if options.minutes else {}
        filled = Path(folder) / "filled"
        end = fill(Lake(str(filled)), options)
        figures |= asked(Reader(str(filled)), end)
        figures["load of the machine"] = os.getloadavg()[0]
    if options.json:
        print(json.dumps(figures))
    else:
        print(f"{options.robots} robots × {options.joints} joints × {options.parameters} parameters, once a second")
        print("\n".join(f"{name:56}{value:14.6g}" for name, value in figures.items()))
    return 0 if figures.get("collector at the full rate, of a core", 0.0) <= MOST else 1


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
            before, began = processor(collector.pid), time.time()
            time.sleep(60.0 * options.minutes)
            used, end, most = processor(collector.pid) - before, time.time(), memory(collector.pid)
            collector.send_signal(signal.SIGINT)
            said, log = collector.communicate(timeout=300)
        finally:
            collector.kill()
    finally:
        services.kill()
    if collector.returncode != 0:
        raise SystemExit(f"the collector ended with {collector.returncode}: {log}")
    query = f"SELECT count(*) FROM finer WHERE quantity = 'p0' AND epoch(time) BETWEEN {began} AND {end}"
    [(came,)] = Reader(str(folder / "lake")).rows(RAW, query, 0, float("inf"))
    wanted = options.robots * options.joints
    return {
        "collector, of a core": used / (end - began),
        "summaries a second that came": came / (end - began),
        "summaries a second of the full rate": wanted,
        "collector, processor µs a summary": 1e6 * used / came,
        "collector at the full rate, of a core": used / came * wanted,
        "collector, memory at most, MB": most,
        "summaries missing": float(said.split()[5]),
    }


def fill(lake: Lake, options: argparse.Namespace) -> float:
    """Write raw rows as the collector does, ten seconds a file, and roll them up; returns Unix s of their end."""
    random, begin, step = np.random.default_rng(1), 1_800_000_000 // 60 * 60, 10
    parts = [(f"robot{i:04}", f"joint{j}") for i in range(options.robots) for j in range(options.joints)]
    series = len(parts) * options.parameters
    own = 5.0 + 0.2 * random.standard_normal((len(parts), options.parameters))
    own[parts.index(ODD[:2]), int(ODD[2][1:])] = 5.0 + 6 * 0.2
    code = np.repeat(np.arange(series, dtype=np.int32), step)
    dictionary = pyarrow.DictionaryArray.from_arrays

    def words(codes: Any, named: list[str]) -> Any:
        return dictionary(np.asarray(codes, np.int32), named)

    texts = {
        "robot": words(code // (options.joints * options.parameters), [f"robot{i:04}" for i in range(options.robots)]),
        "joint": words(code // options.parameters % options.joints, [f"joint{j}" for j in range(options.joints)]),
        "model": words(0 * code, ["rigid"]),
        "quantity": words(code % options.parameters, [f"p{k}" for k in range(options.parameters)]),
        "unit": words(0 * code, ["N·m"]),
    }
    status, ones = words(0 * code, ["valid"]), np.ones(len(code))
    files = -(-options.rows // len(code))
    for file in range(files):
        second = np.tile(np.arange(step), series) + file * step
        value = own.reshape(-1)[code] + 0.01 * random.standard_normal(len(code))
        numbers = {
            "value": value, "deviation": 0.02 * ones, "counted": ones > 0, "status": status, "left": np.nan * ones,
            "boot": 7 + 0 * second, "seq": second, "lost": np.zeros(len(code), np.int32),
        }  # fmt: skip
        times = {"time": ((begin + second) * 1_000_000).astype("datetime64[us]")}
        lake.write(RAW, "bench", begin + file * step, begin + (file + 1) * step, pyarrow.table(times | texts | numbers))
    roll_up = RollUp(lake, "bench")
    roll_up.find_unfinished()
    roll_up.run(float("inf"), partial=True)
    return begin + float(files * step)


def wait_for_minute(lake: Path, collector: "subprocess.Popen[str]") -> None:
    """Wait until the first minute is rolled up: all are connected then."""
    end = time.monotonic() + 240
    while not list(lake.glob("minutes/*/*.parquet")):
        if time.monotonic() > end or collector.poll() is not None:
            raise SystemExit("no minute was rolled up")
        time.sleep(0.2)


def asked(reader: Reader, end: float) -> dict[str, float]:
    """Ask the lake: time, processor time, and whether the odd one is told."""
    [(rows,)] = reader.rows(RAW, "SELECT count(*) FROM finer", 0, float("inf"))
    files = reader.lake.files(RAW, 0, float("inf"))
    found: dict[str, float] = {
        "raw rows": rows,
        "bytes a raw row": sum(Path(one.path).stat().st_size for one in files) / rows,
    }
    first = float(files[0].first)
    for table in (RAW, MINUTES.table):
        query = [timed(partial(reader.columns, first, end, table)) for _ in range(5)]
        whole = [timed(partial(reader.standing, first, end, table)) for _ in range(3)]
        found |= {
            f"siblings over {table}, query, s, least of five": min(one[0] for one in query),
            f"siblings over {table}, query, s, median": statistics.median(one[0] for one in query),
            f"siblings over {table}, query, processor s, least": min(one[1] for one in query),
            f"siblings over {table}, with the verdict, s, least": min(one[0] for one in whole),
            f"siblings over {table}, with the verdict, processor s": min(one[1] for one in whole),
        }
        odd = {(one.robot, one.joint, one.quantity) for one in whole[0][2].quantities if one.odd}
        found |= {f"the odd one is found in {table}": float(ODD in odd), f"others in {table}": float(len(odd - {ODD}))}
    return found


def timed(work: Any) -> tuple[float, float, Any]:
    """Clock and processor time of work, s, and what it gives."""
    began, used = time.perf_counter(), time.process_time()
    found = work()
    return time.perf_counter() - began, time.process_time() - used, found


if __name__ == "__main__":
    sys.exit(main())
