"""The core process: Readings in, Updates out; no web, no scrape and no file may hold its interpreter."""

import gc
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import msgpack
import zmq

from daq.config.routes import routes
from daq.config.sections import Config
from daq.core.baseline_inbox import Rebasing
from daq.core.checkpoint import Checkpoints
from daq.core.joint_pipeline import Message
from daq.core.pipeline import Pipeline
from daq.core.reading_buffer import WaitingRoom
from daq.core.refit_worker import RefitWorker
from daq.core.replayable_executor import DeferredExecutor
from daq.processes.heartbeat import Life
from daq.processes.logs import log
from daq.processes.process import StopSignal, endpoint
from daq.state.checkpoint_file import FILE
from daq.state.files import place
from daq.stream.channel import CoreReceiver, DriverLink
from daq.stream.sockets import open_publisher
from daq.stream.transcript import Batch, RecordedClock, Transcript

#: ns, argued: Time between two reports of the totals.
STATUS_EVERY: Final = 500_000_000
#: ns, argued: Time between two meta messages: an outlet that comes back has one soon.
INTRODUCE_EVERY: Final = 1_000_000_000
#: ns, argued: Time between two reports of what the page draws beside a joint's estimates, while somebody looks.
LOOKED_AT: Final = 200_000_000
#: ns, argued: The same while nobody looks: its last minute is there when a page opens.
UNSEEN: Final = 1_000_000_000
#: ns, argued: Time between two looks at silence, refits and baselines when nothing is due.
LOOK_EVERY: Final = 50_000_000
#: ns, argued: Delay behind the readings from which several updates of a joint become the last one.
LATE: Final = 100_000_000
#: s, argued: Silence after which a driver is not up; it reports twice a second, and two reports may be lost.
MUTE: Final = 1.5
#: s, argued: Time that one receive may wait, so that silence and a stop are seen soon.
WAIT: Final = 0.05


def run(_: str, config: Config, runtime: Path, life: Life) -> None:
    """Serve until SIGTERM."""
    stop = StopSignal()
    boot = int.from_bytes(os.urandom(6), "little")
    nonlinear = max((len(joint.model.build().nonlinear) for joint in config.joints.values()), default=0)
    refits = RefitWorker(nonlinear, config.refit.scheduler or "") if nonlinear else None
    latch = None if refits is None else DeferredExecutor(refits)
    pipeline = Pipeline(config, boot, latch)
    transcript = None if config.recorder is None else Transcript(endpoint(runtime, "transcript"), boot)
    table = routes(config)
    places = {name: index for index, name in enumerate(config.joints)}
    room = WaitingRoom([places[route.joint] for route in table], [route.driver for route in table])
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context.instance()
    updates = open_publisher(context, endpoint(runtime, "updates"))
    status = open_publisher(context, endpoint(runtime, "status"))
    checkpoints = Checkpoints(config, endpoint(runtime, "checkpoints"), context)
    resumed: dict[str, Any] | None = checkpoints.resume(pipeline, place(config, FILE)) or None
    rebasing = Rebasing(context, endpoint(runtime, "baselines"), place(config, "baseline.json"))
    gc.collect()
    gc.freeze()  # what lives now lives to the end: a collection need not look at it
    with CoreReceiver(endpoint(runtime, "readings"), runtime / "readings.heard") as receiver:
        life.ready()
        log.info("identifying %s", ", ".join(line.name for line in pipeline.lines))
        look = inspect = total = introduce = 0
        going = True
        while going:
            going = not stop.asked
            life.beat()
            time.sleep(room.pause(time.monotonic_ns()))
            room.add(receiver.drain(WAIT, room.expected))
            now = time.monotonic_ns()
            readings = room.take(pipeline.due, now) if going else room.rest()
            if going and not len(readings) and now < look:
                continue
            look = now + LOOK_EVERY
            epoch = time.time_ns() - now
            latched = [] if latch is None else latch.latch()
            clock = RecordedClock()
            rebased = rebasing.fresh()
            if rebased is not None:
                pipeline.rebase(rebased)
            late = len(readings) > 0 and now - int(readings["time"][0]) > LATE
            messages: list[Message] = []
            for said in pipeline.each(readings, epoch, clock, late) if len(readings) else ():
                _publish(updates, said)
                messages += said
            room.expect(pipeline.due, now)
            watched = time.monotonic_ns()
            beside = pipeline.watch(watched, epoch)
            if now >= introduce:
                introduce = now + INTRODUCE_EVERY
                beside.append(pipeline.introduce(time.time_ns()))
            _publish(updates, beside)
            messages += beside
            checkpoints.hand_out(pipeline)
            if transcript is not None:
                batch = Batch(len(readings), epoch, watched, clock.told, latched, rebased, resumed, late)
                transcript.note(readings, batch, messages)
                resumed = None
            receiver.keep(room.held())
            if now >= inspect:  # one joint after the other: together they would hold up every update
                inspect = now + (LOOKED_AT if rebasing.watched else UNSEEN) // len(pipeline.lines)
                for message in pipeline.inspect_next(epoch):
                    status.send_multipart(message)
            if now >= total:
                total = now + STATUS_EVERY
                status.send_multipart((b"status/core", msgpack.packb(_totals(pipeline, receiver, boot))))
    if transcript is not None:
        transcript.close()
    for opened in (updates, status, rebasing, checkpoints):
        opened.close()
    if refits is not None:
        refits.shutdown(wait=False, cancel_futures=True)


def _publish(updates: "zmq.Socket[bytes]", messages: Sequence[Message]) -> None:
    """What `send_multipart` does, without what it checks of every frame: this is the hot path."""
    for topic, body in messages:
        updates.send(topic, zmq.SNDMORE)
        updates.send(body)


def _silence(link: DriverLink) -> float:
    """s since the last word of a driver."""
    return time.monotonic() - link.seen


def _totals(pipeline: Pipeline, receiver: CoreReceiver, boot: int) -> dict[str, object]:
    """Everything that is counted, since the core's start."""
    return {
        "timestamp": time.time(),
        "boot": boot,
        "malformed": receiver.malformed,
        "joints": {
            line.name: {
                "samples": line.samples,
                "updates": line.updates,
                "lost": dict(line.aligner.lost()),
                "interpolated": line.aligner.interpolated(),
                "skew": line.skew,
                "estimator": line.estimator.counters(),
            }
            for line in pipeline.lines
        },
        "robot": pipeline.robot.counters() if pipeline.robot is not None else None,
        "drivers": {
            name: {
                "up": link.up and _silence(link) < MUTE,
                "cause": link.cause if _silence(link) < MUTE else f"no word from the driver for {_silence(link):.1f} s",
                "readings": link.readings,
                "lost": link.lost,
                "restarts": max(0, link.restarts),
                "counters": link.counters,
            }
            for name, link in receiver.links.items()
        },
    }
