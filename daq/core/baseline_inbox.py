"""The core's end of the baselines: from the file once, then from the outlet: it touches no disk while it runs."""

import contextlib
import time
from pathlib import Path
from typing import Any, Final

import zmq

from daq.processes.process import log
from daq.state.baselines import TOPIC, Baselines, parse, read
from daq.state.files import BaselineError
from daq.stream.sockets import Socket, open_receiver

EVERY: Final = 0.2  # s between two looks


class Rebasing:
    """What drift is measured against, when it changes."""

    def __init__(self, context: "zmq.Context[Socket]", address: str, file: Path) -> None:
        """address: ipc:// where the outlet tells; file: of the baselines."""
        self._file = file
        self._news = open_receiver(context, address, (TOPIC.decode(),))
        self._last = b""
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
                self._hear(self._news.recv_multipart(zmq.NOBLOCK)[1])
        fresh, self._fresh = self._fresh, {}
        return fresh or None

    def close(self) -> None:
        """Hear no more."""
        self._news.close()

    def _hear(self, content: bytes) -> None:
        if content != self._last:
            self._last = content
            self._take(parse(content, self._file))

    def _take(self, found: Baselines) -> None:
        self._fresh = {name: one.model_dump() for name, one in found.newest().items()}
