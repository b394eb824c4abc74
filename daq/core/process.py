"""The core process: it receives readings, estimates and publishes; no web server or file access can delay it."""

import gc
import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import msgpack
import zmq

from daq.config.routes import routes
from daq.config.sections import Config
from daq.core.baseline_inbox import BaselineInbox
from daq.core.checkpoint import Checkpoints
from daq.core.pipeline import Pipeline
from daq.core.reading_buffer import ReadingBuffer
from daq.core.refit_worker import RefitWorker
from daq.core.replayable_executor import LOOKS, DeferredExecutor
from daq.processes.child import give_memory_back
from daq.processes.heartbeat import COMPILED, Life
from daq.processes.logs import log
from daq.processes.process import StopSignal, endpoint
from daq.state.checkpoint_file import FILE
from daq.state.files import place
from daq.stream.awaited import FILE as AWAITED
from daq.stream.awaited import Awaited
from daq.stream.channel import CoreReceiver, DriverLink
from daq.stream.sockets import open_publisher
from daq.stream.transcript import Batch, RecordedClock, Transcript
from daq.stream.update import REFITS, Liveliness, Message
from drivers.clock import unix_offset

#: ns, argued: Time between two reports of the totals.
STATUS_EVERY: Final = 500_000_000
#: ns, argued: Time between two meta messages, so that a restarted outlet soon has one.
INTRODUCE_EVERY: Final = 1_000_000_000
#: ns, argued: Time between two reports of the data that the page shows in addition to estimates, while the page is
#: open.
INSPECT_WATCHED: Final = 200_000_000
#: ns, argued: Time between two of these reports while no page is open. A page that is then opened begins with a fifth
#: of the points of the last minutes, which cost a fifth of the time.
INSPECT_UNWATCHED: Final = 5_000_000_000
#: ns, argued: Time between two checks of silence, refits and baselines when nothing is due.
IDLE_EVERY: Final = 50_000_000
#: ns, argued: Delay after the readings from which several updates of a joint become the last one.
LATE: Final = 100_000_000
#: s, argued: Silence after which a driver counts as down; it reports twice a second, and two reports may be lost.
MUTE: Final = 1.5
#: s, argued: Longest time that one receive waits, so that silence and a stop are noticed soon.
WAIT: Final = 0.05


def run(_: str, config: Config, runtime: Path, life: Life) -> None:
    """Run until SIGTERM, which ends the process at once before everything is open: there is nothing to save yet."""
    core = CoreProcess(config, runtime, life)
    gc.collect()
    gc.freeze()  # these objects live until the end: the garbage collector can skip them
    stop = StopSignal()
    with CoreReceiver(endpoint(runtime, "readings"), runtime / "readings.heard") as receiver:
        life.ready()
        log.info("identifying %s", ", ".join(config.joints))
        going = True
        while going:
            going = not stop.asked
            life.beat()
            core.turn(receiver, going)
    core.close()


def _robot_nonlinear(config: Config) -> bool:
    """Whether any friction law of the whole robot's model has nonlinear parameters."""
    if config.robot.model is None:
        return False
    from daq.config.robots.robot_model import model_of  # kernels that only a whole robot needs

    learnt = model_of(config)
    model = None if learnt is None else learnt.model()
    return model is not None and any(model.law_of(j).nonlinear for j in range(model.tree.size()))


