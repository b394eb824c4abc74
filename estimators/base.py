"""What an estimator is: Samples in, an Estimate out; absorbing is the only thing that changes it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

Floats = NDArray[np.float64]
Nanoseconds = NDArray[np.int64]


class Settings(BaseModel):
    """Frozen settings; an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Parameter(NamedTuple):
    """One coefficient of a joint's equation of motion."""

    name: str
    unit: str
    low: float  # plausible range, in the unit
    high: float
    equation: str  # where it is defined


class Axis(StrEnum):
    """Whether a joint turns or slides: decides every unit."""

    ROTARY = "rotary"
    PRISMATIC = "prismatic"

    @property
    def length(self) -> str:
        """Unit of position."""
        return "rad" if self is Axis.ROTARY else "m"

    @property
    def effort(self) -> str:
        """Unit of torque or force."""
        return "N·m" if self is Axis.ROTARY else "N"

    @property
    def inertia(self) -> str:
        """Unit of inertia or mass."""
        return "kg·m²" if self is Axis.ROTARY else "kg"


class Phase(StrEnum):
    """Where an estimator stands."""

    WAITING = "waiting"  # no usable sample yet
    STARTING = "starting"  # the starting procedure gathers its window
    NORMAL = "normal"
    TRANSIENT = "transient"  # an alarm stands: the last good values are published, flagged
    HELD = "held"  # standstill: nothing can be learnt, the values stay
    FAULTED = "faulted"


class Status(StrEnum):
    """What a consumer may do with the values."""

    UNESTIMATED = "unestimated"
    LEARNING = "learning"
    VALID = "valid"
    HELD = "held"
    FAULTED = "faulted"


class Spectrum(NamedTuple):
    """How well the motion tells the parameters apart, see spectrum.py."""

    values: tuple[float, ...]  # singular values of the columns of length one, whitened, largest first; () when unknown
    weakest: str  # the direction that is told least, in words

    @property
    def condition(self) -> float:
        """Largest over smallest; infinite where a direction is not told at all, NaN when unknown."""
        if not self.values:
            return math.nan
        return self.values[0] / self.values[-1] if self.values[-1] > 0.0 else math.inf

    def __str__(self) -> str:
        told = f"condition {self.condition:.{0 if self.condition >= 10 else 1}f}".replace("inf", "∞")
        return f"{told}, least told apart: {self.weakest}" if self.weakest else told


