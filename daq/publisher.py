"""From the core to the world: a PUB socket for whoever has updates, and a native forwarder that makes them public.

Who binds: the outlet binds every socket between the service's own processes, the core and the supervisor connect. A
connecting PUB keeps its queue and its peer's subscriptions while the peer is away, so an outlet that is killed and
comes back finds what was published in between (a binding PUB would forget it all); only what the dead one had already
taken is lost, and ``seq`` tells. Besides, several publishers can share one address. Internal topics travel on an
address of their own, and the forwarder subscribes to the public prefixes only, so nothing else can leave even if it is
published on the wrong address.
"""

import threading
from types import TracebackType
from typing import Final, Self

import zmq

from daq.update import PUBLIC

Socket = zmq.Socket[bytes]

# Messages a queue holds for one peer. 7 joints at 50 Hz make 700/s of about 0.4 kB: 10,000 are 14 s and 4 MB.
QUEUE: Final = 10_000
# ms that a closing publisher waits for its last messages to leave: enough for a local socket, short for a stop.
LINGER: Final = 100
# ms between attempts to reach a peer that is away. Local, so cheap.
RECONNECT: Final = 50
# ms: a subscriber that vanished without a word (cable, sleeping laptop) is noticed and its queue freed.
HEARTBEAT, HEARTBEAT_TIMEOUT = 5_000, 20_000
# bytes that a subscriber may send in one message: it only ever sends topics.
LONGEST_TOPIC: Final = 4096
INSIDE: Final = "inproc://updates"


class EndpointError(OSError):
    """An address cannot be served; one clear line says which and why."""


def open_publisher(context: zmq.Context[Socket], address: str) -> Socket:
    """A PUB socket that sends to the outlet's `address`, whether or not the outlet is there yet; it never blocks."""
    socket = context.socket(zmq.PUB)
    socket.setsockopt(zmq.SNDHWM, QUEUE)
    socket.setsockopt(zmq.LINGER, LINGER)
    socket.setsockopt(zmq.RECONNECT_IVL, RECONNECT)
    socket.connect(address)
    return socket


def open_receiver(context: zmq.Context[Socket], address: str, topics: tuple[str, ...]) -> Socket:
    """The outlet's end of such publishers. Raises EndpointError."""
    socket = _subscription(context, topics)
    _bind(socket, address, "the service's own socket")
    return socket


class Forwarder:
    """Passes public updates from the core's address to the public one, in libzmq, without running Python.

    A page, a scrape or a garbage collection in this process therefore delays no update by more than the operating
    system's scheduler does. A subscriber that is too slow loses messages of its own queue only; `seq` tells it.
    """

    def __init__(self, updates: str, public: str) -> None:
        """updates: where the core sends; public: tcp:// (or ipc://) address for everyone. Raises EndpointError."""
        self._context: zmq.Context[Socket] = zmq.Context()
        self._outside = self._context.socket(zmq.PUB)
        self._outside.setsockopt(zmq.SNDHWM, QUEUE)
        self._outside.setsockopt(zmq.LINGER, LINGER)
        self._outside.setsockopt(zmq.HEARTBEAT_IVL, HEARTBEAT)
        self._outside.setsockopt(zmq.HEARTBEAT_TIMEOUT, HEARTBEAT_TIMEOUT)
        self._outside.setsockopt(zmq.MAXMSGSIZE, LONGEST_TOPIC)
        self._core: Socket | None = None
        try:
            # The public address first: it alone tells whether another service is running already, and a bind to
            # ipc:// would take the running one's file away.
            _bind(self._outside, public, "updates")
            self.endpoint = self._outside.getsockopt_string(zmq.LAST_ENDPOINT)  # with the port that :0 was given
            self._outside.bind(INSIDE)
            self._core = open_receiver(self._context, updates, PUBLIC)
        except EndpointError:
            self._outside.close()
            self._context.term()
            raise
        self._taps: list[Socket] = []
        self._thread = threading.Thread(target=self._forward, args=(self._core,), name="forwarder", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def tap(self) -> Socket:
        """A SUB socket on everything that goes out, for this process; closed with the forwarder."""
        socket = _subscription(self._context, PUBLIC)
        socket.connect(INSIDE)
        self._taps.append(socket)
        return socket

    def close(self) -> None:
        """Stop forwarding; what is queued has LINGER ms to leave."""
        for socket in self._taps:
            socket.close()
        self._context.term()  # ends the proxy, whose thread then closes its sockets
        self._thread.join()

    def _forward(self, core: Socket) -> None:
        try:
            zmq.proxy(core, self._outside)
        except zmq.ContextTerminated:
            pass
        finally:
            core.close()
            self._outside.close()


def _subscription(context: zmq.Context[Socket], topics: tuple[str, ...]) -> Socket:
    socket = context.socket(zmq.SUB)
    socket.setsockopt(zmq.RCVHWM, QUEUE)
    socket.setsockopt(zmq.LINGER, 0)
    for topic in topics:
        socket.setsockopt_string(zmq.SUBSCRIBE, topic)
    return socket


def _bind(socket: Socket, address: str, what: str) -> None:
    try:
        socket.bind(address)
    except zmq.ZMQError as error:
        socket.close()
        reason = zmq.strerror(error.errno) if error.errno else str(error)
        hint = " (is another jointwatch running?)" if error.errno == zmq.EADDRINUSE else ""
        raise EndpointError(error.errno, f"{what}: cannot serve {address}: {reason.lower()}{hint}") from None