class CoreProcess:
    """The pipeline of all joints, and its sockets."""

    def __init__(self, config: Config, runtime: Path, life: Life) -> None:
        """Build the pipeline, connect to the other processes and resume from the last checkpoint."""
        self._life = life
        self._boot = boot = int.from_bytes(os.urandom(6), "little")
        nonlinear = any(joint.model.build().nonlinear for joint in config.joints.values()) or _robot_nonlinear(config)
        self._worker = RefitWorker(config.refit.scheduler or "") if nonlinear else None
        self._refits = None if self._worker is None else DeferredExecutor(self._worker, later=True)
        # Without a worker a thread runs the plausibility checks: 0.2 s once in a start, mostly without the
        # interpreter's lock
        self._looks = DeferredExecutor(self._worker or ThreadPoolExecutor(1, "looks"), LOOKS, later=True)
        self._pipeline = Pipeline(config, boot, self._refits, self._looks)
        self._transcript = None if config.recorder is None else Transcript(endpoint(runtime, "transcript"), boot)
        table = routes(config)
        joints = {name: index for index, name in enumerate(config.joints)}
        self._buffer = ReadingBuffer([joints[route.joint] for route in table], [route.driver for route in table])
        context: zmq.Context[zmq.Socket[bytes]] = zmq.Context.instance()
        self._updates = open_publisher(context, endpoint(runtime, "updates"))
        self._status = open_publisher(context, endpoint(runtime, "status"))
        self._checkpoints = Checkpoints(config, endpoint(runtime, "checkpoints"), context)
        self._resumed: dict[str, Any] | None = self._checkpoints.resume(self._pipeline, place(config, FILE)) or None
        self._inbox = BaselineInbox(context, endpoint(runtime, "baselines"), place(config, "baseline.json"))
        self._awaited = Awaited(runtime / AWAITED)
        self._lives = Liveliness(config.robot.name, boot)
        self._check_due = self._status_due = self._introduce_due = 0  # monotonic ns
        self._inspected = 0  # monotonic ns of the last report for the page
        # how far kernels are compiled, and loaded; None once all are
        self._compiled: int | None = None if life.compiled == COMPILED else 0
        if self._compiled is not None:
            self._pipeline.set_compiled(0)
        self._starting = len(self._pipeline.joints)  # number of joints in their starting procedure
        self._settled = False  # whether all joints have once finished it

    def turn(self, receiver: CoreReceiver, going: bool) -> None:
        """Wait for readings, process them and publish. going: False in the last turn, which processes all readings."""
        time.sleep(self._buffer.sleep_time(time.monotonic_ns()))
        self._buffer.add(receiver.drain(WAIT, self._buffer.next_due))
        now = time.monotonic_ns()
        readings = self._buffer.take(self._pipeline.due, now) if going else self._buffer.take_all()
        if going and not len(readings) and now < self._check_due:
            return
        self._check_due = now + IDLE_EVERY
        epoch = unix_offset()
        finished = [] if self._refits is None else self._refits.release_finished()
        finished += self._looks.release_finished()
        clock = RecordedClock()
        baselines = self._inbox.changed()
        if baselines is not None:
            self._pipeline.set_baselines(baselines)
        seen = self._inbox.acknowledged()
        worn = self._inbox.worn()
        compiled = self._note_compiled()
        messages: list[Message] = []
        if seen or worn:
            messages = self._pipeline.acknowledge(seen or {}) + self._pipeline.set_wear(worn or {})
            _publish(self._updates, messages)
        late = len(readings) > 0 and now - int(readings["time"][0]) > LATE
        for of_joint in self._pipeline.absorb_each_joint(readings, epoch, clock, late) if len(readings) else ():
            _publish(self._updates, of_joint)
            messages += of_joint
            self._life.beat()  # a review takes long, and a backlog brings one of each joint in a turn
        self._buffer.set_next_due(self._pipeline.due, now)
        self._awaited.instant = self._buffer.next_due
        checked = time.monotonic_ns()
        others = self._pipeline.check_silence(checked, epoch)
        if now >= self._introduce_due:
            self._introduce_due = now + INTRODUCE_EVERY
            others.append(self._pipeline.introduce(time.time_ns()))
        _publish(self._updates, others)
        messages += others
        _log_mistakes(messages)
        for executor in (self._refits, self._looks):
            if executor is not None:
                executor.pass_on()
        self._checkpoints.send_next_state(self._pipeline)
        if self._transcript is not None:
            batch = Batch(
                len(readings), epoch, checked, clock.answers, finished, baselines, self._resumed, late, seen, worn,
                compiled,
            )  # fmt: skip
            self._transcript.note(readings, batch, messages)
            self._resumed = None
        receiver.keep(self._buffer.waiting())
        self._report(receiver, now, epoch)

    def _note_compiled(self) -> int | None:
        """Load a kernel that was compiled meanwhile. Returns how far the pipeline may go from now on, None: as before.

        One kernel in each turn takes some milliseconds, all of them would delay updates.
        """
        stage = self._compiled
        if stage is None:
            return None
        if stage == self._life.compiled:
            return stage
        from daq.processes.kernels import load_one_of

        if load_one_of(stage):
            return stage
        self._pipeline.set_compiled(stage + 1)
        self._compiled = stage + 1 if stage + 1 < COMPILED else None
        return stage + 1

    def close(self) -> None:
        """Send the remaining messages, close the sockets and end the worker."""
        if self._transcript is not None:
            self._transcript.close()
        for opened in (self._updates, self._status, self._inbox, self._checkpoints):
            opened.close()
        self._looks.shutdown(wait=False, cancel_futures=True)

    def _report(self, receiver: CoreReceiver, now: int, epoch: int) -> None:
        """Send due reports to the outlet: totals, and curve points of one joint (all at once would delay updates)."""
        every = INSPECT_WATCHED if self._inbox.watched else INSPECT_UNWATCHED
        wait = every // len(self._pipeline.joints)
        if now >= self._inspected + wait:
            self._inspected = now
            for message in self._pipeline.inspect_next_joint(epoch):
                self._status.send_multipart(message)
            for message in self._pipeline.report_channels(self._inbox.wanted, epoch):
                self._status.send_multipart(message)
        if now >= self._status_due:
            self._status_due = now + STATUS_EVERY
            totals = msgpack.packb(_totals(self._pipeline, receiver, self._boot))
            self._status.send_multipart((b"status/core", totals))
            self._check_worker(now / 1e9)
            before, self._starting = self._starting, self._pipeline.starting
            if self._starting < before:
                give_memory_back()  # a start uses 4 MB a joint that are not needed afterwards
            if not self._starting and not self._settled:
                self._settled = True
                gc.freeze()  # once: collecting all objects of a hundred joints takes 60 ms and finds nothing

    def _check_worker(self, now: float) -> None:
        """Replace a refit worker that has failed, and report its state. now: monotonic s."""
        worker = self._worker
        if worker is None:
            return
        worker.check(now)
        up = worker.silence < MUTE
        cause = worker.cause if up else f"it does not run: no processor time for {worker.silence:.0f} s"
        report = (up, worker.replaced, worker.pid, cause, worker.silence, worker.limit)
        self._updates.send_multipart(self._lives.process(REFITS, time.time(), *report))


