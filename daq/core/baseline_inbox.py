"""Receives messages of the outlet: new baselines, acknowledged changes, wear, and whether the page is open.

The file of baselines is read once, at the start.
"""

import contextlib
import math
import time
from pathlib import Path
from typing import Any, Final

import msgpack
import zmq

from daq.processes.logs import log
from daq.state.baselines import SEEN, TOPIC, WATCHED, WEAR, Baselines, parse, read
from daq.state.files import BaselineError
from daq.stream.sockets import Socket, open_receiver

#: s, argued: Time between two checks of the inbox: a person waits for the answer.
EVERY: Final = 0.2
#: s, argued: Time for which a message that the page is open stays valid; it is sent every second, and two may be lost.
WATCHING: Final = 3.0


class BaselineInbox:
    """Receives the baselines against which drift is measured, and what else the outlet sends to the core."""

    def __init__(self, context: "zmq.Context[Socket]", address: str, file: Path) -> None:
        """address: ipc:// address to which the outlet sends; file: the file of baselines."""
        self._file = file
        self._news = open_receiver(context, address, (TOPIC.decode(), WATCHED.decode(), SEEN.decode(), WEAR.decode()))
        self._last = b""
        self._watched = -math.inf  # monotonic s of the last message that the page is open
        self._wanted: tuple[str, ...] = ()  # joints whose raw channels are requested
        self._changed: dict[str, Any] = {}
        self._seen: dict[str, float] = {}
        self._wear = b""  # the last message about wear
        self._worn: dict[str, Any] = {}
        self._due = 0.0
        try:
            self._take(read(file))
        except BaselineError as error:
            log.warning("drift is not measured until a baseline is set again: %s", error)

    def changed(self) -> dict[str, Any] | None:
        """Return the baselines that changed since the last call as maps (daq.state.baselines.Baseline), or None."""
        now = time.monotonic()
        if now < self._due:
            return None
        self._due = now + EVERY
        with contextlib.suppress(zmq.Again):
            while True:
                topic, content = self._news.recv_multipart(zmq.NOBLOCK)
                if topic == WATCHED:
                    self._watched, self._wanted = now, tuple(msgpack.unpackb(content)) if content else ()
                elif topic == SEEN:
                    self._seen |= dict.fromkeys(msgpack.unpackb(content), time.time())
                elif topic == WEAR:
                    if content != self._wear:
                        self._wear, self._worn = content, msgpack.unpackb(content)
                elif content != self._last:
                    self._last = content
                    self._take(parse(content, self._file))
        changed, self._changed = self._changed, {}
        return changed or None

    def acknowledged(self) -> dict[str, float] | None:
        """Return the joints whose changes were acknowledged since the last call: joint → Unix s, or None."""
        seen, self._seen = self._seen, {}
        return seen or None

    def worn(self) -> dict[str, Any] | None:
        """Return new messages about wear since the last call: joint → message, or None."""
        worn, self._worn = self._worn, {}
        return worn or None

    @property
    def watched(self) -> bool:
        """Whether somebody has the page open."""
        return self._due - EVERY - self._watched < WATCHING

    @property
    def wanted(self) -> tuple[str, ...]:
        """Names of the joints whose raw channels the open page requests."""
        return self._wanted if self.watched else ()

    def close(self) -> None:
        """Close the socket."""
        self._news.close()

    def _take(self, found: Baselines) -> None:
        self._changed = {name: one.model_dump() for name, one in found.newest().items()}
