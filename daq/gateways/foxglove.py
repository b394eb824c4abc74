"""Foxglove's WebSocket protocol: every topic is a channel with the stream's JSON Schema, and `log` has the events.

Subprotocols foxglove.websocket.v1 and foxglove.sdk.v1, whose messages from a server are the same
(https://github.com/foxglove/ws-protocol/blob/main/docs/spec.md). The server offers no capability, so a client cannot
publish, set parameters or call services.
"""

import asyncio
import contextlib
import json
import socket
import ssl
import struct
import time
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any, Final, Self

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.typing import Origin, Subprotocol

from daq.config.gateways import FoxgloveSettings
from daq.config.sections import Config
from daq.gateways.gateway import Counts
from daq.processes.logs import log
from daq.processes.process import CannotStartError
from daq.stream.json_messages import EVENT, LOG_TOPIC, described, family_of, log_message, packed
from daq.stream.update import Map

PROTOCOLS: Final = (Subprotocol("foxglove.sdk.v1"), Subprotocol("foxglove.websocket.v1"))
MESSAGE: Final = struct.Struct("<BIQ")  # opcode 1, subscription, Unix ns; JSON follows
#: 1, argued: Messages that wait for one client before its oldest are dropped: 1.4 s of seven joints, 0.5 MB.
WAITING: Final = 1000
#: 1, argued: Clients at once; a client costs some 3 % of a core, and more of them belong behind a relay.
MOST_CLIENTS: Final = 16
#: bytes, argued: Longest message of a client: subscriptions to a thousand channels.
LONGEST: Final = 1 << 16
#: bytes, argued: What the kernel may hold for a client: half a second of seven joints, so that a view is not late.
HELD: Final = 1 << 18
CLOSE: Final = 0.5  # s that a client may take to agree to be closed


class FoxgloveServer:
    """A WebSocket server; each client has its own queue, which drops its oldest messages when it is full."""

    def __init__(self, settings: FoxgloveSettings, config: Config) -> None:
        self.counts = Counts()
        self._settings, self._name = settings, f"jointwatch {config.robot.name}"
        self._session = str(time.time_ns())
        self._channels: dict[str, int] = {}
        self._advertised: list[dict[str, Any]] = []
        self._last: dict[int, tuple[int, Map]] = {}  # channel → newest message, of topics that are states
        self._clients: set[Client] = set()
        self._server: Server | None = None

    async def __aenter__(self) -> Self:
        host, port = self._settings.served
        tls = None
        if self._settings.tls is not None:
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            tls.load_cert_chain(self._settings.tls.certificate, self._settings.tls.key)
        try:
            self._server = await serve(
                self._serve_client,
                host,
                port,
                ssl=tls,
                subprotocols=PROTOCOLS,
                origins=[None, *map(Origin, self._settings.origins)],
                compression=None,
                max_size=LONGEST,
                close_timeout=CLOSE,
            )
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise CannotStartError(f"Foxglove: cannot serve {self._settings.address}: {reason}") from error
        log.info("Foxglove %s", self.address)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    @property
    def address(self) -> str:
        """ws://HOST:PORT, with the port that :0 was given."""
        assert self._server is not None
        host, port = next(iter(self._server.sockets)).getsockname()[:2]
        return f"{self._settings.address.partition(':')[0]}://{f'[{host}]' if ':' in host else host}:{port}"

    def take(self, topic: str, update: Mapping[str, Any]) -> None:
        """Queue a message for every client that has subscribed to its topic; an event for `log`, too."""
        about = round(update["timestamp"] * 1e9)
        message = dict(update)
        self._queue(topic, about, message, state=not topic.startswith(EVENT))
        if topic.startswith(EVENT):
            self._queue(LOG_TOPIC, about, log_message(message), state=False)

    async def turn(self, _: float, /) -> None:
        """Wake the clients that have messages; each is sent to by a task of its own."""
        for client in self._clients:
            client.wake()

    def _queue(self, topic: str, about: int, message: Map, state: bool) -> None:
        channel = self._channels.get(topic)
        if channel is None:
            channel = self._advertise(topic)
        if state:
            self._last[channel] = about, message
        wanting = [client for client in self._clients if channel in client.subscriptions]
        body = packed(message) if wanting else b""
        for client in wanting:
            client.queue(channel, about, body)

    def _advertise(self, topic: str) -> int:
        """Give a new topic a channel and tell every client."""
        number = self._channels[topic] = len(self._channels) + 1
        name, text = described(family_of(topic))
        channel = {"id": number, "topic": topic, "encoding": "json", "schemaName": name}
        self._advertised.append(channel | {"schema": text.decode(), "schemaEncoding": "jsonschema"})
        for client in self._clients:
            client.tell({"op": "advertise", "channels": self._advertised[-1:]})
        return number

    async def _serve_client(self, connection: ServerConnection) -> None:
        if len(self._clients) >= MOST_CLIENTS:
            await connection.close(1013, f"too many clients are connected ({MOST_CLIENTS})")
            return
        connection.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, HELD)
        client = Client(connection, self.counts)
        client.tell({
            "op": "serverInfo", "name": self._name, "capabilities": [], "metadata": {}, "sessionId": self._session,
        })  # fmt: skip
        client.tell({"op": "advertise", "channels": self._advertised})
        self._clients.add(client)
        self.counts.clients = len(self._clients)
        sending = asyncio.create_task(client.send())
        try:
            async for message in connection:
                for channel in client.obey(message, len(self._channels)):
                    if channel in self._last:
                        about, last = self._last[channel]
                        client.queue(channel, about, packed(last))
                client.wake()
        except ConnectionClosed:
            pass
        finally:
            self._clients.discard(client)
            self.counts.clients = len(self._clients)
            sending.cancel()
            with contextlib.suppress(asyncio.CancelledError, ConnectionClosed):
                await sending


