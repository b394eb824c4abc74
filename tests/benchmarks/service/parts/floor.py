"""What the chain of processes costs and takes with nothing between: a driver, a loop that sends, an outlet's hops."""

import multiprocessing
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import zmq
from parts.processes import cpu

from daq.config.load import load
from daq.processes import driver
from daq.processes.heartbeat import alone
from daq.processes.process import endpoint
from daq.stream.channel import HEADER, TIME
from daq.stream.priority import give, take
from daq.stream.sockets import Forwarder
from drivers.reading import READING

UPDATES: Final = 50.0  # of a joint, 1/s
PAIR: Final = ("estimate/", "residual/")
SETTLED: Final = 2.0  # s left out


def floor(config: Path, joints: int, sizes: Sequence[int], seconds: float, priority: int) -> dict[str, float]:
    """Latency of a process that only receives a driver's messages, on a rig that plays, and publishes as many updates.

    sizes: bytes of an update's messages; priority: real-time, of all of them. Share of a core; p50, p99 (s)
    from the newest frame to a subscriber.
    """
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory(prefix="jointwatch-floor-") as folder:
        public = f"ipc://{folder}/public"
        loop = spawn.Process(target=receive_and_publish, args=(folder, joints, sizes, priority), daemon=True)
        others = [
            spawn.Process(target=forward, args=(folder, public, priority), daemon=True),
            spawn.Process(target=drive, args=(config, folder, priority), daemon=True),
        ]
        context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        give(context, priority)
        sink = context.socket(zmq.SUB)
        sink.subscribe(PAIR[0])
        sink.connect(public)
        for process in (loop, *others):
            process.start()
        try:
            assert sink.poll(60_000), "the floor publishes"
            listen(sink, SETTLED)
            assert loop.pid is not None
            before, began = cpu(loop.pid), time.monotonic()
            latencies = listen(sink, seconds)
            share = (cpu(loop.pid) - before) / (time.monotonic() - began)
        finally:
            for process in (loop, *others):
                process.kill()
                process.join()
            sink.close(0)
            context.term()
    p50, p99 = np.quantile(latencies, [0.5, 0.99]).tolist()
    return {"floor": share, "floor_p50": p50, "floor_p99": p99}


def listen(sink: "zmq.Socket[bytes]", seconds: float) -> list[float]:
    """s that each message was on its way."""
    latencies, end = [], time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if sink.poll(int(1000 * left) + 1):
            _, body = sink.recv_multipart()
            latencies.append((time.monotonic_ns() - TIME.unpack_from(body)[0]) / 1e9)
    return latencies


def drive(config: Path, folder: str, priority: int) -> None:
    """The service's own driver process, of a service without a core."""
    come_first(priority)
    settings = load(config)
    driver.run(next(iter(settings.drivers)), settings, Path(folder), alone())


def forward(folder: str, public: str, priority: int) -> None:
    """The outlet's way of an update, without its page."""
    with Forwarder(endpoint(Path(folder), "updates"), public, priority=priority):
        time.sleep(3600)


def receive_and_publish(folder: str, joints: int, sizes: Sequence[int], priority: int) -> None:
    """What comes is received, what is due is sent, with the instant of the newest reading."""
    come_first(priority)
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context.instance()
    readings, updates = context.socket(zmq.PULL), context.socket(zmq.PUB)
    readings.setsockopt(zmq.RCVHWM, 20_000)
    readings.bind(endpoint(Path(folder), "readings"))
    updates.connect(endpoint(Path(folder), "updates"))
    messages = [
        (f"{kind}joint{node}".encode(), bytes(size - TIME.size))
        for node in range(joints)
        for kind, size in zip(PAIR, sizes, strict=True)
    ]
    due, newest = time.monotonic(), b""
    while True:
        readings.poll(50)
        while True:
            try:
                newest = stamp(readings.recv(zmq.NOBLOCK)) or newest
            except zmq.Again:
                break
        now = time.monotonic()
        if newest and now >= due:
            due = max(due + 1 / UPDATES, now)
            for topic, rest in messages:
                updates.send_multipart((topic, newest + rest))


def come_first(priority: int) -> None:
    """This process, and the threads of its sockets."""
    take(priority)
    give(zmq.Context.instance(), priority)


def stamp(message: bytes) -> bytes:
    """When the newest reading came, of a message that has some."""
    named: Any = HEADER.unpack_from(message)[2]
    end = len(message) - named
    if (end - HEADER.size) % READING.itemsize or end == HEADER.size:
        return b""
    return message[end - READING.itemsize : end - READING.itemsize + TIME.size]
