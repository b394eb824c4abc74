"""What an estimator is: Samples in, an Estimate out; absorbing is the only thing that changes it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

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
