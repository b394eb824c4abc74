"""A subscriber that a locked stream does not let in is told which key is wrong, instead of waiting for ever."""

import itertools
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgpack
import pytest
import zmq

from daq.stream.keys import Curve, create, read_pair
from daq.stream.sockets import Forwarder, open_publisher
from daq.subscriber import RefusedError, Subscriber


class Locked(NamedTuple):
    """A stream that lets "friend" in, and the folder of everybody's keys."""

    endpoint: str
    keys: Path


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[Locked]:
    keys = tmp_path / "keys"
    for folder, name in ((keys, "server"), (keys, "friend"), (tmp_path / "elsewhere", "stranger")):
        create(folder, name)
    create(tmp_path / "elsewhere", "server")
    (keys / "clients").mkdir()
    shutil.copy(keys / "friend.key", keys / "clients")
    curve = Curve(read_pair(keys / "server.key_secret").secret, keys / "clients")
    with Forwarder(f"ipc://{tmp_path}/updates", "tcp://127.0.0.1:0", curve) as forwarder:
        yield Locked(forwarder.endpoint, keys)


def test_the_services_own_processes_need_no_key_where_the_stream_is_locked(tmp_path: Path) -> None:
    create(tmp_path, "server")
    curve = Curve(read_pair(tmp_path / "server.key_secret").secret, tmp_path)
    inside = f"ipc://{tmp_path}/inside"
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    with Forwarder(f"ipc://{tmp_path}/u", "tcp://127.0.0.1:0", curve, 0, inside) as forwarder:
        core = open_publisher(context, f"ipc://{tmp_path}/u")
        with Subscriber(inside, timeout=0.1) as own, Subscriber(forwarder.endpoint, timeout=60) as stranger:
            deadline = time.monotonic() + 60
            for seq in itertools.count():
                core.send_multipart((b"estimate/elbow", msgpack.packb({"seq": seq, "boot": 1})))
                try:
                    assert next(own)[0] == "estimate/elbow"
                    break
                except TimeoutError:
                    assert time.monotonic() < deadline
            with pytest.raises(RefusedError, match="is locked"):
                next(stranger)
        core.close(0)
    context.term()


def test_a_key_that_the_service_does_not_know(locked: Locked) -> None:
    stranger = locked.keys.parent / "elsewhere" / "stranger.key_secret"
    with (
        Subscriber(locked.endpoint, timeout=60, key=stranger, server_key=locked.keys / "server.key") as updates,
        pytest.raises(RefusedError, match=r"does not know our key: put its public half \(\.key\) into"),
    ):
        next(updates)


def test_a_server_key_of_another_server(locked: Locked) -> None:
    other = locked.keys.parent / "elsewhere" / "server.key"
    with (
        Subscriber(locked.endpoint, timeout=60, key=locked.keys / "friend.key_secret", server_key=other) as updates,
        pytest.raises(RefusedError, match=r"server_key is not its .key"),
    ):
        next(updates)


def test_no_key_at_all_and_the_command_says_so(locked: Locked, run_program: Callable[..., Any]) -> None:
    with (
        Subscriber(locked.endpoint, timeout=60) as updates,
        pytest.raises(RefusedError, match=r"is locked: it takes a key and the server's .key"),
    ):
        next(updates)
    done = run_program("daq", "listen", "--endpoint", locked.endpoint)
    assert done.returncode == 1
    assert done.stderr.startswith(f"jointwatch: {locked.endpoint} is locked: it takes a key")
    assert len(done.stderr.splitlines()) == 1


def test_a_friend_is_let_in_and_hears_nothing_as_yet(locked: Locked) -> None:
    friend = {"key": locked.keys / "friend.key_secret", "server_key": locked.keys / "server.key"}
    with Subscriber(locked.endpoint, timeout=1.5, **friend) as updates, pytest.raises(TimeoutError, match=r"for 1.5 s"):
        next(updates)
