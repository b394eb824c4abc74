"""The folder of a robot's recordings: names, order, and limits of size and number."""

import contextlib
import os
import re
from datetime import UTC, datetime
from pathlib import Path

from daq.config.sections import Record
from daq.processes.logs import log


class RecordingFolder:
    """Keeps the folder within its limits by deleting the oldest recordings of this robot, and no other files."""

    def __init__(self, settings: Record, robot: str) -> None:
        self.folder = settings.folder
        self._settings, self._robot = settings, robot

    def make_room(self, current: Path | None) -> bool:
        """Delete the oldest recordings, but not the current one, until the folder is within its limits.

        Returns whether the reserved space is free. Raises OSError.
        """
        files = [file for file in recordings(self.folder, self._robot) if file != current]
        sizes = {file: file.stat().st_size for file in files}
        kept = sum(sizes.values())
        for file in files:
            if kept <= self._settings.keep and self._free() >= self._settings.reserve:
                break
            file.unlink()
            log.info("deleted the oldest recording, %s", file)
            kept -= sizes[file]
        return self._free() >= self._settings.reserve

    def new(self) -> Path:
        """Return a new file name, and create the folder if necessary. Raises OSError."""
        self.folder.mkdir(parents=True, exist_ok=True)
        second = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
        ages = [age for file in self.folder.iterdir() if (age := _age(file, self._robot)) and age[0] == second]
        return self.folder / f"{self._robot}-{second}{f'-{max(ages)[1] + 1}' if ages else ''}.mcap"

    def full(self) -> str:
        """Return the message that the disk has too little free space."""
        free, reserve = self._free() / 1e6, self._settings.reserve / 1e6
        return f"{self.folder}: {free:.0f} MB of the disk are free, and [recorder] reserve = {reserve:.0f} MB"

    def _free(self) -> int:
        disk = os.statvfs(self.folder)
        return disk.f_bavail * disk.f_frsize


def recordings(folder: Path, robot: str) -> list[Path]:
    """Return all recordings of this robot, the oldest first."""
    with contextlib.suppress(FileNotFoundError):
        found = [(age, file) for file in folder.iterdir() if (age := _age(file, robot))]
        return [file for _, file in sorted(found)]
    return []


def _age(file: Path, robot: str) -> tuple[str, int] | None:
    """Return the beginning of a recording of this robot, and its number within that second; None for other files."""
    match = re.fullmatch(re.escape(robot) + r"-(\d{8}T\d{6}Z)(?:-(\d+))?\.mcap", file.name)
    return None if match is None else (match[1], int(match[2] or 1))
