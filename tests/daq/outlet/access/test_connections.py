"""Few descriptors, many idle connections, subscribers that want everything: the outlet answers, its log stays short."""

import asyncio
import contextlib
import logging
import math
import os
import re
import resource
import select
import socket
import ssl
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgpack
import pytest
import uvicorn
import zmq

from daq.outlet import connections
from daq.outlet.connections import Connection, RepeatFilter, room

ROOT = Path(__file__).parents[4]
FAKE_OUTLET = ROOT / "tests" / "support" / "processes" / "fake_outlet.py"


@pytest.fixture
def scarce(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], int, str, Path]]:
    """An outlet that may open 64 descriptors: process, port of the page, the stream's address, its log."""
    log = tmp_path / "log"
    with log.open("w") as stderr:
        child = subprocess.Popen(
            ["/bin/sh", "-c", 'ulimit -n 64; exec "$@"', "sh", sys.executable, FAKE_OUTLET,
             f"ipc://{tmp_path}/u", f"ipc://{tmp_path}/s", "tcp://127.0.0.1:0"],
            cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, stderr=stderr, text=True,
        )  # fmt: skip
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    found = re.search(r"page http://127.0.0.1:(\d+)  updates (\S+)", log.read_text())
    assert found
    yield child, int(found[1]), found[2], log
    child.terminate()
    assert child.wait(60) == 0
    child.stdout.close()


def answers(port: int, timeout: float = 60.0) -> bool:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/state", timeout=timeout) as answer:
        return bool(answer.status == 200)


def test_sixty_idle_connections_lock_nobody_out(
    scarce: tuple[subprocess.Popen[str], int, str, Path], wait: Callable[..., None]
) -> None:
    child, port, _, log = scarce
    idle = [socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(60)]
    try:
        assert answers(port), "while they are there"
        for one in idle[::2]:
            with contextlib.suppress(OSError):  # its time may be over
                one.sendall(b"GET / HTTP/1.1\r\nHost: ")
        assert answers(port)
        wait(lambda: len(os.listdir(f"/proc/{child.pid}/fd")) < 60)  # noqa: PTH208 (they have their time, no longer)
        assert answers(port)
    finally:
        for one in idle:
            one.close()
    assert child.poll() is None
    assert len(log.read_text().splitlines()) < 10
    assert "Traceback" not in log.read_text()


def test_idle_connections_to_the_stream_are_shut_and_the_page_answers_again(
    scarce: tuple[subprocess.Popen[str], int, str, Path],
) -> None:
    child, port, endpoint, log = scarce
    idle = [socket.create_connection(("127.0.0.1", int(endpoint.rsplit(":", 1)[1])), timeout=60) for _ in range(60)]
    try:
        deadline = time.monotonic() + 60
        while True:  # ZeroMQ waits 5 s for a handshake
            try:
                if answers(port, 2.0):
                    break
            except OSError:
                assert time.monotonic() < deadline
                time.sleep(0.2)  # between two questions
    finally:
        for one in idle:
            one.close()
    assert child.poll() is None
    assert len(log.read_text().splitlines()) < 20


def test_a_connection_that_asks_nothing_is_closed_after_five_seconds(
    scarce: tuple[subprocess.Popen[str], int, str, Path],
) -> None:
    """Whether it sends nothing at all or half of a request; sixty seconds are for an answer to be taken."""
    with contextlib.ExitStack() as stack:
        began = time.monotonic()
        idle = [stack.enter_context(socket.create_connection(("127.0.0.1", scarce[1]), timeout=60)) for _ in range(2)]
        idle[1].sendall(b"GET / HTTP/1.1\r\nHost: ")
        assert select.select(idle, (), (), 60)[0]
        assert time.monotonic() - began > 4.9, "neither was closed before"
        for one in idle:
            with contextlib.suppress(ConnectionResetError):  # where half of the request was not even read
                assert one.recv(1) == b""


def test_a_subscriber_of_a_hundred_thousand_topics_takes_no_update_from_the_others(outlet, core, wait) -> None:  # type: ignore[no-untyped-def]
    """A hundred updates while it subscribes and another after that all arrive; a last value may come early or again."""
    with zmq.Context() as context, context.socket(zmq.SUB) as good, context.socket(zmq.SUB) as greedy:
        for one in (good, greedy):
            one.setsockopt(zmq.LINGER, 0)
            one.setsockopt(zmq.SNDHWM, 0)
            one.connect(outlet.endpoint)
        heard = set[int]()

        def listen(patience: int) -> bool:
            """Whether there was anything within so many ms."""
            found = bool(good.poll(patience))
            while good.poll(0):
                heard.add(msgpack.unpackb(good.recv_multipart()[1])["seq"])
            return found

        good.setsockopt(zmq.SUBSCRIBE, b"estimate/elbow")
        wait(lambda: core.estimate() or listen(20))
        before = _resident(outlet.child.pid)
        for number in range(100_000):
            greedy.setsockopt(zmq.SUBSCRIBE, b"estimate/elbow%d" % number)
            if number % 1000 == 0:
                core.estimate()
                listen(0)
        core.estimate()
        last = core.publications["elbow"].sequence["estimate"] - 1
        first = min(heard)
        wait(lambda: listen(20) and len(heard) == last + 1 - first)
        assert heard == set(range(first, last + 1))
        assert _resident(outlet.child.pid) - before < 100e6, "a kilobyte a topic"
    assert urllib.request.urlopen(outlet.page, timeout=60).status == 200


