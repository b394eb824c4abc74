"""What the estimators know, in one file: written by a thread every few seconds, read once when the core starts."""

import logging
import os
import stat
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgpack
import zmq

from daq.state.files import BaselineError, replace
from daq.stream.sockets import Socket, open_receiver

TOPIC: Final = "checkpoint/"
EVERY: Final = 5.0  # s between two states of a joint
OLDEST: Final = 600.0  # s; a robot that stood longer has cooled down, and starts anew
FILE: Final = "checkpoint"

log = logging.getLogger("jointwatch")


class Writer(threading.Thread):
    """The outlet's end: writes what came, at most every EVERY seconds, until the context ends."""

    def __init__(self, context: "zmq.Context[Socket]", address: str, file: Path) -> None:
        super().__init__(name="checkpoint", daemon=True)
        self._news = open_receiver(context, address, (TOPIC,))
        self._file = file
        self._states: dict[str, Any] = dict(read(file))  # of joints that are not settled now, too
        self._trouble = ""

    def run(self) -> None:
        """The thread."""
        due = 0.0
        fresh = False
        try:
            while True:
                if self._news.poll(500):
                    topic, told = self._news.recv_multipart()
                    self._states[topic.decode().removeprefix(TOPIC)] = msgpack.unpackb(told, strict_map_key=False)
                    fresh = True
                if fresh and time.monotonic() >= due:
                    due, fresh = time.monotonic() + EVERY, False
                    self._write()
        except zmq.ContextTerminated:
            self._news.close(0)

    def _write(self) -> None:
        try:
            replace(self._file, msgpack.packb(self._states), 0o600)
            self._trouble = ""
        except BaselineError as error:
            if str(error) != self._trouble:
                self._trouble = str(error)
                log.warning("a core that dies will start anew: %s", error)


def read(file: Path) -> Mapping[str, Any]:
    """Joint → (key, Unix s, state); nothing where there is none, or where others might have written it."""
    try:
        found = file.stat()
        if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o022:
            log.warning("%s is not ours alone: not used", file)
            return {}
        states = msgpack.unpackb(file.read_bytes(), strict_map_key=False)
        if isinstance(states, dict) and all(isinstance(one, list) and len(one) == 3 for one in states.values()):
            return states
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, RecursionError, msgpack.UnpackException) as error:
        log.warning("%s: %s", file, error)
        return {}
    log.warning("%s: expected states of joints, found something else", file)
    return {}
