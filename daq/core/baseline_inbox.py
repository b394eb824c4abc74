"""What the outlet tells the core: baselines, whose file it reads only once, and whether somebody looks at the page."""

import contextlib
import math
import time
from pathlib import Path
from typing import Any, Final

import zmq

from daq.processes.logs import log
from daq.state.baselines import TOPIC, WATCHED, Baselines, parse, read
from daq.state.files import BaselineError
from daq.stream.sockets import Socket, open_receiver

#: s, argued: Time between two looks at the inbox: a person waits for the answer.
EVERY: Final = 0.2
#: s, argued: Time for which a word that somebody looks counts; it is said every second, and two may be lost.
WATCHING: Final = 3.0


class Rebasing:
    """What drift is measured against, when it changes."""

    def __init__(self, context: "zmq.Context[Socket]", address: str, file: Path) -> None:
        """address: ipc:// where the outlet tells; file: of the baselines."""
        self._file = file
        self._news = open_receiver(context, address, (TOPIC.decode(), WATCHED.decode()))
        self._last = b""
        self._watched = -math.inf  # s, when somebody was last said to look
        self._fresh: dict[str, Any] = {}
        self._due = 0.0
        try:
            self._take(read(file))
        except BaselineError as error:
            log.warning("drift is not measured: %s", error)

    def fresh(self) -> dict[str, Any] | None:
        """What changed since the last call: joint → daq.state.baselines.Baseline, as a map; None when nothing did."""
        now = time.monotonic()
        if now < self._due:
            return None
        self._due = now + EVERY
        with contextlib.suppress(zmq.Again):
            while True:
                topic, content = self._news.recv_multipart(zmq.NOBLOCK)
                if topic == WATCHED:
                    self._watched = now
                else:
                    self._hear(content)
        fresh, self._fresh = self._fresh, {}
        return fresh or None

    @property
    def watched(self) -> bool:
        """Whether somebody looks at the page."""
        return self._due - EVERY - self._watched < WATCHING

    def close(self) -> None:
        """Hear no more."""
        self._news.close()

    def _hear(self, content: bytes) -> None:
        if content != self._last:
            self._last = content
            self._take(parse(content, self._file))

    def _take(self, found: Baselines) -> None:
        self._fresh = {name: one.model_dump() for name, one in found.newest().items()}
