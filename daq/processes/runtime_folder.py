"""The folder of the service's own sockets while it runs; folders that killed services left behind are removed."""

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
from pathlib import Path
from typing import Final

PREFIX: Final = "jointwatch-"
LOCK: Final = "running"  # locked by the service; the kernel releases it when the service dies


class RuntimeFolder:
    """A new folder; `remove` it when done."""

    def __init__(self) -> None:
        _sweep()
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._lock = _open(self.path / LOCK, os.O_CREAT)
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._held = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        fcntl.flock(self._held, fcntl.LOCK_SH)  # systemd-tmpfiles takes nothing out of a folder that is locked

    def stands(self) -> bool:
        """Whether the folder still exists: other programs may clean /tmp."""
        return (self.path / LOCK).exists()

    def remove(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._held)
        os.close(self._lock)


def _sweep() -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            found = folder.lstat()  # anybody may put a link, or a folder of his own, there
            if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
                continue
            lock = _open(folder / LOCK, 0)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder)
            finally:
                os.close(lock)


def _open(file: Path, more: int) -> int:
    return os.open(file, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | more, 0o600)
