"""When the reading comes that the core waits for: one number in a file that core and drivers map into memory.

A driver reads a thousand times a second, and the core needs what it reads a hundred times: to wake ZeroMQ's threads on
both sides costs more than everything else that a batch costs. Until this instant a driver keeps what it has read. It
costs one load, and a number of the past, which a core leaves that was killed, keeps nothing back.
"""

import mmap
import os
from pathlib import Path
from typing import Final

FILE: Final = "readings.awaited"  # in the folder of the service's sockets
BYTES: Final = 8


class Awaited:
    """The arrival (monotonic ns) of the earliest reading that is worth a turn of the core; 0: every one is."""

    def __init__(self, path: Path) -> None:
        opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.ftruncate(opened, BYTES)  # whoever comes first makes it
            self._number = memoryview(mmap.mmap(opened, BYTES)).cast("q")
        finally:
            os.close(opened)

    @property
    def instant(self) -> int:
        """When it arrives, ns."""
        return self._number[0]

    @instant.setter
    def instant(self, arrival: int) -> None:
        self._number[0] = arrival
