"""Serves new subscribers: checks their keys, sends them the last values, and counts refused subscribers.

It is a thread that runs in parallel with the native forwarder. It receives subscriptions as messages from downstream,
and sends its messages to the subscribers like any other update. ZeroMQ cannot address one of many subscribers, so
everyone who subscribed to these topics gets the last values; ``seq`` shows the others that they have them already.
"""

import contextlib
import logging
import threading
from collections.abc import Callable
from typing import Any, Final

import msgpack
import zmq
from zmq.utils.monitor import recv_monitor_message

Socket = zmq.Socket[bytes]
Allows = Callable[[bytes], bool]  # whether the owner of a public key (32 bytes) may subscribe

TICK: Final = 100  # ms between two reads of published messages: 70 messages of seven joints
REFUSED: Final = (
    zmq.Event.HANDSHAKE_FAILED_NO_DETAIL | zmq.Event.HANDSHAKE_FAILED_PROTOCOL | zmq.Event.HANDSHAKE_FAILED_AUTH
)
AT_ONCE: Final = 20_000  # subscriptions processed in one turn: 0.1 s
MANY: Final = 200  # of one turn
SUBSCRIBED: Final = b"\x01"
SUPERVISOR: Final = b"process/"  # its boot differs from the core's
NO_STATE: Final = b"event/"  # an event is not a state: a late subscriber must not take an old event for a new one

log = logging.getLogger("jointwatch")


class LastValues:
    """The newest message of every topic."""

    def __init__(self) -> None:
        self._messages: dict[bytes, list[bytes]] = {}  # topic → message, in order of arrival

    def keep(self, message: list[bytes]) -> None:
        """Remember a message [topic, map]."""
        self._messages.pop(message[0], None)
        if not message[0].startswith(NO_STATE):
            self._messages[message[0]] = message

    def matching(self, prefixes: set[bytes]) -> list[list[bytes]]:
        """Return the last messages with these prefixes, without those of a core that has ended."""
        wanted = tuple(prefixes)
        said = [one for one in self._messages.values() if not one[0].startswith(SUPERVISOR)]
        boot = _boot(said[-1]) if said else None
        lives = [one for one in self._messages.values() if one[0].startswith(SUPERVISOR)]
        return [one for one in lives + [one for one in said if _boot(one) == boot] if one[0].startswith(wanted)]


class SubscriptionListener:
    """The thread and its sockets; it ends with the context of the sockets."""

    def __init__(self, subscriptions: Socket, news: Socket, outside: Socket, allows: Allows | None) -> None:
        """subscriptions: XPUB upstream of the public one; news: SUB on all published messages; outside: the public
        socket.

        allows: None when everyone may subscribe.
        """
        self.refused = 0
        self._subscriptions, self._news, self._allows = subscriptions, news, allows
        self._monitor: Socket = outside.get_monitor_socket(REFUSED)
        self._authentication: Socket | None = None
        if allows is not None:
            self._authentication = subscriptions.context.socket(zmq.REP)
            self._authentication.setsockopt(zmq.LINGER, 0)
            self._authentication.bind("inproc://zeromq.zap.01")
        self._last = LastValues()
        self._thread = threading.Thread(target=self._receive, name="reception", daemon=True)
        self._thread.start()

    def join(self) -> None:
        """Wait for the end of the thread, after the context has been terminated."""
        self._thread.join()

    def _receive(self) -> None:
        sockets = [one for one in (self._subscriptions, self._monitor, self._authentication) if one is not None]
        poller = zmq.Poller()
        for opened in sockets:
            poller.register(opened, zmq.POLLIN)
        with contextlib.suppress(zmq.ContextTerminated):
            while True:
                ready = dict(poller.poll(TICK))
                if self._authentication in ready and self._authentication is not None and self._allows is not None:
                    self._authentication.send_multipart(answer(self._authentication.recv_multipart(), self._allows))
                if self._monitor in ready:
                    self._count(recv_monitor_message(self._monitor))
                self._keep_published()
                if self._subscriptions in ready:
                    self._answer_subscriptions()
        for opened in (*sockets, self._news):
            opened.close(0)

    def _keep_published(self) -> None:
        with contextlib.suppress(zmq.Again):
            while True:
                self._last.keep(self._news.recv_multipart(zmq.NOBLOCK))

    def _answer_subscriptions(self) -> None:
        """Answer all subscriptions of this turn together; if they are many, all last values are sent once."""
        prefixes = set()
        with contextlib.suppress(zmq.Again):
            for _ in range(AT_ONCE):
                message = self._subscriptions.recv(zmq.NOBLOCK)
                if message.startswith(SUBSCRIBED):
                    prefixes.add(message[1:])
        if len(prefixes) > MANY:
            prefixes = {b""}
        for missed in self._last.matching(prefixes) if prefixes else ():
            self._subscriptions.send_multipart(missed)

    def _count(self, event: Any) -> None:
        self.refused += 1
        if self.refused == 1:  # only the first is logged; all are counted
            log.warning("a subscriber was refused: %s", str(zmq.Event(event["event"]).name).lower().replace("_", " "))


def answer(request: list[bytes], allows: Allows) -> list[bytes]:
    """Answer one request of ZeroMQ's authentication protocol (RFC 27): only CURVE and only known keys are accepted."""
    version, number, _domain, _address, _identity, mechanism, *credentials = request
    known = mechanism == b"CURVE" and len(credentials) == 1 and allows(credentials[0])
    code, text = (b"200", b"OK") if known else (b"400", b"this key is not in the list of clients")
    return [version, number, code, text, b"", b""]


def _boot(message: list[bytes]) -> object:
    with contextlib.suppress(ValueError, AttributeError, IndexError, msgpack.UnpackException):
        return msgpack.unpackb(message[1]).get("boot")
    return None
