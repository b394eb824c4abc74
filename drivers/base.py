"""What a driver is: it waits on one bus or port, drains everything that is there and decodes the whole batch.

The error tree::

    DriverError            one clear sentence, never a traceback for the user
    ├── LinkError          the device is missing, busy, not permitted, or went away: retried with back-off
    │   └── LinkPausedError  it is there but carries nothing (an interface that is down): it goes on by itself
    ├── EndOfFileError     a recording has been read to its end: nothing is wrong
    └── LayoutError        the layout cannot be used (unreadable DBC, unknown signal): a configuration error, exit 78
"""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Final, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict


class DriverError(Exception):
    """Something a driver cannot do, said in one sentence."""


class LinkError(DriverError):
    """The wire is not there (missing, busy, not permitted, gone)."""


class LinkPausedError(LinkError):
    """The wire is there but carries nothing; the driver stays open and goes on by itself."""


class EndOfFileError(DriverError):
    """The recording has been read to its end."""


class LayoutError(DriverError):
    """The description of frames or packets cannot be used."""


class StrictSettings(BaseModel):
    """Frozen settings; an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def nearest(name: str, valid: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: the valid one that was probably meant, or a few of them."""
    known = sorted(filter(None, valid))
    close = difflib.get_close_matches(name, known, n=1)
    if close:
        return f'did you mean "{close[0]}"?'
    return f"expected one of {', '.join(known[:12])}{', …' if len(known) > 12 else ''}"


class Wanted(NamedTuple):
    """One signal that the core asked for: reading.value = scale × (signal in SI) + offset."""

    channel: int  # index written into every Reading
    signal: str  # "MESSAGE.signal", as listed by DriverSettings.signals()
    scale: float = 1.0
    offset: float = 0.0


# counters that are no losses
TRAFFIC: Final = ("frames", "packets", "own_frames", "restamped", "busy_us")


class Driver(Protocol):
    """One bus or port, open for reading."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def read(self, timeout: float) -> NDArray[np.void]:
        """Wait up to timeout seconds for the first frame, then drain and decode all that is there.

        Returns a READING array (possibly empty). Garbage is counted, never raised.
        Raises LinkError when the wire is gone, EndOfFileError when a recording is over.
        """
        ...

    def counters(self) -> Mapping[str, int]:
        """Totals since opening: TRAFFIC, and one name per cause of loss (e.g. 'unmatched', 'bad_crc', 'truncated')."""
        ...


class DriverSettings(Protocol):
    """What the configuration's `kind = "…"` selects: one settings type per driver, listed in drivers/__init__.py."""

    def signals(self) -> Mapping[str, str]:
        """Every signal this driver can deliver, "MESSAGE.signal" → SI unit. Raises LayoutError."""
        ...

    def check(self, wanted: Sequence[Wanted]) -> None:
        """Raise LayoutError if one of these cannot be delivered: why not, and the nearest name that can."""
        ...

    def open(self, wanted: Sequence[Wanted]) -> Driver:
        """A driver for exactly these signals (not yet opened: entering it opens the wire)."""
        ...
