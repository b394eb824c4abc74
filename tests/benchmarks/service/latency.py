"""Frame → subscriber: latency, the processes' share of a core, and losses, with rig, service and subscriber live.

    jointwatch bench latency [--json] [--seconds 20] [--wire zenoh] [--best 5] [--priority 10]

Latency is from the arrival of the newest frame that went into an update, stamped by its driver, to the moment that a
subscriber in another process holds the unpacked update. Losses are everything that any counter of the service saw,
plus gaps in the subscriber's sequences. With --best the run with the lowest p99 of so many counts: other programs on
the machine only add to it. For zenoh a row says what the library alone takes, from a message's put to a callback in
another process; from the put to the update is at most both. --priority is the service's and the subscriber's (0: none),
where that is allowed. The figures are of the seconds after the start of every joint. The start itself looks at each
joint ten times a second instead of once, so its slowest hundredth has a column of its own.
"""

import argparse
import json
import os
import sys
import time
import urllib.request
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from parts.processes import cpu, of_service
from parts.zenoh_floor import zenoh_alone

from daq.stream.priority import allowed
from daq.subscriber import Subscriber
from hil_rig.live import Live

CASES = {
    "7 joints × 1 kHz, udp_multicast": ["rigid", "--joints", "7", "--wire", "udp"],
    "7 joints × 1 kHz, ros2": ["rigid", "--joints", "7", "--wire", "ros2"],
    "7 joints × 1 kHz, zenoh": ["rigid", "--joints", "7", "--wire", "zenoh"],
    "6 joints × 1 kHz, rtde": ["rigid", "--joints", "6", "--wire", "rtde"],
    "1 joint × 1 kHz, slcan": ["rigid", "--wire", "slcan"],
    "1 joint × 1 kHz, serial": ["rigid", "--wire", "serial"],
}
WARM_UP = 5.0  # s left out, at the beginning and after the starts
EARLY = ("waiting", "starting")
LONGEST = 90.0  # s waited for the starts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--wire", choices=sorted({rig[-1] for rig in CASES.values()}), help="only on this one")
    parser.add_argument("--best", type=int, default=1, metavar="N", help="the best of so many runs (1)")
    parser.add_argument("--priority", type=int, default=0, help="[processes] priority, and this process's (0)")
    options = parser.parse_args()
    priority = options.priority if allowed(options.priority) else 0
    cases = {name: rig for name, rig in CASES.items() if options.wire in (None, rig[-1])}
    results: dict[str, dict[str, Any]] = {}
    for name, rig in cases.items():
        results[name] = best(partial(measure, rig, options.seconds, priority), options.best)
        if rig[-1] == "zenoh":
            floor = partial(alone, int(rig[2]), options.seconds, priority)
            results["  zenoh alone, put → callback"] = best(floor, options.best)
    if options.json:
        print(json.dumps(results))
        return 0
    print(f"real-time priority {priority}" if priority else "no real-time priority")
    print(f"{'':34} {'p50':>8} {'p99':>8} {'max':>8} {'start p99':>10}   core: driver, core, outlet   lost")
    for name, result in results.items():
        p50, p99, worst = (f"{1e3 * result[key]:.2f} ms" for key in ("p50", "p99", "max"))
        start = f"{1e3 * result['start p99']:.2f} ms" if "start p99" in result else ""
        shares = ", ".join(f"{result['cpu'][key]:.1%}" for key in ("wire", "core", "outlet") if key in result["cpu"])
        tail = f"{shares:>26}   {result['lost']}   load {result['load']:.1f}"
        print(f"{name:34} {p50:>8} {p99:>8} {worst:>8} {start:>10}   {tail}")
    return 0


def best(run: Callable[[], dict[str, Any]], count: int) -> dict[str, Any]:
    """The run of so many with the lowest p99, with the processors' load during it."""
    found = []
    for _ in range(count):
        one = run()
        found.append(one | {"load": os.getloadavg()[0]})
    return min(found, key=lambda one: float(one["p99"]))


def alone(joints: int, seconds: float, priority: int) -> dict[str, Any]:
    """What zenoh takes without the service."""
    p50, p99, worst = np.quantile(taken := zenoh_alone(joints, seconds, priority), [0.5, 0.99, 1.0])
    return {"p50": p50, "p99": p99, "max": worst, "updates": len(taken), "cpu": {}, "lost": 0}


def measure(rig: list[str], seconds: float, priority: int) -> dict[str, object]:
    """One case: its start, and so many seconds after it."""
    starting, latencies = [], []
    early: set[str] = set()
    more = f"\n[processes]\npriority = {priority}\n"
    with (
        Live(rig, more=more) as live,
        Subscriber(live.endpoint, ("estimate/",), timeout=60.0, priority=priority) as subscriber,
    ):
        assert live.service is not None
        processes = of_service(live.service.pid)
        opened = time.time()
        begin = opened + LONGEST  # until the starts have ended
        before: dict[str, float] = {}
        for topic, update in subscriber:
            now = time.time()
            if now < opened + WARM_UP:
                early.add(topic)
            elif early and now < begin:
                starting.append(now - update["arrival"])
                if update["phase"] not in EARLY:
                    early.discard(topic)
                    begin = begin if early else now + WARM_UP
            elif now >= begin:
                before = before or {name: cpu(pid) for name, pid in processes.items()}
                latencies.append(now - update["arrival"])
                if now > begin + seconds:
                    break
        used = {name: (cpu(pid) - before[name]) / seconds for name, pid in processes.items()}
        lost = sum(subscriber.gaps.values()) + losses(f"{live.page}/metrics")
    p50, p99, worst = np.quantile(latencies, [0.5, 0.99, 1.0])
    start = float(np.quantile(starting, 0.99))
    figures = {"p50": p50, "p99": p99, "max": worst, "start p99": start}
    return figures | {"updates": len(latencies), "cpu": used, "lost": lost}


def losses(metrics: str) -> int:
    """Everything that any counter of loss saw."""
    text = urllib.request.urlopen(metrics).read().decode()
    rows = [line.rsplit(" ", 1) for line in text.splitlines() if "_lost_total{" in line]
    return int(sum(float(value) for _, value in rows))


if __name__ == "__main__":
    sys.exit(main())
