"""What a process has let go, as a socket or a thread of a library that only the collector ends: where does it end?"""

import gc
import os

ENDED: list[int] = []  # processes in which some has ended, of those that this one knows of


class Garbage:
    """A cycle that nothing needs."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        ENDED.append(os.getpid())


def collected() -> list[int]:
    """Collect, and say in which processes garbage has ended."""
    gc.collect()
    return ENDED
