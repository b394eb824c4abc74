"""Sockets from the core to the subscribers: PUB sockets of the publishers, and a native forwarder to the public
address.

The outlet binds every socket between the service's own processes; the core and the supervisor connect. A connecting PUB
keeps its queue and its peer's subscriptions while the peer is away, so an outlet that is killed and restarted receives
the messages published in between (a binding PUB would drop them). Only messages that the killed outlet had already
taken are lost, and ``seq`` shows the loss. In addition, several publishers can share one address. Internal topics have
an address of their own, and the forwarder subscribes only to the public prefixes, so no other message leaves the
machine, even if it is published on the wrong address.
"""

import threading
from typing import Final, Self

import zmq

from daq.stream.keys import Curve
from daq.stream.priority import give, take
from daq.stream.subscriptions import SubscriptionListener
from daq.stream.update import PUBLIC

Socket = zmq.Socket[bytes]

# Messages in the queue for one peer. 7 joints at 50 Hz make 700/s of about 0.4 kB: 10,000 are 14 s and 4 MB.
QUEUE: Final = 10_000
# ms for which a closing publisher waits until its last messages are sent: enough for a local socket, short for a stop.
LINGER: Final = 100
# ms between attempts to reach a missing peer; it is local, so attempts are cheap.
RECONNECT: Final = 50
# ms after which a subscriber that has vanished (cable, sleeping laptop) is noticed and its queue is freed.
HEARTBEAT, HEARTBEAT_TIMEOUT = 5_000, 20_000
# ms within which a connecting client must complete ZeroMQ's handshake.
HANDSHAKE: Final = 5_000
# Largest message of a subscriber, bytes: it only sends topics.
LONGEST_TOPIC: Final = 512
INSIDE, LATE = "inproc://updates", "inproc://last-values"


class EndpointError(OSError):
    """An address cannot be served; the text contains the address and the reason."""


def open_publisher(context: zmq.Context[Socket], address: str) -> Socket:
    """Open a PUB socket that sends to the outlet's `address`, even if the outlet does not run yet; it never blocks."""
    socket = context.socket(zmq.PUB)
    socket.setsockopt(zmq.SNDHWM, QUEUE)
    socket.setsockopt(zmq.LINGER, LINGER)
    socket.setsockopt(zmq.RECONNECT_IVL, RECONNECT)
    socket.connect(address)
    return socket


def open_receiver(context: zmq.Context[Socket], address: str, topics: tuple[str, ...]) -> Socket:
    """Open the outlet's end of such publishers. Raises EndpointError."""
    socket = _subscription(context, topics)
    _bind(socket, address, "the service's own socket")
    return socket


