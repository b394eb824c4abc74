"""The subscription to the summaries of many services: one socket, with a queue and a key for each connection."""

import contextlib
import math
import time
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, Self

import zmq
from zmq.utils.monitor import recv_monitor_message

from daq.fleet.live.settings import CollectedService
from daq.stream.keys import read_pair, read_public

SUMMARY: Final = "summary/"
#: 1, argued: Summaries that wait for one service: half a minute of seven joints; 150 MB for a thousand services.
QUEUE: Final = 256
#: ms, argued: A service that vanished is noticed within these, then looked for again.
HEARTBEAT, HEARTBEAT_TIMEOUT = 5_000, 20_000
#: ms, argued: Time between two attempts to reach a service that is away; doubled each time up to the second.
RECONNECT, RECONNECT_MOST = 500, 15_000
#: bytes, argued: Longest message that is taken: a summary has one kilobyte.
LONGEST: Final = 1 << 16
EVENTS: Final = (
    zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_DISCONNECTED | zmq.EVENT_HANDSHAKE_FAILED_AUTH
    | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL
)  # fmt: skip
NOT_KNOWN: Final = "does not know our key: put its public half (.key) into its clients folder"
NOT_LOCKED: Final = "is not locked: server_key is there for locked streams only"
OTHER_KEY: Final = "breaks off: is server_key its .key, and is it locked?"
LOCKED: Final = "is locked, or breaks off: a locked service needs its .key as server_key"


class Subscription:
    """Receives from all services; reconnects by itself, to those that have refused us as well."""

    def __init__(self, services: Mapping[str, CollectedService], key: Path | None) -> None:
        """key: our .key_secret. Raises KeyFileError, ValueError where an address cannot be used."""
        self._robots = {one.endpoint: name for name, one in services.items()}
        self._endpoints = {name: one.endpoint for name, one in services.items()}
        self.names = tuple(services)
        self.connected: set[str] = set()  # names of services
        self.refused: dict[str, str] = {}  # name → why
        self._due: dict[str, float] = {}  # name → monotonic s of the next attempt, of those that are not tried now
        self._pauses: dict[str, int] = {}  # name → ms before the next attempt
        self._kept: deque[bytes] = deque()  # payloads that came before a connection ended
        self._pair = None if key is None else read_pair(key)
        self._locks: dict[str, bytes | None] = {
            name: None if one.server_key is None or self._pair is None else read_public(one.server_key)
            for name, one in services.items()
        }
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._context.set(zmq.MAX_SOCKETS, 64)
        self._socket = self._context.socket(zmq.SUB)
        for option, value in (
            (zmq.RCVHWM, QUEUE), (zmq.LINGER, 0), (zmq.HEARTBEAT_IVL, HEARTBEAT), (zmq.MAXMSGSIZE, LONGEST),
            (zmq.HEARTBEAT_TIMEOUT, HEARTBEAT_TIMEOUT), (zmq.RECONNECT_IVL, RECONNECT),
            (zmq.RECONNECT_IVL_MAX, RECONNECT_MOST),
        ):  # fmt: skip
            self._socket.setsockopt(option, value)
        self._socket.setsockopt_string(zmq.SUBSCRIBE, SUMMARY)
        self._monitor = self._socket.get_monitor_socket(EVENTS)
        try:
            for name in self.names:
                try:
                    self._connect(name)
                except zmq.ZMQError as error:
                    raise ValueError(f"robots.{name}: cannot connect to {self._endpoints[name]}: {error}") from None
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the sockets; idempotent."""
        if not self._socket.closed:
            self._socket.disable_monitor()
            self._monitor.close(linger=0)
            self._socket.close()
            self._context.term()

    def wait(self, seconds: float) -> None:
        """Wait until something is there, for so many seconds at most, and look at what connections say."""
        left = 0.0 if self._kept else min(self._due.values(), default=math.inf) - time.monotonic()
        poller = zmq.Poller()
        poller.register(self._socket, zmq.POLLIN)
        poller.register(self._monitor, zmq.POLLIN)
        if self._monitor in dict(poller.poll(max(0, math.ceil(min(seconds, left) * 1000)))):
            self._look_at_connections()
        now = time.monotonic()
        for name in [name for name, due in self._due.items() if now >= due]:
            del self._due[name]
            self._connect(name)

    def messages(self, most: int) -> Iterator[bytes]:
        """The payloads that are there, so many at most."""
        while self._kept and most > 0:
            most -= 1
            yield self._kept.popleft()
        yield from self._arrived(most)

    def _arrived(self, most: int) -> Iterator[bytes]:
        receive, more = self._socket.recv, self._socket.getsockopt
        with contextlib.suppress(zmq.Again):
            for _ in range(most):
                receive(zmq.NOBLOCK)  # the topic
                payload = receive(zmq.NOBLOCK) if more(zmq.RCVMORE) else b""
                while more(zmq.RCVMORE):
                    payload = receive(zmq.NOBLOCK) and b""  # three frames are none of ours
                yield payload

    def _look_at_connections(self) -> None:
        ended = set[str]()
        with contextlib.suppress(zmq.Again):
            while True:
                event = recv_monitor_message(self._monitor, zmq.NOBLOCK)
                name = self._robots.get(event["endpoint"].decode())
                if name is None or name in self._due:
                    continue
                if event["event"] == zmq.EVENT_HANDSHAKE_SUCCEEDED:
                    self.connected.add(name)
                    ended.discard(name)
                    for known in (self.refused, self._pauses):
                        known.pop(name, None)
                elif event["event"] == zmq.EVENT_DISCONNECTED:
                    self.connected.discard(name)
                    ended.add(name)
                else:
                    self.refused[name] = self._why(name, event["event"])
        for name in ended:
            self._part(name)

    def _why(self, name: str, event: int) -> str:
        """Why a service refuses us. Which end says so first is chance: where it does, all that we see is that it broke
        off.
        """
        if self._locks[name] is None:
            return LOCKED
        return {zmq.EVENT_HANDSHAKE_FAILED_AUTH: NOT_KNOWN, zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL: NOT_LOCKED}.get(
            zmq.Event(event), OTHER_KEY
        )

    def _part(self, name: str) -> None:
        """Take back a connection that has ended, and connect anew later.

        ZeroMQ would reconnect by itself, but not after a refusal, nor after a message that is too long; and where an
        address has a host's name, what it says of the new connection has the number instead.
        """
        self._kept.extend(self._arrived(QUEUE * len(self.names)))  # what has come would go with the connection
        self._socket.disconnect(self._endpoints[name])
        pause = self._pauses.get(name, RECONNECT)
        self._due[name] = time.monotonic() + pause / 1000
        self._pauses[name] = min(2 * pause, RECONNECT_MOST)

    def _connect(self, name: str) -> None:
        """Connect; the settings of a connection are those of the socket at its beginning."""
        server, pair = self._locks[name], self._pair
        if server is not None and pair is not None:
            self._socket.setsockopt(zmq.CURVE_PUBLICKEY, pair.public)
            self._socket.setsockopt(zmq.CURVE_SECRETKEY, pair.secret)
            self._socket.setsockopt(zmq.CURVE_SERVERKEY, server)
        else:
            self._socket.setsockopt(zmq.CURVE_SERVER, 0)  # back to no security
        self._socket.connect(self._endpoints[name])
