"""The forwarder over real sockets: what goes out, what stays in, and who may die."""

import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgpack
import pytest
import zmq

from daq.stream.sockets import RECONNECT, EndpointError, Forwarder, open_publisher
from daq.subscriber import Subscriber

ANY = "tcp://127.0.0.1:0"


def reach(core: Any, subscriber: Subscriber) -> None:
    """Publish until the subscriber hears this core: subscriptions take a moment to arrive."""
    patience, subscriber._timeout = subscriber._timeout, 0.05  # what comes may be a repetition, which is no message
    for _ in range(1200):
        core.estimate()
        try:
            while next(subscriber)[1]["boot"] != core.boot:
                pass
        except TimeoutError:
            continue
        subscriber._timeout = patience
        return
    raise AssertionError("nothing arrives")


def test_public_topics_go_out_and_internal_ones_never_do(tmp_path: Path, core: Any) -> None:
    with Forwarder(f"ipc://{tmp_path}/u", ANY) as forwarder, Subscriber(forwarder.endpoint, timeout=60) as everything:
        reach(core, everything)
        for topic in (b"status/core", b"samples/core", b"secret"):
            core.updates.send_multipart((topic, b"\x80"))
        core.updates.send_multipart(core.publications["base"].event("started", "last of all", 1.0))
        topics = set()
        while "event/base" not in topics:
            topics.add(next(everything)[0])
        assert topics <= {"estimate/elbow", "residual/elbow", "event/base"}
        assert everything.malformed == 0


def test_a_tap_sees_what_goes_out(tmp_path: Path, core: Any, wait: Callable[..., None]) -> None:
    with Forwarder(f"ipc://{tmp_path}/u", ANY) as forwarder:
        tap = forwarder.tap
        wait(lambda: core.estimate() or tap.poll(20))
        wait(lambda: tap.recv_multipart()[0] == b"estimate/elbow")  # a residual comes first where it was just in time


def test_an_outlet_that_comes_back_finds_what_was_published_meanwhile(tmp_path: Path, core: Any) -> None:
    with Forwarder(f"ipc://{tmp_path}/u", ANY) as forwarder, Subscriber(forwarder.endpoint, timeout=60) as before:
        reach(core, before)
    core.wait_alone()
    first = core.publications["elbow"].sequence["estimate"]
    for _ in range(300):
        core.estimate()
    with Forwarder(f"ipc://{tmp_path}/u", ANY) as forwarder:
        time.sleep(10 * RECONNECT / 1000)  # as a process that is busy first: the queue arrives, and the tap keeps it
        tap = forwarder.tap
        seen: list[int] = []
        while first + 299 not in seen:
            assert tap.poll(60_000)
            topic, payload = tap.recv_multipart()
            if topic == b"estimate/elbow":
                seen.append(msgpack.unpackb(payload)["seq"])
    assert seen[-300:] == list(range(first, first + 300))


def test_a_core_that_comes_back_is_heard_again(tmp_path: Path, make_core: Callable[..., Any]) -> None:
    with Forwarder(f"ipc://{tmp_path}/u", ANY) as forwarder, Subscriber(forwarder.endpoint, timeout=60) as subscriber:
        for boot in (1, 2):
            core = make_core(tmp_path, boot)
            reach(core, subscriber)
            core.close()
        assert subscriber.restarts == 1
        assert not subscriber.gaps


def test_a_subscriber_that_does_not_read_stops_nobody(tmp_path: Path, core: Any) -> None:
    with (
        Forwarder(f"ipc://{tmp_path}/u", ANY) as forwarder,
        Subscriber(forwarder.endpoint, timeout=60) as idle,
        Subscriber(forwarder.endpoint, ("estimate/",), timeout=60) as reader,
    ):
        reach(core, idle)
        reach(core, reader)
        for _ in range(3000):
            core.estimate()
            assert next(reader)
        assert not reader.gaps


def test_a_tcp_port_in_use_is_one_clear_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(EndpointError) as caught:
            Forwarder(f"ipc://{tmp_path}/u", address)
    message = caught.value.strerror
    why = "address already in use (by another jointwatch? [publish] names another address)"
    assert message == f"updates: cannot serve {address}: {why}"


def test_a_second_service_takes_nothing_from_the_first(tmp_path: Path, core: Any) -> None:
    inside = f"ipc://{tmp_path}/u"
    with Forwarder(inside, ANY) as first, Subscriber(first.endpoint, timeout=60) as subscriber:
        reach(core, subscriber)
        with pytest.raises(EndpointError):
            Forwarder(inside, first.endpoint)
        for _ in range(50):
            core.estimate()
        core.updates.send_multipart(core.publications["elbow"].event("started", "last of all", 1.0))
        while next(subscriber)[0] != "event/elbow":
            pass
        assert not subscriber.gaps


@pytest.mark.parametrize("address", ["tcp://127.0.0.1", "http://x", "tcp://256.1.1.1:5", "ipc:///no/such/folder/x"])
def test_an_address_that_cannot_be_served_is_one_clear_line(tmp_path: Path, address: str) -> None:
    with pytest.raises(EndpointError) as caught:
        Forwarder(f"ipc://{tmp_path}/u", address)
    assert caught.value.strerror.startswith(f"updates: cannot serve {address}: ")
    assert "\n" not in caught.value.strerror


def test_a_publisher_never_waits_for_an_outlet_that_is_not_there(tmp_path: Path) -> None:
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    publisher = open_publisher(context, f"ipc://{tmp_path}/nobody")
    for _ in range(20_000):
        publisher.send_multipart((b"estimate/a", b"\x80"), zmq.NOBLOCK)
    publisher.close()
    context.term()
