"""What subscribing costs: how soon a late joiner knows everything, bytes and CPU of a subscriber.

    jointwatch bench stream [--json] [--seconds 8] [--joiners 40]

Seven joints at 1 kHz come over udp_multicast, updates go out at 50 Hz each. A joiner counts from `connect` until it has
every topic: estimate and residual of each joint, and meta, which goes out by itself only once a second. A subscriber's
CPU is its own process, `daq.subscriber.Subscriber` and all; what it costs the outlet is the difference of five.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time

import zmq
from page import RIG, WARM_UP
from parts.processes import cpu, of_service

from hil_rig.live import Live

SUBSCRIBERS = 5
# a subscriber as a program: prints messages, bytes and its own CPU, all per second
LISTEN = """
import resource, sys, time
from daq.subscriber import Subscriber
endpoint, seconds = sys.argv[1], float(sys.argv[2])
with Subscriber(endpoint, timeout=20) as updates:
    next(updates)
    before, start, count, size = time.process_time(), time.monotonic(), 0, 0
    receive = updates._socket.recv_multipart
    def weighed(*words):
        global size
        frames = receive(*words)
        size += sum(map(len, frames))
        return frames
    updates._socket.recv_multipart = weighed
    while (elapsed := time.monotonic() - start) < seconds:
        next(updates)
        count += 1
    print(count / elapsed, size / elapsed, (time.process_time() - before) / elapsed)
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--joiners", type=int, default=40)
    options = parser.parse_args()
    with Live(RIG) as live:
        time.sleep(WARM_UP)
        joined = sorted(join(live.endpoint) for _ in range(options.joiners))
        alone = outlet_load(live, options.seconds)
        one = listen(live, options.seconds, 1)
        five = listen(live, options.seconds, SUBSCRIBERS)
    found = {
        "late joiner complete, median, ms": 1e3 * statistics.median(joined),
        "late joiner complete, worst, ms": 1e3 * joined[-1],
        "messages/s to a subscriber": one["messages"],
        "kB/s to a subscriber": one["bytes"] / 1e3,
        "CPU of a subscriber": one["own"],
        "outlet CPU alone": alone,
        "outlet CPU per subscriber": (five["outlet"] - alone) / SUBSCRIBERS,
    }
    if options.json:
        print(json.dumps(found))
        return 0
    for name, value in found.items():
        print(f"{name:52} {f'{value:.2%}' if 'CPU' in name else f'{value:.2f}'}")
    return 0


def join(endpoint: str) -> float:
    """Seconds from connect until every topic is there."""
    wanted = {b"meta"} | {f"{family}/joint{i}".encode() for family in ("estimate", "residual") for i in range(1, 8)}
    with zmq.Context() as context, context.socket(zmq.SUB) as socket:
        socket.linger = 0
        socket.subscribe("")
        start = time.perf_counter()
        socket.connect(endpoint)
        while wanted:
            if not socket.poll(5000):
                raise TimeoutError(f"{sorted(wanted)} never came")
            wanted.discard(socket.recv_multipart()[0])
        return time.perf_counter() - start


def outlet_load(live: Live, seconds: float) -> float:
    """Share of a core that the outlet takes."""
    assert live.service is not None
    pid = of_service(live.service.pid)["outlet"]
    before, start = cpu(pid), time.monotonic()
    time.sleep(seconds)
    return (cpu(pid) - before) / (time.monotonic() - start)


def listen(live: Live, seconds: float, count: int) -> dict[str, float]:
    """Messages and bytes a second of one of so many subscribers, its CPU, and the outlet's meanwhile."""
    command = [sys.executable, "-c", LISTEN, live.endpoint, str(seconds + 3)]
    programs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(count)]
    time.sleep(2.5)
    outlet = outlet_load(live, seconds)
    rows = [[float(word) for word in program.communicate(timeout=60)[0].split()] for program in programs]
    messages, size, own = (statistics.median(column) for column in zip(*rows, strict=True))
    return {"messages": messages, "bytes": size, "own": own, "outlet": outlet}


if __name__ == "__main__":
    sys.exit(main())
