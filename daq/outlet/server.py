"""The outlet's server: public updates, dashboard page and Prometheus endpoint; the core never waits for any of them.

An update takes three independent paths: the forwarder passes it to the public socket natively; the tick of this module
puts a copy into metrics and history; each page gets one packed message per tick. A page that cannot keep up gets a new
snapshot in place of the ticks it missed.
"""

import asyncio
import contextlib
import errno
import hashlib
import json
import logging
import mimetypes
import os
import signal
import socket
import time
from collections import Counter
from collections.abc import Callable, Collection, Coroutine, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgpack
import uvicorn
import zmq
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from daq.outlet.connections import BACKLOG, PAGES, PATIENCE, Connection, limit_server_logs, room, room_for_pages, source
from daq.outlet.history import History, JointLabel
from daq.outlet.long_term.keeper import Keeper
from daq.outlet.long_term.request import answer
from daq.outlet.metrics import Metrics
from daq.outlet.notifications.notifier import Notifier
from daq.outlet.token_request import TokenRequest
from daq.outlet.web_guard import WebGuard
from daq.stream.json_messages import finite
from daq.stream.keys import Curve
from daq.stream.sockets import EndpointError, Forwarder, Socket, open_receiver
from daq.stream.update import INTERNAL, VERSION
from estimators.models.joints.lost_motion import PARAMETERS

DASHBOARD: Final = Path(__file__).with_name("dashboard")
TICK: Final = 0.05  # s between two messages to a page
QUIET: Final = 20  # ticks without news after which a page gets a message all the same, as a sign of life
WATCH_EVERY: Final = 0.2  # s between two checks of what is silent
WATCHED_EVERY: Final = 1.0  # s between two messages to the core that somebody watches the page
BATCH: Final = 5000  # messages taken in one tick at most: seven seconds of seven joints, 50 ms of work
WAITING: Final = 128  # connections that wait to be taken
CHANGE: Final = "change/"  # topics of what has changed of a joint begin with this
BEHIND: Final = 20  # ticks that wait for a slow page before they are replaced by a snapshot

log = logging.getLogger("jointwatch")


class Tls(NamedTuple):
    """The page's certificate and its key, PEM files."""

    certificate: Path
    key: Path


class OpenPage(NamedTuple):
    """A page that gets live updates."""

    socket: WebSocket
    source: str  # whose it is: daq.outlet.connections.source


