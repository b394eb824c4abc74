"""Reads a topic of ROS 2 over zenoh as rmw_zenoh publishes it: keys, messages (CDR), and the number of each message.

A topic has the key DOMAIN/TOPIC/TYPE/HASH; the subscription accepts any hash of the type. Each message has an
attachment with its number, time and publisher. Up to version 0.2.3 (Jazzy), rmw_zenoh wrote a label before each of
them; later versions write none. A gap in the numbers of a publisher shows lost messages, independent of where they were
lost.

zenoh's own thread puts messages into a bounded queue; if it is full, messages are dropped and counted.
"""

import json
import os
import select
import struct
import time
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from drivers.base import LinkError

if TYPE_CHECKING:  # zenoh is an optional package
    import zenoh

QUEUE: Final = 16384  # messages that may wait, the same as in the reader for DDS
ASK_EVERY: Final = 0.5  # s between checks of the connection to the router
NEEDED: Final = "ROS 2 over zenoh needs zenoh, which is not installed: pip install 'jointwatch[zenoh]'"
_LABELS: Final = (b"\x0fsequence_number", b"\x10source_timestamp", b"\x0asource_gid")
_NUMBER: Final = 8  # bytes of a number, and of a time
_INT64: Final = struct.Struct("<q")


class MessageNumber(NamedTuple):
    """The contents of an attachment: number and publisher of the message."""

    publisher: bytes
    number: int


def message_number(attachment: bytes | None) -> MessageNumber | None:
    """Parse the number of a message from its attachment, with or without labels; None if there is none."""
    if not attachment:
        return None
    first, publisher = 0, attachment[2 * _NUMBER :]
    if attachment.startswith(_LABELS[0]):
        second = len(_LABELS[0]) + _NUMBER
        third = second + len(_LABELS[1]) + _NUMBER
        if not (attachment.startswith(_LABELS[1], second) and attachment.startswith(_LABELS[2], third)):
            return None
        first, publisher = len(_LABELS[0]), attachment[third + len(_LABELS[2]) :]
    if len(publisher) < _NUMBER:
        return None
    return MessageNumber(publisher, _INT64.unpack_from(attachment, first)[0])


def key_of(domain: int, topic: str, kind: str) -> str:
    """Return the key expression of a topic for any hash of its type. kind: "sensor_msgs/JointState"."""
    package, _, name = kind.partition("/")
    return f"{domain}/{topic.strip('/')}/{package}::msg::dds_::{name}_/*"


class ZenohTopic:
    """A topic, open for reading: messages as bytes.

    `counts`: lost (gaps in numbers), stale (came twice or after a later one: dropped), refused (no room in the
    queue), unnumbered (messages carry no number, so that no gap is seen).
    """

    def __init__(self, router: str, file: str, domain: int, topic: str, kind: str) -> None:
        """router: endpoint, as "tcp/localhost:7447"; file: zenoh's own configuration, "" for none."""
        self._router, self._file, self._key = router, file, key_of(domain, topic, kind)
        self._name = f"{topic} in domain {domain} by {router}"
        self._session: zenoh.Session | None = None
        self._waiting: deque[bytes] = deque()
        self._event = -1
        self._asked = 0.0
        self._numbers: dict[bytes, int] = {}  # newest number of each publisher
        self.counts = dict.fromkeys(("lost", "stale", "refused", "unnumbered"), 0)

    def __enter__(self) -> Self:
        try:
            import zenoh
        except ImportError as error:
            raise LinkError(NEEDED) from error
        self.counts.update(dict.fromkeys(self.counts, 0))
        self._numbers.clear()
        self._waiting.clear()
        self._event = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        try:
            config = zenoh.Config.from_file(self._file) if self._file else zenoh.Config()
            config.insert_json5("mode", '"client"')
            config.insert_json5("connect/endpoints", json.dumps([self._router]))
            config.insert_json5("scouting/multicast/enabled", "false")
            self._session = zenoh.open(config)
            self._session.declare_subscriber(self._key, self._hear)
        except zenoh.ZError as error:
            self.__exit__(None, None, None)
            reason = str(error).partition(" at /")[0].strip(" !")
            raise LinkError(
                f"{self._name}: {reason}: is a router running (`ros2 run rmw_zenoh_cpp rmw_zenohd`)?"
            ) from error
        self._asked = time.monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        if self._session is not None:
            session, self._session = self._session, None
            session.close()  # type: ignore[no-untyped-call]
        if self._event >= 0:
            event, self._event = self._event, -1
            os.close(event)

    def _hear(self, sample: "zenoh.Sample") -> None:
        """Queue one message; runs in zenoh's thread, which alone changes `counts`."""
        attachment = sample.attachment
        if not self._is_next(message_number(None if attachment is None else attachment.to_bytes())):
            return
        if len(self._waiting) >= QUEUE:
            self.counts["refused"] += 1
            return
        self._waiting.append(sample.payload.to_bytes())
        with suppress(OSError):  # closed meanwhile
            os.eventfd_write(self._event, 1)

    def messages(self, timeout: float) -> list[bytes]:
        """Wait up to timeout seconds for the first message, then take all available ones. Raises LinkError."""
        if self._session is None:
            raise LinkError(f"{self._name}: not open")
        end = time.monotonic() + max(0.0, timeout)
        while not self._waiting and select.select([self._event], [], [], max(0.0, end - time.monotonic()))[0]:
            with suppress(BlockingIOError):
                os.eventfd_read(self._event)  # also clears the event for messages that were taken without waiting
        found: list[bytes] = []
        while self._waiting:
            found.append(self._waiting.popleft())
        if not found:
            self._ask()
        return found

    def _is_next(self, message: MessageNumber | None) -> bool:
        """Count the messages missing before this one; returns False if it is a repetition or came after a later one."""
        if message is None:
            self.counts["unnumbered"] += 1
            return True
        newest = self._numbers.get(message.publisher)
        if newest is not None and message.number <= newest:
            self.counts["stale"] += 1
            return False
        if newest is not None:
            self.counts["lost"] += message.number - newest - 1
        self._numbers[message.publisher] = message.number
        return True

    def _ask(self) -> None:
        """Raise LinkError if the connection to the router is gone."""
        now = time.monotonic()
        if self._session is None or now - self._asked < ASK_EVERY:
            return
        info = self._session.info
        if not (info.routers_zid() or info.peers_zid()):
            raise LinkError(f"{self._name}: the connection to the router was lost: is it running?")
        self._asked = now
