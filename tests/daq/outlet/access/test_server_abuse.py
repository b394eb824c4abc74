"""What is no request at all, or far too large a one: refused, and everyone else is served as before."""

import contextlib
import os
import socket
from typing import Any
from urllib.parse import urlsplit

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect


def say(page: str, *parts: bytes, patience: float = 3.0) -> bytes:
    """Send bytes as they are; all that comes back until the other side closes, or is silent for so long (s)."""
    address = urlsplit(page)
    heard = b""
    with socket.create_connection((address.hostname, address.port), timeout=60) as raw:
        with contextlib.suppress(OSError):  # it may hang up in the middle
            for part in parts:
                raw.sendall(part)
        raw.settimeout(patience)
        with contextlib.suppress(OSError):
            while part := raw.recv(65536):
                heard += part
    return heard


def served(page: str) -> bool:
    request = b"GET /api/state HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    return say(page, request, patience=60.0).startswith(b"HTTP/1.1 200 OK")


def drain(line: ClientConnection) -> None:
    while True:
        line.recv(timeout=60)


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"\r\n\r\n\r\n" + bytes(range(256)) * 4 + b"\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nno colon\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST /api/baseline HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(64) + b"\r\n\r\n",
    ],
    ids=["noise", "no path", "header", "length", "chunk", "TLS"],
)
def test_what_is_no_request_is_refused(shared: Any, request_bytes: bytes) -> None:
    answer = say(shared.page, request_bytes)
    assert not answer or answer.split(b" ")[1] in (b"400", b"401"), answer[:200]
    assert served(shared.page)
    assert shared.child.poll() is None


def test_an_endless_header_is_cut_off(shared: Any) -> None:
    answer = say(shared.page, b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ", *[b"x" * 65536] * 64)
    assert b"200 OK" not in answer
    assert served(shared.page)


def test_a_body_nobody_asked_for_is_not_kept(shared: Any) -> None:
    head = b"POST /api/baseline HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer correct-horse\r\n"
    head += b"Content-Type: application/json\r\nContent-Length: 1000000000\r\n\r\n"
    answer = say(shared.page, head, *[b" " * 65536] * 16, patience=60.0)
    assert answer.startswith(b"HTTP/1.1 413 "), answer[:200]
    assert served(shared.page)


def test_a_page_that_talks_too_much_is_shut(shared: Any) -> None:
    with connect(f"ws://{urlsplit(shared.page).netloc}/live", compression=None, max_size=None, open_timeout=60) as line:
        line.recv(timeout=60)
        with contextlib.suppress(ConnectionClosed):  # it may hang up in the middle
            line.send(os.urandom(100_000))
        with pytest.raises(ConnectionClosed, match="1009"):
            drain(line)
    assert served(shared.page)
