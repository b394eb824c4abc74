"""The checkpoint file, with the state of every estimator: a thread writes it, the core reads it once at its start."""

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
from daq.stream.checksum import seal, unseal
from daq.stream.sockets import Socket, open_receiver

TOPIC: Final = "checkpoint/"
EVERY: Final = 5.0  # s between two states of a joint
OLDEST: Final = 600.0  # s; a robot that stood still for longer has cooled down and starts anew
FILE: Final = "checkpoint"

log = logging.getLogger("jointwatch")


class Writer(threading.Thread):
    """A thread of the outlet: writes the states that arrive, at most every EVERY seconds, until the context ends."""

    def __init__(self, context: "zmq.Context[Socket]", address: str, file: Path) -> None:
        super().__init__(name="checkpoint", daemon=True)
        self._news = open_receiver(context, address, (TOPIC,))
        self._file = file
        # packed, a seventh of the memory; including joints that send no state now
        self._states = {name: msgpack.packb(state) for name, state in read(file).items()}
        self._trouble = ""

    def run(self) -> None:
        """Receive and write until the context ends."""
        due = 0.0
        fresh = False
        try:
            while True:
                if self._news.poll(500):
                    topic, packed = self._news.recv_multipart()
                    self._states[topic.decode().removeprefix(TOPIC)] = packed
                    fresh = True
                if fresh and time.monotonic() >= due:
                    due, fresh = time.monotonic() + EVERY, False
                    self._write()
        except zmq.ContextTerminated:
            self._news.close(0)

    def _write(self) -> None:
        try:
            replace(self._file, seal(self._packed()), 0o600)
            self._trouble = ""
        except BaselineError as error:
            if str(error) != self._trouble:
                self._trouble = str(error)
                log.warning("a core that dies will lose what it has learnt: %s", error)

    def _packed(self) -> bytes:
        """The map of all states, as msgpack would pack it."""
        packer = msgpack.Packer()
        parts = [packer.pack_map_header(len(self._states))]
        for name, state in self._states.items():
            parts += packer.pack(name), state
        return b"".join(parts)


def read(file: Path) -> Mapping[str, Any]:
    """Joint → (key, Unix s, state); empty where there is no file, or where others may have written it."""
    try:
        found = file.stat()
        if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o022:
            log.warning("%s is not used: it belongs to another user, or others may write it", file)
            return {}
        states = msgpack.unpackb(unseal(file.read_bytes()), strict_map_key=False)
        if isinstance(states, dict) and all(isinstance(one, list) and len(one) == 3 for one in states.values()):
            return states
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, RecursionError, msgpack.UnpackException) as error:
        log.warning("%s is not used, and every joint starts anew: %s", file, error)
        return {}
    log.warning("%s: expected states of joints, found something else", file)
    return {}
