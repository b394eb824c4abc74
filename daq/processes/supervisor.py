"""The supervisor: starts the processes, restarts those that die or hang, and stops everything cleanly.

It holds no data and opens no port. When a driver, the core or the outlet dies, the others continue, and the dead
process is restarted after a pause that doubles with every early death. A process without a heartbeat is reported as
hung within two seconds and ended after the configured time, in which the time that it waited for a processor does not
count: to start it anew would give a busy machine more to do. A process that cannot start the first time ends the
service with one line.
"""

import gc
import importlib
import os
import pkgutil
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Final

import zmq

from daq.config.sections import Config
from daq.processes.child import Child, give_memory_back, give_pages_of_files_back, share_arenas
from daq.processes.heartbeat import Heartbeats, Life, Silence
from daq.processes.kernels import LaterKernels
from daq.processes.logs import log
from daq.processes.process import EXIT_CANNOT_START, endpoint, live, start_error
from daq.processes.runtime_folder import RuntimeFolder
from daq.processes.service_lock import OtherServiceError, ServiceLock
from daq.processes.systemd import Systemd
from daq.stream.sockets import open_publisher
from daq.stream.update import Liveliness

# "module:function" of each kind of process, a process.Work
OUTLET, CORE, DRIVER = "daq.outlet.process:run", "daq.core.process:run", "daq.processes.driver:run"
RECORDER: Final = "daq.recording.process:run"
GATEWAY: Final = "daq.gateways.process:run"
SUPERVISOR: Final = "supervisor"
FIRST_PAUSE: Final = 0.05  # s before a dead process is started again; doubles with every early death
LONGEST_PAUSE: Final = 5.0
CALM: Final = 10.0  # s that a process must have lived for the pause to be reset
GRACE: Final = 3.0  # s in which a process must stop by itself
REPORT_EVERY: Final = 0.5  # s
WATCH_EVERY: Final = 0.02  # s
SILENT: Final = 1.5  # s without a heartbeat after which a process is called hung; it is reported within two
SLOW_START: Final = 60.0  # s that a restart may take; the first start may compile and has no limit
MISSED: Final = 1.0  # s between two checks after which the supervisor itself stood still, so silences do not count
# channels of a joint that has neither a gear nor anything else that is watched besides its model
PLAIN: Final = frozenset({"position", "velocity", "acceleration", "torque", "force"})


# modules that the core and its refit worker import besides where a joint has nonlinear parameters
NONLINEAR: Final = (
    "estimators.online.eta.lookback",
    "estimators.online.relearning",
    "estimators.online.start.searched",
    "estimators.refit.job",
)


class StartError(Exception):
    """The service cannot start as configured; the text is shown to the user as it is."""


def needed(config: Config) -> list[str]:
    """Modules with kernels that the processes of this configuration import besides those of every service."""
    found = [name for driver in config.drivers.values() for name in driver.modules()]
    if any(joint.model.build().nonlinear for joint in config.joints.values()):
        found += NONLINEAR
    return found


def may_wait(config: Config) -> bool:
    """Whether the kernels that are postponed at a first start (kernels.py) may be compiled while the service runs.

    Not where they are needed at once: by a robot's model or a mechanism, by a gear, or by a search.
    """
    joints = config.joints.values()
    if config.robot.model is not None or config.mechanism:
        return False
    if any(joint.lost_motion is not None or joint.clearance is not None for joint in joints):
        return False
    return all(set(joint.channels) <= PLAIN and not joint.model.build().nonlinear for joint in joints)


@dataclass(slots=True)
class Process:
    """One process of the service: what it runs, and its history."""

    name: str
    number: int  # by which the heartbeats know it
    work: str  # see process.live
    child: Child | None = None
    was_ready: bool = False
    started: float = 0.0
    next_start: float = 0.0  # monotonic s of the next start
    pause: float = FIRST_PAUSE
    restarts: int = 0
    cause: str = ""
    hangs: bool = False
    silence: Silence = field(default_factory=Silence)


