"""Receives the public stream: iterates over (topic, map), each message once, and counts the missing ones."""

import struct
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Self, TypeVar

import msgpack
import zmq

from jointwatch_client.family import Family
from jointwatch_client.keys import read_pair, read_public

M = TypeVar("M")

QUEUE: Final = 100_000  # messages that wait for a busy reader before its own are lost (and counted)
REFUSALS: Final = zmq.EVENT_HANDSHAKE_FAILED_AUTH | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL
BROKEN: Final = zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL
EVENT: Final = struct.Struct("=hi")  # first frame of a monitor's message: event, value (zmq_socket_monitor(3))
MOST_BROKEN: Final = 3  # handshakes in a row that the other end broke off: it cannot read ours
OTHERS: Final = "process/"  # from the supervisor, whose boot is not the core's
HEARTBEAT, HEARTBEAT_TIMEOUT = 2_000, 6_000  # ms: a publisher that vanished is noticed, then looked for again


class RefusedError(ConnectionError):
    """The service is there and refuses us; the text says which key is wrong."""


class Continuity:
    """Follows `seq` and `boot` of every topic."""

    def __init__(self) -> None:
        self.gaps: Counter[str] = Counter()  # topic → messages lost
        self.restarts = 0  # of the core, seen in any topic
        self._last: dict[str, tuple[int, int]] = {}
        self._boot: int | None = None
        self._past: set[int] = set()  # boots of cores that have ended

    def repeats(self, topic: str, update: Mapping[str, Any]) -> bool:
        """Whether this was received already: last values are sent again for someone who has just joined."""
        boot, seq = update["boot"], update["seq"]
        last_boot, last = self._last.get(topic, (boot, seq - 1))
        return boot in self._past or (boot == last_boot and seq <= last)

    def follow(self, topic: str, update: Mapping[str, Any]) -> int:
        """How many messages of this topic are missing just before this one; a restart of the core is no gap."""
        boot, seq = update["boot"], update["seq"]
        if boot != self._boot and not topic.startswith(OTHERS):
            if self._boot is not None:
                self.restarts += 1
                self._past.add(self._boot)
            self._boot = boot
        last_boot, last = self._last.get(topic, (boot, seq - 1))
        self._last[topic] = (boot, seq)
        missing = max(0, seq - last - 1) if boot == last_boot else 0
        if missing:
            self.gaps[topic] += missing
        return missing