class Forwarder:
    """Forwards public updates from the core's address to the public one in libzmq, without running Python.

    So a page, a scrape or a garbage collection in this process delays an update no more than the operating system's
    scheduler does. A subscriber that is too slow loses messages of its own queue only, and `seq` shows it. There are
    two native hops: the first takes public topics only, the second carries subscriptions back upstream, where the
    SubscriptionListener receives them and adds the last values to the stream.
    """

    def __init__(
        self, updates: str, public: str, curve: Curve | None = None, priority: int = 0, inside: str = ""
    ) -> None:
        """updates: address to which the core sends; public: tcp:// (or ipc://) address for everyone; curve: who may
        subscribe.

        priority: real-time priority of the forwarding threads; 0: none. inside: ipc:// address of the same stream for
        the service's own processes, which need no key; "": none. Raises EndpointError.
        """
        self._context: zmq.Context[Socket] = zmq.Context()
        give(self._context, priority)
        outside = self._outside()
        published = self._open(zmq.PUB)
        try:
            # The public address first: it alone shows whether another service is running already, and a bind to
            # ipc:// would take the running one's file away.
            if inside:  # options apply to addresses that are bound after them
                _bind(outside, inside, "the service's own socket")
            _lock(outside, curve)
            _bind(outside, public, "updates")
            core = open_receiver(self._context, updates, PUBLIC)
        except EndpointError:
            outside.close()
            published.close()
            self._context.term()
            raise
        self.endpoint = outside.getsockopt_string(zmq.LAST_ENDPOINT)  # contains the port that the kernel chose for :0
        published.bind(INSIDE)
        # Made before the threads run: messages that waited for this process arrive at once, and none may be missed.
        self.tap = self._subscribed()
        """A SUB socket on everything that goes out, for this process; closed with the forwarder."""
        news = self._subscribed()
        self._listener = SubscriptionListener(self._late(), news, outside, curve.allows if curve else None)
        self._threads = [
            threading.Thread(target=_forward, args=(*pair, priority), name="forwarder", daemon=True)
            for pair in ((core, published), (self._upstream(), outside))
        ]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def refused(self) -> int:
        """Number of refused subscribers."""
        return self._listener.refused

    def close(self) -> None:
        """Stop forwarding; queued messages have LINGER ms to be sent."""
        self.tap.close()
        self._context.term()  # ends the threads, which then close their sockets
        for thread in self._threads:
            thread.join()
        self._listener.join()

    def _open(self, kind: int) -> Socket:
        socket = self._context.socket(kind)
        socket.setsockopt(zmq.SNDHWM, QUEUE)
        socket.setsockopt(zmq.RCVHWM, QUEUE)
        socket.setsockopt(zmq.LINGER, LINGER)
        return socket

    def _outside(self) -> Socket:
        socket = self._open(zmq.XPUB)
        socket.setsockopt(zmq.XPUB_VERBOSER, 1)  # report every subscription, not only the first to a topic
        socket.setsockopt(zmq.HEARTBEAT_IVL, HEARTBEAT)
        socket.setsockopt(zmq.HEARTBEAT_TIMEOUT, HEARTBEAT_TIMEOUT)
        socket.setsockopt(zmq.MAXMSGSIZE, LONGEST_TOPIC)
        socket.setsockopt(zmq.HANDSHAKE_IVL, HANDSHAKE)
        return socket

    def _late(self) -> Socket:
        socket = self._open(zmq.XPUB)
        socket.setsockopt(zmq.XPUB_VERBOSER, 1)
        socket.bind(LATE)
        return socket

    def _upstream(self) -> Socket:
        """Open the socket of the second hop; it subscribes at once, so that the first subscriber misses nothing."""
        socket = self._open(zmq.XSUB)
        for address in (INSIDE, LATE):
            socket.connect(address)
        for topic in PUBLIC:
            socket.send(b"\x01" + topic.encode())
        return socket

    def _subscribed(self) -> Socket:
        socket = _subscription(self._context, PUBLIC)
        socket.connect(INSIDE)
        return socket


def _forward(source: Socket, target: Socket, priority: int) -> None:
    take(priority)
    try:
        zmq.proxy(source, target)
    except zmq.ContextTerminated:
        pass
    finally:
        source.close()
        target.close()


def _subscription(context: zmq.Context[Socket], topics: tuple[str, ...]) -> Socket:
    socket = context.socket(zmq.SUB)
    socket.setsockopt(zmq.RCVHWM, QUEUE)
    socket.setsockopt(zmq.LINGER, 0)
    for topic in topics:
        socket.setsockopt_string(zmq.SUBSCRIBE, topic)
    return socket


def _lock(socket: Socket, curve: Curve | None) -> None:
    """Accept only listed keys at the addresses that are bound from now on."""
    if curve is not None:
        socket.setsockopt(zmq.CURVE_SERVER, 1)
        socket.setsockopt(zmq.CURVE_SECRETKEY, curve.secret)


def _bind(socket: Socket, address: str, what: str) -> None:
    try:
        socket.bind(address)
    except zmq.ZMQError as error:
        socket.close()
        reason = zmq.strerror(error.errno) if error.errno else str(error)
        hint = " (by another jointwatch? [publish] names another address)" if error.errno == zmq.EADDRINUSE else ""
        raise EndpointError(error.errno, f"{what}: cannot serve {address}: {reason.lower()}{hint}") from None
