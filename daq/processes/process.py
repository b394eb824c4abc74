"""What every process of the service has in common: its start, its one clear line when it cannot, its clean stop.

Processes are forked from a server that has imported everything already (multiprocessing's forkserver): a driver that
was killed is back in a fraction of a second instead of the seconds that importing takes on a busy machine.
"""

import ctypes
import logging
import os
import pkgutil
import signal
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import Final

from daq.config.load import revive
from daq.config.sections import Config

PR_SET_NAME: Final = 15
PR_SET_PDEATHSIG: Final = 1
EXIT_CANNOT_START: Final = 3  # before "ready": the supervisor stops everything and shows the one line left behind

log = logging.getLogger("jointwatch")

Work = Callable[[str, Config, Path, Callable[[], None]], None]  # name, configuration, runtime folder, ready


class CannotStartError(Exception):
    """The process cannot do its work as configured; the text is the one line that the user sees."""


class Stop:
    """Set once by SIGTERM; a process looks at it between two batches."""

    def __init__(self) -> None:
        self.asked = False
        signal.signal(signal.SIGTERM, self._ask)

    def _ask(self, _number: int, _frame: FrameType | None) -> None:
        self.asked = True


def live(name: str, work: str, runtime: Path, waiting: Connection) -> None:
    """The whole life of a child process; work: "module:function" of a Work.

    Says on `waiting` when it does its work. No orphan outlives the supervisor; Ctrl-C is for the supervisor alone.
    """
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        library = ctypes.CDLL(None)
        library.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        library.prctl(PR_SET_NAME, f"jw {name}".encode())  # what ps and top show; 15 characters
    configure_logging(name)
    run: Work = pkgutil.resolve_name(work)

    def ready() -> None:
        if not waiting.closed:
            waiting.send_bytes(b"ready")
            waiting.close()

    try:
        run(name, revive((runtime / "config.json").read_text()), runtime, ready)
    except CannotStartError as error:
        (runtime / f"{name}.error").write_text(str(error))
        sys.exit(EXIT_CANNOT_START)


def last_words(runtime: Path, name: str) -> str:
    """The line that a process left before it gave up."""
    return (runtime / f"{name}.error").read_text().strip()


def configure_logging(name: str) -> None:
    """Logs go to stderr, one line each, with the process's name; stdout is data."""
    logging.basicConfig(
        stream=sys.stderr, level=os.environ.get("JOINTWATCH_LOG", "INFO"), format=f"%(asctime)s {name}: %(message)s"
    )


def endpoint(runtime: Path, name: str) -> str:
    """The ipc:// address of one of the service's own sockets."""
    return f"ipc://{runtime}/{name}"
