"""The subscription to the summaries of many services: one socket, with a queue and a key for each connection."""

import contextlib
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
REFUSED: Final[dict[zmq.Event, str]] = {
    zmq.Event.HANDSHAKE_FAILED_AUTH: "does not know our key: put its public half (.key) into its clients folder",
    zmq.Event.HANDSHAKE_FAILED_PROTOCOL: "is locked, or not locked: server_key is there for locked streams only",
    zmq.Event.HANDSHAKE_FAILED_NO_DETAIL: "breaks off: is server_key its .key?",
}


class Subscription:
    """Receives from all services; reconnects by itself."""

    def __init__(self, services: Mapping[str, CollectedService], key: Path | None) -> None:
        """key: our .key_secret. Raises KeyFileError, ValueError where an address cannot be used."""
        self._robots = {one.endpoint: name for name, one in services.items()}
        self.names = tuple(services)
        self.connected: set[str] = set()  # names of services
        self.refused: dict[str, str] = {}  # name → why
        pair = None if key is None else read_pair(key)
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
            for name, one in services.items():
                # the settings of a connection are those of the socket at its beginning
                server = None if one.server_key is None else read_public(one.server_key)
                if server is not None and pair is not None:
                    self._socket.setsockopt(zmq.CURVE_PUBLICKEY, pair.public)
                    self._socket.setsockopt(zmq.CURVE_SECRETKEY, pair.secret)
                    self._socket.setsockopt(zmq.CURVE_SERVERKEY, server)
                else:
                    self._socket.setsockopt(zmq.CURVE_SERVER, 0)  # back to no security
                try:
                    self._socket.connect(one.endpoint)
                except zmq.ZMQError as error:
                    raise ValueError(f"robots.{name}: cannot connect to {one.endpoint}: {error}") from None
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
        poller = zmq.Poller()
        poller.register(self._socket, zmq.POLLIN)
        poller.register(self._monitor, zmq.POLLIN)
        if self._monitor in dict(poller.poll(max(0, round(seconds * 1000)))):
            self._look_at_connections()

    def messages(self, most: int) -> Iterator[bytes]:
        """The payloads that are there, so many at most."""
        receive, more = self._socket.recv, self._socket.getsockopt
        with contextlib.suppress(zmq.Again):
            for _ in range(most):
                receive(zmq.NOBLOCK)  # the topic
                payload = receive(zmq.NOBLOCK) if more(zmq.RCVMORE) else b""
                while more(zmq.RCVMORE):
                    payload = receive(zmq.NOBLOCK) and b""  # three frames are none of ours
                yield payload

    def _look_at_connections(self) -> None:
        with contextlib.suppress(zmq.Again):
            while True:
                event = recv_monitor_message(self._monitor, zmq.NOBLOCK)
                name = self._robots.get(event["endpoint"].decode())
                if name is None:
                    continue
                if event["event"] == zmq.EVENT_HANDSHAKE_SUCCEEDED:
                    self.connected.add(name)
                    self.refused.pop(name, None)
                elif event["event"] == zmq.EVENT_DISCONNECTED:
                    self.connected.discard(name)
                else:
                    self.refused[name] = REFUSED[zmq.Event(event["event"])]
