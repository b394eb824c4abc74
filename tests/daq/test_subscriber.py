"""The subscriber's own books, and its iterator over a real socket."""

from collections.abc import Iterator
from typing import Any

import msgpack
import pytest
import zmq

from daq.subscriber import Continuity, Subscriber


def follow(*messages: tuple[str, int, int]) -> Continuity:
    continuity = Continuity()
    for topic, boot, seq in messages:
        continuity.follow(topic, {"boot": boot, "seq": seq})
    return continuity


def test_a_late_start_is_no_gap() -> None:
    assert not follow(("a", 1, 500), ("a", 1, 501)).gaps


def test_gaps_are_counted_by_topic() -> None:
    continuity = follow(("a", 1, 0), ("b", 1, 0), ("a", 1, 4), ("b", 1, 1), ("a", 1, 6))
    assert continuity.gaps == {"a": 4}


def test_what_is_missing_before_a_message_is_reported_with_it() -> None:
    continuity = Continuity()
    assert [continuity.follow("a", {"boot": 1, "seq": seq}) for seq in (3, 4, 9, 10)] == [0, 0, 4, 0]


def test_a_restart_of_the_core_is_no_gap_and_is_counted_once() -> None:
    continuity = follow(("a", 1, 7), ("b", 1, 9), ("a", 2, 0), ("b", 2, 3), ("a", 2, 1))
    assert not continuity.gaps
    assert continuity.restarts == 1


def test_a_gap_after_a_restart_is_a_gap() -> None:
    assert follow(("a", 1, 7), ("a", 2, 0), ("a", 2, 3)).gaps == {"a": 2}


@pytest.fixture
def publisher() -> Iterator[tuple[zmq.Socket[bytes], str]]:
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    socket = context.socket(zmq.XPUB)
    socket.setsockopt(zmq.LINGER, 0)
    socket.bind("tcp://127.0.0.1:0")
    yield socket, socket.getsockopt_string(zmq.LAST_ENDPOINT)
    socket.close()
    context.term()


def update(seq: int, **more: Any) -> bytes:
    packed: bytes = msgpack.packb({"seq": seq, "boot": 1, **more})
    return packed


def subscribed(socket: zmq.Socket[bytes], topics: int = 1) -> None:
    """Wait until that many subscriptions have arrived."""
    for _ in range(topics):
        assert socket.poll(60_000)
        socket.recv()


def test_it_iterates_topics_and_maps(publisher: tuple[zmq.Socket[bytes], str]) -> None:
    socket, endpoint = publisher
    with Subscriber(endpoint, ("estimate/", "event/"), timeout=60) as updates:
        subscribed(socket, 2)
        socket.send_multipart((b"estimate/a", update(0, joint="a")))
        socket.send_multipart((b"residual/a", update(0)))
        socket.send_multipart((b"event/a", update(5, text="é")))
        assert next(updates) == ("estimate/a", {"seq": 0, "boot": 1, "joint": "a"})
        assert next(updates) == ("event/a", {"seq": 5, "boot": 1, "text": "é"})


def test_losses_are_reported(publisher: tuple[zmq.Socket[bytes], str]) -> None:
    socket, endpoint = publisher
    with Subscriber(endpoint, timeout=60) as updates:
        subscribed(socket)
        for seq in (0, 1, 5):
            socket.send_multipart((b"estimate/a", update(seq)))
        assert [updates.missing for _ in zip(range(3), updates, strict=False)] == [0, 0, 3]
        assert updates.gaps == {"estimate/a": 3}


def test_rubbish_is_counted_and_passed_over(publisher: tuple[zmq.Socket[bytes], str]) -> None:
    socket, endpoint = publisher
    rubbish = (
        (b"only one frame",), (b"a", b"b", b"c"), (b"a", b"\xc1"), (b"a", b"\xdb\xff\xff"), (b"a", b"\x80"),
        (b"a", msgpack.packb([1])), (b"a", msgpack.packb({"seq": "x", "boot": 1})), (b"\xff\xfe", update(0)),
    )  # fmt: skip
    with Subscriber(endpoint, timeout=60) as updates:
        subscribed(socket)
        for frames in rubbish:
            socket.send_multipart(frames)
        socket.send_multipart((b"estimate/a", update(0)))
        assert next(updates)[0] == "estimate/a"
        assert updates.malformed == len(rubbish)


def test_silence_raises_after_the_timeout(publisher: tuple[zmq.Socket[bytes], str]) -> None:
    with (
        Subscriber(publisher[1], timeout=0.05) as updates,
        pytest.raises(TimeoutError, match=r"nothing from tcp.* for 0\.05 s: is the service running"),
    ):
        next(updates)


@pytest.mark.parametrize("endpoint", ["localhost:5556", "tcp://nowhere", "x://y"])
def test_an_address_that_is_none_is_said_at_once(endpoint: str) -> None:
    with pytest.raises(ValueError, match=r"expected an address such as tcp://127\.0\.0\.1:5556, found"):
        Subscriber(endpoint)
