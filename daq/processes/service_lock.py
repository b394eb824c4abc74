"""One service of a robot for a folder: two would overwrite each other's state, and delete each other's recordings."""

import contextlib
import fcntl
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

NAME: Final = ".{robot}.running"  # locked by the service; the kernel releases it when the service has died


class OtherServiceError(Exception):
    """Another service has the folder; the text is shown to the user as it is."""


class ServiceLock:
    """Holds folders for the service of one robot; `release` them when done."""

    def __init__(self, robot: str, folders: Sequence[Path]) -> None:
        """Folders are made where necessary; those that this user cannot write are left out.

        Raises OtherServiceError.
        """
        self._held: list[int] = []
        try:
            for folder in dict.fromkeys(folders):
                with contextlib.suppress(OSError):
                    folder.mkdir(parents=True, exist_ok=True)
                    file = folder / NAME.format(robot=robot)
                    self._held.append(os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))
                    _lock(self._held[-1], robot, folder)
        except OtherServiceError:
            self.release()
            raise

    def release(self) -> None:
        """Let another service have them."""
        while self._held:
            os.close(self._held.pop())


def _lock(file: int, robot: str, folder: Path) -> None:
    """Lock an open file, and write into it who has locked it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        owner = os.read(file, 20).decode("ascii", "replace").strip() or "?"
        raise OtherServiceError(
            f"another service of robot {robot!r} (process {owner}) uses {folder}: stop it, or give this one another "
            "[robot] name, or another [robot] state and [recorder] folder"
        ) from None
    os.ftruncate(file, 0)
    os.write(file, f"{os.getpid()}\n".encode())
