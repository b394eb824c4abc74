"""What systemd wants to hear of a service of Type=notify: ready, alive, stopping, and how it is in words."""

import contextlib
import os
import socket
import time
from collections.abc import Mapping
from typing import Final

OFTEN: Final = 0.25  # of the time that systemd waits for a sign of life


class Systemd:
    """Its end of the socket; silent where the service was not started by it."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        address = environment.get("NOTIFY_SOCKET", "")
        own = environment.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        self.limit = int(environment.get("WATCHDOG_USEC", "0")) / 1e6 if own else 0.0  # s; 0: it does not watch
        self._address = f"\0{address[1:]}" if address.startswith("@") else address
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) if address else None
        if self._socket is not None:
            self._socket.setblocking(False)
        self._due = 0.0

    def ready(self, words: str) -> None:
        """Everything runs."""
        self._tell(f"READY=1\nSTATUS={words}")

    def alive(self) -> None:
        """A sign of life, as often as it wants one."""
        now = time.monotonic()
        if self.limit and now >= self._due:
            self._due = now + OFTEN * self.limit
            self._tell("WATCHDOG=1")

    def status(self, words: str) -> None:
        """How it is: the line that `systemctl status` shows."""
        self._tell(f"STATUS={words}")

    def stopping(self) -> None:
        """It was asked to stop."""
        self._tell("STOPPING=1\nSTATUS=stopping")

    def close(self) -> None:
        """Say no more; idempotent."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _tell(self, words: str) -> None:
        if self._socket is not None:
            with contextlib.suppress(OSError):  # nobody listens any more
                self._socket.sendto(words.encode(), self._address)
