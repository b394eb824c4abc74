"""A checkpoint: written every few seconds at most, and not used where others might have written it."""

import os
import queue
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgpack
import pytest
import zmq

from daq.state import checkpoint_file
from daq.state.checkpoint_file import EVERY, Writer
from daq.stream.checksum import seal, unseal

STATES = {"joint1": ["key", 1.0, {"theta": [1.0], 7: "a state is whatever a joint keeps"}]}
SOON = 60.0  # s that a loaded machine may take


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A checkpoint of ours alone."""
    file = tmp_path / "checkpoint"
    file.write_bytes(seal(msgpack.packb(STATES)))
    file.chmod(0o600)
    return file


def test_ours_is_read(kept: Path) -> None:
    assert checkpoint_file.read(kept) == STATES


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_what_others_may_write_is_not(kept: Path, mode: int, caplog: pytest.LogCaptureFixture) -> None:
    kept.chmod(mode)
    assert checkpoint_file.read(kept) == {}
    assert "belongs to another user, or others may write it" in caplog.text


@pytest.mark.parametrize("mode", [0o640, 0o604])
def test_what_others_may_only_read_is(kept: Path, mode: int) -> None:
    kept.chmod(mode)
    assert checkpoint_file.read(kept) == STATES


def test_what_is_another_users_is_not(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: kept.stat().st_uid + 1)
    assert checkpoint_file.read(kept) == {}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (seal(msgpack.packb([1, 2])), "expected states of joints"),
        (seal(msgpack.packb({"joint1": ["key", 1.0]})), "expected states of joints"),
        (seal(msgpack.packb({"a": ["key", 1.0, {}], "b": {"a": 1, "b": 2, "c": 3}})), "expected states of joints"),
        (b"", "too few for a checksum"),
        (seal(b"\xc1"), "every joint starts anew: "),
        (seal(msgpack.packb(STATES))[:-3], "damaged: expected 75 bytes, found 72"),
    ],
)
def test_what_is_no_checkpoint_is_none_and_says_so_once(
    kept: Path, content: bytes, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    kept.write_bytes(content)
    assert checkpoint_file.read(kept) == {}
    [record] = caplog.records
    assert str(kept) in record.getMessage()
    assert words in record.getMessage()


def test_where_there_is_none_nothing_is_wrong(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert checkpoint_file.read(tmp_path / "none") == {}
    assert not caplog.records
    assert checkpoint_file.read(tmp_path) == {}, "a folder is none, either"
    assert "directory" in caplog.text


Say = Callable[[str, object], None]


@pytest.fixture
def wire(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Say, SimpleNamespace, Any, Path]]:
    """A running writer: what says a joint's state and waits until it was taken, its clock, what it wrote when.

    A parameter is what the file has before.
    """
    clock, taken, written, real = SimpleNamespace(now=100.0), queue.Queue(), queue.Queue(), checkpoint_file.replace

    class Noted(dict[str, bytes]):
        """States, of which the test hears when they are taken."""

        def __setitem__(self, name: str, packed: bytes) -> None:
            super().__setitem__(name, packed)
            taken.put(msgpack.unpackb(packed, strict_map_key=False))

    def replace(file: Path, data: bytes, mode: int) -> None:
        written.put((clock.now, mode, msgpack.unpackb(unseal(data), strict_map_key=False)))
        real(file, data, mode)

    monkeypatch.setattr(checkpoint_file, "time", SimpleNamespace(monotonic=lambda: clock.now))
    monkeypatch.setattr(checkpoint_file, "replace", replace)
    (tmp_path / "state").mkdir()
    if before := getattr(request, "param", None):
        (tmp_path / "state" / "arm.checkpoint").write_bytes(seal(msgpack.packb(before)))
        (tmp_path / "state" / "arm.checkpoint").chmod(0o600)
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    writer = Writer(context, f"ipc://{tmp_path}/c", tmp_path / "state" / "arm.checkpoint")
    writer._states = Noted(writer._states)
    writer.start()
    core = context.socket(zmq.PUB)
    core.linger = 0
    core.connect(f"ipc://{tmp_path}/c")

    def say(joint: str, state: object, patience: float = SOON) -> None:
        for _ in range(round(patience / 0.05)):
            core.send_multipart((f"checkpoint/{joint}".encode(), msgpack.packb(state)))
            try:
                while taken.get(timeout=0.05) != state:  # a publisher's first words may be lost
                    pass
            except queue.Empty:
                continue
            return
        raise AssertionError("the writer takes nothing")

    yield say, clock, written, tmp_path / "state" / "arm.checkpoint"
    core.close()
    context.term()
    writer.join(SOON)
    assert not writer.is_alive()


def test_what_came_is_written_at_once_then_after_every_few_seconds(
    wire: tuple[Say, SimpleNamespace, Any, Path],
) -> None:
    """At once, since a core that dies young is one that was just started; then every 5 s, so that no more is lost."""
    assert EVERY == 5.0
    say, clock, written, file = wire
    say("elbow", STATES["joint1"])
    assert written.get(timeout=SOON) == (100.0, 0o600, {"elbow": STATES["joint1"]})
    for number in range(2, 5):
        say("elbow", ["k", 1.0, number])  # once it is taken, the one before has been dealt with
    clock.now = 100.0 + 0.99 * EVERY
    say("base", ["k", 1.0, 5])
    say("base", ["k", 1.0, 6])
    clock.now = 100.0 + EVERY
    both = {"elbow": ["k", 1.0, 4], "base": ["k", 1.0, 6]}
    assert written.get(timeout=SOON) == (clock.now, 0o600, both), "the newest of each, without another word"
    clock.now += 10 * EVERY
    with pytest.raises(queue.Empty):  # a turn of the writer takes half a second; nothing new is not written again
        written.get(timeout=0.8)
    say("nobody", ["k", 1.0, 7])
    assert written.get(timeout=SOON)[2].keys() == {"elbow", "base", "nobody"}
    assert checkpoint_file.read(file).keys() >= {"elbow", "base"}


@pytest.mark.parametrize("wire", [{"elbow": ["k", 1.0, 1], "base": ["k", 1.0, 2]}], indirect=True)
def test_the_states_of_joints_that_say_nothing_now_stay_in_the_file(
    wire: tuple[Say, SimpleNamespace, Any, Path],
) -> None:
    """A joint may be missing for a while, as while its driver does not start."""
    say, _, written, _ = wire
    say("elbow", ["k", 1.0, 9])
    assert written.get(timeout=SOON)[2] == {"elbow": ["k", 1.0, 9], "base": ["k", 1.0, 2]}


def test_a_place_that_cannot_be_written_is_reported_once_until_it_can(
    wire: tuple[Say, SimpleNamespace, Any, Path], caplog: pytest.LogCaptureFixture
) -> None:
    say, clock, written, file = wire
    gone, lines = file.parent.with_name("gone"), []
    for there in (False, False, True, False):
        if there != file.parent.exists():
            (gone if there else file.parent).rename(file.parent if there else gone)
        for joint in ("one", "another", "third"):  # when the next one is taken, the one before has been dealt with
            say(joint, ["k", 1.0, len(lines)])
            written.get(timeout=SOON)
            clock.now += EVERY
        lines.append(caplog.text.count("a core that dies will lose what it has learnt"))
    assert lines == [1, 1, 1, 2]
    assert "cannot be written: no such file or directory" in caplog.text
