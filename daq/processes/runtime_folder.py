"""The folder of the service's own sockets, for as long as it runs; what a killed service left behind goes."""

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path
from typing import Final

PREFIX: Final = "jointwatch-"
LOCK: Final = "running"  # held by the service, and by the kernel's word by nobody once that is dead


class RuntimeFolder:
    """A fresh one; `remove` when done."""

    def __init__(self) -> None:
        _sweep()
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._lock = _open(self.path / LOCK, os.O_CREAT)
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._held = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        fcntl.flock(self._held, fcntl.LOCK_SH)  # systemd-tmpfiles takes nothing out of a folder that is locked

    def stands(self) -> bool:
        """Whether it is still there: others clean /tmp in their own ways."""
        return (self.path / LOCK).exists()

    def remove(self) -> None:
        """Nothing stays."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._held)
        os.close(self._lock)


def _sweep() -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            lock = _open(folder / LOCK, 0)
            try:
                if folder.stat().st_uid == os.geteuid():
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(folder)
            finally:
                os.close(lock)


def _open(file: Path, more: int) -> int:
    return os.open(file, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | more, 0o600)
