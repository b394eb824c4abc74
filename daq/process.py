"""What every process of the service does at its start: no orphan, quiet on Ctrl-C, clean stop."""

import ctypes
import logging
import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Final

from daq.config import Config, revive

PR_SET_PDEATHSIG: Final = 1
EXIT_CANNOT_START: Final = 3  # before "ready": the supervisor stops everything and shows the one line left behind

log = logging.getLogger("jointwatch")


class CannotStartError(Exception):
    """The process cannot do its work as configured; the text is the one line that the user sees."""


def leave_word(runtime: Path, name: str, error: CannotStartError) -> int:
    """Leave the line where the supervisor finds it; returns the exit code that says so."""
    (runtime / f"{name}.error").write_text(str(error))
    return EXIT_CANNOT_START


class Stop:
    """Set once by SIGTERM; a process looks at it between two batches."""

    def __init__(self) -> None:
        self.asked = False
        signal.signal(signal.SIGTERM, self._ask)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the supervisor, who stops us in order

    def _ask(self, _number: int, _frame: FrameType | None) -> None:
        self.asked = True


def configure_logging(name: str) -> None:
    """Logs go to stderr, one line each, with the process's name; stdout is data."""
    logging.basicConfig(
        stream=sys.stderr, level=os.environ.get("JOINTWATCH_LOG", "INFO"), format=f"%(asctime)s {name}: %(message)s"
    )


def enter(name: str, runtime: Path) -> Config:
    """Common start of a child process; returns the configuration that the supervisor checked."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    configure_logging(name)
    return revive((runtime / "config.json").read_text())


def ready() -> None:
    """Tell the supervisor (when there is one) that this process does its work now."""
    number = os.environ.get("JOINTWATCH_READY_FD")
    if number is not None:
        os.write(int(number), b"1")
        os.close(int(number))
        del os.environ["JOINTWATCH_READY_FD"]


def endpoint(runtime: Path, name: str) -> str:
    """The ipc:// address of one of the service's own sockets."""
    return f"ipc://{runtime}/{name}"
