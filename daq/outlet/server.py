"""The outlet process: public updates, dashboard page and Prometheus endpoint, none of which the core ever waits for.

Three independent ways of one datum: the forwarder passes updates to the public socket natively; this module's tick
drains a copy of them into metrics and history; a page gets one packed message per tick. A page that cannot keep up
skips to a fresh snapshot.
"""

import asyncio
import contextlib
import hashlib
import json
import logging
import math
import mimetypes
import signal
import socket
import time
from collections.abc import Callable, Coroutine, Sequence
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

from daq.outlet.baseline_request import BaselineRequest
from daq.outlet.connections import BACKLOG, Connection, limit_server_logs, room
from daq.outlet.history import History, JointLabel
from daq.outlet.metrics import Metrics
from daq.outlet.web_guard import WebGuard
from daq.stream.keys import Curve
from daq.stream.sockets import EndpointError, Forwarder, Socket, open_receiver
from daq.stream.update import INTERNAL, VERSION
from estimators.models.joints.lost_motion import PARAMETERS

DASHBOARD: Final = Path(__file__).with_name("dashboard")
TICK: Final = 0.05  # s between two messages to a page
QUIET: Final = 20  # ticks without news after which a page is told all the same: it then knows that we live
WATCH_EVERY: Final = 0.2  # s between two looks for what has fallen silent
WATCHED_EVERY: Final = 1.0  # s between two words to the core that somebody looks
BATCH: Final = 5000  # messages taken in one tick at most: seven seconds of seven joints, 50 ms of work
PAGES: Final = 64  # at once
BEHIND: Final = 20  # ticks that wait for a slow page before it skips to a fresh snapshot

log = logging.getLogger("jointwatch")


class Tls(NamedTuple):
    """The page's certificate and its key, PEM files."""

    certificate: Path
    key: Path


class Outlet:
    """What the process knows, and the pages that look at it."""

    def __init__(
        self, updates: Socket, status: Socket, robot: str, joints: Sequence[JointLabel], refused: Callable[[], int]
    ) -> None:
        """refused: subscribers that the stream did not let in."""
        self._sockets = (updates, status)
        self._refused = refused
        self._malformed = 0
        self.metrics = Metrics({label.name: _units(label) for label in joints})
        self.history = History(robot, joints)
        self.baseline: BaselineRequest | None = None
        self.watched: Callable[[], None] = lambda: None  # tells the core that somebody looks
        self._pages: set[asyncio.Queue[bytes | None]] = set()
        self._skipped = 0
        self._layout = 0
        self._assets = _assets()
        self._edition = hashlib.sha256(b"".join(body for body, _ in self._assets.values())).hexdigest()[:12]

    def application(self) -> WebGuard:
        """The web application: page, /metrics, /api/state, /live."""
        routes = [
            Route("/metrics", self._scrape, methods=["GET"]),
            Route("/api/state", self._state, methods=["GET"]),
            Route("/api/baseline", self._baseline, methods=["POST"]),
            WebSocketRoute("/live", self._live),
            *(Route(path, self._asset, methods=["GET"]) for path in self._assets),
        ]
        return WebGuard(Starlette(routes=routes), open_paths=("/metrics",))

    async def pump(self, beat: Callable[[], None] = lambda: None) -> None:
        """Every tick: take what came, tell the pages. Runs until cancelled."""
        quiet, due, told = 0, 0.0, 0.0
        while True:
            beat()
            start = time.monotonic()
            quiet = 0 if self._drain() else quiet + 1
            now = time.time()
            if now >= due:
                due = now + WATCH_EVERY
                self.metrics.stale(self.history.processes(now), bool(self.history.stale(now)))
            if self._pages and now >= told:
                told = now + WATCHED_EVERY
                self.watched()
            if quiet % QUIET == 0:
                self._tell()
            await asyncio.sleep(max(0.001, TICK - (time.monotonic() - start)))

    def _drain(self) -> int:
        """Absorb what the sockets hold; returns how many messages."""
        taken = 0
        now = time.time()
        for source in self._sockets:
            with contextlib.suppress(zmq.Again):
                for _ in range(BATCH):
                    self._absorb(source.recv_multipart(zmq.NOBLOCK), now)
                    taken += 1
        return taken

    def _absorb(self, frames: list[bytes], now: float) -> None:
        try:
            topic, update = frames[0].decode(), msgpack.unpackb(frames[1])
            self.metrics.absorb(topic, update)
            self.history.absorb(topic, update, now)
        except (IndexError, KeyError, TypeError, ValueError, msgpack.UnpackException) as error:
            self._malformed += 1
            if self._malformed == 1:  # the first says it all; the rest are counted
                log.warning("an update that cannot be read (version %d expected): %r", VERSION, error)
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
        more = {"edition": self._edition, "writable": self.baseline is not None}
        packed: bytes = msgpack.packb(self.history.snapshot(time.time()) | more)
        return packed

    async def _live(self, page: WebSocket) -> None:
        await page.accept()  # before it is accepted no reason would reach it
        if len(self._pages) >= PAGES:
            await page.close(1013, "too many pages")
            return
        queue: asyncio.Queue[bytes | None] = asyncio.Queue(BEHIND)
        queue.put_nowait(None)
        self._pages.add(queue)
        feeding = asyncio.create_task(self._feed(page, queue))
        try:
            while (await page.receive())["type"] != "websocket.disconnect":
                pass  # a page has nothing to say
        finally:
            self._pages.discard(queue)
            feeding.cancel()
            with contextlib.suppress(asyncio.CancelledError, WebSocketDisconnect):
                await feeding

    async def _feed(self, page: WebSocket, queue: asyncio.Queue[bytes | None]) -> None:
        """Send what is queued; None stands for a snapshot. Waits here, and only here, for a slow page."""
        while True:
            message = await queue.get()
            if message is None:
                while not queue.empty():  # the snapshot has it all
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
        body, kind = self.metrics.exposition(request.headers.get("accept", ""))
        return Response(body, headers={"Content-Type": kind})

    async def _baseline(self, request: Request) -> Response:
        if self.baseline is None:
            return Response("This service keeps no baselines.\n", 404, media_type="text/plain")
        return await self.baseline.answer(request, self.history)

    async def _state(self, _: Request) -> Response:
        body = json.dumps(_finite(self.history.latest(time.time())), allow_nan=False, ensure_ascii=False)
        return Response(body, media_type="application/json")


