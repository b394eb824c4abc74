"""Reports the number of bytes read from a long recording to an observer that `observed` sets; by default there is
none."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

_OBSERVER: Final[ContextVar[Callable[[int], None] | None]] = ContextVar("observer", default=None)


def note(count: int) -> None:
    """Report read bytes to the observer, if there is one."""
    observer = _OBSERVER.get()
    if observer is not None:
        observer(count)


@contextmanager
def observed(observer: Callable[[int], None]) -> Iterator[None]:
    """Report every count of bytes that are read in this context to the observer."""
    token = _OBSERVER.set(observer)
    try:
        yield
    finally:
        _OBSERVER.reset(token)
