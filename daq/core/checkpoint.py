"""What the estimators know, on the disk every few seconds, so that a core that died goes on from there.

The core hands out one joint's state at a time; the outlet's thread of this module writes, so that no disk is touched
while the core runs. A state counts for the same settings, the same program and a few minutes; else the joint starts
anew.
"""

import hashlib
import os
import stat
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgpack
import zmq

import estimators
from daq.commands.baseline import BaselineError, replace
from daq.config.load import Config, Joint
from daq.core.pipeline import Pipeline
from daq.processes.process import log
from daq.stream.sockets import Socket, open_publisher, open_receiver
from estimators.online.checkpoint import NotTheSameError

TOPIC: Final = "checkpoint/"
EVERY: Final = 5.0  # s between two states of a joint
OLDEST: Final = 600.0  # s; a robot that stood longer has cooled down, and starts anew
FILE: Final = "checkpoint"


def edition() -> str:
    """Of the estimators' code: another one may mean something else by the same names."""
    folder = Path(estimators.__path__[0])
    sources = (file.read_bytes() for file in sorted(folder.rglob("*.py")))
    return hashlib.sha256(b"\0".join(sources)).hexdigest()[:16]


def key(joint: Joint) -> str:
    """Of everything that a state depends on."""
    return hashlib.sha256(f"{edition()} {joint.model_dump_json(by_alias=True)}".encode()).hexdigest()[:16]


class Checkpoints:
    """The core's end."""

    def __init__(self, config: Config, address: str, context: "zmq.Context[Socket]") -> None:
        """address: ipc:// where the writer hears."""
        self._keys = {name: key(joint) for name, joint in config.joints.items()}
        self._socket = open_publisher(context, address)
        self._turn = 0
        self._due = 0.0

    def resume(self, pipeline: Pipeline, file: Path) -> dict[str, Any]:
        """Let every joint go on whose state is good; what they went on from."""
        resumed = {}
        for name, (its_key, saved, state) in read(file).items():
            if its_key != self._keys.get(name) or not 0 <= time.time() - saved <= OLDEST:
                continue
            try:
                pipeline.resume({name: state})
                resumed[name] = state
            except (NotTheSameError, KeyError, TypeError, ValueError) as error:
                log.warning("%s starts anew: %s", name, error)
        return resumed

    def hand_out(self, pipeline: Pipeline) -> None:
        """The next joint's state, when it is due."""
        now = time.monotonic()
        if now < self._due:
            return
        self._due = now + EVERY / len(pipeline.lines)
        line = pipeline.lines[self._turn % len(pipeline.lines)]
        self._turn += 1
        state = line.estimator.keep()
        if state is not None:
            told = msgpack.packb((self._keys[line.name], time.time(), state))
            self._socket.send_multipart((f"{TOPIC}{line.name}".encode(), told))

    def close(self) -> None:
        """Hand out no more."""
        self._socket.close()


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
    except (OSError, ValueError, msgpack.UnpackException) as error:
        log.warning("%s: %s", file, error)
        return {}
    log.warning("%s: expected states of joints, found something else", file)
    return {}
