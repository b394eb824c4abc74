"""What a driver is: it waits on one bus or port, drains everything that is there and decodes the whole batch.

The error tree::

    DriverError            one clear sentence, never a traceback for the user
    ├── LinkError          the device is missing, busy, not permitted, or went away: retried with back-off
    │   ├── LinkBusyError    another program has it
    │   └── LinkPausedError  it is there but carries nothing (an interface that is down): it goes on by itself
    ├── EndOfFileError     a recording has been read to its end: nothing is wrong
    └── LayoutError        the layout cannot be used (unreadable DBC, unknown signal): a configuration error, exit 78
"""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import ClassVar, Final, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict


class DriverError(Exception):
    """Something a driver cannot do, said in one sentence."""


class LinkError(DriverError):
    """The wire is not there (missing, busy, not permitted, gone)."""


class LinkBusyError(LinkError):
    """The wire is there, and another program has it."""


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

    def counters(self) -> Mapping[str, int]:
        """Totals since opening: TRAFFIC, and one name per cause of loss (e.g. 'unmatched', 'bad_crc', 'truncated')."""


class Loss(NamedTuple):
    """What one of a driver's counters counts, and what to do about it: for people, in `jointwatch doctor`."""

    meaning: str
    remedy: str


class Probe(NamedTuple):
    """What was heard at a place of which nothing was known: sentences for people, and a configuration to start from."""

    said: tuple[str, ...]
    proposal: str = ""  # TOML: [drivers.NAME] and a joint; empty where nothing was heard


class DriverSettings(StrictSettings):
    """What the configuration's `kind = "…"` selects: one settings class per driver, `kind: Literal["…"]` in each.

    A driver of another package derives from this class and is found by its entry point: see docs/drivers.md.
    """

    API: ClassVar[int] = 1  # edition of this contract; drivers/catalogue.py refuses a class with another one
    losses: ClassVar[Mapping[str, Loss]] = {}  # of its own counters
    example: ClassVar[str] = ""  # for `jointwatch init --kind`: [drivers.NAME] and a [joints.NAME] that uses it

    @property
    def named(self) -> str:
        """Its kind, as the configuration writes it."""
        return str(getattr(self, "kind", ""))

    def signals(self) -> Mapping[str, str]:
        """Every signal this driver can deliver, "MESSAGE.signal" → SI unit, without the wire. Raises LayoutError."""
        raise NotImplementedError

    def check(self, wanted: Sequence[Wanted]) -> None:
        """Raise LayoutError if one of these cannot be delivered: why not, and the nearest name that can."""
        known = self.signals()
        unknown = [one.signal for one in wanted if one.signal not in known]
        if unknown:
            raise LayoutError("; ".join(f'unknown signal "{name}", {nearest(name, known)}' for name in unknown))

    def open(self, wanted: Sequence[Wanted]) -> Driver:
        """A driver for exactly these signals (not yet opened: entering it opens the wire). Raises LayoutError."""
        raise NotImplementedError

    def modules(self) -> tuple[str, ...]:
        """Modules that opening it imports: the supervisor imports them before it forks, and compiles their kernels.

        Importing one may start no thread.
        """
        return ()

    def sends(self) -> str:
        """What this driver sends on the robot's bus, in words; empty where it only listens."""
        return ""

    def wire(self) -> tuple[str, ...]:
        """What two drivers of one configuration must not share, as a port's path; empty: it may be shared."""
        return ()

    @classmethod
    def probe(cls, place: str, seconds: float, options: Mapping[str, str]) -> Probe:
        """Listen at a place of which nothing else is known; options: NAME=VALUE of `doctor --set`. Raises DriverError.

        It sends nothing that moves or sets anything.
        """
        tried = f"{place} with {', '.join(options) or 'no options'} for {seconds:g} s"
        raise DriverError(f"{cls.__name__} cannot listen at {tried}: configure it by hand (see docs/drivers.md)")
