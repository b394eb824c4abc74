"""Reports how many bytes of a long recording were read to a listener that `observed` sets; by default there is none."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

_OBSERVER: Final[ContextVar[Callable[[int], None] | None]] = ContextVar("observer", default=None)


def note(count: int) -> None:
    """Tell the observer, if there is one, of bytes that were read."""
    observer = _OBSERVER.get()
    if observer is not None:
        observer(count)


@contextmanager
def observed(observer: Callable[[int], None]) -> Iterator[None]:
    """Give every count of bytes that is read within to the observer."""
    token = _OBSERVER.set(observer)
    try:
        yield
    finally:
        _OBSERVER.reset(token)
