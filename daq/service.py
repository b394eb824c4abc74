"""The supervisor: starts the processes in order, restarts what dies with back-off, and stops everything cleanly.

It holds no data and opens no port: when a driver, the core or the outlet dies, the others go on, and the dead one is
back after a pause that doubles with every early death. What cannot even start once ends the service with one line.
"""

import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Final

import msgpack
import zmq

from daq.config import Config
from daq.process import EXIT_CANNOT_START, endpoint, log
from daq.publisher import open_publisher

FIRST_PAUSE: Final = 0.05  # s before a dead process is started again; doubles with every death …
LONGEST_PAUSE: Final = 5.0
CALM: Final = 10.0  # … and starts over after a life this long, s
GRACE: Final = 3.0  # s that a process has to stop by itself
REPORT_EVERY: Final = 0.5  # s


class StartError(Exception):
    """The service cannot start as configured; the text is the one line to show."""


@dataclass(slots=True)
class Process:
    """One child: how to start it, and how its life went so far."""

    name: str
    arguments: tuple[str, ...]
    child: subprocess.Popen[bytes] | None = None
    ready_fd: int = -1  # read end of the pipe on which it says "ready"; −1 once it has
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
        self.runtime.chmod(0o700)
        (self.runtime / "config.json").write_text(config.model_dump_json(by_alias=True))
        self._processes = [
            Process("outlet", ("_outlet",)),
            Process("core", ("_core",)),
            *(Process(name, ("_driver", name)) for name in config.drivers),
        ]
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
                time.sleep(0.02)
        finally:
            self._stop_all()

    def _ask_stop(self, _number: int, _frame: FrameType | None) -> None:
        self._stop = True

    def _start_all(self) -> None:
        """Start in order, then wait until everyone is ready; one that cannot start ends it all."""
        for process in self._processes:
            self._start(process)
        while not self._stop and any(not process.was_ready for process in self._processes):
            self._hear_ready(0.05)
            for process in self._processes:
                if not process.was_ready and process.child is not None and process.child.poll() is not None:
                    raise StartError(self._last_words(process))
        log.info("running: %s", ", ".join(process.name for process in self._processes))

    def _start(self, process: Process) -> None:
        reading, writing = os.pipe()
        environment = os.environ | {"JOINTWATCH_READY_FD": str(writing)}
        process.child = subprocess.Popen(
            [sys.executable, "-m", "daq", *process.arguments, "--runtime", str(self.runtime)],
            env=environment,
            pass_fds=(writing,),
            stdin=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C in the terminal reaches the supervisor alone
        )
        os.close(writing)
        process.ready_fd = reading
        process.started = time.monotonic()

    def _hear_ready(self, timeout: float) -> None:
        with selectors.DefaultSelector() as selector:
            for process in self._processes:
                if process.ready_fd >= 0:
                    selector.register(process.ready_fd, selectors.EVENT_READ, process)
            if not selector.get_map():
                return
            for key, _ in selector.select(timeout):
                process = key.data
                process.was_ready |= os.read(process.ready_fd, 1) == b"1"
                os.close(process.ready_fd)
                process.ready_fd = -1

    def _watch(self) -> None:
        """Restart what died, each after its own pause."""
        self._hear_ready(0)
        now = time.monotonic()
        for process in self._processes:
            if process.child is not None and (code := process.child.poll()) is not None:
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

    def _last_words(self, process: Process) -> str:
        """The line that a process left before it gave up."""
        note = self.runtime / f"{process.arguments[-1]}.error"
        code = process.child.returncode if process.child else None
        if code == EXIT_CANNOT_START and note.exists():
            return note.read_text().strip()
        return f"{process.name} did not start (exit code {code}); its own message stands above"

    def _stop_all(self) -> None:
        """Drivers first, then outlet and core; nobody and nothing is left behind."""
        for process in reversed(self._processes):
            if process.child is not None and process.child.poll() is None:
                process.child.terminate()
        deadline = time.monotonic() + GRACE
        for process in reversed(self._processes):
            if process.child is None:
                continue
            try:
                process.child.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                log.warning("%s did not stop in %g s: killed", process.name, GRACE)
                process.child.kill()
                process.child.wait()
            if process.ready_fd >= 0:
                os.close(process.ready_fd)
        self._publisher.close()
        shutil.rmtree(self.runtime, ignore_errors=True)
