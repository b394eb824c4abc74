"""What an estimator is: Samples in, an Estimate out; absorbing is the only thing that changes it."""

import math
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, NamedTuple

from estimators.quantities import Floats
from estimators.reasons import Reason


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


class Knowledge(StrEnum):
    """What is known of a parameter."""

    KNOWN = "known"
    NOT_IDENTIFIABLE = "not_identifiable"  # this motion does not tell it apart from others
    DOUBTFUL = "doubtful"  # not certain enough, whatever the others are


class ParameterState(NamedTuple):
    """State of one parameter."""

    knowledge: Knowledge
    others: tuple[str, ...] = ()  # parameters from which it is not identifiable
    unmodelled_torque: bool = (
        False  # whether it is not identifiable from a torque that the model lacks or a wrong position
    )


class Uncertainty(NamedTuple):
    """How certain θ is by direction, and what the motion that is remembered makes of it."""

    covariance: Floats  # (parameters, parameters) Σ
    gram: Floats  # (parameters, parameters) mean φφᵀ of a row over the mean y²: the prediction's share is √tr(gram Σ)


class Spectrum(NamedTuple):
    """How well the motion tells the parameters apart, see spectrum.py."""

    values: tuple[float, ...]  # singular values of the columns of length one, whitened, largest first; () when unknown
    weakest: str  # the least identifiable direction, in words

    @property
    def condition(self) -> float:
        """Largest over smallest; infinite where a direction is not identifiable, NaN when unknown."""
        if not self.values:
            return math.nan
        return self.values[0] / self.values[-1] if self.values[-1] > 0.0 else math.inf

    def __str__(self) -> str:
        text = f"condition {self.condition:.{0 if self.condition >= 10 else 1}f}".replace("inf", "∞")
        return f"{text}, least identifiable: {self.weakest}" if self.weakest else text


UNKNOWN: Final = Spectrum((), "")


class Estimate(NamedTuple):
    """What is known of one joint at one instant."""

    time: int  # ns, the instant the last row spoke of (filter delay already removed); 0 before the first row
    phase: Phase
    status: Status
    reasons: tuple[Reason, ...]  # why the status is not VALID: why the prediction may not be trusted
    names: tuple[str, ...]
    values: Floats  # (parameters,)
    deviations: Floats  # (parameters,) standard deviations, infinite where nothing is known
    error: float  # rms(prediction error) / rms(measured) over the last seconds; NaN before there are any
    forgetting: float  # λ of the last update
    measured: float  # the last row's first output, N·m (or N for a prismatic joint)
    predicted: float
    progress: float  # of the starting procedure, per cent
    spectrum: Spectrum = UNKNOWN  # of the start, so far; then of what was learnt from last, start or refit
    states: tuple[ParameterState, ...] = ()  # (parameters,) which values may be used; (): not known
    uncertainty: Uncertainty | None = None  # of the values that the motion is linear in; None: not known

    @property
    def known(self) -> tuple[bool, ...]:
        """Which parameters are known; all, where states are not known."""
        return tuple(one.knowledge is Knowledge.KNOWN for one in self.states) or (True,) * len(self.names)


class Event(NamedTuple):
    """Something that happened to an estimate."""

    time: int  # ns
    kind: str  # started, alarm, recovered, held, moving, fault, refit, …
    text: str  # the cause, in words
    window: tuple[int, int] | None = None  # ns, first and last instant of the rows that it speaks of
    details: Mapping[str, Any] | None = None  # plain data that belong to this kind