class Subscriber:
    """The stream of one service, as an iterator of (topic, map); reconnects by itself.

    ```python
    with Subscriber(topics=("estimate/",), timeout=5) as updates:
        for topic, update in updates:
            print(update["joint"], update["parameters"])
    ```

    `of(ESTIMATE)` gives the messages of one family with their type.
    """

    def __init__(
        self,
        endpoint: str = "tcp://127.0.0.1:5556",
        topics: Sequence[str] = ("",),
        timeout: float | None = None,
        key: Path | None = None,
        server_key: Path | None = None,
        context: zmq.Context[zmq.Socket[bytes]] | None = None,
    ) -> None:
        """topics: prefixes; timeout: s without a message after which the iterator raises TimeoutError (None: never).
        The iterator raises RefusedError where the service refuses us; asked again, it tries again.

        key, server_key: our .key_secret and the server's .key, where the stream is locked (`jointwatch keys`).
        context: in which the sockets are opened; it ends with the subscriber. Raises ValueError for an invalid
        address, jointwatch_client.keys.KeyFileError for keys that cannot be used.
        """
        self.endpoint = endpoint
        self.malformed = 0  # messages that are not [topic][msgpack map with seq and boot]
        self.missing = 0  # lost just before the last message
        pair = None if key is None else read_pair(key)
        server = None if server_key is None else read_public(server_key)
        if (pair is None) != (server is None):
            raise ValueError("expected both key and server_key, or neither")
        self._timeout = timeout
        self._continuity = Continuity()
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context() if context is None else context
        self._socket = self._context.socket(zmq.SUB)
        self._socket.setsockopt(zmq.RCVHWM, QUEUE)
        self._socket.setsockopt(zmq.LINGER, 0)
        self._socket.setsockopt(zmq.HEARTBEAT_IVL, HEARTBEAT)
        self._socket.setsockopt(zmq.HEARTBEAT_TIMEOUT, HEARTBEAT_TIMEOUT)
        if pair is not None and server is not None:
            self._socket.setsockopt(zmq.CURVE_PUBLICKEY, pair.public)
            self._socket.setsockopt(zmq.CURVE_SECRETKEY, pair.secret)
            self._socket.setsockopt(zmq.CURVE_SERVERKEY, server)
        for topic in topics:
            self._socket.setsockopt_string(zmq.SUBSCRIBE, topic)
        self._locked, self._broken = pair is not None, 0
        self._monitor = self._socket.get_monitor_socket(REFUSALS | BROKEN | zmq.EVENT_HANDSHAKE_SUCCEEDED)
        try:
            self._socket.connect(endpoint)
        except zmq.ZMQError as error:
            self.close()
            raise ValueError(f"expected an address such as tcp://127.0.0.1:5556, found {endpoint!r}: {error}") from None

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

    @property
    def gaps(self) -> Counter[str]:
        """Topic → messages lost since the first one received."""
        return self._continuity.gaps

    @property
    def restarts(self) -> int:
        """How often the core was seen to have restarted."""
        return self._continuity.restarts

    def of(self, family: Family[M]) -> Iterator[M]:
        """The messages of one family, typed; those of others are skipped. Raises as the iterator does."""
        for topic, update in self:
            message = family.message(topic, update)
            if message is not None:
                yield message

    def __iter__(self) -> Iterator[tuple[str, dict[str, Any]]]:
        return self

    def __next__(self) -> tuple[str, dict[str, Any]]:
        while True:
            try:
                frames = self._socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                self._wait()
                continue
            message = self._decode(frames)
            if message is not None and not self._continuity.repeats(*message):
                self.missing = self._continuity.follow(*message)
                return message

    def _wait(self) -> None:
        """Wait until a message is there. Raises TimeoutError, RefusedError."""
        poller = zmq.Poller()
        poller.register(self._socket, zmq.POLLIN)
        poller.register(self._monitor, zmq.POLLIN)
        deadline = None if self._timeout is None else time.monotonic() + self._timeout
        while True:
            left = None if deadline is None else round(max(0.0, deadline - time.monotonic()) * 1000)
            ready = dict(poller.poll(left))
            if self._monitor in ready:
                self._check_handshake(EVENT.unpack(self._monitor.recv_multipart()[0])[0])
            elif self._socket in ready:
                return
            else:
                raise TimeoutError(f"nothing from {self.endpoint} for {self._timeout:g} s: is the service running?")

    def _check_handshake(self, event: int) -> None:
        """Look at an event of a handshake. Raises RefusedError."""
        self._broken = self._broken + 1 if event == BROKEN else 0
        if event == zmq.EVENT_HANDSHAKE_FAILED_AUTH:
            why = "does not know our key: put its public half (.key) into the service's clients folder"
        elif self._broken >= MOST_BROKEN and self._locked:
            why = "cannot read our messages: server_key is not its .key, or it is not locked"
        elif event == zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL or self._broken >= MOST_BROKEN:
            why = (
                "is not locked: leave key and server_key out"
                if self._locked
                else "is locked: it takes a key and the server's .key (`jointwatch keys`)"
            )
        else:
            return
        self._broken = 0
        self._socket.disconnect(self.endpoint)  # ZeroMQ does not reconnect by itself after a refusal
        self._socket.connect(self.endpoint)
        raise RefusedError(f"{self.endpoint} {why}")

    def _decode(self, frames: list[bytes]) -> tuple[str, dict[str, Any]] | None:
        try:
            topic, payload = frames
            update = msgpack.unpackb(payload)
            if isinstance(update["seq"], int) and isinstance(update["boot"], int):
                return topic.decode(), update
        except (ValueError, KeyError, TypeError, msgpack.UnpackException):
            pass
        self.malformed += 1
        return None
