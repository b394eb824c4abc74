"""The interface of drivers: a driver waits on one bus or port, reads all available data and decodes them as one batch.

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
    """A driver cannot do something; the text is one sentence for the user."""


class LinkError(DriverError):
    """The wire is not available (missing, busy, not permitted, or disconnected)."""


class LinkBusyError(LinkError):
    """The wire exists, but another program uses it."""


class LinkPausedError(LinkError):
    """The wire exists but is down; the driver stays open and continues by itself when it is up again."""


class EndOfFileError(DriverError):
    """The end of the recording is reached."""


class LayoutError(DriverError):
    """The description of frames or packets cannot be used."""


class StrictSettings(BaseModel):
    """Immutable settings in which an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def nearest(name: str, valid: Iterable[str]) -> str:
    """Return the end of a sentence about an unknown name: the most similar valid name, or some valid names."""
    known = sorted(filter(None, valid))
    close = difflib.get_close_matches(name, known, n=1)
    if close:
        return f'did you mean "{close[0]}"?'
    return f"expected one of {', '.join(known[:12])}{', …' if len(known) > 12 else ''}"


class Wanted(NamedTuple):
    """One signal that the core requests: reading.value = scale × (signal in SI) + offset."""

    channel: int  # index of the channel, written into every reading
    signal: str  # "MESSAGE.signal", as listed by DriverSettings.signals()
    scale: float = 1.0
    offset: float = 0.0


# counters that do not count losses
TRAFFIC: Final = ("frames", "packets", "own_frames", "restamped", "busy_us")


class Driver(Protocol):
    """One bus or port, open for reading."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def read(self, timeout: float) -> NDArray[np.void]:
        """Wait up to timeout seconds for the first frame, then read and decode all available data.

        Returns a READING array (possibly empty). Invalid data are counted and raise no error. Raises LinkError if the
        wire is lost, EndOfFileError at the end of a recording.
        """

    def counters(self) -> Mapping[str, int]:
        """Return totals since opening: TRAFFIC, and one counter per cause of loss (e.g. 'unmatched', 'bad_crc')."""


class Loss(NamedTuple):
    """The meaning of one of a driver's counters, and its remedy, for the output of `jointwatch doctor`."""

    meaning: str
    remedy: str


class Probe(NamedTuple):
    """The result of listening at an unknown place: sentences for people, and a first configuration."""

    said: tuple[str, ...]
    proposal: str = ""  # TOML: [drivers.NAME] and a joint; empty if nothing was heard


class DriverSettings(StrictSettings):
    """Settings of a driver, which `kind = "…"` in the configuration selects: one class per driver with `kind:
    Literal["…"]`.

    A driver in another package derives from this class and is found by its entry point, see docs/drivers.md.
    """

    API: ClassVar[int] = 1  # edition of this interface; drivers/catalogue.py refuses a class with another edition
    losses: ClassVar[Mapping[str, Loss]] = {}  # counter → its meaning
    example: ClassVar[str] = ""  # for `jointwatch init --kind`: [drivers.NAME] and a [joints.NAME] that uses it

    @property
    def named(self) -> str:
        """Return the kind as written in the configuration."""
        return str(getattr(self, "kind", ""))

    def signals(self) -> Mapping[str, str]:
        """Return all signals without opening the wire: "MESSAGE.signal" → SI unit. Raises LayoutError."""
        raise NotImplementedError

    def check(self, wanted: Sequence[Wanted]) -> None:
        """Raise LayoutError if a signal cannot be delivered, with the reason and the most similar valid name."""
        known = self.signals()
        unknown = [one.signal for one in wanted if one.signal not in known]
        if unknown:
            raise LayoutError("; ".join(f'unknown signal "{name}", {nearest(name, known)}' for name in unknown))

    def open(self, wanted: Sequence[Wanted]) -> Driver:
        """Return a driver for exactly these signals; entering its context opens the wire. Raises LayoutError."""
        raise NotImplementedError

    def modules(self) -> tuple[str, ...]:
        """Return the modules that `open` imports: the supervisor imports them before it forks, and compiles their
        kernels.

        Importing them must not start a thread.
        """
        return ()

    def sends(self) -> str:
        """Return in words what this driver sends on the robot's bus; empty if it only listens."""
        return ""

    def wire(self) -> tuple[str, ...]:
        """Return the resource that two drivers must not share, such as the path of a port; empty: none."""
        return ()

    @classmethod
    def probe(cls, place: str, seconds: float, options: Mapping[str, str]) -> Probe:
        """Listen at a place about which nothing else is known; options: NAME=VALUE of `doctor --set`. Raises
        DriverError.

        It never sends anything that moves the robot or changes a setting.
        """
        tried = f"{place} with {', '.join(options) or 'no options'} for {seconds:g} s"
        raise DriverError(f"{cls.__name__} cannot listen at {tried}: configure it by hand (see docs/drivers.md)")