async def answered(seconds: float) -> tuple[bytes, float]:
    """What a client gets that waits for an answer made in so many seconds, until it is closed; s from answer to end."""

    ended, answered_at = asyncio.Event(), [math.nan]

    async def application(_scope: Any, _receive: Any, send: Any) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(ended.wait(), seconds)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"4")]})
        answered_at[0] = time.monotonic()
        await send({"type": "http.response.body", "body": b"done"})

    listening = socket.create_server(("127.0.0.1", 0))
    settings = uvicorn.Config(
        application, http=Connection, lifespan="off", access_log=False, log_level="critical", timeout_keep_alive=60
    )
    server = uvicorn.Server(settings)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    reader, writer = await asyncio.open_connection(*listening.getsockname())
    writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    got = b""
    with contextlib.suppress(ConnectionError):
        while part := await asyncio.wait_for(reader.read(4096), 60.0):
            got += part
    idle = time.monotonic() - answered_at[0]
    writer.close()
    ended.set()
    server.should_exit = True
    await serving
    return got, idle


def test_the_limit_of_a_request_ends_with_its_last_byte_and_that_of_an_answer_is_another(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(connections, "PATIENCE", 0.3)
    got, idle = asyncio.run(answered(0.6))
    assert got.endswith(b"done"), "an answer may take longer than a request"
    assert idle > 0.25, "then the next request has its time"
    assert "took too long" not in caplog.text
    monkeypatch.setattr(connections, "ANSWER", 0.3)
    got, _ = asyncio.run(answered(60.0))
    assert got == b""
    assert "a request or its answer took too long: 1, the last from 127.0.0.1" in caplog.text


@pytest.mark.parametrize(("most", "many"), [(100, 66), (10_000, 256), (30, 3)])
def test_there_is_room_for_what_the_process_may_open_less_what_is_open_and_some_to_spare(
    most: int, many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twenty are open here; 14 stay free; never more than 256, and never so few that nobody gets in."""
    monkeypatch.setattr(os, "listdir", lambda _: ["descriptor"] * 20)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (most, most))
    assert room() == many


def test_what_others_do_is_said_once_a_minute_and_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    now, sparing = 50.0, RepeatFilter()
    monkeypatch.setattr("daq.outlet.connections.time.monotonic", lambda: now)

    def written(text: str, error: Exception | None = None) -> str | None:
        told = (type(error), error, None) if error else None
        record = logging.LogRecord("asyncio", logging.ERROR, "", 0, text, (), told)
        return logging.Formatter().format(record) if sparing.filter(record) else None

    assert written("accept failed\nsocket: 7", OSError(24, "too many open files")) == (
        "accept failed: [Errno 24] too many open files"
    )
    assert written("another thing") == "another thing"
    now += 59.0
    assert written("accept failed\nsocket: 8", OSError(24, "too many open files")) is None
    assert written("another thing") is None
    now += 2.0
    assert written("accept failed") == "accept failed"
    assert "ValueError: ours" in (written("a mistake", ValueError("ours")) or ""), "our own are told with their place"


def _resident(pid: int) -> float:
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    assert found
    return 1e3 * float(found[1])


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("tls")
    made, key = folder / "robot.pem", folder / "robot.key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
         "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
         "-keyout", key, "-out", made],
        check=True, capture_output=True,
    )  # fmt: skip
    return made, key


def test_the_page_is_served_over_tls(restart, tmp_path: Path, certificate: tuple[Path, Path]) -> None:  # type: ignore[no-untyped-def]
    outlet = restart(tmp_path, more=["--tls", *map(str, certificate)])
    assert outlet.page.startswith("https://127.0.0.1:")
    trusted = ssl.create_default_context(cafile=certificate[0])
    with urllib.request.urlopen(outlet.page, timeout=60, context=trusted) as answer:
        assert answer.status == 200
    with pytest.raises(OSError):  # noqa: PT011 (broken off by either end)
        urllib.request.urlopen(outlet.page.replace("https", "http"), timeout=60)
