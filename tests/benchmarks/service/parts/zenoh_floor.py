"""What zenoh alone takes: from a publisher with its own router to a callback in another process that does nothing."""

import multiprocessing
import struct
import time
from multiprocessing.connection import Connection
from typing import Any, Final

import numpy as np

from daq.stream.priority import share, take
from drivers.network.zenoh_topic import key_of
from hil_rig.wire.network.ros2_zenoh import ZenohPublisher, joint_state

RATE: Final = 1000.0  # Hz
SETTLED: Final = 1.0  # s left out
TOPIC: Final = "/joint_states"


def zenoh_alone(joints: int, seconds: float, priority: int = 0) -> list[float]:
    """Times from each message's put, as its attachment has it, to the callback, s. The publisher is this process.

    priority: real-time, of the callback's process, as a driver has it.
    """
    spawn = multiprocessing.get_context("spawn")
    ours, theirs = spawn.Pipe()
    publisher = ZenohPublisher(0, TOPIC)
    listener = spawn.Process(target=listen, args=(publisher.endpoint, theirs, priority), daemon=True)
    listener.start()
    try:
        names = [f"joint{one + 1}" for one in range(joints)]
        values = np.linspace(0.0, 1.0, joints)
        while not publisher.matched():
            time.sleep(0.01)
        begin, number = time.monotonic(), 0
        while (now := time.monotonic()) < begin + SETTLED + seconds:
            if (ahead := begin + number / RATE - now) > 0:
                time.sleep(ahead)
            publisher.put(joint_state(time.time_ns(), names, [(values + number).tolist()] * 3))
            number += 1
        ours.send("over")
        taken: list[float] = ours.recv()
    finally:
        listener.kill()
        listener.join()
        publisher.close()
    return taken[round(SETTLED * RATE) :]


def listen(router: str, pipe: Connection, priority: int) -> None:
    """Subscribe, and note how old each message is, until told to stop; then send that."""
    import json

    import zenoh

    config = zenoh.Config()
    config.insert_json5("mode", '"client"')
    config.insert_json5("connect/endpoints", json.dumps([router]))
    config.insert_json5("scouting/multicast/enabled", "false")
    taken: list[float] = []

    def hear(sample: Any) -> None:
        now, (_, sent) = time.time_ns(), struct.unpack_from("<qq", sample.attachment.to_bytes())
        taken.append((now - sent) / 1e9)

    take(priority)
    with zenoh.open(config) as session:
        session.declare_subscriber(key_of(0, TOPIC, "sensor_msgs/JointState"), hear)
        share()
        pipe.recv()
        pipe.send(taken)
