"""Notifications for systemd (Type=notify): ready, alive, stopping, and the status in words."""

import contextlib
import os
import socket
import time
from collections.abc import Mapping
from typing import Final

OFTEN: Final = 0.25  # of the watchdog's time: the pause between two signs of life


class Systemd:
    """The connection to systemd; does nothing where the service was not started by systemd."""

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
        """Report that everything runs."""
        self._tell(f"READY=1\nSTATUS={words}")

    def alive(self) -> None:
        """Feed the watchdog when that is due."""
        now = time.monotonic()
        if self.limit and now >= self._due:
            self._due = now + OFTEN * self.limit
            self._tell("WATCHDOG=1")

    def status(self, words: str) -> None:
        """Set the line that `systemctl status` shows."""
        self._tell(f"STATUS={words}")

    def stopping(self) -> None:
        """Report that the service stops."""
        self._tell("STOPPING=1\nSTATUS=stopping")

    def close(self) -> None:
        """Close the socket; idempotent."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _tell(self, words: str) -> None:
        if self._socket is not None:
            with contextlib.suppress(OSError):  # there is no listener
                self._socket.sendto(words.encode(), self._address)
