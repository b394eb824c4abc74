"""What the estimators know, handed out every few seconds, so that a core that died goes on from there.

The core hands out one joint's state at a time; a thread of the outlet writes (daq/state/checkpoint_file.py), so that no
disk is touched while the core runs. A state counts for the same settings, the same program and a few minutes; else the
joint starts anew.
"""

import ast
import hashlib
import math
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgpack
import zmq

import estimators
from daq.config.sections import Config, JointSection
from daq.core.gear_pipeline import gear_state_name
from daq.core.pipeline import Pipeline
from daq.processes.logs import log
from daq.state.checkpoint_file import EVERY, OLDEST, TOPIC, read
from daq.stream.sockets import Socket, open_publisher
from daq.stream.update import ROBOT
from estimators.online.checkpoint import NotTheSameError

# of estimators, on which a state depends
ROOMS: Final = ("models", "conditioning", "recursive", "window", "refit", "online", "alignment")


@cache
def edition() -> str:
    """Of the code that a state depends on: another one may mean something else by the same names.

    Comments, docstrings and how lines are broken do not count.
    """
    folder = Path(estimators.__path__[0])
    files = sorted(file for room in ROOMS for file in (folder / room).rglob("*.py"))
    return hashlib.sha256("\0".join(meaning(file.read_text(encoding="utf-8")) for file in files).encode()).hexdigest()[
        :16
    ]


def meaning(source: str) -> str:
    """A program without its comments and docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                first.value.value = ""
    return ast.dump(tree)


def key(joint: JointSection) -> str:
    """Of everything that a state depends on."""
    return hashlib.sha256(f"{edition()} {joint.model_dump_json(by_alias=True)}".encode()).hexdigest()[:16]


class Checkpoints:
    """The core's end."""

    def __init__(self, config: Config, address: str, context: "zmq.Context[Socket]") -> None:
        """address: ipc:// where the writer hears."""
        self._keys = {name: key(joint) for name, joint in config.joints.items()}
        self._keys |= {gear_state_name(name): self._keys[name] for name in config.joints}
        if config.robot.model is not None:
            self._keys[ROBOT] = hashlib.sha256(config.robot_model.encode()).hexdigest()[:16]
        self._socket = open_publisher(context, address)
        self._turn = 0
        self._due = 0.0

    def resume(self, pipeline: Pipeline, file: Path) -> dict[str, Any]:
        """Let every joint go on whose state is good; what they went on from."""
        resumed = {}
        for name, (its_key, saved, state) in read(file).items():
            why = self._refusal(name, its_key, saved)
            if why:
                log.warning("%s starts anew: what %s holds of it %s", name, file, why)
                continue
            try:
                pipeline.resume({name: state})
                resumed[name] = state
            except (NotTheSameError, KeyError, TypeError, ValueError) as error:
                log.warning("%s starts anew: %s", name, error)
        return resumed

    def _refusal(self, name: str, its_key: object, saved: object) -> str:
        """Why a state is not used; empty where it may be."""
        if name not in self._keys:
            return "is of a joint that is not configured any more"
        if its_key != self._keys[name]:
            return "was kept by another version of the program, or with other settings"
        age = time.time() - saved if isinstance(saved, (int, float)) else math.nan
        if not 0 <= age <= OLDEST:
            return f"is {age:.0f} s old, expected {OLDEST:g} s at most"
        return ""

    def send_next_state(self, pipeline: Pipeline) -> None:
        """The next joint's state, when it is due."""
        now = time.monotonic()
        if now < self._due:
            return
        lines: list[tuple[str, Callable[[], Any]]] = [(line.name, line.estimator.keep) for line in pipeline.joints]
        lines += [(gear_state_name(line.name), line.gear.keep) for line in pipeline.joints if line.gear is not None]
        if pipeline.robot is not None:
            lines.append((ROBOT, pipeline.robot.keep))
        self._due = now + EVERY / len(lines)
        name, keep = lines[self._turn % len(lines)]
        self._turn += 1
        state = keep()
        if state is not None:
            told = msgpack.packb((self._keys[name], time.time(), state))
            self._socket.send_multipart((f"{TOPIC}{name}".encode(), told))

    def close(self) -> None:
        """Hand out no more."""
        self._socket.close()