class Outlet:
    """Metrics, history and the open pages."""

    def __init__(
        self, updates: Socket, status: Socket, robot: str, joints: Sequence[JointLabel], refused: Callable[[], int]
    ) -> None:
        """refused: returns how many subscribers the stream has refused."""
        self._sockets = (updates, status)
        self._refused = refused
        self._malformed = 0
        self.metrics = Metrics({label.name: _units(label) for label in joints})
        self.history = History(robot, joints)
        self.requests: TokenRequest | None = None  # that change anything
        # tells the core that somebody watches the page, and wants the raw channels of these joints
        self.watched: Callable[[Collection[str]], None] = lambda _: None
        self.notifier: Notifier | None = None  # sends each change to those who are not at the page
        self.keeper: Keeper | None = None  # of the history of years
        self.most_pages = PAGES  # open at once
        self._pages: dict[asyncio.Queue[bytes | None], OpenPage] = {}  # the oldest first
        self._wanted: dict[asyncio.Queue[bytes | None], str] = {}  # page → joint whose raw channels it shows
        self._skipped = 0
        self._layout = 0
        self._assets = _assets()
        self._edition = hashlib.sha256(b"".join(body for body, _ in self._assets.values())).hexdigest()[:12]

    def application(self) -> WebGuard:
        """The web application: page, /metrics, /api/state, /api/history, /live."""
        routes = [
            Route("/metrics", self._scrape, methods=["GET"]),
            Route("/api/state", self._state, methods=["GET"]),
            Route("/api/history", self._past, methods=["GET"]),
            Route("/api/baseline", self._change, methods=["POST"]),
            Route("/api/changes", self._change, methods=["POST"]),
            WebSocketRoute("/live", self._live),
            *(Route(path, self._asset, methods=["GET"]) for path in self._assets),
        ]
        return WebGuard(Starlette(routes=routes))

    async def pump(self, beat: Callable[[], None] = lambda: None) -> None:
        """Take new messages and send to the pages, every tick, until cancelled."""
        quiet, due, next_notice = 0, 0.0, 0.0
        while True:
            beat()
            start = time.monotonic()
            quiet = 0 if self._drain() else quiet + 1
            now = time.time()
            if now >= due:
                due = now + WATCH_EVERY
                self.metrics.stale(self.history.processes(now), bool(self.history.stale(now)))
            if self._pages and now >= next_notice:
                next_notice = now + WATCHED_EVERY
                wanted = set(self._wanted.values())
                self.history.keep_channels(wanted)
                self.watched(wanted)
            if quiet % QUIET == 0:
                self._tell()
            await asyncio.sleep(max(0.001, TICK - (time.monotonic() - start)))

    def _drain(self) -> int:
        """Absorb what the sockets hold; returns how many messages."""
        taken = 0
        now = time.time()
        for feed in self._sockets:
            with contextlib.suppress(zmq.Again):
                for _ in range(BATCH):
                    self._absorb(feed.recv_multipart(zmq.NOBLOCK), now)
                    taken += 1
        return taken

    def _absorb(self, frames: list[bytes], now: float) -> None:
        try:
            topic, update = frames[0].decode(), msgpack.unpackb(frames[1])
            self.metrics.absorb(topic, update)
            self.history.absorb(topic, update, now)
            if self.keeper is not None:
                self.keeper.minutes.absorb(topic, update, now)
            if self.notifier is not None and topic.startswith(CHANGE):
                self.notifier.changed(topic.removeprefix(CHANGE), update["records"])
        except (IndexError, KeyError, TypeError, ValueError, msgpack.UnpackException) as error:
            self._malformed += 1
            if self._malformed == 1:  # only the first is logged; the rest are counted
                log.warning("an update cannot be read (expected version %d): %r", VERSION, error)
            self.metrics.malformed(self._malformed)

    def _tell(self) -> None:
        same, self._layout = self._layout == self.history.layout, self.history.layout
        if not self._pages:
            self.history.skip()
            return
        tick = self.history.tick(time.time())
        message = msgpack.packb(tick) if same else None
        for queue in self._pages:
            if queue.full():
                self._skipped += queue.qsize()
                while not queue.empty():
                    queue.get_nowait()
                queue.put_nowait(None)
            else:
                queue.put_nowait(message)

    def _snapshot(self) -> bytes:
        more = {"edition": self._edition, "writable": self.requests is not None}
        packed: bytes = msgpack.packb(self.history.snapshot(time.time()) | more)
        return packed

    async def _live(self, page: WebSocket) -> None:
        await page.accept()  # before it is accepted no reason would reach it
        one = OpenPage(page, source(page.client.host if page.client else ""))
        closed = self._make_room(one) if len(self._pages) >= self.most_pages else None
        if closed is not None:
            with contextlib.suppress(TimeoutError, WebSocketDisconnect):
                async with asyncio.timeout(PATIENCE):
                    await closed.close(1013, f"too many pages are open ({self.most_pages}): close one on any computer")
            if closed is page:
                return
        queue: asyncio.Queue[bytes | None] = asyncio.Queue(BEHIND)
        queue.put_nowait(None)
        self._pages[queue] = one
        feeding = asyncio.create_task(self._feed(page, queue))
        try:
            while (message := await page.receive())["type"] != "websocket.disconnect":
                self._want(queue, message.get("text") or "")
        finally:
            self._pages.pop(queue, None)
            self._wanted.pop(queue, None)
            feeding.cancel()
            with contextlib.suppress(asyncio.CancelledError, WebSocketDisconnect):
                await feeding

    def _want(self, page: asyncio.Queue[bytes | None], text: str) -> None:
        """A page says of which joint it wants the raw channels; anything else that it says is ignored."""
        try:
            joint = json.loads(text)["channels"]
        except (ValueError, TypeError, KeyError, RecursionError):
            return
        if isinstance(joint, str) and self.history.knows(joint):
            self._wanted[page] = joint
        else:
            self._wanted.pop(page, None)

    def _make_room(self, new: OpenPage) -> WebSocket:
        """Which page has to be closed: the oldest of the source that has most of them, or the new one."""
        pages = Counter(one.source for one in self._pages.values())
        busiest, most = pages.most_common(1)[0]
        if most <= pages[new.source] + 1:
            return new.socket
        oldest = next(queue for queue, one in self._pages.items() if one.source == busiest)
        return self._pages.pop(oldest).socket

    async def _feed(self, page: WebSocket, queue: asyncio.Queue[bytes | None]) -> None:
        """Send what is queued; None means a snapshot. Only this task waits for a slow page."""
        while True:
            message = await queue.get()
            if message is None:
                while not queue.empty():  # the snapshot has everything
                    queue.get_nowait()
                message = self._snapshot()
            await page.send_bytes(message)

    async def _asset(self, request: Request) -> Response:
        body, kind = self._assets[request.url.path]
        headers = {"Cache-Control": "no-cache", "ETag": f'"{self._edition}"'}
        if request.headers.get("if-none-match") == headers["ETag"]:
            return Response(status_code=304, headers=headers)
        return Response(body, media_type=kind, headers=headers)

    async def _scrape(self, request: Request) -> Response:
        self.metrics.page(len(self._pages), self._skipped)
        self.metrics.refused(self._refused())
        if self.keeper is not None:
            self.metrics.kept(self.keeper.written, self.keeper.lost)
        if self.notifier is not None:
            self.metrics.notified(self.notifier.counts())
        body, kind = self.metrics.exposition(request.headers.get("accept", ""))
        return Response(body, headers={"Content-Type": kind})

    async def _change(self, request: Request) -> Response:
        if self.requests is None:
            return Response("This service keeps no baselines.\n", 404, media_type="text/plain")
        return await self.requests.answer(request, self.history)

    async def _past(self, request: Request) -> Response:
        return await answer(self.keeper, request)

    async def _state(self, _: Request) -> Response:
        body = json.dumps(finite(self.history.latest(time.time())), allow_nan=False, ensure_ascii=False)
        return Response(body, media_type="application/json")