class Client:
    """One connection: its subscriptions and its queue."""

    def __init__(self, connection: ServerConnection, counts: Counts) -> None:
        self._connection, self._counts = connection, counts
        self.subscriptions: dict[int, int] = {}  # channel → the client's own number
        self._texts: deque[str] = deque()
        self._messages: deque[bytes] = deque()
        self._ready = asyncio.Event()

    def queue(self, channel: int, about: int, body: bytes) -> None:
        """Queue a message of a channel to which the client has subscribed, in place of its oldest where it is full."""
        if len(self._messages) >= WAITING:
            self._messages.popleft()
            self._counts.dropped += 1
        self._messages.append(MESSAGE.pack(1, self.subscriptions[channel], about) + body)

    def tell(self, message: Mapping[str, Any]) -> None:
        """Queue a message of the protocol itself; there are as many as topics and wrong requests, at most WAITING."""
        if len(self._texts) < WAITING:
            self._texts.append(json.dumps(message))
        self._ready.set()

    def wake(self) -> None:
        """Let what is queued be sent."""
        if self._messages or self._texts:
            self._ready.set()

    async def send(self) -> None:
        """Send what is queued until the connection ends; only this task waits for a slow client."""
        while True:
            await self._ready.wait()
            self._ready.clear()
            while self._texts or self._messages:
                if self._texts:
                    await self._connection.send(self._texts.popleft())
                else:
                    await self._connection.send(self._messages.popleft())
                    self._counts.sent += 1

    def obey(self, message: str | bytes, channels: int) -> Iterable[int]:
        """Change the subscriptions as the client asks; returns the channels that are new. The rest is refused.

        channels: the largest number of a channel.
        """
        try:
            asked = json.loads(message) if isinstance(message, str) else {}
            match asked.get("op"):
                case "subscribe":
                    wanted = {int(one["channelId"]): int(one["id"]) for one in asked["subscriptions"]}
                    if not all(1 <= one <= channels and 0 <= wanted[one] < 1 << 32 for one in wanted):
                        raise ValueError(f"expected channels from 1 to {channels} and ids of 32 bits")
                    new = wanted.keys() - self.subscriptions.keys()
                    self.subscriptions |= {channel: wanted[channel] for channel in new}
                    return new
                case "unsubscribe":
                    gone = {int(one) for one in asked["subscriptionIds"]}
                    self.subscriptions = {one: own for one, own in self.subscriptions.items() if own not in gone}
                    return ()
            text = f"{asked.get('op') or 'a binary message'} is refused: this server is read only"
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            text = f"a request cannot be read: {error!r}"
        self.tell({"op": "status", "level": 2, "message": text[:200]})
        return ()
