"""Checkpoints: the state of every estimator, sent to the outlet every few seconds; a restarted core continues from it.

The core sends one joint's state at a time; a thread of the outlet writes the file (daq/state/checkpoint_file.py), so
the core never waits for a disk. A state is used only with the same settings and the same program, and only if it is at
most a few minutes old. Otherwise the joint starts again from nothing.
"""

import hashlib
import marshal
import math
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any, Final

import msgpack
import zmq

import estimators
from daq.config.sections import Config, JointSection
from daq.core.changes.change_records import change_state_name
from daq.core.gear_pipeline import CLEARANCE_STATE, GEAR_STATE
from daq.core.pipeline import Pipeline
from daq.processes.kernels import kept_text
from daq.processes.logs import log
from daq.state.checkpoint_file import EVERY, OLDEST, TOPIC, read
from daq.stream.sockets import Socket, open_publisher
from daq.stream.update import MECHANISM, ROBOT
from estimators.online.checkpoint import NotTheSameError

# folders of `estimators` on whose code a state depends
ROOMS: Final = (
    "models",
    "conditioning",
    "recursive",
    "window",
    "refit",
    "online",
    "misfit",
    "quantisation",
    "alignment",
    "plausibility",
)
CHANGES: Final = change_state_name("")  # suffix of the names of states that contain records of changes


@cache
def edition() -> str:
    """Return a digest of the code on which a state depends. It is computed once for these sources (0.25 s, 10 MB)."""
    return kept_text("edition", digest)


def digest() -> str:
    """Compute the value of `edition`; comments, docstrings and line breaks do not change it.

    In another edition of the code the same names may have other meanings.
    """
    folder = Path(estimators.__path__[0])
    files = sorted(file for room in ROOMS for file in (folder / room).rglob("*.py"))
    return hashlib.sha256(b"\0".join(meaning(file.read_text(encoding="utf-8")) for file in files)).hexdigest()[:16]


def meaning(source: str) -> bytes:
    """Return the bytecode of a program without docstrings, assertions and line numbers, so that programs that do the
    same give the same result. Compiling takes a third of the time of a walk through the syntax tree."""
    return marshal.dumps(_without_places(compile(source, "", "exec", dont_inherit=True, optimize=2)))


def _without_places(code: CodeType) -> CodeType:
    inner = tuple(_without_places(one) if isinstance(one, CodeType) else one for one in code.co_consts)
    return code.replace(co_consts=inner, co_linetable=b"", co_firstlineno=0)


def key(joint: JointSection) -> str:
    """Return a digest of everything on which a joint's state depends: the code and the joint's settings."""
    return hashlib.sha256(f"{edition()} {joint.model_dump_json(by_alias=True)}".encode()).hexdigest()[:16]


def _settings(joint: JointSection) -> str:
    """Return a digest of the joint's settings alone; records of changes are valid in any version of the program."""
    return hashlib.sha256(joint.model_dump_json(by_alias=True).encode()).hexdigest()[:16]


class Checkpoints:
    """The core's side of checkpoints: reads the file once at the start, then sends states."""

    def __init__(self, config: Config, address: str, context: "zmq.Context[Socket]") -> None:
        """address: ipc:// address at which the writer listens."""
        self._keys = {name: key(joint) for name, joint in config.joints.items()}
        self._keys |= {name + GEAR_STATE: self._keys[name] for name in config.joints}
        self._keys |= {name + CLEARANCE_STATE: _settings(joint) for name, joint in config.joints.items()}
        self._keys |= {change_state_name(name): _settings(joint) for name, joint in config.joints.items()}
        if config.robot.model is not None:
            self._keys[ROBOT] = hashlib.sha256(config.robot_model.encode()).hexdigest()[:16]
            self._keys[change_state_name(ROBOT)] = self._keys[ROBOT]
        if config.mechanism:
            self._keys[MECHANISM] = hashlib.sha256(config.mechanism.encode()).hexdigest()[:16]
        self._socket = open_publisher(context, address)
        self._turn = 0
        self._due = 0.0

    def resume(self, pipeline: Pipeline, file: Path) -> dict[str, Any]:
        """Let every joint continue from its stored state if that can be used; returns the states that were used."""
        resumed = {}
        for name, (its_key, saved, state) in read(file).items():
            why = self._refusal(name, its_key, saved)
            if why:
                log.warning("%s starts again from nothing: its state in %s %s", name, file, why)
                continue
            try:
                pipeline.resume({name: state})
                resumed[name] = state
            except (NotTheSameError, KeyError, TypeError, ValueError) as error:
                log.warning("%s starts again from nothing: its state in %s cannot be used: %s", name, file, error)
        return resumed

    def _refusal(self, name: str, its_key: object, saved: object) -> str:
        """Return the reason why a state is not used; empty if it can be used."""
        if name not in self._keys:
            return "belongs to a joint that is no longer configured"
        if its_key != self._keys[name]:
            return "was written by another version of the program, or with other settings"
        if name.endswith(
            (CHANGES, CLEARANCE_STATE)
        ):  # records of changes stay valid, however long the service was not running
            return ""
        age = time.time() - saved if isinstance(saved, (int, float)) else math.nan
        if not 0 <= age <= OLDEST:
            return f"is {age:.0f} s old, expected {OLDEST:g} s at most"
        return ""

    def send_next_state(self, pipeline: Pipeline) -> None:
        """Send the state of the next joint when it is due."""
        now = time.monotonic()
        if now < self._due:
            return
        joints = pipeline.joints
        states: list[tuple[str, Callable[[], Any]]] = [(joint.name, joint.estimator.keep) for joint in joints]
        states += [(name, extra.keep) for joint in joints for name, extra in joint.extra_pipelines.items()]
        states += [(change_state_name(joint.name), joint.comparison.keep) for joint in joints]
        states += [(one.name, one.keep) for one in pipeline.shared_pipelines]
        if pipeline.robot is not None:
            states.append((change_state_name(ROBOT), pipeline.robot.keep_changes))
        self._due = now + EVERY / len(states)
        name, keep = states[self._turn % len(states)]
        self._turn += 1
        state = keep()
        if state is not None:
            packed = msgpack.packb((self._keys[name], time.time(), state))
            self._socket.send_multipart((f"{TOPIC}{name}".encode(), packed))

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()
