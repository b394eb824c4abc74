"""A device end on a pseudo-terminal, with a backlog, counted losses, and an optional symbolic link."""

import os
import select
import termios
import tty
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Final

from hil_rig.plants.base import RigError

BACKLOG: Final = 65536  # bytes, 1.5 s of a thousand samples in two frames each
SETTLE: Final = 0.2  # s between the opening of the port and the first frame (a reader configures and flushes the port)
PIECES: Final = 256  # largest number of frames in one write


class Pty:
    """A pseudo-terminal, with a symbolic link if requested."""

    settle = SETTLE
    burst = 1_000_000

    def __init__(self, link: Path | None) -> None:
        """link: a symbolic link to the terminal; one that is there already is replaced, anything else is not."""
        self.sent = self.refused = self.unheard = 0
        self._link = link
        self._backlog: deque[tuple[bytes, int]] = deque()  # (bytes, number of frames: 1, or 0 for an answer)
        self._waiting = 0  # bytes in it
        self._present = False
        self.master, slave = os.openpty()
        tty.setraw(slave)
        self.device = os.ttyname(slave)
        os.set_blocking(self.master, False)
        os.close(slave)  # so that the master notices when the last reader hangs up
        self._poll = select.poll()
        self._poll.register(self.master, select.POLLIN)
        if link is not None:
            self._point(link)

    def _point(self, link: Path) -> None:
        try:
            if link.is_symlink():
                link.unlink()
            link.symlink_to(self.device)
        except OSError as error:
            self._link = None
            self.close()
            raise RigError(f"--link {link}: {error.strerror}") from error
        self._target, self.device = self.device, str(link)

    def listening(self) -> bool:
        """Whether a program has the port open."""
        events = self._poll.poll(0)
        hung_up = bool(events) and bool(events[0][1] & select.POLLHUP)
        if events and not hung_up:
            with suppress(OSError):
                self.hear(os.read(self.master, 4096))
        if hung_up and self._present:
            self.forget()
        self._present = not hung_up
        return self._present

    def hear(self, data: bytes) -> None:
        """Ignore received bytes, since this device only sends."""

    def forget(self) -> None:
        """Discard bytes for a reader that has disconnected, so that no later reader gets them."""
        self.refused += sum(frames for _, frames in self._backlog)
        self._backlog.clear()
        self._waiting = 0
        with suppress(termios.error):
            termios.tcflush(self.master, termios.TCOFLUSH)

    def send(self, units: Sequence[bytes]) -> None:
        """Queue the frames that fit, and write what the kernel accepts."""
        for unit in units:
            if self._waiting + len(unit) > BACKLOG:
                self.refused += 1
            else:
                self.queue(unit, 1)
        self.push()

    def queue(self, piece: bytes, frames: int) -> None:
        """Append a piece that completes `frames` frames to the queue."""
        self._backlog.append((piece, frames))
        self._waiting += len(piece)

    def push(self) -> None:
        """Write as much as the kernel accepts now."""
        while self._backlog:
            try:
                taken = os.write(self.master, b"".join(piece for piece, _ in islice(self._backlog, PIECES)))
            except BlockingIOError:
                return
            self._waiting -= taken
            while self._backlog and taken >= len(self._backlog[0][0]):
                piece, frames = self._backlog.popleft()
                taken -= len(piece)
                self.sent += frames
            if taken:
                piece, frames = self._backlog[0]
                self._backlog[0] = piece[taken:], frames

    def full(self) -> bool:
        """Whether bytes are still waiting for the kernel."""
        self.push()
        return bool(self._backlog)

    def close(self) -> None:
        """Close the terminal; remove the link if it is still ours."""
        self.refused += sum(frames for _, frames in self._backlog)
        os.close(self.master)
        if self._link is not None and self._link.is_symlink() and str(self._link.readlink()) == self._target:
            self._link.unlink()