def _units(label: JointLabel) -> dict[str, str]:
    """The unit of every parameter that has metrics."""
    gear = {one.name: one.unit for one in PARAMETERS} if label.gear else {}
    return {**label.parameters, **gear}


def serve(
    updates: str,
    status: str,
    endpoint: str,
    host: str,
    port: int,
    robot: str,
    joints: Sequence[JointLabel],
    ready: Callable[[], None] = lambda: None,
    curve: Curve | None = None,
    requests: TokenRequest | None = None,
    beside: Callable[[], Coroutine[Any, Any, None]] | None = None,
    beat: Callable[[], None] = lambda: None,
    tls: Tls | None = None,
    watched: Callable[[Collection[str]], None] = lambda _: None,
    priority: int = 0,
    notifier: Notifier | None = None,
    keeper: Keeper | None = None,
    inside: str = "",
) -> None:
    """Serve until SIGTERM or SIGINT.

    updates, status: ipc:// addresses that core and supervisor connect to (public and internal topics); endpoint: public
    address of the updates; host, port: of the page (0: any free port, named in the log); ready: called once everything
    is open; requests: handles those that change anything; beside: another task until the end; beat: called at every
    tick; tls: the page's certificate; watched: called every second while a page is open, with the
    joints whose raw channels are wanted; priority: real-time priority
    of the forwarder; notifier: hears of every change; keeper: writes the
    history of years; inside: ipc:// address of the updates for the service's own gateways, "": none. Raises
    EndpointError when an address cannot be served.
    """
    listening = _listen(host, port)
    with listening, Forwarder(updates, endpoint, curve, priority, inside) as forwarder:
        # a context of its own: closing the forwarder waits for every socket of its context
        context: zmq.Context[Socket] = zmq.Context()
        internal = open_receiver(context, status, INTERNAL)
        try:
            outlet = Outlet(forwarder.tap, internal, robot, joints, lambda: forwarder.refused)
            outlet.requests, outlet.watched, outlet.notifier = requests, watched, notifier
            outlet.keeper = keeper
            shown = f"[{host}]" if ":" in host else host
            log.info(
                "page http%s://%s:%d  updates %s",
                "s" if tls else "",
                shown,
                listening.getsockname()[1],
                forwarder.endpoint,
            )
            asyncio.run(_serve(outlet, listening, ready, beside, beat, tls))
        finally:
            internal.close()
            context.term()


