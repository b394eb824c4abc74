"""Limits the connections to the page, and how long each may take: no client can keep others from page and metrics.

The limit follows from the number of files that this process may open. A request has a time limit for all of it, its
body included, and so has its answer. Where there is no room for a new connection, the oldest one of the address with
the most connections is closed, so that the connections of an attacker give way before those of others.
"""

import asyncio
import ipaddress
import logging
import os
import resource
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from daq.processes.logs import log

MOST: Final = 256  # connections at once
PAGES: Final = 64  # open pages at once
SPARE: Final = 14  # descriptors that stay free: for files, a burst of connections, and those that are being closed
FEWEST: Final = 3
BACKLOG: Final = 4  # connections taken at once
PATIENCE: Final = 5.0  # s for a whole request to come, from its connection or from the answer before it
ANSWER: Final = 60.0  # s for an answer to be made and taken: 100 kB of page over a link of 2 kB/s
LOG_EVERY: Final = 60.0  # s between two lines of one kind

_open: OrderedDict["Connection", None] = OrderedDict()  # by the begin of what each does now; one process has one server


def room() -> int:
    """How many connections this process can hold."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 32  # noqa: PTH112, PTH208
    return max(FEWEST, min(MOST, soft - used - SPARE))


def room_for_pages(connections: int) -> int:
    """How many of so many connections may be open pages: no more than half, so that requests always find room."""
    return min(PAGES, connections // 2)


def source(address: str) -> str:
    """Whose address it is, as far as it shows: that of IPv4, or the network (/64) of IPv6, which one machine owns."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    return address if found.version == 4 else str(ipaddress.ip_network((found, 64), strict=False))


class CountedLog:
    """Logs how often something has happened: at once, and then once a minute at most."""

    def __init__(self, words: str) -> None:
        """words: with %d for how often, and %s for who did it last."""
        self._words = words
        self._count, self._due = 0, 0.0

    def count(self, who: str) -> None:
        """Count one more time; who: the last who did it."""
        self._count += 1
        now = time.monotonic()
        if now >= self._due:
            log.warning(self._words, self._count, who or "an unknown address")
            self._count, self._due = 0, now + LOG_EVERY


_EVICTED: Final = CountedLog("page: closed to make room for other connections: %d, the last from %s")
_LATE: Final = CountedLog("page: closed since a request or its answer took too long: %d, the last from %s")


class Connection(H11Protocol):
    """One HTTP connection."""

    most = MOST

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept the connection; close another where there is no room."""
        super().connection_made(transport)
        self.source = source(self.client[0]) if self.client else ""
        self._receiving = True  # a request; otherwise it is being answered
        self._timer: asyncio.TimerHandle | None = None
        _open[self] = None
        self._limit(PATIENCE, self._end)
        if len(self.connections) > self.most:
            _evict()

    def data_received(self, data: bytes) -> None:
        """Take data; the time limit of a request ends with its last byte."""
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """Start the time limit of the next request."""
        super().on_response_complete()
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._forget()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self, event: Any) -> None:
        """Upgrade to a WebSocket of a page, which has its own keep-alive and no time limit."""
        pages = sum(not isinstance(one, Connection) for one in self.connections)
        if pages < room_for_pages(self.most) + self.most // 4:  # those beyond the pages learn why they are refused
            self._forget()
            super().handle_websocket_upgrade(event)
            return
        text = b"Too many pages are open: close one, then open this one again.\n"
        head = b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain\r\ncontent-length: %d\r\n"
        self.transport.write(head % len(text) + b"connection: close\r\n\r\n" + text)
        self._limit(ANSWER, self._abort)
        self.transport.close()

    def evict(self) -> None:
        """Close the connection to make room; it counts no longer."""
        self._forget()
        self.connections.discard(self)
        self.transport.abort()

    def _look(self) -> None:
        """Change the time limit where a request has come completely, or the next one may come."""
        receiving = self.conn.their_state in (h11.IDLE, h11.SEND_BODY)
        if self in _open and receiving != self._receiving:
            self._receiving = receiving
            _open.move_to_end(self)
            if receiving:
                self._limit(PATIENCE, self._end)
            else:
                self._limit(ANSWER, self._abort)

    def _limit(self, seconds: float, then: Callable[[], None]) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.loop.call_later(seconds, then)

    def _end(self) -> None:
        """Close the connection; what was answered before is still sent."""
        if self.conn.their_state is h11.SEND_BODY or self.conn.trailing_data[0]:  # otherwise it was idle
            _LATE.count(self.source)
        self._limit(ANSWER, self._abort)
        self.transport.close()

    def _abort(self) -> None:
        _LATE.count(self.source)
        self.transport.abort()

    def _forget(self) -> None:
        _open.pop(self, None)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _evict() -> None:
    """Close the connection that has done the same for longest, of those from the busiest source."""
    busiest = Counter(one.source for one in _open).most_common(1)
    if busiest:
        one = next(one for one in _open if one.source == busiest[0][0])
        _EVICTED.count(one.source)
        one.evict()


class RepeatFilter(logging.Filter):
    """Lets one line of a kind pass a minute, without traceback, so that misbehaving clients cannot fill the disk."""

    def __init__(self) -> None:
        super().__init__()
        self._due: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the line is written."""
        now = time.monotonic()
        kind = str(record.msg).partition("\n")[0][:80]
        if now < self._due.get(kind, 0.0):
            return False
        self._due[kind] = now + LOG_EVERY
        if record.exc_info and isinstance(record.exc_info[1], OSError):
            record.msg, record.args = f"{kind}: {record.exc_info[1]}", ()
            record.exc_info = record.exc_text = None
        return True


def limit_server_logs() -> None:
    """Let the web server and the event loop log each kind of line once a minute only."""
    for name in ("asyncio", "uvicorn.error", "websockets.server"):
        logger = logging.getLogger(name)
        if not any(isinstance(one, RepeatFilter) for one in logger.filters):
            logger.addFilter(RepeatFilter())