def _publish(updates: "zmq.Socket[bytes]", messages: Sequence[Message]) -> None:
    """Send the messages as `send_multipart` does, but without its checks of every frame, since this is the hot path."""
    for topic, body in messages:
        updates.send(topic, zmq.SNDMORE)
        updates.send(body)


def _log_mistakes(messages: Sequence[Message]) -> None:
    """Log the findings of the plausibility check of a start, with their remedies."""
    for topic, body in messages:
        if topic.startswith(b"event/") and (event := msgpack.unpackb(body))["kind"] == "mistake":
            log.warning("%s: %s", event["joint"], event["text"])


def _silence(link: DriverLink) -> float:
    """Return the time since the driver's last message, s."""
    return time.monotonic() - link.seen


def _totals(pipeline: Pipeline, receiver: CoreReceiver, boot: int) -> dict[str, object]:
    """Return all counters since the core's start."""
    return {
        "timestamp": time.time(),
        "boot": boot,
        "malformed": receiver.malformed,
        "joints": {
            joint.name: {
                "samples": joint.followers.samples,
                "updates": joint.updates,
                "lost": dict(joint.aligner.lost()),
                "interpolated": joint.aligner.interpolated(),
                "skew": joint.skew,
                "estimator": joint.estimator.counters(),
                "use": joint.followers.use.totals(),
            }
            for joint in pipeline.joints
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
