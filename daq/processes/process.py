"""What every process of the service has in common: how it runs, reports that it cannot start, and is stopped."""

import ctypes
import pkgutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Final

import zmq

from daq.config.sections import Config
from daq.processes.heartbeat import Life
from daq.processes.logs import configure_logging, log
from daq.stream.priority import allowed, ask_for_short_slice, give, take

EXIT_CANNOT_START: Final = 3  # before "ready": the supervisor stops everything and shows the line that was left

STREAM: Final = "stream"  # the outlet's socket for gateways: the public stream, to the service's own processes
PR_SET_TIMERSLACK: Final = 29

Work = Callable[[str, Config, Path, Life], None]  # name, configuration, runtime folder, signs of life


class CannotStartError(Exception):
    """The process cannot work as configured; the text is shown to the user as it is."""


class StopSignal:
    """A flag that SIGTERM sets; a process looks at it between two batches."""

    def __init__(self) -> None:
        self.asked = False
        signal.signal(signal.SIGTERM, self._ask)

    def _ask(self, _number: int, _frame: FrameType | None) -> None:
        self.asked = True


def live(name: str, work: str, config: Config, runtime: Path, life: Life) -> int:
    """Run a child process until it ends; work: "module:function" of a Work. Returns its exit code."""
    configure_logging(name)
    if name == "core" or name in config.drivers:
        _take_priority(config.processes.priority)
        if not config.processes.priority:
            ask_for_short_slice()
    run: Work = pkgutil.resolve_name(work)
    try:
        run(name, config, runtime, life)
    except CannotStartError as error:
        (runtime / f"{name}.error").write_text(str(error))
        return EXIT_CANNOT_START
    return 0


def _take_priority(priority: int) -> None:
    """Give this process and the threads of its sockets real-time priority, if that is allowed."""
    if may_take_priority(priority):
        take(priority)
        give(zmq.Context.instance(), priority)


def may_take_priority(priority: int) -> bool:
    """Whether the operating system allows the real-time priority; logs a warning where it does not."""
    may = allowed(priority)
    if not may:
        log.warning("no real-time priority %d: not allowed (deploy/drop-ins/realtime.conf allows it)", priority)
    return may


def sleep_exactly() -> None:
    """Let sleeps of this thread end on time: by default the kernel adds up to 50 µs to wake up less often."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, ctypes.c_ulong(1))


def start_error(runtime: Path, name: str) -> str:
    """The line that a process left when it could not start."""
    return (runtime / f"{name}.error").read_text().strip()


def endpoint(runtime: Path, name: str) -> str:
    """The ipc:// address of one of the service's own sockets."""
    return f"ipc://{runtime}/{name}"