UNKNOWN: Final = Spectrum((), "")


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is known of one joint at one instant."""

    time: int  # ns, the instant the last row spoke of (filter delay already removed); 0 before the first row
    phase: Phase
    status: Status
    reasons: tuple[str, ...]  # why the status is not VALID, in words
    names: tuple[str, ...]
    values: Floats  # (parameters,)
    deviations: Floats  # (parameters,) standard deviations
    error: float  # rms(prediction error) / rms(measured) over the last seconds; NaN before there are any
    forgetting: float  # λ of the last update
    measured: float  # the last row's first output, N·m (or N for a prismatic joint)
    predicted: float
    progress: float  # of the starting procedure, per cent
    spectrum: Spectrum = UNKNOWN  # of the start, so far; then of what was learnt from last, start or refit


# What a friction law takes as arguments, the middle axis of Rows.samples.
VELOCITY: Final = 0
POSITION: Final = 1
LOAD: Final = 2
ARGUMENTS: Final = 3


class Rows(NamedTuple):
    """Conditioned, decimated, whole regression rows: y = Φ θ + error, ready for an estimator.

    An output that the model masked for a row (e.g. a link that sticks) is NaN there in phi and y, never all of them.
    """

    time: Nanoseconds  # (rows,) the instant each row speaks of, filter delay removed
    phi: Floats  # (rows, outputs, parameters)
    y: Floats  # (rows, outputs)
    speed: Floats  # (rows,) rms joint speed over the row's support, rad/s (m/s): standstill is decided on it
    samples: Floats = np.zeros((0, ARGUMENTS, 0))  # (rows, ARGUMENTS, taps) what a friction law with η saw; else empty

    def part(self, which: "slice | NDArray[np.bool_] | NDArray[np.int64]") -> "Rows":
        """Some of the rows."""
        time, phi, y, speed, samples = self
        return Rows(time[which], phi[which], y[which], speed[which], samples[which] if len(samples) else samples)

    def finite(self) -> NDArray[np.bool_]:
        """Which rows have a finite output: (rows,)."""
        return np.asarray((np.isfinite(self.y) & np.isfinite(self.phi).all(axis=2)).any(axis=1))


# What a model sees of each channel at one instant, the last axis of `signals` (rows, channels, SIGNALS). Linear columns
# take the raw value and its exact central differences, arguments of nonlinear functions the smoothed ones; the finished
# row then passes the smoothing kernel as a whole (see signals.py).
VALUE: Final = 0  # raw
RATE: Final = 1  # raw, first central difference, 1/s
SECOND: Final = 2  # raw, second central difference, 1/s²
SMOOTH: Final = 3  # smoothed value
SMOOTH_RATE: Final = 4  # its first central difference, 1/s
SIGNALS: Final = 5


class FrictionPlace(NamedTuple):
    """Where an equation of motion has the friction law that η belongs to."""

    law: Settings  # a friction law's settings (estimators.friction)
    axis: Axis
    position: int  # channel
    load: int  # channel
    scale: tuple[float, float]  # what position and load are multiplied with before the law sees them
    output: int  # the output whose rows hold the law's columns
    columns: tuple[int, ...]  # of phi, in the law's order
    sign: float  # of the law's columns there


class SpringPlace(NamedTuple):
    """Where an equation of motion has an elastic gear: torque = linear·twist + cubic·twist³."""

    signs: tuple[float, ...]  # of its torque in each output
    output: int  # one where it is plus
    columns: tuple[int, int]  # of phi: twist (rad) and its cube


class Constant(NamedTuple):
    """Something that an equation of motion takes as known, and what an error of it would leave in the residual."""

    name: str  # as a user would say it
    unit: str  # of its error; "" where that is relative
    column: Floats  # (rows, outputs) ∂(y − Φθ)/∂error


def joined(parts: Sequence[Rows]) -> Rows:
    """Rows one after the other."""
    time, phi, y, speed, samples = zip(*parts, strict=True)
    columns = (np.concatenate(column) for column in (phi, y, speed, samples))
    return Rows(np.concatenate(time), *columns)


class JointModel(Protocol):
    """A joint's equation of motion, linear in θ given η: y = Φ(x; η) θ."""

    channels: tuple[str, ...]  # roles it needs, e.g. ("position", "torque"); the first one's rate decides standstill
    parameters: tuple[Parameter, ...]  # θ
    nonlinear: tuple[Parameter, ...]  # η
    outputs: tuple[str, ...]  # units of y's components, e.g. ("N·m",)
    start: Floats  # (nonlinear,) the η to begin with
    friction: FrictionPlace
    spring: SpringPlace | None

    def fill(self, signals: Floats, eta: Floats, phi: Floats, y: Floats) -> None:
        """Fill the rows at the full rate; NaN in y masks that output at that instant.

        signals: (rows, channels, SIGNALS); eta: (nonlinear,); phi: (rows, outputs, parameters) and y: (rows, outputs),
        all C-contiguous, every entry of phi and y is written.
        """
        ...

    def constants(self, rows: Rows, taps: Floats, theta: Floats, /) -> tuple[Constant, ...]:
        """What is taken as known, over finished rows; taps: of the kernel that smoothed them."""
        ...


class Event(NamedTuple):
    """Something that happened to an estimate."""

    time: int  # ns
    kind: str  # started, alarm, recovered, held, moving, fault, refit, …
    text: str  # the cause, in words
    window: tuple[int, int] | None = None  # ns, first and last instant of the rows that it speaks of


class JointEstimator(Protocol):
    """Identifies one joint from equidistant rows of its channels."""

    channels: tuple[str, ...]  # the roles it needs, in the order of the columns of `values`

    def absorb(self, time: Nanoseconds, values: Floats) -> None:
        """Learn from equidistant rows (period fixed at construction).

        time: (rows,) ns; values: (rows, channels) SI; a missing or invalid value is NaN and its row teaches nothing.
        """
        ...

    def estimate(self) -> Estimate:
        """Report; never learns."""
        ...

    def events(self) -> list[Event]:
        """What happened since the last call."""
        ...
