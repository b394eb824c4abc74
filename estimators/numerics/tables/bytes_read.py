"""Reports how many bytes of a long table were read to a listener that `observed` sets; by default there is none.

drivers/files/bytes_read.py does the same for logs of frames: neither package knows the other.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

_OBSERVER: Final[ContextVar[Callable[[float], None] | None]] = ContextVar("observer of tables", default=None)


def note(count: float) -> None:
    """Tell the observer, if there is one, of bytes that were read; a negative count takes back what was reported."""
    observer = _OBSERVER.get()
    if observer is not None:
        observer(count)


@contextmanager
def observed(observer: Callable[[float], None]) -> Iterator[None]:
    """Give every count of bytes that is read within to the observer."""
    token = _OBSERVER.set(observer)
    try:
        yield
    finally:
        _OBSERVER.reset(token)
