"""The supervisor: starts the processes, restarts what dies with back-off, and stops everything cleanly.

It holds no data and opens no port: when a driver, the core or the outlet dies, the others go on, and the dead one is
back after a pause that doubles with every early death. What cannot even start once ends the service with one line.
"""

import contextlib
import shutil
import signal
import tempfile
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from types import FrameType
from typing import Final

import msgpack
import zmq

from daq.config.sections import Config
from daq.processes.forkserver import CONTEXT, CORE, DRIVER, OUTLET, RECORDER
from daq.processes.process import EXIT_CANNOT_START, endpoint, last_words, live, log
from daq.stream.sockets import open_publisher

FIRST_PAUSE: Final = 0.05  # s before a dead process is started again; doubles with every death …
LONGEST_PAUSE: Final = 5.0
CALM: Final = 10.0  # … and starts over after a life this long, s
GRACE: Final = 3.0  # s that a process has to stop by itself
REPORT_EVERY: Final = 0.5  # s
WATCH_EVERY: Final = 0.02  # s


class StartError(Exception):
    """The service cannot start as configured; the text is the one line to show."""


@dataclass(slots=True)
class Process:
    """One child: what it does, and how its life went so far."""

    name: str
    work: str  # see process.live
    child: ForkServerProcess | None = None
    waiting: Connection | None = None  # on which it says that it does its work
    was_ready: bool = False
    started: float = 0.0
    again: float = 0.0  # monotonic s of the next start
    pause: float = FIRST_PAUSE
    restarts: int = 0
    cause: str = ""


class Service:
    """All processes of one configuration."""

    def __init__(self, config: Config) -> None:
        self.runtime = Path(tempfile.mkdtemp(prefix="jointwatch-"))
        (self.runtime / "config.json").write_text(config.model_dump_json(by_alias=True))
        drivers = (Process(name, DRIVER) for name in config.drivers)
        recorder = [] if config.recorder is None else [Process("recorder", RECORDER)]
        self._processes = [Process("outlet", OUTLET), *recorder, Process("core", CORE), *drivers]
        self._stop = False
        self._publisher = open_publisher(zmq.Context.instance(), endpoint(self.runtime, "status"))

    def run(self, duration: float | None = None) -> None:
        """Run until SIGINT, SIGTERM or the end of duration (s). Raises StartError."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._ask_stop)
        try:
            self._start_all()
            end = None if duration is None else time.monotonic() + duration
            due = 0.0
            while not self._stop and (end is None or time.monotonic() < end):
                self._watch()
                if time.monotonic() >= due:
                    due = time.monotonic() + REPORT_EVERY
                    self._report()
                time.sleep(WATCH_EVERY)
        finally:
            self._stop_all()

    def _ask_stop(self, _number: int, _frame: FrameType | None) -> None:
        self._stop = True

    def _start_all(self) -> None:
        """Start in order, then wait until everyone is ready; one that cannot start ends it all."""
        for process in self._processes:
            self._start(process)
        while not self._stop and any(not process.was_ready for process in self._processes):
            time.sleep(WATCH_EVERY)
            self._hear_ready()
            for process in self._processes:
                if not process.was_ready and process.child is not None and not process.child.is_alive():
                    raise StartError(self._why(process, process.child.exitcode))
        if not self._stop:
            log.info("running: %s", ", ".join(process.name for process in self._processes))

    def _start(self, process: Process) -> None:
        reading, writing = CONTEXT.Pipe(duplex=False)
        process.child = CONTEXT.Process(
            target=live, args=(process.name, process.work, self.runtime, writing), name=process.name
        )
        process.child.start()
        writing.close()
        process.waiting = reading
        process.started = time.monotonic()

    def _hear_ready(self) -> None:
        for process in self._processes:
            if process.waiting is not None and process.waiting.poll():
                with contextlib.suppress(EOFError):  # it died; whoever looks at its exit code sees that
                    process.was_ready |= process.waiting.recv_bytes() == b"ready"
                process.waiting.close()
                process.waiting = None

    def _watch(self) -> None:
        """Restart what died, each after its own pause."""
        self._hear_ready()
        now = time.monotonic()
        for process in self._processes:
            if process.child is not None and not process.child.is_alive():
                code = process.child.exitcode or 0
                if now - process.started > CALM:
                    process.pause = FIRST_PAUSE
                process.child, process.again = None, now + process.pause
                process.cause = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
                log.warning("%s died (%s); again in %.2f s", process.name, process.cause, process.pause)
                process.pause = min(2 * process.pause, LONGEST_PAUSE)
                self._report()
            if process.child is None and now >= process.again:
                process.restarts += 1
                self._start(process)

    def _report(self) -> None:
        for process in self._processes:
            report = {
                "timestamp": time.time(),
                "name": process.name,
                "up": process.child is not None,
                "restarts": process.restarts,
                "pid": process.child.pid if process.child else 0,
                "cause": process.cause,
            }
            self._publisher.send_multipart((f"process/{process.name}".encode(), msgpack.packb(report)))

    def _why(self, process: Process, code: int | None) -> str:
        if code == EXIT_CANNOT_START:
            return last_words(self.runtime, process.name)
        return f"{process.name} did not start (exit code {code}); its own message stands above"

    def _stop_all(self) -> None:
        """Drivers first, then core and outlet; nobody and nothing is left behind."""
        children = [process.child for process in reversed(self._processes) if process.child is not None]
        for child in children:
            child.terminate()
        deadline = time.monotonic() + GRACE
        for child in children:
            child.join(max(0.0, deadline - time.monotonic()))
            if child.is_alive():
                log.warning("%s did not stop in %g s: killed", child.name, GRACE)
                child.kill()
                child.join()
        for process in self._processes:
            if process.waiting is not None:
                process.waiting.close()
        self._publisher.close()
        shutil.rmtree(self.runtime, ignore_errors=True)
