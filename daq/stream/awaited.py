"""The arrival time for which the core waits: one number in a file that core and drivers map into memory.

A driver reads a thousand times a second, but the core needs the readings only a hundred times a second, and waking
ZeroMQ's threads on both sides costs more than everything else about a batch. A driver therefore keeps its readings
until this instant. Reading the number costs one load. A core that is killed leaves a number of the past, which delays
no readings.
"""

import mmap
import os
from pathlib import Path
from typing import Final

FILE: Final = "readings.awaited"  # name of the file in the folder of the service's sockets
BYTES: Final = 8


class Awaited:
    """The arrival (monotonic ns) of the earliest reading for which the core wants to wake up; 0: every reading."""

    def __init__(self, path: Path) -> None:
        opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.ftruncate(opened, BYTES)  # the first process that opens the file creates it
            self._number = memoryview(mmap.mmap(opened, BYTES)).cast("q")
        finally:
            os.close(opened)

    @property
    def instant(self) -> int:
        """The arrival time, monotonic ns."""
        return self._number[0]

    @instant.setter
    def instant(self, arrival: int) -> None:
        self._number[0] = arrival
