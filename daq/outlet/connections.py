"""Limits the connections to the page, and how long they may be idle: idle ones must not lock others out.

The limit follows from the number of files that this process may open. Where there is no room for a new connection, the
one that has been idle for longest is closed.
"""

import asyncio
import logging
import os
import resource
import time
from typing import Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST: Final = 256  # connections at once
SPARE: Final = 14  # descriptors that stay free: for files, a burst of connections, and those that are being closed
FEWEST: Final = 3
BACKLOG: Final = 4  # connections taken at once
PATIENCE: Final = 5.0  # s for a whole request to come, from its connection or from the request before it
LOG_EVERY: Final = 60.0  # s between two lines of one kind

_opened: dict[asyncio.BaseProtocol, float] = {}  # monotonic s at which each became idle; one process has one server


def room() -> int:
    """How many connections this process can hold."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 32  # noqa: PTH112, PTH208
    return max(FEWEST, min(MOST, soft - used - SPARE))


class Connection(H11Protocol):
    """One HTTP connection."""

    most = MOST

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept the connection; close the one that is idle for longest where there is no room."""
        if len(self.connections) >= self.most:
            oldest = min(_opened, key=_opened.__getitem__, default=None)
            gone = oldest if isinstance(oldest, Connection) else None
            (gone.transport if gone else transport).abort()
        super().connection_made(transport)
        self._timer: asyncio.TimerHandle | None = None
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take data; a complete request ends the time limit."""
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._wait()
        else:
            self._end_wait()

    def on_response_complete(self) -> None:
        """Start the time limit of the next request."""
        super().on_response_complete()
        if not self.transport.is_closing() and self.conn.their_state is h11.IDLE:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._end_wait()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self, event: Any) -> None:
        """Upgrade to a WebSocket of a page, which has its own keep-alive and no time limit."""
        self._end_wait()
        super().handle_websocket_upgrade(event)

    def _wait(self) -> None:
        if self._timer is None:
            _opened[self] = time.monotonic()
            self._timer = self.loop.call_later(PATIENCE, self.transport.abort)

    def _end_wait(self) -> None:
        _opened.pop(self, None)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


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
