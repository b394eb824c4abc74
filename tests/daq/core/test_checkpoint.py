"""Checkpoints: written whole, used only for the same settings, the same program and a few minutes."""

import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import msgpack
import numpy as np
import pytest
import zmq

from daq.config.load import load
from daq.config.sections import Config
from daq.core import checkpoint
from daq.core.checkpoint import Checkpoints, key
from daq.core.pipeline import Pipeline
from daq.state.checkpoint_file import Writer, read
from daq.stream.checksum import seal
from drivers.reading import READING
from estimators.online.checkpoint import NotTheSameError

START = 1_000_000_000  # ns


@pytest.fixture(scope="module")
def config() -> Config:
    return load(Path(__file__).parents[3] / "daq" / "jointwatch.toml")


def readings(seconds: float, begin: float = 0.0) -> np.ndarray:
    """The template's joint at 1 kHz."""
    t = begin + np.arange(round(seconds * 1000)) * 1e-3
    amplitude, omega = np.array([[0.5], [0.3]]), 2 * np.pi * np.array([[0.5], [1.3]])
    q, v = np.sum(amplitude * np.sin(omega * t), axis=0), np.sum(amplitude * omega * np.cos(omega * t), axis=0)
    a = np.sum(-amplitude * omega**2 * np.sin(omega * t), axis=0)
    table = np.zeros((len(t), 3), READING)
    table["time"] = START + np.round(t * 1e9).astype(np.int64)[:, None]
    table["channel"] = [0, 1, 2]
    torque = 2 * a + 3 * v + 1.5 * np.sign(v) + 5 * np.sin(q)
    table["value"] = np.column_stack([q, torque, np.round(t * 1000) % 65536])
    return table.reshape(-1)


