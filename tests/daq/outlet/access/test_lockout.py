"""Nobody keeps others out of page and metrics: half requests, wrong tokens and pages end or give way."""

import contextlib
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from daq.outlet.connections import PATIENCE, room_for_pages, source

HALF = b"POST /api/baseline HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer guess\r\nContent-Length: 900\r\n\r\n{"
WRONG = b"POST /api/baseline HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer guess\r\nContent-Length: 2\r\n\r\n{}"
SCRAPE = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


def dial(page: str, own: str = "127.0.0.1") -> socket.socket:
    """A connection from one of this machine's addresses."""
    address = urlsplit(page)
    return socket.create_connection((str(address.hostname), int(address.port or 0)), 60, source_address=(own, 0))


def scraped(page: str, own: str = "127.0.0.1") -> bool:
    with dial(page, own) as line:
        line.sendall(SCRAPE)
        heard = b""
        with contextlib.suppress(OSError):
            while part := line.recv(65536):
                heard += part
    return heard.startswith(b"HTTP/1.1 200 OK")


@contextlib.contextmanager
def crowd(page: str, number: int, words: bytes) -> Iterator[list[socket.socket]]:
    """Connections of an attacker that all say the same."""
    with contextlib.ExitStack() as lines:
        made = []
        for _ in range(number):
            made.append(lines.enter_context(dial(page)))
            with contextlib.suppress(OSError):
                made[-1].sendall(words)
        yield made


@contextlib.contextmanager
def crowd_after(mine: socket.socket, page: str) -> Iterator[list[socket.socket]]:
    """Many halves of requests, after mine has sent its own."""
    mine.sendall(SCRAPE[:40])
    with crowd(page, 300, SCRAPE[:40]) as lines:
        yield lines


def last_words(outlet: Any) -> str:
    """Its log, when it has been told to stop."""
    outlet.child.terminate()
    said = str(outlet.child.stderr.read())
    assert outlet.stop() == 0
    return said


def opened(address: str, **more: Any) -> ClientConnection:
    return connect(address, compression=None, max_size=None, open_timeout=60, ping_interval=None, **more)


def drain(line: ClientConnection) -> None:
    while True:
        line.recv(timeout=60)


def closed(line: socket.socket) -> bool:
    line.settimeout(0.01)
    try:
        while line.recv(65536):
            pass
    except TimeoutError:
        return False
    except OSError:
        pass
    return True


@pytest.mark.parametrize("words", [HALF, WRONG, HALF.replace(b"/api/baseline", b"/")], ids=["half", "wrong", "no such"])
def test_hundreds_of_requests_of_an_attacker_leave_room_for_a_scraper(outlet: Any, words: bytes) -> None:
    with crowd(outlet.page, 280, words):
        for own in ("127.0.0.1", "127.0.0.2"):
            assert scraped(outlet.page, own)
    assert outlet.stop() == 0


def test_a_body_that_drips_ends_with_its_time(outlet: Any, wait: Callable[..., None]) -> None:
    """Each byte that comes used to give it more time."""
    with crowd(outlet.page, 3, HALF) as lines:

        def over() -> bool:
            for one in lines:
                with contextlib.suppress(OSError):
                    one.sendall(b" ")
            return all(map(closed, lines))

        wait(over)
    said = last_words(outlet)
    assert said.count("took too long") == 1, said


def test_what_an_attacker_does_is_one_line_of_the_log(outlet: Any) -> None:
    began = time.monotonic()
    with crowd(outlet.page, 300, WRONG):
        assert scraped(outlet.page)
    kinds = [
        line.partition(": ")[2].partition(":")[0]
        for line in last_words(outlet).splitlines()
        if line.startswith("page: ")
    ]
    assert {"requests with a wrong token", "closed to make room for other connections"} <= set(kinds), kinds
    minutes = 1 + (time.monotonic() - began) // 60
    assert max(map(kinds.count, kinds)) <= minutes, "one line of a kind a minute"


def test_the_connection_of_another_address_stays_while_an_attackers_give_way(
    outlet: Any, wait: Callable[..., None]
) -> None:
    answer = b""
    for _ in range(5):  # again, where so much time has passed that half a request is at its end anyway
        began = time.monotonic()
        with dial(outlet.page, "127.0.0.2") as mine, crowd_after(mine, outlet.page) as lines:
            wait(lambda lines=lines, mine=mine: closed(lines[0]) or closed(mine))  # until there is no room any more
            mine.settimeout(60)
            with contextlib.suppress(OSError):
                mine.sendall(SCRAPE[40:])
                answer = mine.recv(4096)
        if answer or time.monotonic() - began < PATIENCE:
            break
    assert answer.startswith(b"HTTP/1.1 200 OK")


def test_wrong_tokens_of_one_address_are_not_looked_at_any_more_and_others_are(outlet: Any) -> None:
    good = WRONG.replace(b"guess", b"correct-horse").replace(b"\r\n\r\n", b"\r\nContent-Type: application/json\r\n\r\n")
    before = time.monotonic()
    with crowd(outlet.page, 20, WRONG) as lines:
        answer = lines[-1].recv(4096)
        assert b" 429 " in answer or time.monotonic() - before > 3.0, answer
        for own, status in (("127.0.0.1", b" 429 "), ("127.0.0.2", b" 204 ")):
            with dial(outlet.page, own) as mine:
                mine.sendall(good)
                answer = mine.recv(4096)
                assert status in answer or time.monotonic() - before > 3.0, answer
        assert b" 401 " in lines[0].recv(4096)


def test_pages_of_one_address_give_way_to_those_of_another(outlet: Any) -> None:
    address = f"ws://{urlsplit(outlet.page).netloc}/live"
    with contextlib.ExitStack() as pages:
        mine = [pages.enter_context(opened(address)) for _ in range(64)]
        for one in mine:
            one.recv(timeout=60)
        other = pages.enter_context(dial(outlet.page, "127.0.0.2"))
        with opened(address, sock=other) as guest:
            assert guest.recv(timeout=60)
            with pytest.raises(ConnectionClosed, match=r"1013.*too many pages are open \(64\): close one"):
                drain(mine[0])


def test_pages_never_take_all_connections() -> None:
    assert [room_for_pages(most) for most in (3, 20, 256)] == [1, 10, 64]


def test_a_network_of_ipv6_is_one_source() -> None:
    assert source("2001:db8::1") == source("2001:db8::ffff:2") != source("2001:db8:0:1::1")
    assert source("10.0.0.1") != source("10.0.0.2")
    assert source("fe80::1%eth0") == "fe80::/64"
