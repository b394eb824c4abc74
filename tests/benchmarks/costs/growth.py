"""Whether the core's memory stays where it is: hours of seven joints through its own pieces, as fast as it can.

    jointwatch bench growth [--hours 2] [--joints 7] [--json]

One process is a driver's end (messages of 20 ms over the core's own socket), the core's loop (receiver,
reading buffer, pipeline, transcript, publishing) and who listens to it. Time is the readings': of each joint a sine of
two frequencies with noise, at 1 kHz, that rests a minute in every ten, and whose friction jumps each half hour. Told is
the resident set after every quarter of an hour, and what a line through those after the first half hour grows by.
"""

import argparse
import gc
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import numpy as np
import zmq

from daq.config.load import load
from daq.config.routes import routes
from daq.config.sections import Config
from daq.core.pipeline import Pipeline
from daq.core.process import _publish, _totals
from daq.core.reading_buffer import ReadingBuffer
from daq.processes.process import endpoint
from daq.stream.channel import CoreReceiver, Sender
from daq.stream.transcript import Batch, RecordedClock, Transcript
from drivers.reading import READING

TEMPLATE: Final = Path(__file__).parents[3] / "daq" / "jointwatch.toml"
MESSAGE: Final = 20  # ms of readings in one
CHUNK: Final = 10_000  # ms that are made at once
TOLD: Final = 900  # s between two figures
SETTLED: Final = 1800  # s, from which on nothing may grow
REST: Final = 60.0  # s of rest
RESTS: Final = 600.0  # s, in which there is one
JUMPS: Final = 1800.0  # s between two changes of friction


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--hours", type=float, default=2.0, help="of the robot's time")
    parser.add_argument("--joints", type=int, default=7)
    options = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="jointwatch-memory-") as folder:
        figures = run(several(load(TEMPLATE), options.joints), Path(folder), options.hours)
    times, sizes = np.array(figures).T
    late = times >= SETTLED
    growth = float(np.polyfit(times[late] / 3600.0, sizes[late], 1)[0]) if np.count_nonzero(late) > 2 else float("nan")
    faster = 3600.0 * options.hours / (time.monotonic() - began)
    if options.json:
        print(json.dumps({"resident": dict(figures), "growth": growth, "faster": faster}))
        return 0
    print(f"{options.joints} joints at 1 kHz, {options.hours:g} h of robot time, {faster:.0f} × as fast")
    print("minutes " + " ".join(f"{at / 60:7.0f}" for at, _ in figures))
    print("MB      " + " ".join(f"{size:7.2f}" for _, size in figures))
    print(f"from {SETTLED // 60} min on: {growth:+.2f} MB/h")
    return 0


def several(config: Config, joints: int) -> Config:
    """So many of the joint of a configuration, all on the channels of the first."""
    [(name, one)] = config.joints.items()
    return config.model_copy(update={"joints": {f"{name}{k}": one for k in range(joints)}})


def readings(joints: int, begin: int, count: int) -> np.ndarray:
    """Frames of position, torque and counter, (ms, joints, 3); begin: ms."""
    t = (begin + np.arange(count)) * 1e-3
    table = np.zeros((count, joints, 3), READING)
    rng = np.random.default_rng(begin)
    moves = (t % RESTS) >= REST
    friction = 1.5 + 0.5 * (t // JUMPS % 2)
    for joint in range(joints):
        omega = 2 * np.pi * np.array([[0.5], [1.3]]) * (1.0 + 0.05 * joint)
        phase = omega * np.where(moves, t, REST + t // RESTS * RESTS)
        amplitude = np.array([[0.5], [0.3]])
        q = np.sum(amplitude * np.sin(phase), axis=0)
        v = np.sum(amplitude * omega * np.cos(phase), axis=0) * moves
        a = -np.sum(amplitude * omega**2 * np.sin(phase), axis=0) * moves
        torque = 2.0 * a + 3.0 * v + friction * np.tanh(v / 0.01) + 0.4 + 5.0 * np.sin(q) - np.cos(q)
        table["value"][:, joint, 0] = q + 1e-5 * rng.standard_normal(count)
        table["value"][:, joint, 1] = torque + 0.05 * rng.standard_normal(count)
    table["time"] = 1_000_000_000 + (1e6 * np.round(1e3 * t)).astype(np.int64)[:, None, None]
    table["channel"] = np.arange(3 * joints).reshape(joints, 3)
    table["value"][:, :, 2] = ((begin + np.arange(count)) % 65536)[:, None]
    return table.reshape(count, -1)


def run(config: Config, folder: Path, hours: float) -> list[tuple[float, float]]:
    """Robot time (s) and resident set (MB), again and again."""
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context.instance()
    listeners = [context.socket(kind) for kind in (zmq.SUB, zmq.PULL)]
    for socket, name in zip(listeners, ("updates", "transcript"), strict=True):
        socket.bind(endpoint(folder, name))
    listeners[0].subscribe(b"")
    updates = context.socket(zmq.PUB)
    updates.connect(endpoint(folder, "updates"))
    pipeline, transcript = Pipeline(config, 1), Transcript(endpoint(folder, "transcript"), 1)
    table, names = routes(config), list(config.joints)
    room = ReadingBuffer([names.index(route.joint) for route in table], [route.driver for route in table])
    joints, figures, told = len(names), list[tuple[float, float]](), 0.0
    with CoreReceiver(endpoint(folder, "readings"), folder / "readings.heard") as receiver:
        sender = Sender(endpoint(folder, "readings"), table[0].driver)
        gc.collect()
        gc.freeze()
        for begin in range(0, round(3.6e6 * hours), CHUNK):
            chunk = readings(joints, begin, CHUNK)
            for first in range(0, CHUNK, MESSAGE):
                sender.send(chunk[first : first + MESSAGE].reshape(-1))
                turn(pipeline, room, receiver, updates, transcript)
                for socket in listeners:
                    while socket.poll(0):
                        socket.recv()
            totals: Any = _totals(pipeline, receiver, 1)
            assert not totals["drivers"][table[0].driver]["lost"]
            pipeline.inspect(0)
            if (begin + CHUNK) / 1e3 >= told:
                figures.append(((begin + CHUNK) / 1e3, resident()))
                told += TOLD
                print(f"  {figures[-1][0] / 60:.0f} min: {figures[-1][1]:.2f} MB", file=sys.stderr, flush=True)
        sender.close()
    assert all(line.updates > 49 * 3600 * hours for line in pipeline.joints), "every joint has published"
    return figures


def turn(
    pipeline: Pipeline,
    room: ReadingBuffer,
    receiver: CoreReceiver,
    updates: "zmq.Socket[bytes]",
    transcript: Transcript,
) -> None:
    """One of the core's loop; the clock is that of the newest reading."""
    more = receiver.drain(1.0)
    room.add(more)
    now = int(more["time"][-1])
    taken = room.take(pipeline.due, now)
    messages = []
    for said in pipeline.absorb_each_joint(taken, 0, lambda: now) if len(taken) else ():
        _publish(updates, said)
        messages += said
    room.set_next_due(pipeline.due, now)
    beside = pipeline.check_silence(now, 0)
    _publish(updates, beside)
    batch = Batch(len(taken), 0, now, RecordedClock().answers, [], None)
    transcript.note(taken, batch, messages + beside)
    receiver.keep(room.waiting())


def resident() -> float:
    """MB of this process."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


if __name__ == "__main__":
    sys.exit(main())