def run(pipeline: Pipeline, table: np.ndarray) -> list[tuple[bytes, dict[str, object]]]:
    batches = np.split(table, len(table) // 300)
    said = [message for batch in batches for message in pipeline.absorb(batch, 0, lambda: 0)]
    return [(topic, msgpack.unpackb(body)) for topic, body in said]


@pytest.fixture(scope="module")
def settled(config: Config) -> Pipeline:
    pipeline = Pipeline(config, boot=1)
    run(pipeline, readings(16.0))
    return pipeline


@pytest.fixture
def wired(config: Config, tmp_path: Path) -> Iterator[tuple[Checkpoints, Path]]:
    """A core's end and a running writer."""
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    file, address = tmp_path / "arm.checkpoint", f"ipc://{tmp_path}/checkpoints"
    writer = Writer(context, address, file)
    writer.start()
    checkpoints = Checkpoints(config, address, context)
    yield checkpoints, file
    checkpoints.close()
    context.term()
    writer.join(60)
    assert not writer.is_alive()


def test_a_new_core_goes_on_where_the_old_one_was(
    config: Config, settled: Pipeline, wired: tuple[Checkpoints, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoints, file = wired
    monkeypatch.setattr(checkpoint, "EVERY", 0.1)
    deadline = time.monotonic() + 60
    while not read(file).keys() >= {"elbow", "elbow.changes"}:
        assert time.monotonic() < deadline
        checkpoints.send_next_state(settled)
        time.sleep(0.05)  # between two tries
    pipeline = Pipeline(config, boot=2)
    assert checkpoints.resume(pipeline, file).keys() == {"elbow", "elbow.changes"}
    said = run(pipeline, readings(1.2, begin=40.0))
    events = [body["kind"] for topic, body in said if topic == b"event/elbow"]
    estimates = [body for topic, body in said if topic == b"estimate/elbow"]
    assert events == ["resumed"]
    assert {body["health"]["status"] for body in estimates[40:]} == {"valid"}  # type: ignore[index]
    assert estimates[-1]["parameters"]["viscous"] == pytest.approx(3.0, rel=0.02)  # type: ignore[index]


def written(file: Path, its_key: str, state: object, age: float = 1.0) -> Path:
    file.write_bytes(seal(msgpack.packb({"elbow": [its_key, time.time() - age, state]})))
    file.chmod(0o600)
    return file


def test_what_does_not_belong_starts_anew(
    config: Config, settled: Pipeline, wired: tuple[Checkpoints, Path], tmp_path: Path
) -> None:
    checkpoints, _ = wired
    state, good, file = settled.joints[0].estimator.keep(), key(config.joints["elbow"]), tmp_path / "c"

    def resumed(path: Path) -> bool:
        pipeline = Pipeline(config, boot=2)
        found = bool(checkpoints.resume(pipeline, path))
        assert (pipeline.joints[0].estimator.estimate().phase == "normal") == found
        return found

    assert resumed(written(file, good, state))
    assert not resumed(written(file, "another", state)), "other settings, or another program"
    assert not resumed(written(file, good, state, age=601)), "too old"
    assert not resumed(written(file, good, state, age=-60)), "of the future"
    assert not resumed(written(file, good, {"rls": 7})), "damaged"
    assert not resumed(written(file, good, {"nobody": 7})), "damaged"
    assert not resumed(tmp_path / "none")
    for rubbish in (b"", b"\xc1", seal(msgpack.packb(7)), seal(msgpack.packb({"elbow": 7})), os.urandom(100)):
        file.write_bytes(rubbish)
        assert not resumed(file)
    written(file, good, state).chmod(0o666)
    assert not resumed(file), "others may have written it"


def test_a_joint_whose_state_is_half_taken_starts_as_if_it_had_been_given_none(
    config: Config, settled: Pipeline
) -> None:
    state = settled.joints[0].estimator.keep()
    assert state is not None
    *_, last = (name for name in state if name != "kernel")
    half, fresh = Pipeline(config, boot=2), Pipeline(config, boot=2)
    with pytest.raises(NotTheSameError, match=f"^{last}: expected version"):
        half.resume({"elbow": state | {last: state[last] | {"version": -1}}})
    assert half.joints[0].estimator.keep() is None
    assert repr(run(half, readings(3.0, begin=40.0))) == repr(run(fresh, readings(3.0, begin=40.0)))


@pytest.mark.parametrize(
    ("its_key", "age", "words"),
    [
        ("of before", 1.0, "another version of the program, or with other settings"),
        (None, 700.0, "is 700 s old, expected 600 s at most"),
        (None, -60.0, "s old, expected 600 s at most"),
    ],
)
def test_a_state_that_is_not_used_is_refused_in_words(
    config: Config, settled: Pipeline, wired: tuple[Checkpoints, Path], tmp_path: Path, its_key: str | None, age: float,
    words: str, caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    file = written(tmp_path / "c", its_key or key(config.joints["elbow"]), settled.joints[0].estimator.keep(), age)
    caplog.clear()
    assert wired[0].resume(Pipeline(config, boot=2), file) == {}
    (line,) = [record.getMessage() for record in caplog.records]
    assert line.startswith(f"elbow starts again from nothing: its state in {file} ")
    assert words in line


@pytest.mark.parametrize(
    "content", [{"elbow": {"state": 1}}, {"version": 0, "joints": {}}, ["elbow"], {"elbow": ["k", "long ago", {}]}]
)
def test_a_file_of_an_older_layout_is_refused_in_words(
    config: Config, wired: tuple[Checkpoints, Path], tmp_path: Path, content: object, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "c"
    file.write_bytes(seal(msgpack.packb(content)))
    file.chmod(0o600)
    caplog.clear()
    assert wired[0].resume(Pipeline(config, boot=2), file) == {}
    assert [str(file) in record.getMessage() for record in caplog.records] == [True]


def test_resumed_is_said_when_it_was_decided_not_when_the_core_before_ended(config: Config, settled: Pipeline) -> None:
    pipeline = Pipeline(config, boot=2)
    pipeline.resume({"elbow": settled.joints[0].estimator.keep()})
    said = run(pipeline, readings(1.2, begin=40.0))
    (event,) = [body for topic, body in said if topic == b"event/elbow"]
    assert event["kind"] == "resumed"
    assert START / 1e9 + 40.0 <= event["timestamp"] <= START / 1e9 + 41.2, "the state is of 16 s after the start"


def test_the_key_changes_with_any_setting_of_the_joint(config: Config) -> None:
    joint = config.joints["elbow"]
    other = joint.model_copy(update={"rate": 500.0})
    assert key(joint) == key(joint) != key(other)


def test_states_of_joints_that_are_not_settled_now_stay(tmp_path: Path) -> None:
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    file = written(tmp_path / "arm.checkpoint", "k", {"a": 1})
    file.chmod(0o644)
    writer = Writer(context, f"ipc://{tmp_path}/checkpoints", file)
    writer.start()
    socket = context.socket(zmq.PUB)
    socket.linger = 0
    socket.connect(f"ipc://{tmp_path}/checkpoints")
    deadline = time.monotonic() + 60
    while read(file).keys() != {"elbow", "base"}:
        assert time.monotonic() < deadline
        socket.send_multipart((b"checkpoint/base", msgpack.packb(("k", time.time(), {"b": 2}))))
        time.sleep(0.05)  # between two tries
    assert read(file)["elbow"][2] == {"a": 1}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600, "no other user may read it"
    socket.close()
    context.term()
    writer.join(60)


def test_every_state_is_sent_once_in_its_time_one_after_the_other(
    settled: Pipeline, wired: tuple[Checkpoints, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often it is asked: three joints take turns, each with its estimator and with what has changed of it."""
    checkpoints, _ = wired
    sent: list[bytes] = []
    monkeypatch.setattr(checkpoints._socket, "send_multipart", lambda parts: sent.append(parts[0]), raising=False)
    (joint,) = settled.joints
    monkeypatch.setattr(settled, "joints", [joint] * 3)
    begun = time.monotonic()
    for step in range(1000):
        monkeypatch.setattr(checkpoint.time, "monotonic", lambda at=begun + step * checkpoint.EVERY / 100.0: at)
        checkpoints.send_next_state(settled)
    assert len(sent) == pytest.approx(60, abs=1)
