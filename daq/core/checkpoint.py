"""What the estimators know, handed out every few seconds, so that a core that died goes on from there.

The core hands out one joint's state at a time; a thread of the outlet writes (daq/state/checkpoint_file.py), so that no
disk is touched while the core runs. A state counts for the same settings, the same program and a few minutes; else the
joint starts anew.
"""

import hashlib
import time
from pathlib import Path
from typing import Any

import msgpack
import zmq

import estimators
from daq.config.sections import Config, Joint
from daq.core.pipeline import Pipeline
from daq.processes.process import log
from daq.state.checkpoint_file import EVERY, OLDEST, TOPIC, read
from daq.stream.sockets import Socket, open_publisher
from estimators.online.checkpoint import NotTheSameError


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