class Service:
    """All processes of one configuration."""

    def __init__(self, config: Config, folders: Sequence[Path] = (), later: LaterKernels | None = None) -> None:
        """folders: in which no other service of this robot may write; later: kernels that are still to be compiled.
        Raises StartError where another service writes into these folders."""
        try:
            self._lock = ServiceLock(config.robot.name, folders)
        except OtherServiceError as error:
            raise StartError(str(error)) from error
        self._folder = RuntimeFolder()
        self.runtime = self._folder.path
        self._config = config
        works = {"outlet": OUTLET} | ({} if config.recorder is None else {"recorder": RECORDER}) | {"core": CORE}
        works |= dict.fromkeys(config.gateways, GATEWAY) | dict.fromkeys(config.drivers, DRIVER)
        self._processes = [Process(name, number, work) for number, (name, work) in enumerate(works.items())]
        self._heartbeats, self._later = Heartbeats(len(works)), later
        if later is not None:
            self._heartbeats.compiled = 0
        self._systemd = Systemd()
        self._stop = False
        self._checked = time.monotonic()  # monotonic s of the last check
        self._excused = 0.0  # monotonic s until which silence does not count
        self._reports = Liveliness(config.robot.name, int.from_bytes(os.urandom(6), "little"))
        self._publisher = open_publisher(zmq.Context.instance(), endpoint(self.runtime, "updates"))

    def run(self, duration: float | None = None) -> None:
        """Run until SIGINT, SIGTERM or the end of duration (s). Raises StartError."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._ask_stop)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        try:
            self._start_all()
            end = None if duration is None else time.monotonic() + duration
            due = 0.0
            while not self._stop and (end is None or time.monotonic() < end):
                self._watch()
                self._feed_watchdog()
                if time.monotonic() >= due:
                    due = time.monotonic() + REPORT_EVERY
                    self._report()
                time.sleep(WATCH_EVERY)
        finally:
            self._stop_all()

    def _ask_stop(self, _number: int, _frame: FrameType | None) -> None:
        self._stop = True

    def _start_all(self) -> None:
        """Start all processes in order and wait until they are ready; raises StartError if one cannot start."""
        for process in self._processes:
            pkgutil.resolve_name(process.work)  # imported here once, and so in every process that is forked
            if self._stop:
                return
        for driver in self._config.drivers.values():
            for module in driver.modules():
                importlib.import_module(module)
        if self._config.robot.model is not None:
            pkgutil.resolve_name("daq.core.robot_pipeline")
        if self._config.mechanism:
            pkgutil.resolve_name("daq.core.mechanisms.mechanism_pipeline")
        if self._systemd.limit and self._systemd.limit < 2 * self._config.processes.hang:
            log.warning(
                "systemd waits %g s for a sign of life; hang = %g s leaves it no time: give it WatchdogSec=%g",
                self._systemd.limit, self._config.processes.hang, 3 * self._config.processes.hang,
            )  # fmt: skip
        share_arenas()
        give_memory_back()
        gc.freeze()  # a collection in a child would write to every object that it shares with the others: a copy of all
        for process in self._processes:
            self._start(process)
        while not self._stop and not all(process.was_ready for process in self._processes):
            time.sleep(WATCH_EVERY)
            self._systemd.alive()
            for process in self._processes:
                process.was_ready |= self._heartbeats.ready(process.number)
                if not process.was_ready and process.child is not None and not process.child.alive():
                    raise StartError(self._start_failure(process, process.child.code))
        if not self._stop:
            names = ", ".join(process.name for process in self._processes)
            log.info("running: %s", names)
            self._systemd.ready(f"running: {names}")
            if self._later is not None:
                self._later.begin(self._heartbeats)
        give_pages_of_files_back()
        self._checked = time.monotonic()

    def _start(self, process: Process) -> None:
        self._heartbeats.begin(process.number)
        life = Life(self._heartbeats, process.number)
        work = partial(live, process.name, process.work, self._config, self.runtime, life)
        process.started, process.hangs, process.silence = time.monotonic(), False, Silence()
        process.child = Child(process.name, work)

    def _watch(self) -> None:
        """Restart processes that died or hang, each after its own pause."""
        now = time.monotonic()
        if now - self._checked > MISSED:
            log.warning("the supervisor itself stood still for %.1f s", now - self._checked)
            self._excused = now
        self._checked = now
        if self._later is not None:
            self._later.check()
        for process in self._processes:
            if process.child is not None and process.child.alive():
                self._check_heartbeat(process, now)
            elif process.child is not None:
                self._handle_death(process, process.child.code or 0, now)
            if process.child is None and now >= process.next_start:
                if not self._folder.stands():
                    self._replace_folder()
                process.restarts += 1
                self._start(process)

    def _replace_folder(self) -> None:
        """Replace a folder that was removed: its sockets cannot be reached any more, so all processes restart."""
        log.warning("%s was removed, and the sockets in it: every process is restarted", self.runtime)
        self._folder.remove()
        self._folder = RuntimeFolder()
        self.runtime = self._folder.path
        self._publisher.close()
        self._publisher = open_publisher(zmq.Context.instance(), endpoint(self.runtime, "updates"))
        for process in self._processes:
            if process.child is not None:
                process.child.send(signal.SIGTERM)

    def _check_heartbeat(self, process: Process, now: float) -> None:
        """Report a process without a heartbeat as hung, then end it."""
        limit = self._config.processes.hang if self._heartbeats.ready(process.number) else SLOW_START
        silence = self._silence(process, now)
        process.silence.look(silence, process.child.pid if process.child else 0)
        if process.hangs and silence >= SILENT:
            process.cause = process.silence.words
        if process.hangs and silence < SILENT:
            process.hangs = False
            log.info("%s responds again", process.name)
            self._report_status()
        elif not process.hangs and silence >= (SILENT if limit != SLOW_START else SLOW_START):
            process.hangs = True
            process.cause = process.silence.words
            if process.silence.starved:
                log.warning("%s is slow: %s", process.name, process.cause)
            else:
                log.warning("%s hangs: %s; it is ended after %g s", process.name, process.cause, limit)
            self._report_status()
        if process.hangs and process.silence.own >= limit and process.child is not None:
            process.cause = f"hung: no sign of life for {silence:.1f} s"
            process.child.send(signal.SIGKILL)

    def _silence(self, process: Process, now: float) -> float:
        return now - max(self._heartbeats.last(process.number), self._excused)

    def _handle_death(self, process: Process, code: int, now: float) -> None:
        if now - process.started > CALM:
            process.pause = FIRST_PAUSE
        process.child, process.next_start = None, now + process.pause
        if not process.hangs:
            process.cause = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        process.hangs = False
        log.warning("%s died (%s); again in %.2f s", process.name, process.cause, process.pause)
        process.pause = min(2 * process.pause, LONGEST_PAUSE)
        self._report_status()

    def _feed_watchdog(self) -> None:
        """Feed systemd's watchdog only while core and outlet run, or wait for a processor."""
        needed = [process for process in self._processes if process.work in (CORE, OUTLET)]
        if not any(process.child is None or (process.hangs and not process.silence.starved) for process in needed):
            self._systemd.alive()

    def _report_status(self) -> None:
        ill = [f"{one.name}: {one.cause}" for one in self._processes if one.child is None or one.hangs]
        self._systemd.status("; ".join(ill) or f"running: {', '.join(one.name for one in self._processes)}")
        self._report()

    def _report(self) -> None:
        now = time.monotonic()
        for one in self._processes:
            up = one.child is not None and not one.hangs
            age, pid = self._silence(one, now), one.child.pid if one.child else 0
            deadline = self._config.processes.hang
            self._send(self._reports.process(one.name, time.time(), up, one.restarts, pid, one.cause, age, deadline))
        limit, age = self._systemd.limit, now - self._checked
        self._send(self._reports.process(SUPERVISOR, time.time(), True, 0, os.getpid(), "", age, limit))

    def _send(self, message: Sequence[bytes]) -> None:
        self._publisher.send_multipart(message)

    def _start_failure(self, process: Process, code: int | None) -> str:
        if code == EXIT_CANNOT_START:
            return start_error(self.runtime, process.name)
        return f"{process.name} did not start (exit code {code}); its own message is above"

    def _stop_all(self) -> None:
        """Stop drivers first, then core and outlet, and log how long each took; kill those that do not stop."""
        self._systemd.stopping()
        if self._later is not None:
            self._later.stop()
        begin = time.monotonic()
        children = [process.child for process in reversed(self._processes) if process.child is not None]
        for child in children:
            child.send(signal.SIGTERM)
        left, took = list(children), []
        while left and time.monotonic() - begin < GRACE:
            for child in [child for child in left if not child.alive()]:
                left.remove(child)
                took.append(f"{child.name} {time.monotonic() - begin:.1f} s")
            time.sleep(WATCH_EVERY / 2)
        for child in left:
            child.send(signal.SIGKILL)
            took.append(f"{child.name} killed after {GRACE:g} s")
        while any(child.alive() for child in left):
            time.sleep(WATCH_EVERY / 2)
        if took:
            log.info("stopped: %s", ", ".join(took))
        self._publisher.close()
        self._systemd.close()
        self._folder.remove()
        self._lock.release()
        gc.freeze()  # spares the interpreter a last collection: seconds on a slow machine