async def _serve(
    outlet: Outlet,
    listening: socket.socket,
    ready: Callable[[], None],
    beside: Callable[[], Coroutine[Any, Any, None]] | None,
    beat: Callable[[], None],
    tls: Tls | None,
) -> None:
    limit_server_logs()
    Connection.most = room()
    outlet.most_pages = room_for_pages(Connection.most)
    settings = uvicorn.Config(
        outlet.application(),
        http=Connection,
        backlog=BACKLOG,
        ssl_certfile=tls.certificate if tls else None,
        ssl_keyfile=tls.key if tls else None,
        log_config=None,
        log_level="warning",
        access_log=False,
        lifespan="off",
        ws="websockets-sansio",
        ws_per_message_deflate=False,  # costs more than it saves: the rows are float32
        ws_max_size=1024,  # a page says only which channels it wants
        server_header=False,
        proxy_headers=False,  # a header must not say whose connection it is
        timeout_graceful_shutdown=1,
    )
    settings.load()  # import now: later, connections may have taken every file descriptor
    server = _Server(settings)
    loop = asyncio.get_running_loop()
    if tls is not None:  # asyncio would wait for a minute
        loop.create_server = partial(loop.create_server, ssl_handshake_timeout=PATIENCE)  # type: ignore[method-assign]
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, server.stop)
    tasks = [asyncio.create_task(work()) for work in (partial(outlet.pump, beat), beside) if work is not None]
    for task in tasks:
        task.add_done_callback(lambda _: server.stop())  # otherwise the page would stop unnoticed
    ready()
    await server.serve(sockets=[listening])
    for task in tasks:
        if task.done():
            task.result()
        task.cancel()


class _Server(uvicorn.Server):
    """uvicorn without its signal handling, which would raise signals again at the end and change the exit code."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Let more connections wait than are taken at once: the kernel drops those beyond."""
        await super().startup(sockets)
        for one in sockets or ():
            one.listen(WAITING)

    def stop(self) -> None:
        self.should_exit = True

    @contextlib.contextmanager
    def capture_signals(self):  # type: ignore[no-untyped-def]
        yield


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=WAITING)
    except OSError as error:
        reason = (os.strerror(error.errno) if error.errno else str(error)).lower()
        hint = " (by another jointwatch? [publish] page names another port)" if error.errno == errno.EADDRINUSE else ""
        raise EndpointError(error.errno, f"page: cannot serve http://{host}:{port}: {reason}{hint}") from None


def _assets() -> dict[str, tuple[bytes, str]]:
    """URL path → (body, media type) of every file of the page; no other file is served."""
    assets = {}
    for file in sorted(DASHBOARD.rglob("*")):
        if file.is_file():
            kind = mimetypes.guess_type(file.name)[0] or "text/plain"
            assets[f"/{file.relative_to(DASHBOARD).as_posix()}"] = (file.read_bytes(), kind)
    assets["/"] = assets["/index.html"]
    return assets