def _units(label: JointLabel) -> dict[str, str]:
    """Of every parameter that has metrics."""
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
    baseline: BaselineRequest | None = None,
    beside: Callable[[], Coroutine[Any, Any, None]] | None = None,
    beat: Callable[[], None] = lambda: None,
    tls: Tls | None = None,
    watched: Callable[[], None] = lambda: None,
    priority: int = 0,
) -> None:
    """Serve until SIGTERM or SIGINT.

    updates, status: ipc:// addresses that core and supervisor connect to (public and internal topics); endpoint: public
    address of the updates; host, port: of the page (0: any free one, told in the log); ready: called once all are open;
    beat: called at every turn; tls: the page's certificate;
    watched: called every second while somebody looks; priority: real-time, of what forwards updates;
    baseline: what sets baselines, where the page may; beside: what else runs until the end. Raises EndpointError when
    one of them cannot be served.
    """
    listening = _listen(host, port)
    with listening, Forwarder(updates, endpoint, curve, priority) as forwarder:
        # a context of its own: closing the forwarder waits for every socket of its context
        context: zmq.Context[Socket] = zmq.Context()
        internal = open_receiver(context, status, INTERNAL)
        try:
            outlet = Outlet(forwarder.tap, internal, robot, joints, lambda: forwarder.refused)
            outlet.baseline, outlet.watched = baseline, watched
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
        ws_max_size=1024,  # a page has nothing to say
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    settings.load()  # imports, which could no longer be opened when others have taken every descriptor
    server = _Server(settings)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, server.stop)
    tasks = [asyncio.create_task(work()) for work in (partial(outlet.pump, beat), beside) if work is not None]
    for task in tasks:
        task.add_done_callback(lambda _: server.stop())  # without it the page would stand still unnoticed
    ready()
    await server.serve(sockets=[listening])
    for task in tasks:
        if task.done():
            task.result()
        task.cancel()


class _Server(uvicorn.Server):
    """uvicorn, with signals left to us: it would raise them again at the end, and the exit code would not be 0."""

    def stop(self) -> None:
        self.should_exit = True

    @contextlib.contextmanager
    def capture_signals(self):  # type: ignore[no-untyped-def]
        yield


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise EndpointError(error.errno, f"page: cannot serve http://{host}:{port}: {reason}") from None


def _assets() -> dict[str, tuple[bytes, str]]:
    """URL path → (body, media type) of every file of the page: what is not in here does not exist."""
    assets = {}
    for file in sorted(DASHBOARD.rglob("*")):
        if file.is_file():
            kind = mimetypes.guess_type(file.name)[0] or "text/plain"
            assets[f"/{file.relative_to(DASHBOARD).as_posix()}"] = (file.read_bytes(), kind)
    assets["/"] = assets["/index.html"]
    return assets


def _finite(value: Any) -> Any:
    """The same with null for what JSON cannot say."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
